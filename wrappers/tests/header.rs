//! The table and the facts in `abi/` against every `mpi.h` that is installed: of the compiler wrappers named here, of those that `ci/deps` puts into
//! `target/`, and of those in `$MPICC` and `$MPICC_EXTRA` (separated by blanks). A wrapper that is not installed is skipped, unless it was asked for.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::process::Command;
use std::sync::OnceLock;
use wrappers::abi::{AbiFacts, MpiAbi, abi_facts};
use wrappers::header::{self, MpiHeader, MpiHeaderError};
use wrappers::{CType, Direction, Kind};

/// The headers to check, each with the wrapper it belongs to. bindgen takes seconds, so they are read once.
fn headers() -> &'static [(String, MpiHeader)] {
    static HEADERS: OnceLock<Vec<(String, MpiHeader)>> = OnceLock::new();
    HEADERS.get_or_init(read_headers)
}

fn read_headers() -> Vec<(String, MpiHeader)> {
    let asked = |name| std::env::var(name).unwrap_or_default();
    let asked: Vec<String> = [asked("MPICC"), asked("MPICC_EXTRA")]
        .iter()
        .flat_map(|list| list.split_whitespace())
        .map(str::to_owned)
        .collect();
    let mut found = Vec::new();
    let target = test_support::root().join("target");
    let in_wheel = |name: &str| target.join(name).display().to_string();
    let known = [
        "mpicc.mpich".to_owned(),
        "mpicc.openmpi".to_owned(),
        "mpicc".to_owned(),
        in_wheel("venv-mpich5/bin/mpicc"),
        in_wheel("venv-mpich5/bin/mpicc_abi"),
        in_wheel("venv-openmpi5/bin/mpicc"),
    ];
    for mpicc in known {
        if Command::new(&mpicc).arg("-show").output().is_ok() {
            found.push(mpicc);
        } else {
            test_support::skip(&format!("no {mpicc}"));
        }
    }
    (asked.into_iter().chain(found))
        .map(|mpicc| match header::read(&mpicc) {
            Ok(header) => (mpicc, header),
            Err(e) => panic!("{e}"),
        })
        .collect()
}

/// Every MPI_ function is in the table, with the same parameters in the same order and the same result.
#[test]
fn every_function_fits() {
    let table = wrappers::table().unwrap_or_else(|e| panic!("{e}"));
    for (mpicc, header) in headers() {
        let mut wrong = Vec::new();
        let mut known = 0;
        for declared in &header.functions {
            match table.get(&declared.name) {
                Some(function) => match declared.misfit(function) {
                    Some(misfit) => wrong.push(format!("{}: {misfit}", declared.name)),
                    None => known += 1,
                },
                None if declared.name.starts_with("MPIX_") => {}
                None => wrong.push(format!("{}: not in the table", declared.name)),
            }
        }
        assert!(wrong.is_empty(), "{mpicc}:\n{}", wrong.join("\n"));
        let extensions = header.unknown(table).count();
        eprintln!(
            "{mpicc}: {known} functions fit, {extensions} extensions, {:?}",
            header.family
        );
        assert!(known > 300, "{mpicc} declares {known} functions only");
    }
}

/// Differences are found: another order, another number, another type, another result.
#[test]
fn misfits_are_found() {
    let table = wrappers::table().unwrap_or_else(|e| panic!("{e}"));
    let send = table.get("MPI_Send").expect("MPI_Send");
    for (mpicc, header) in headers() {
        let declared = header
            .functions
            .iter()
            .find(|f| f.name == send.name)
            .expect(mpicc);
        let misfit = |change: fn(&mut wrappers::Function)| {
            let mut changed = send.clone();
            change(&mut changed);
            declared.misfit(&changed)
        };
        assert_eq!(misfit(|_| {}), None);
        assert!(misfit(|f| f.params.swap(1, 2)).is_some(), "{mpicc}");
        assert!(misfit(|f| drop(f.params.pop())).is_some(), "{mpicc}");
        assert!(
            misfit(|f| f.params[3].ctype = CType::Count).is_some(),
            "{mpicc}"
        );
        assert!(
            misfit(|f| f.params[5].kind = Kind::Win).is_some(),
            "{mpicc}"
        );
        assert!(
            misfit(|f| f.params[5].direction = Direction::Out).is_some(),
            "{mpicc}"
        );
        assert!(misfit(|f| f.returns = Kind::Double).is_some(), "{mpicc}");
        assert!(misfit(|f| f.variadic = true).is_some(), "{mpicc}");
    }
}

/// No function twice, none of the profiling families, and the types and constants that the facts are made of.
#[test]
fn functions_types_and_constants_are_found() {
    for (mpicc, header) in headers() {
        let names: HashSet<&str> = header.functions.iter().map(|f| f.name.as_str()).collect();
        assert_eq!(names.len(), header.functions.len(), "{mpicc}");
        assert!(
            names
                .iter()
                .all(|n| n.starts_with("MPI_") || n.starts_with("MPIX_")),
            "{mpicc}"
        );
        for name in ["MPI_Comm", "MPI_Aint", "MPI_Count"] {
            assert!(header.aliases.contains_key(name), "{mpicc}: {name}");
        }
        for name in [
            "MPI_SUCCESS",
            "MPI_ANY_SOURCE",
            "MPI_THREAD_MULTIPLE",
            "MPI_COMBINER_NAMED",
        ] {
            assert!(header.constants.contains_key(name), "{mpicc}: {name}");
        }
        let version = header.constants.get("MPI_VERSION").copied().unwrap_or(0);
        assert!(version >= 3, "{mpicc}: MPI {version}");
        let removed = ["MPI_Address", "MPI_Type_struct", "MPI_Errhandler_set"];
        if header.family != MpiAbi::Standard {
            assert!(removed.iter().all(|name| names.contains(name)), "{mpicc}");
        }
    }
}

/// Values of constants by name, of all kinds.
fn constants(facts: &AbiFacts) -> BTreeMap<&str, String> {
    let wide = facts.addresses.iter().chain(&facts.handles);
    let wide = wide.chain(&facts.datatypes);
    let wide = wide.map(|(name, value)| (name.as_str(), value.to_string()));
    let integers = facts.integers.iter();
    let integers = integers.map(|(name, value)| (name.as_str(), value.to_string()));
    wide.chain(integers).collect()
}

/// What the facts in the tree say of an interface is what each header and library of it say. Of a version that they name, they
/// also say which functions it has.
#[test]
fn facts_hold_for_every_library() {
    let table = wrappers::table().unwrap_or_else(|e| panic!("{e}"));
    let out = tempfile::tempdir().expect("a folder");
    for (mpicc, header) in headers() {
        let here = header.facts(mpicc, table, out.path());
        let here = here.unwrap_or_else(|e| panic!("{mpicc}: {e}"));
        let known = abi_facts(header.family).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(here.status, known.status, "{mpicc}");
        let all = constants(&known);
        for (name, value) in constants(&here) {
            assert_eq!(all.get(name), Some(&value), "{mpicc}: {name}");
        }
        for library in &here.libraries {
            assert!(known.libraries.contains(library), "{mpicc}: {library}");
        }
        let version = &here.headers[0];
        let Some(at) = known.headers.iter().position(|known| known == version) else {
            eprintln!("{mpicc}: {version} is not among {:?}", known.headers);
            continue;
        };
        let number = at + 1;
        let is_of_it = |headers: &[usize]| headers.contains(&number);
        let names = |facts: &AbiFacts, number: usize| -> BTreeSet<String> {
            let lacking = facts.lacking.iter().filter(|(_, of)| of.contains(&number));
            lacking.map(|(name, _)| name.clone()).collect()
        };
        assert_eq!(names(&here, 1), names(&known, number), "{mpicc}");
        let extensions = known.extensions.iter().filter(|(_, of)| is_of_it(of));
        let extensions: HashSet<_> = extensions.map(|(extension, _)| extension).collect();
        let found: HashSet<_> = here
            .extensions
            .iter()
            .map(|(extension, _)| extension)
            .collect();
        assert_eq!(found, extensions, "{mpicc}");
    }
}

/// A wrapper that is not there is an error that says so.
#[test]
fn no_wrapper() {
    match header::read("./no-such-mpicc") {
        Err(MpiHeaderError::Wrapper { command, .. }) => assert!(command.contains("no-such-mpicc")),
        other => panic!("{other:?}"),
    }
}
