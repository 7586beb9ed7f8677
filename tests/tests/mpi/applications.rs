//! Real programs out of Debian's archive and PyPI, traced: their own results do not change, and the recorder's count is what
//! its files hold.

use crate::io_advice::io_report;
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tests::tally::CallTally;
use tests::trace::TraceSetup;
use tests::{FinishedCommand, Mpi, TracedRun, compile, matrix, mpi};

const LIMIT: Duration = Duration::from_secs(900);

/// `/usr/lib/<triplet>/...` whatever the machine; prints a line where nothing is there.
fn debian(path: &str) -> Option<PathBuf> {
    let found = ["x86_64-linux-gnu", "aarch64-linux-gnu"]
        .iter()
        .map(|triplet| Path::new("/usr/lib").join(triplet).join(path))
        .find(|path| path.exists());
    if found.is_none() {
        tests::skip(&format!("{path} is not installed (ci/deps)"));
    }
    found
}

/// A traced run in which nothing was lost and each file has every call that the recorder counted.
#[track_caller]
fn complete(run: &TracedRun) {
    assert!(run.finished.status.success(), "{}", run.finished.story());
    let counted = run.counted();
    let total: u64 = counted.values().flat_map(CallTally::values).sum();
    assert!(total > 50, "only {total} calls");
    run.holds(&counted);
}

/// ScaLAPACK's own test of matrix inversion: C and Fortran, many communicators.
#[test]
fn scalapack() {
    for mpi in Mpi::ALL.into_iter().filter(|mpi| mpi.installed()) {
        let Some(program) = debian(&format!("scalapack/{}-tests/xdinv", mpi.suffix())) else {
            return;
        };
        let data = [program.with_file_name("INV.dat")];
        let run = TraceSetup {
            files: &data,
            limit: LIMIT,
            ..TraceSetup::new(mpi, 2)
        }
        .run(&program, &[]);
        complete(&run);
        let passed = run.finished.stdout.matches("PASSED").count();
        assert!(
            passed > 0 && !run.finished.stdout.contains("FAILED"),
            "{}",
            run.finished.story()
        );
    }
}

/// Thermodynamic output of LAMMPS, without the lines that tell times.
fn thermo(finished: &FinishedCommand) -> Vec<&str> {
    finished
        .stdout
        .lines()
        .skip_while(|line| !line.trim_start().starts_with("Step"))
        .take_while(|line| !line.starts_with("Loop time"))
        .collect()
}

#[test]
fn lammps() {
    let (mpi, program) = (Mpi::OpenMpi, Path::new("/usr/bin/lmp"));
    if !mpi.installed() || !mpi::which("lmp") {
        tests::skip("LAMMPS is not installed (ci/deps)");
        return;
    }
    let input = [tests::root().join("tests/programs/in.lj")];
    let mut tracing = TraceSetup {
        files: &input,
        limit: LIMIT,
        ..TraceSetup::new(mpi, 2)
    };
    let arguments = ["-in", "in.lj"];
    let run = tracing.run(program, &arguments);
    complete(&run);
    tracing.preload = false;
    let plain = tracing.run(program, &arguments);
    assert_eq!(thermo(&plain.finished), thermo(&run.finished));
    assert!(thermo(&run.finished).len() >= 5, "{}", run.finished.story());
    let calls: u64 = run.counted().values().flat_map(CallTally::values).sum();
    assert!(calls > 4000, "{calls} calls in 200 steps");
}

/// HPC Challenge at its smallest: 230 000 calls of 36 functions.
#[test]
fn hpcc() {
    let (mpi, program) = (Mpi::OpenMpi, Path::new("/usr/bin/hpcc"));
    if !mpi.installed() || !mpi::which("hpcc") {
        tests::skip("HPCC is not installed (ci/deps)");
        return;
    }
    let input = [tests::root().join("tests/programs/hpccinf.txt")];
    let run = TraceSetup {
        files: &input,
        limit: LIMIT,
        ..TraceSetup::new(mpi, 2)
    }
    .run(program, &[]);
    let report = fs::read_to_string(run.folder.path().join("hpccoutf.txt")).expect("its report");
    assert!(report.contains("Success=1"), "{report}");
    assert!(report.contains("End of HPC Challenge tests."));
    complete(&run);
}

/// A parallel HDF5 program of our own: HDF5 makes the MPI-IO calls.
#[test]
fn hdf5() {
    for mpi in Mpi::ALL.into_iter().filter(|mpi| mpi.installed()) {
        let wrapper = format!("h5pcc.{}", mpi.suffix());
        if !mpi::which(&wrapper) {
            tests::skip(&format!("{wrapper} is not installed (ci/deps)"));
            continue;
        }
        let source = tests::root().join("tests/programs/hdf5.c");
        let folder = tests::target().join("tests-programs").join(mpi.suffix());
        fs::create_dir_all(&folder).expect("a folder below target/");
        let program = folder.join("hdf5");
        let mut command = std::process::Command::new(wrapper);
        command.arg(&source);
        compile::build(command, &program, &[source], false);
        let run = TraceSetup::new(mpi, 2).run(&program, &[]);
        assert_eq!(run.finished.stdout, "ok\n", "{}", run.finished.story());
        complete(&run);
        let report = io_report(&run);
        let libraries = report["libraries"].as_array().expect("a list");
        let is_hdf5 = |name: &Value| {
            let name = name.as_str().expect("text");
            name.starts_with("libhdf5_") || name.starts_with("HDF5 library version: 1.")
        };
        assert!(
            libraries.len() == 1 && is_hdf5(&libraries[0]),
            "{libraries:?}"
        );
        for (rank, counts) in run.counted() {
            for function in ["MPI_File_open", "MPI_File_set_view", "MPI_File_close"] {
                assert!(
                    counts.contains_key(function),
                    "{mpi:?} rank {rank}: {function}"
                );
            }
        }
    }
}

/// MUMPS through Fortran's mpif.h: with Open MPI none of its calls passes an MPI_X symbol, all pass PMPI_X.
#[test]
fn mumps() {
    let mpi = Mpi::OpenMpi;
    let folder = Path::new("/usr/lib/mumps");
    if !mpi.installed() || !folder.join("dsimpletest").exists() {
        tests::skip("MUMPS' test is not installed (ci/deps)");
        return;
    }
    let input = [folder.join("input_simpletest_real")];
    let program = folder.join("dsimpletest");
    let shell = format!("{} < input_simpletest_real", program.display());
    let run = TraceSetup {
        files: &input,
        limit: LIMIT,
        ..TraceSetup::new(mpi, 2)
    }
    .run(Path::new("sh"), &["-c", &shell]);
    assert!(
        run.finished.stdout.contains("Solution is"),
        "{}",
        run.finished.story()
    );
    complete(&run);
}

/// mpi4py's own tests, some 2000 on each rank, which between them use nearly every function: all pass. That as many are skipped as without
/// the recorder takes a run without it, so that is compared for some modules, and for the whole suite with EVERY_MPI.
///
/// `included` are parts of names of test modules, all where it is empty.
fn mpi4py(mpi: Mpi, included: &[&str], excluded: &[&str]) {
    let python = tests::target().join("venv/bin/python");
    let suite = tests::target().join("mpi4py/test/main.py");
    if !mpi.installed() || !python.exists() || !suite.exists() {
        tests::skip("mpi4py is not installed (ci/deps)");
        return;
    }
    // The wheel wants libmpi.so.12, Debian's MPICH calls itself libmpich.so.12.
    let links = tests::TestFolder::new("libmpi");
    if mpi == Mpi::Mpich {
        let library = debian("libmpich.so.12").expect("MPICH is installed");
        std::os::unix::fs::symlink(&library, links.path().join("libmpi.so.12"))
            .expect("own folder");
    }
    let path = match Mpi::ALL.contains(&mpi) {
        true => links.path().to_path_buf(),
        false => mpi.library_of_mpi().parent().expect("in a folder").into(),
    };
    let path = path.to_string_lossy();
    let abi = ["openmpi", "mpich"][usize::from(mpi.is_mpich())];
    // not `sm,pt2pt`: those one-sided components refuse MPI_THREAD_MULTIPLE, which mpi4py asks for
    let variables = [
        ("LD_LIBRARY_PATH", &*path),
        ("MPI4PY_MPIABI", abi),
        // Open MPI 5 has `^ucx` there, without which it looks for networks
        (
            "OMPI_MCA_osc",
            if mpi == Mpi::OpenMpi5 { "^ucx" } else { "" },
        ),
    ];
    let suite = suite.to_string_lossy();
    let mut arguments = vec![&*suite, "-q", "-f"];
    for name in included {
        arguments.extend(["-i", name]);
    }
    // dtlib's tests call MPI_Type_get_envelope 17 million times: gigabytes of trace that show nothing new. Those of util_pool race
    // against the clock in Python's threads, and lose now and then without the recorder as well.
    let left_out = ["spawn", "dynproc", "util_dtlib", "util_pool"];
    for name in left_out.iter().chain(excluded) {
        arguments.extend(["-e", name]);
    }
    let mut tracing = TraceSetup {
        variables: &variables,
        limit: LIMIT,
        ..TraceSetup::new(mpi, 2)
    };
    let run = tracing.run(&python, &arguments);
    assert!(run.finished.status.success(), "{}", run.finished.story());
    let traced = verdicts(&run.finished);
    if !included.is_empty() || std::env::var_os("EVERY_MPI").is_some() {
        tracing.preload = false;
        let plain = tracing.run(&python, &arguments).finished.succeeded();
        assert_eq!(traced, verdicts(&plain), "{}", run.finished.story());
    }
    let passed = traced.iter().filter(|verdict| **verdict == "OK").count();
    assert_eq!(passed, 2, "{}", run.finished.story());
    let counted = run.counted();
    run.holds_calls(&counted);
    if included.is_empty() {
        let is_whole = !excluded.contains(&LONG[0]);
        let least = if is_whole { 300 } else { 100 };
        let functions = counted[&0].len();
        assert!(functions > least, "{functions} functions");
        if !is_whole {
            return;
        }
        let tests = traced
            .iter()
            .find_map(|verdict| verdict.strip_prefix("Ran ")?.split(' ').next());
        let calls: u64 = counted.values().flat_map(CallTally::values).sum();
        let text = format!("{} tests, {calls} calls", tests.unwrap_or_default());
        matrix::note("Python: mpi4py's own tests", mpi, &text);
    }
}

/// `Ran 2001 tests`, `OK`, `(skipped=126)`, of each rank. Python writes these one by one, so that the ranks' may stand in any
/// order.
fn verdicts(finished: &FinishedCommand) -> Vec<&str> {
    let text = &finished.stderr;
    let after = |start, end: &'static str| {
        text.match_indices(start).map(move |(at, _)| {
            let rest = &text[at..];
            &rest[..rest
                .find(end)
                .map_or(rest.len(), |length| length + end.len())]
        })
    };
    let ran: Vec<&str> = after("Ran ", " tests").collect();
    assert_eq!(ran.len(), 2, "{}", finished.story());
    let mut verdicts: Vec<&str> = ran
        .into_iter()
        .chain(after("OK", "OK"))
        .chain(after("(skipped=", ")"))
        .collect();
    verdicts.sort();
    verdicts
}

/// Modules of mpi4py's tests that take more than half of its time.
const LONG: [&str; 4] = ["test_datatype", "test_rma", "test_pack", "test_cco_ngh"];

/// mpi4py's tests, all where EVERY_MPI is set: else every second of the modules that are not long, from the `first` on. `excluded` are modules that are
/// always left out.
fn mpi4py_in_part(mpi: Mpi, first: usize, excluded: &[&str]) {
    let mut excluded: Vec<String> = excluded.iter().map(|&name| name.to_owned()).collect();
    if std::env::var_os("EVERY_MPI").is_none() && mpi.is_here() {
        tests::skip("mpi4py's longest modules, and the others on each MPI: only with EVERY_MPI=1");
        let suite = fs::read_dir(tests::target().join("mpi4py/test"));
        let files = suite.into_iter().flatten().flatten();
        let names = files.map(|file| file.file_name().to_string_lossy().into_owned());
        let is_long = |name: &String| LONG.iter().any(|long| name.starts_with(long));
        let mut short: Vec<String> = names
            .filter(|name| name.starts_with("test_") && !is_long(name))
            .collect();
        short.sort();
        let others = short.iter().skip(1 - first).step_by(2);
        // They are patterns, and names begin with other names.
        excluded.extend(others.map(|name| name.replace('.', "[.]")));
        excluded.extend(LONG.map(str::to_owned));
    }
    let excluded: Vec<&str> = excluded.iter().map(String::as_str).collect();
    mpi4py(mpi, &[], &excluded);
}

#[test]
fn mpi4py_mpich() {
    mpi4py_in_part(Mpi::Mpich, 0, &["util_sync"]);
}

#[test]
fn mpi4py_openmpi() {
    mpi4py_in_part(Mpi::OpenMpi, 1, &[]);
}

/// The newer versions: some modules, all with EVERY_MPI. (Its wheel knows nothing of the standard ABI.) `mpiabi` fails on MPICH 5 and Intel MPI without the recorder as well.
#[test]
fn mpi4py_newer() {
    let whole = Mpi::newer("mpi4py's whole suite");
    for mpi in [Mpi::Mpich5, Mpi::OpenMpi5, Mpi::Intel] {
        if whole.contains(&mpi) {
            mpi4py(mpi, &[], &["mpiabi"]);
        } else if std::env::var_os("EVERY_MPI").is_none() && mpi.installed() {
            mpi4py(mpi, &["test_p2p_obj", "test_status", "test_request"], &[]);
        }
    }
}
