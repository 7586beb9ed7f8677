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

/// The implementations with a recorder of their own.
fn recorders() -> impl Iterator<Item = Mpi> {
    let own = |mpi: &Mpi| mpi.recorder() == mpi.suffix();
    Mpi::KNOWN
        .into_iter()
        .filter(move |mpi| own(mpi) && mpi.is_here())
}

/// A library that wants newer symbols than the C library has ends every program that it is preloaded into.
#[test]
fn loads_with_an_old_c_library() {
    for mpi in recorders() {
        let wanted = output("readelf", &["-V", "-W", &mpi.library().to_string_lossy()]);
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
        assert!(newest <= Some((17, 0)), "{mpi:?}: {newest:?}\n{wanted}");
    }
}

/// The recorder must load into any process whatever MPI that has, so it names none itself.
#[test]
fn links_no_mpi() {
    for mpi in recorders() {
        let needed = output("ldd", &[&mpi.library().to_string_lossy()]);
        assert!(needed.contains("libc.so"), "{needed}");
        for forbidden in ["mpi", "pmix", "ucp", "hwloc"] {
            let names = needed
                .lines()
                .filter_map(|line| line.split_whitespace().next());
            let found: Vec<&str> = names.filter(|name| name.contains(forbidden)).collect();
            assert!(found.is_empty(), "{mpi:?}: {found:?}");
        }
    }
}

/// Each declared function under both names, so that no way into the library bypasses the recorder.
#[test]
fn exports_every_declared_function() {
    for mpi in recorders() {
        let exported = exported(&mpi.library());
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
    names.flatten().collect()
}

/// Exported names beyond MPI, its Fortran names, libc's file calls, dlsym and our own API could take the place of a symbol of the program.
#[test]
fn exports_nothing_else() {
    let file_calls = file_calls();
    assert!(file_calls.len() > 60 && file_calls.contains("pwrite64"));
    for mpi in recorders() {
        let others: Vec<String> = exported(&mpi.library())
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
        assert!(others.is_empty(), "{mpi:?}: {others:?}");
    }
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
                    command.env("LD_PRELOAD", mpi.library());
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
        command.env("LD_PRELOAD", mpi.library()).arg(&program);
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
            .env("LD_PRELOAD", mpi.library())
            .env("TRACE_TMPDIR", folder.path());
        command.current_dir(folder.path()).arg("hostname");
        process::run(&mut command, SOON).succeeded();
        assert!(folder.files().is_empty(), "{:?}", folder.files());
    }
}

/// Recorders of two ABIs in front of any program, in both orders: the one that fits traces, the other one is silent.
#[test]
fn recorders_of_two_families_at_once() {
    let here: Vec<Mpi> = Mpi::ALL.into_iter().filter(|mpi| mpi.installed()).collect();
    if here.len() < 2 {
        return;
    }
    let libraries = [Mpi::Mpich.library(), Mpi::OpenMpi.library()];
    for order in [[0, 1], [1, 0]] {
        let preload = order
            .map(|nth| libraries[nth].display().to_string())
            .join(":");
        for &mpi in &here {
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
                ours[0].starts_with("trace: 2 ranks, ")
                    && ours[0].contains(" 0 lost")
                    && !finished.stderr.contains("nothing is traced"),
                "{preload} before {mpi:?}: {}",
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
}

/// A program of another ABI runs on untraced, and says so, rather than with handles cut in two: every recorder in front of
/// every program that it does not fit. `rma` passes handles of most kinds, and would not survive it.
#[test]
fn the_wrong_library_lets_the_program_run() {
    let here: Vec<Mpi> = Mpi::KNOWN.into_iter().filter(|mpi| mpi.is_here()).collect();
    let family = |mpi: Mpi| match mpi {
        Mpi::Abi | Mpi::IntelAbi => "MPI-5 standard",
        _ if mpi.is_mpich() => "MPICH",
        _ => "Open MPI",
    };
    // One recorder of each ABI: its version does not matter here.
    for other in [Mpi::Mpich, Mpi::OpenMpi, Mpi::Abi] {
        for &mpi in here.iter().filter(|mpi| family(**mpi) != family(other)) {
            if !here.contains(&other) {
                tests::skip(&format!("{other:?} in front of {mpi:?}: not installed"));
                continue;
            }
            let program = tests::Program::c("rma").compile(mpi);
            let folder = TestFolder::new("wrong");
            let mut command = mpi.mpiexec(2);
            TraceSetup::new(mpi, 2).settings(&mut command, &folder);
            command
                .arg("env")
                .arg(format!("LD_PRELOAD={}", other.library().display()))
                .arg(&program);
            let finished = process::run(&mut command, SOON).succeeded();
            assert_eq!(finished.stdout, "ok\n", "{}", finished.story());
            let ours: Vec<&str> = finished
                .stderr
                .lines()
                .filter(|line| line.starts_with("trace: "))
                .collect();
            assert_eq!(
                ours.len(),
                1,
                "{other:?} before {mpi:?}: {}",
                finished.story()
            );
            for part in [
                &format!(
                    "{} is built for the {} ABI",
                    other.library().display(),
                    family(other)
                ),
                &format!("runs on one of the {} ABI", family(mpi)),
            ] {
                assert!(ours[0].contains(part), "{part}: {}", ours[0]);
            }
            let left: Vec<_> = std::fs::read_dir(folder.path().join("trace"))
                .expect("own folder")
                .collect();
            assert!(left.is_empty(), "{left:?}");
        }
    }
}
