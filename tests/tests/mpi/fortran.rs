//! Fortran through each of its three bindings: every procedure that the modules offer is called, each call is recorded
//! once under its C name, whichever way the binding takes into the library, and the sentinels arrive. The truth is what
//! the program of `tests/programs/fortran` counts itself.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;
use tests::tally::{CallTally, is_conversion};
use tests::trace::{TraceSetup, same};
use tests::{Mpi, compile, matrix, process};

/// A binding and the way the program is compiled for it.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Variant {
    MpifH,
    UseMpi,
    UseMpiF08,
    /// `mpi_f08` with counts of 8 bytes.
    LargeCounts,
    /// `mpi_f08`, what starts processes and connects them.
    Processes,
}
use Variant::{LargeCounts, MpifH, Processes, UseMpi, UseMpiF08};

impl Variant {
    /// In the table of programs.
    fn name(self) -> &'static str {
        match self {
            MpifH => "mpif.h",
            UseMpi => "use mpi",
            UseMpiF08 => "use mpi_f08",
            LargeCounts => "use mpi_f08, large counts",
            Processes => "use mpi_f08, started processes",
        }
    }

    fn options(self) -> &'static [&'static str] {
        match self {
            MpifH => &["-DBINDING=1"],
            UseMpi => &["-DBINDING=2"],
            UseMpiF08 => &["-DBINDING=3"],
            LargeCounts => &["-DBINDING=3", "-DLARGE_COUNT"],
            Processes => &["-DBINDING=3", "-DPROCESSES"],
        }
    }
}

fn sources() -> Vec<PathBuf> {
    let folder = tests::root().join("tests/programs/fortran");
    let mut files: Vec<PathBuf> = std::fs::read_dir(&folder)
        .expect("the program")
        .map(|entry| entry.expect("the program").path())
        .filter(|path| path.extension().is_some_and(|e| e == "F90"))
        .collect();
    // Modules before what uses them.
    files.sort_by_key(|path| {
        let name = path.file_stem().unwrap_or_default().to_owned();
        (name == "main", name != "shared", name)
    });
    files
}

fn program(mpi: Mpi, variant: Variant) -> PathBuf {
    let folder = tests::target()
        .join("tests-programs")
        .join(mpi.suffix())
        .join(format!("fortran-{variant:?}"));
    std::fs::create_dir_all(&folder).expect("a folder below target/");
    let executable = folder.join("fortran");
    let sources = sources();
    let mut command = mpi.mpifort();
    command
        .args(["-O1", "-g", "-w", "-ffree-line-length-none"])
        .arg("-fallow-argument-mismatch")
        .args(variant.options())
        .args(mpi.is_mpich().then_some("-DMPI4"))
        .arg("-J")
        .arg(&folder)
        .arg("-I")
        .arg(tests::root().join("tests/programs/fortran"))
        .args(&sources);
    let mut inputs = sources;
    inputs.push(tests::root().join("tests/programs/fortran/binding.h"));
    compile::build(command, &executable, &inputs, false);
    executable
}

fn traced(mpi: Mpi, variant: Variant, sizes: &[usize]) {
    if !mpi.installed() {
        return;
    }
    let executable = program(mpi, variant);
    let sum = |counts: BTreeMap<usize, CallTally>| -> u64 {
        let calls = counts.into_values().flatten();
        let calls = calls.filter(|(name, _)| !is_conversion(name));
        calls.map(|(_, count)| count).sum()
    };
    let (mut seen, mut made) = (0, 0);
    for &ranks in sizes {
        let tracing = TraceSetup::new(mpi, ranks);
        let run = match variant {
            Processes => tracing.run_starting(&executable),
            _ => Some(tracing.run(&executable, &[])),
        };
        let Some(run) = run else { return };
        assert!(run.finished.status.success(), "{}", run.finished.story());
        assert_eq!(run.finished.stdout.trim(), "ok", "{}", run.finished.story());
        if variant == Processes {
            // Messages go to other worlds.
            same(
                "the program and the recorder's count",
                &run.made(),
                &run.counted(),
            );
        } else {
            run.holds(&run.made());
        }
        seen += sum(run.counted());
        made += sum(run.made());
    }
    matrix::seen(&format!("Fortran: {}", variant.name()), mpi, seen, made);
}

// Not one rank: Open MPI's MPI_Neighbor_alltoallw takes as many datatypes as there are ranks, not neighbours.
macro_rules! bindings {
    ($($name:ident: $variant:expr;)*) => {
        mod mpich {
            use super::*;
            $(#[test] fn $name() { traced(Mpi::Mpich, $variant, &[2]) })*
        }
        mod openmpi {
            use super::*;
            $(#[test] fn $name() { traced(Mpi::OpenMpi, $variant, &[2, 3]) })*
        }
    };
}

bindings! {
    mpif_h: MpifH;
    use_mpi: UseMpi;
    use_mpi_f08: UseMpiF08;
}

#[test]
fn large_counts() {
    traced(Mpi::Mpich, LargeCounts, &[1]);
}

/// Debian's MPICH cannot start processes.
#[test]
fn processes() {
    traced(Mpi::OpenMpi, Processes, &[2]);
}

/// Symbols of a binding library that a program is linked to, by the beginning of its file name.
fn symbols(executable: &Path, library: &str) -> BTreeSet<String> {
    let output = |program: &str, arguments: &[&str]| {
        process::run(
            Command::new(program).args(arguments),
            Duration::from_secs(60),
        )
        .succeeded()
        .stdout
    };
    let needed = output("ldd", &[&executable.to_string_lossy()]);
    let line = needed
        .lines()
        .find(|line| line.trim_start().starts_with(library));
    let path = line.and_then(|line| line.split_whitespace().nth(2));
    let path = path.unwrap_or_else(|| panic!("no {library}: {needed}"));
    output("nm", &["-D", "--defined-only", path])
        .lines()
        .filter_map(|line| line.split_whitespace().nth(2))
        .map(|name| name.split('@').next().unwrap_or(name).to_owned())
        .collect()
}

/// Beginnings of procedures that the program does not call, and why.
const NOT_CALLED: &[(&str, &str)] = &[
    ("mpi_abort", "ends the program"),
    ("mpi_comm_join", "needs a socket, which Fortran has not"),
    ("mpi_sizeof", "tells the size of a variable, no call of MPI"),
    (
        "mpi_f_sync_reg",
        "does nothing, and has no function of C that could be recorded",
    ),
    (
        "mpi_session_",
        "error handlers of sessions and lengths of their info: C's tests have them",
    ),
    (
        "mpi_delete_error_",
        "of MPICH's own: MPIX_Delete_error_class and so on",
    ),
    ("mpi_status_", "conversions"),
    ("mpi_fortran_", "data: the sentinels of Open MPI"),
];

/// Callbacks that the library brings along.
fn is_callback(name: &str) -> bool {
    name.ends_with("_fn") || name.ends_with("_fn_null")
}

#[test]
fn every_procedure_is_called() {
    let text: String = sources()
        .iter()
        .map(|path| std::fs::read_to_string(path).expect("a source"))
        .collect::<String>()
        .to_lowercase();
    let endings = ["_f08ts_large_", "_f08_large_", "_f08ts_", "_f08_"];
    for (mpi, plain, f08) in [
        (Mpi::Mpich, "libmpichfort", "libmpichfort"),
        (Mpi::OpenMpi, "libmpi_mpifh", "libmpi_usempif08"),
    ] {
        if !mpi.installed() {
            continue;
        }
        let executable = program(mpi, UseMpiF08);
        let mut procedures = BTreeSet::new();
        for symbol in symbols(&executable, plain)
            .into_iter()
            .chain(symbols(&executable, f08))
        {
            let name = endings
                .iter()
                .find_map(|ending| symbol.strip_suffix(ending))
                .or_else(|| symbol.strip_suffix('_'));
            if let Some(name) = name.filter(|n| n.starts_with("mpi_") && !n.ends_with('_')) {
                procedures.insert(name.trim_end_matches("_cptr").to_owned());
            }
        }
        assert!(
            procedures.len() > 350,
            "{mpi:?}: {} procedures",
            procedures.len()
        );
        let missing: Vec<&String> = procedures
            .iter()
            .filter(|name| !is_callback(name))
            .filter(|name| !NOT_CALLED.iter().any(|(begin, _)| name.starts_with(begin)))
            .filter(|name| {
                !text.contains(&format!("({name})")) && !text.contains(&format!("{name}("))
            })
            .collect();
        assert!(missing.is_empty(), "{mpi:?}: nobody calls {missing:?}");
    }
}

/// The exported Fortran names are those of the bindings, in each spelling, and no more.
#[test]
fn fortran_symbols_exist() {
    let both = [
        (Mpi::Mpich, &["libmpichfort"][..]),
        (Mpi::OpenMpi, &["libmpi_mpifh", "libmpi_usempif08"][..]),
    ];
    let mut there = BTreeSet::new();
    for (mpi, libraries) in both {
        if !mpi.installed() {
            return;
        }
        let executable = program(mpi, UseMpiF08);
        for library in libraries {
            there.extend(symbols(&executable, library));
        }
    }
    let exported = tests::exported(&tests::recorder());
    let ours: Vec<&String> = exported
        .iter()
        .filter(|name| tests::is_of_fortran(name))
        .collect();
    assert!(ours.len() > 180, "{}", ours.len());
    let foreign: Vec<&&String> = ours.iter().filter(|name| !there.contains(**name)).collect();
    assert!(foreign.is_empty(), "no binding has {foreign:?}");
}
