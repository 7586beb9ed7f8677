//! The library file itself: what it needs, what it exports, and that it leaves programs without MPI alone.

use std::collections::BTreeSet;
use std::process::Command;
use std::time::Duration;
use tests::trace::TraceSetup;
use tests::{Mpi, TestFolder, compile, exported, is_of_fortran, process};

const SOON: Duration = Duration::from_secs(60);

fn output(program: &str, arguments: &[&str]) -> String {
    process::run(Command::new(program).args(arguments), SOON)
        .succeeded()
        .stdout
}

/// A library that wants newer symbols than the C library has ends every program that it is preloaded into.
#[test]
fn loads_with_an_old_c_library() {
    let wanted = output(
        "readelf",
        &["-V", "-W", &tests::recorder().to_string_lossy()],
    );
    let needs = wanted.split("Version needs section").nth(1);
    let versions: Vec<(u32, u32)> = needs
        .expect("it needs the C library")
        .split("GLIBC_2.")
        .skip(1)
        .map(|rest| {
            let mut numbers = rest
                .split(|c: char| !c.is_ascii_digit() && c != '.')
                .next()
                .unwrap_or("")
                .split('.');
            let mut next = || numbers.next().and_then(|n| n.parse().ok()).unwrap_or(0);
            (next(), next())
        })
        .collect();
    assert!(!versions.is_empty(), "{wanted}");
    let newest = versions.into_iter().max();
    assert!(newest <= Some((17, 0)), "{newest:?}\n{wanted}");
}

/// The recorder must load into any process whatever MPI that has, so it names none itself.
#[test]
fn links_no_mpi() {
    let needed = output("ldd", &[&tests::recorder().to_string_lossy()]);
    assert!(needed.contains("libc.so"), "{needed}");
    for forbidden in ["mpi", "pmix", "ucp", "hwloc"] {
        let names = needed
            .lines()
            .filter_map(|line| line.split_whitespace().next());
        let found: Vec<&str> = names.filter(|name| name.contains(forbidden)).collect();
        assert!(found.is_empty(), "{found:?}");
    }
}

/// Each declared function under both names, so that no way into the library bypasses the recorder.
#[test]
fn exports_every_declared_function() {
    let exported = exported(&tests::recorder());
    for mpi in Mpi::KNOWN.into_iter().filter(|mpi| mpi.is_here()) {
        let declared = compile::declared(mpi);
        assert!(
            declared.len() > 400,
            "{mpi:?}: {} functions in mpi.h",
            declared.len()
        );
        let missing: Vec<String> = declared
            .iter()
            .flat_map(|name| [name.clone(), format!("P{name}")])
            .filter(|name| !exported.contains(name))
            .collect();
        assert!(missing.is_empty(), "{mpi:?}: {missing:?}");
        for name in ["trace_callid", "trace_on", "trace_off"] {
            assert!(exported.contains(name), "{mpi:?}: {name}");
        }
        let foreign: Vec<&String> = exported
            .iter()
            .filter(|name| name.starts_with("QMPI"))
            .collect();
        assert!(foreign.is_empty(), "{mpi:?}: {foreign:?}");
    }
}

/// The functions of libc that file calls are followed by, as their table names them.
fn file_calls() -> BTreeSet<String> {
    let table = include_str!("../../../src/posix/exports.rs");
    let names = table.lines().filter_map(|line| {
        let line = line.trim_start();
        let line = line
            .strip_prefix("inside [")
            .or(line.strip_prefix("always ["))?;
        Some(
            line.split_once(']')?
                .0
                .split_whitespace()
                .map(str::to_owned),
        )
    });
    // These take any number of arguments and have no line in the table.
    let printing = ["dprintf", "vdprintf", "__dprintf_chk", "__vdprintf_chk"];
    names.flatten().chain(printing.map(str::to_owned)).collect()
}

/// Exported names beyond MPI, its Fortran names, libc's file calls, dlsym and our own API could take the place of a symbol of the program.
#[test]
fn exports_nothing_else() {
    let file_calls = file_calls();
    assert!(file_calls.len() > 60 && file_calls.contains("pwrite64"));
    let others: Vec<String> = exported(&tests::recorder())
        .into_iter()
        .filter(|name| {
            ![
                "MPI_",
                "PMPI_",
                "MPIX_",
                "PMPIX_",
                "trace_",
                "TRACE_", // Fortran's spellings of those
                "libtrace_",
                "libdumpi_",
                "MPE_",
                "mpe_", // Fortran's spellings
                "CLOG_",
                "__cyg_profile_func_",
            ]
            .iter()
            .any(|p| name.starts_with(p))
                && !file_calls.contains(name)
                && !is_of_fortran(name)
                && ![
                    "dlsym",
                    "longjmp",
                    "_longjmp",
                    "siglongjmp",
                    "__longjmp_chk",
                ]
                .contains(&name.as_str())
        })
        .collect();
    assert!(others.is_empty(), "{others:?}");
}

/// Preloaded into programs that make no MPI call: output unchanged, no file, no message.
#[test]
fn does_nothing_without_mpi_calls() {
    let launcher = |mpi: Mpi| mpi.mpiexec(1).get_program().to_string_lossy().into_owned();
    for mpi in Mpi::ALL.into_iter().filter(|mpi| mpi.installed()) {
        let programs: [(&str, &[&str]); 6] = [
            ("bash", &["-c", "echo hello; exit 7"]),
            ("python3", &["-c", "import os; print(os.getcwd()[:1])"]),
            ("ls", &["/"]),
            ("env", &["true"]),
            ("cat", &["/proc/self/comm"]),
            (&launcher(mpi), &["--version"]),
        ];
        for (program, arguments) in programs {
            let folder = TestFolder::new(program);
            let run = |preload: bool| {
                let mut command = Command::new(program);
                mpi.environment(&mut command);
                // The variables of a rank, which such a program inherits from one.
                command
                    .env("PMI_RANK", "0")
                    .env("OMPI_COMM_WORLD_RANK", "0");
                command
                    .env("TRACE_TMPDIR", folder.path())
                    .current_dir(folder.path())
                    .args(arguments);
                if preload {
                    command.env("LD_PRELOAD", tests::recorder());
                }
                process::run(&mut command, SOON)
            };
            let (plain, preloaded) = (run(false), run(true));
            assert_eq!(plain.status, preloaded.status, "{}", preloaded.story());
            assert_eq!(plain.stdout, preloaded.stdout, "{}", preloaded.story());
            assert_eq!(plain.stderr, preloaded.stderr, "{}", preloaded.story());
            assert!(folder.files().is_empty(), "{program}: {:?}", folder.files());
        }
    }
}

/// `LD_PRELOAD=... mpiexec` loads the recorder into the launcher and its helpers as well; only the ranks make a trace.
#[test]
fn launchers_may_be_preloaded_too() {
    for mpi in Mpi::ALL.into_iter().filter(|mpi| mpi.installed()) {
        let program = tests::Program::c("groups").compile(mpi);
        let folder = TestFolder::new("launcher");
        let mut command = mpi.mpiexec(2);
        TraceSetup::new(mpi, 2).settings(&mut command, &folder);
        command.env("LD_PRELOAD", tests::recorder()).arg(&program);
        let finished = process::run(&mut command, SOON).succeeded();
        assert_eq!(finished.stdout, "ok\n", "{}", finished.story());
        let run = tests::TracedRun {
            folder,
            finished,
            ranks: 2,
        };
        assert_eq!(run.counted(), run.made());
        assert_eq!(run.files("bin").len(), 2);
        // a launch of something without MPI
        let folder = TestFolder::new("launcher");
        let mut command = mpi.mpiexec(2);
        command
            .env("LD_PRELOAD", tests::recorder())
            .env("TRACE_TMPDIR", folder.path());
        command.current_dir(folder.path()).arg("hostname");
        process::run(&mut command, SOON).succeeded();
        assert!(folder.files().is_empty(), "{:?}", folder.files());
    }
}

/// Two recorders in front of any program: one of them traces, the other one is silent.
#[test]
fn two_recorders_at_once() {
    let copies = TestFolder::new("copies");
    let copy = copies.path().join("libother.so");
    std::fs::copy(tests::recorder(), &copy).expect("own folder");
    let preload = format!("{}:{}", tests::recorder().display(), copy.display());
    for mpi in Mpi::ALL.into_iter().filter(|mpi| mpi.installed()) {
        let mut tracing = TraceSetup::new(mpi, 2);
        tracing.preload = false;
        let program = tests::Program::c("rma").compile(mpi);
        let folder = TestFolder::new("both");
        let mut command = mpi.mpiexec(2);
        tracing.settings(&mut command, &folder);
        command
            .arg("env")
            .arg(format!("LD_PRELOAD={preload}"))
            .arg(&program);
        let finished = process::run(&mut command, SOON).succeeded();
        assert_eq!(finished.stdout, "ok\n", "{}", finished.story());
        let ours = finished
            .stderr
            .lines()
            .filter(|line| line.starts_with("trace: "));
        let ours: Vec<&str> = ours.collect();
        // Others may follow the closing line: that most calls were polls.
        assert!(
            ours[0].starts_with("trace: 2 ranks, ") && ours[0].contains(" 0 lost"),
            "{mpi:?}: {}",
            finished.story()
        );
    }
    // Without an MPI: there is none, and it is said why.
    let mut python = Command::new("python3");
    python.env("LD_PRELOAD", &preload).args([
        "-c",
        "import ctypes; print(hasattr(ctypes.CDLL(None), 'MPI_Init'))",
    ]);
    let finished = process::run(&mut python, SOON).succeeded();
    assert_eq!(finished.stdout, "False\n", "{}", finished.story());
}

/// One file of the recorder traces programs of every MPI that is here. `rma` passes handles of most kinds.
#[test]
fn one_library_for_every_mpi() {
    let here: Vec<Mpi> = Mpi::KNOWN.into_iter().filter(|mpi| mpi.is_here()).collect();
    assert!(!here.is_empty());
    for mpi in here {
        let program = tests::Program::c("rma").compile(mpi);
        let run = TraceSetup::new(mpi, 2).run(&program, &[]);
        let story = run.finished.story();
        assert!(run.finished.status.success(), "{mpi:?}: {story}");
        assert_eq!(run.finished.stdout, "ok\n", "{mpi:?}: {story}");
        assert_eq!(run.counted(), run.made(), "{mpi:?}");
    }
}

/// A program that asks by weak references which functions the MPI library has gets the answer that it would get without the recorder.
#[test]
fn weak_references_are_answered_as_without_the_recorder() {
    for mpi in Mpi::KNOWN.into_iter().filter(|mpi| mpi.is_here()) {
        let program = tests::Program::c("weak").compile(mpi);
        let printed = |preload: bool| {
            let setup = TraceSetup {
                preload,
                ..TraceSetup::new(mpi, 1)
            };
            let finished = setup.run(&program, &[]).finished;
            assert!(finished.status.success(), "{}", finished.story());
            finished.stdout
        };
        let without = printed(false);
        assert!(without.contains("MPI_Comm_rank"), "{mpi:?}: {without}");
        assert_eq!(printed(true), without, "{mpi:?}");
    }
}
