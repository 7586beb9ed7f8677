//! The table against every `mpi.h` that is installed: the wrappers named here and those in `$MPICC` and
//! `$MPICC_EXTRA` (separated by blanks). A wrapper that is not installed is skipped, unless it was asked for.

use std::collections::HashSet;
use std::process::Command;
use std::sync::OnceLock;
use wrappers::header::{self, MpiAbi, MpiHeader, MpiHeaderError};
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
    for mpicc in ["mpicc.mpich", "mpicc.openmpi", "mpicc"].map(str::to_owned) {
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
        let extensions = header.unknown(&table).count();
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

/// No function twice, none of the profiling families, and the source of the types has none left.
#[test]
fn functions_and_types_are_apart() {
    for (mpicc, header) in headers() {
        let names: HashSet<&str> = header.functions.iter().map(|f| f.name.as_str()).collect();
        assert_eq!(names.len(), header.functions.len(), "{mpicc}");
        assert!(
            names
                .iter()
                .all(|n| n.starts_with("MPI_") || n.starts_with("MPIX_")),
            "{mpicc}"
        );
        assert!(!header.types.contains("fn MPI_"), "{mpicc}");
        for name in [
            "MPI_Status",
            "MPI_Comm",
            "MPI_Aint",
            "MPI_Count",
            "MPI_User_function",
        ] {
            let declared = ["type", "struct"].map(|word| format!("pub {word} {name} "));
            assert!(
                declared.iter().any(|d| header.types.contains(d)),
                "{mpicc}: {name}"
            );
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

/// A wrapper that is not there is an error that says so.
#[test]
fn no_wrapper() {
    match header::read("./no-such-mpicc") {
        Err(MpiHeaderError::Wrapper { command, .. }) => assert!(command.contains("no-such-mpicc")),
        other => panic!("{other:?}"),
    }
}
