//! Beginnings and ends: recording switched off, runs that die, many ranks, started processes, singletons.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;
use test_support::program_file;
use tests::trace::{LIMIT, TraceSetup};
use tests::{Mpi, Program, TestFolder, TracedRun, blocks, mpitrace, process, traced};

fn installed() -> impl Iterator<Item = Mpi> {
    Mpi::ALL.into_iter().filter(|mpi| mpi.installed())
}

/// MPI_Pcontrol(0) and (1) switch; the calls themselves count as recorded or not, the barriers between are not.
#[test]
fn pcontrol_switches_recording() {
    for mpi in installed() {
        let run = traced(mpi, 2, &Program::c("pcontrol").compile(mpi));
        assert_eq!(run.finished.stdout, "ok\n", "{}", run.finished.story());
        for (rank, counts) in run.in_dumpi() {
            assert_eq!(counts.get("MPI_Barrier"), Some(&5), "{mpi:?} rank {rank}");
            assert_eq!(counts.get("MPI_Finalize"), Some(&1), "{mpi:?} rank {rank}");
        }
    }
}

/// A run that did not reach MPI_Finalize leaves its blocks; each recorded exchange of each rank is in them.
fn killed(way: &str, expect_success: bool) {
    for mpi in installed() {
        let program = Program::c("killed").compile(mpi);
        let run = TraceSetup::new(mpi, 2).run(&program, &[way]);
        assert_eq!(
            run.finished.status.success(),
            expect_success,
            "{}",
            run.finished.story()
        );
        let files = run.files("blocks");
        assert_eq!(
            files.len(),
            2,
            "{mpi:?} {way}: {files:?}\n{}",
            run.finished.story()
        );
        let mut ranks = Vec::new();
        for file in &files {
            let recorded = blocks::read(file);
            ranks.push(recorded.info.rank);
            let expected = [
                ("MPI_Init", 1),
                ("MPI_Comm_rank", 1),
                ("MPI_Comm_size", 1),
                ("MPI_Sendrecv", 100),
            ];
            for (function, count) in expected {
                assert_eq!(
                    recorded.calls.get(function),
                    Some(&count),
                    "{mpi:?} {way}: {function}"
                );
            }
            assert!(
                recorded.calls["MPI_Barrier"] >= 1,
                "{mpi:?} {way}: {recorded:?}"
            );
            assert_eq!((recorded.info.size, recorded.info.lost), (2, 0));
        }
        ranks.sort();
        assert_eq!(ranks, [0, 1], "{mpi:?} {way}");
    }
}

#[test]
fn after_abort_the_blocks_are_left() {
    killed("abort", false);
}

#[test]
fn after_a_fatal_error_the_blocks_are_left() {
    killed("error", false);
}

#[test]
fn after_a_signal_the_blocks_are_left() {
    killed("segv", false);
    killed("kill", false);
}

/// Open MPI calls a run that leaves without MPI_Finalize failed, MPICH 4.0 does so for `_exit` as well.
#[test]
fn after_exit_without_finalize_the_blocks_are_left_and_named() {
    for mpi in installed() {
        let program = Program::c("killed").compile(mpi);
        for way in ["exit", "quick"] {
            let run = TraceSetup::new(mpi, 2).run(&program, &[way]);
            assert_eq!(
                run.files("blocks").len(),
                2,
                "{mpi:?} {way}: {}",
                run.finished.story()
            );
            if way == "exit" {
                assert!(
                    run.finished.stderr.contains(".blocks"),
                    "{mpi:?}: {}",
                    run.finished.story()
                );
            }
        }
    }
}

/// quick_exit runs other handlers than exit, also in a handler of a signal, where nothing may be allocated.
#[test]
fn quick_exit_is_told_apart_from_a_death() {
    for mpi in installed() {
        let program = Program::c("killed").compile(mpi);
        for way in ["quick_exit", "handler"] {
            let mut setup = TraceSetup::new(mpi, 2);
            // The launcher of MPICH now and then has a code of its own, and it may end the other rank when the first one has left.
            let own_codes = r#""$0" "$1"; echo $? >"$TRACE_DIR/$$.code""#;
            let program = program.to_str().expect("text");
            let arguments = ["-c", own_codes, program, way];
            let mut run = |preload| {
                setup.preload = preload;
                setup.run(Path::new("/bin/sh"), &arguments)
            };
            let (untraced, run) = (run(false), run(true));
            let story = run.finished.story();
            let codes = |run: &TracedRun| -> BTreeSet<String> {
                let files = run.files("code").into_iter();
                files
                    .map(|file| fs::read_to_string(file).expect("own folder"))
                    .collect()
            };
            assert!(codes(&untraced).contains("7\n"), "{mpi:?} {way}");
            assert!(codes(&run).contains("7\n"), "{mpi:?} {way}: {story}");
            assert!(
                story.contains("calls quick_exit without MPI_Finalize"),
                "{mpi:?} {way}: {story}"
            );
            let files = run.files("blocks");
            assert_eq!(files.len(), 2, "{mpi:?} {way}: {story}");
            let mut recover = Command::new(mpitrace());
            recover
                .args(["recover", "--dir"])
                .arg(run.folder.path().join("recovered"));
            let told = process::run(recover.args(&files), LIMIT)
                .succeeded()
                .story();
            // The launcher may kill the other rank when the first one has left.
            assert!(
                told.contains("exited without MPI_Finalize"),
                "{mpi:?} {way}: {told}"
            );
        }
    }
}

/// Nobody calls what has been unloaded.
#[test]
fn quick_exit_after_the_recorder_is_unloaded() {
    for mpi in installed() {
        let mut program = Command::new(Program::c("unloaded").compile(mpi));
        let finished = process::run(program.arg(tests::recorder()), LIMIT);
        assert_eq!(finished.stdout, "gone\n", "{}", finished.story());
        assert_eq!(finished.status.code(), Some(5), "{}", finished.story());
    }
}

/// The merge with more ranks than cores, a power of two and not.
#[test]
fn many_ranks() {
    for (mpi, sizes) in [(Mpi::Mpich, vec![7]), (Mpi::OpenMpi, vec![7, 13, 32])] {
        if !mpi.installed() {
            continue;
        }
        let program = Program::c("silent").compile(mpi);
        for ranks in sizes {
            let run = TraceSetup {
                limit: 2 * LIMIT,
                ..TraceSetup::new(mpi, ranks)
            }
            .run(&program, &[]);
            assert_eq!(run.finished.stdout, "ok\n", "{}", run.finished.story());
            assert_eq!(run.counted(), run.made(), "{mpi:?} {ranks}");
            assert_eq!(run.files("bin").len(), ranks);
            run.file("clog2");
            run.file("slog2");
        }
    }
}

/// Without a launcher: a world of one.
#[test]
fn singleton() {
    for mpi in installed() {
        let program = Program::c("p2p").compile(mpi);
        let folder = TestFolder::new("singleton");
        let mut command = Command::new(&program);
        mpi.environment(&mut command);
        TraceSetup::new(mpi, 1).settings(&mut command, &folder);
        command.env("LD_PRELOAD", tests::recorder());
        let finished = process::run(&mut command, LIMIT).succeeded();
        assert_eq!(finished.stdout, "ok\n");
        let run = TracedRun {
            folder,
            finished,
            ranks: 1,
        };
        assert_eq!(run.files("bin").len(), 1, "{}", run.finished.story());
        run.file("slog2");
    }
}

/// Worlds that a traced run starts and connects to: no world writes over the files of another. Debian's MPICH cannot start
/// processes.
#[test]
fn started_and_connected_processes() {
    let mpi = Mpi::OpenMpi;
    if !mpi.installed() {
        return;
    }
    let program = Program::c("dynamic").compile(mpi);
    for ranks in [1, 2] {
        let folder = TestFolder::new("dynamic");
        let mut command = mpi.mpiexec(ranks);
        TraceSetup::new(mpi, ranks).settings(&mut command, &folder);
        // started processes get the variables of `-x`, not those of `env`
        command
            .arg("-x")
            .arg(format!("LD_PRELOAD={}", tests::recorder().display()))
            .arg(&program);
        let Some(finished) = process::run_starting(&mut command) else {
            continue;
        };
        let finished = finished.succeeded();
        assert_eq!(finished.stdout, "ok\n", "{}", finished.story());
        let run = TracedRun {
            folder,
            finished,
            ranks,
        };
        // this world and the two of two ranks each that it started
        let story = run.finished.story();
        assert_eq!(
            run.files("meta").len(),
            3,
            "{:?}\n{story}",
            run.files("meta")
        );
        assert_eq!(
            run.files("bin").len(),
            ranks + 4,
            "{:?}\n{story}",
            run.files("bin")
        );
        assert_eq!(
            run.files("slog2").len(),
            3,
            "{:?}\n{story}",
            run.files("slog2")
        );
        assert_eq!(
            run.files("clog2").len(),
            3,
            "{:?}\n{story}",
            run.files("clog2")
        );
    }
}

/// A second run into the same folder with its own name leaves the first one's files alone.
#[test]
fn outputs_are_named_as_asked() {
    for mpi in installed() {
        let program = Program::c("groups").compile(mpi);
        let mut tracing = TraceSetup::new(mpi, 2);
        let variables = [("TRACE_OUTPUT", "named")];
        tracing.variables = &variables;
        let run = tracing.run(&program, &[]);
        let names: Vec<_> = run
            .files("slog2")
            .iter()
            .chain(&run.files("clog2"))
            .map(|path| path.file_name().map(ToOwned::to_owned))
            .collect();
        assert_eq!(
            names,
            [Some("named.slog2".into()), Some("named.clog2".into())],
            "{}",
            run.finished.story()
        );
    }
}

/// `mpitrace run` on a launcher, or none, with this program.
fn run_by_mpitrace(
    mpi: Mpi,
    variables: &[(&str, &str)],
    options: &[&str],
    launcher: &[&str],
    program: &[&str],
) -> TracedRun {
    let folder = TestFolder::new("mpitrace-run");
    let mut command = Command::new(mpitrace());
    mpi.environment(&mut command);
    TraceSetup::new(mpi, 2).settings(&mut command, &folder);
    command
        .envs(variables.iter().copied())
        .arg("run")
        .args(options)
        .arg("--")
        .args(launcher)
        .args(program);
    let finished = process::run(&mut command, Duration::from_secs(60)).succeeded();
    TracedRun {
        folder,
        finished,
        ranks: 2,
    }
}

/// The words of a command.
fn words(command: &Command) -> Vec<String> {
    let all = std::iter::once(command.get_program()).chain(command.get_args());
    all.map(|word| word.to_string_lossy().into_owned())
        .collect()
}

/// `mpitrace run` finds the library, says so, and preloads the ranks alone: for each implementation, by its own
/// launcher and by a script as sites put before it.
#[test]
fn mpitrace_run() {
    for mpi in Mpi::KNOWN.into_iter().filter(|mpi| mpi.is_here()) {
        let program = Program::c("groups").compile(mpi);
        let program = program.to_string_lossy();
        let launcher = words(&mpi.mpiexec(2));
        let launcher: Vec<&str> = launcher.iter().map(String::as_str).collect();
        let run = run_by_mpitrace(mpi, &[], &[], &launcher, &[&program]);
        assert_eq!(run.finished.stdout, "ok\n", "{}", run.finished.story());
        assert_eq!(run.counted(), run.made());
        assert_eq!(run.files("bin").len(), 2);
        let printed = format!("mpitrace: preloading {}", tests::recorder().display());
        let printed = run
            .finished
            .stderr
            .lines()
            .filter(|line| line.starts_with(&printed))
            .count();
        assert_eq!(printed, 1, "{mpi:?}: {}", run.finished.story());
    }
}

/// A launcher that `mpitrace` knows by its name only, srun: here a script that hands the command on to mpiexec.
#[test]
fn mpitrace_run_under_another_launcher() {
    for mpi in [Mpi::Mpich, Mpi::OpenMpi, Mpi::Abi]
        .into_iter()
        .filter(|mpi| mpi.is_here())
    {
        let folder = TestFolder::new("srun");
        let srun = folder.path().join("srun");
        let launcher = words(&mpi.mpiexec(2)).join(" ");
        program_file::write_script(&srun, &format!("shift 2\nexec {launcher} \"$@\""));
        let program = Program::c("groups").compile(mpi);
        let launcher = [&*srun.to_string_lossy(), "-n", "2"];
        let run = run_by_mpitrace(
            mpi,
            &[],
            &["--quiet"],
            &launcher,
            &[&program.to_string_lossy()],
        );
        assert_eq!(run.finished.stdout, "ok\n", "{}", run.finished.story());
        assert_eq!(run.counted(), run.made(), "{mpi:?}");
        assert!(
            !run.finished.stderr.contains("mpitrace:"),
            "{}",
            run.finished.story()
        );
    }
}

/// Python, in which nothing can be seen: the launcher tells the MPI, and mpi4py finds it although libtrace is there first.
#[test]
fn mpitrace_run_of_python() {
    let python = tests::target().join("venv/bin/python");
    if !python.exists() {
        return tests::skip("mpi4py is not installed (ci/deps)");
    }
    let code = "from mpi4py import MPI; w = MPI.COMM_WORLD; assert w.allreduce(1) == 2; w.Barrier(); print(end=['ok\\n', ''][w.rank])";
    // The wheel wants libmpi.so.12, Debian's MPICH calls itself libmpich.so.12.
    let links = TestFolder::new("libmpi");
    let debian = ["x86_64-linux-gnu", "aarch64-linux-gnu"]
        .map(|triplet| format!("/usr/lib/{triplet}/libmpich.so.12"))
        .into_iter()
        .find(|path| std::path::Path::new(path).exists());
    if let Some(library) = debian {
        let link = links.path().join("libmpi.so.12");
        std::os::unix::fs::symlink(library, link).expect("own folder");
    }
    let links = links.path().to_string_lossy().into_owned();
    // It knows nothing of the standard ABI yet.
    let others = [Mpi::Mpich5, Mpi::OpenMpi5, Mpi::Intel];
    let all = Mpi::ALL.into_iter().chain(others);
    for mpi in all.filter(|mpi| mpi.is_here()) {
        let launcher = words(&mpi.mpiexec(2));
        let launcher: Vec<&str> = launcher.iter().map(String::as_str).collect();
        // Left to itself it takes the first of those that are installed.
        let path = match Mpi::ALL.contains(&mpi) {
            true => links.clone(),
            false => {
                let library = mpi.library_of_mpi();
                let folder = library.parent().expect("in a folder");
                folder.to_string_lossy().into_owned()
            }
        };
        let variables = [
            ("LD_LIBRARY_PATH", path.as_str()),
            (
                "MPI4PY_MPIABI",
                ["openmpi", "mpich"][usize::from(mpi.is_mpich())],
            ),
        ];
        let run = run_by_mpitrace(
            mpi,
            &variables,
            &[],
            &launcher,
            &[&python.to_string_lossy(), "-c", code],
        );
        assert_eq!(
            run.finished.stdout,
            "ok\n",
            "{mpi:?}: {}",
            run.finished.story()
        );
        for (rank, counts) in run.counted() {
            assert_eq!(
                counts.get("MPI_Barrier"),
                Some(&1),
                "{mpi:?}, rank {rank}: {counts:?}"
            );
            // The sum of Python objects is made of messages.
            let messages = ["MPI_Bcast", "MPI_Bcast_c"].map(|name| counts.contains_key(name));
            assert!(messages.contains(&true), "{mpi:?}, rank {rank}: {counts:?}");
        }
    }
}
