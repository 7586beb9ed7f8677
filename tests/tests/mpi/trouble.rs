//! What must not happen to the program when something is wrong around the recorder, and what is said then.

use std::time::Duration;
use tests::trace::TraceSetup;
use tests::{
    Mpi, Program, TestFolder, TracedRun, beside_each_other, blocks, compile, process, traced,
};

fn installed() -> impl Iterator<Item = Mpi> {
    Mpi::ALL.into_iter().filter(|mpi| mpi.installed())
}

fn with(mpi: Mpi, program: &'static str, variables: &[(&str, &str)]) -> TracedRun {
    let mut tracing = TraceSetup::new(mpi, 2);
    tracing.variables = variables;
    let run = tracing.run(&Program::c(program).compile(mpi), &[]);
    assert!(run.finished.status.success(), "{}", run.finished.story());
    assert_eq!(run.finished.stdout, "ok\n", "{}", run.finished.story());
    run
}

#[test]
fn callids_and_switches_of_trace_h() {
    for mpi in installed() {
        let run = traced(mpi, 2, &Program::c("interface").compile(mpi));
        assert_eq!(run.finished.stdout, "ok\n", "{}", run.finished.story());
        // The message on the communicator and of the datatype that were made while recording was off.
        let text = run.print(&run.file("clog2"));
        assert!(
            text.lines()
                .any(|l| l.contains("et=send") && l.contains("tag=5 sz=8")),
            "{mpi:?}\n{text}"
        );
        let counts = &run.in_dumpi()[&0];
        assert_eq!(counts.get("MPI_Comm_dup"), None, "not recorded while off");
        assert_eq!(counts.get("MPI_Send"), Some(&1));
    }
}

#[test]
fn only_successful_tests_where_asked() {
    for mpi in installed() {
        let every = with(mpi, "nonblocking", &[]);
        let some = with(mpi, "nonblocking", &[("TRACE_MPI_DEFAULT", "success")]);
        let sum = |run: &TracedRun, name: &str| -> u64 {
            run.in_dumpi().values().filter_map(|c| c.get(name)).sum()
        };
        assert_eq!(sum(&every, "MPI_Isend"), sum(&some, "MPI_Isend"));
        // Each test of the program ends with one that succeeds; how many fail before depends on the weather.
        assert!(sum(&some, "MPI_Test") <= sum(&every, "MPI_Test"));
        assert!(sum(&some, "MPI_Test") > 0);
    }
}

#[test]
fn a_block_file_that_may_not_grow() {
    for mpi in installed() {
        let run = with(mpi, "many_calls", &[("TRACE_DISK_LIMIT", "1M")]);
        let (calls, lost) = run.closing_numbers();
        assert!(lost > 0, "{}", run.finished.story());
        let written: u64 = run.in_dumpi().values().flat_map(|c| c.values()).sum();
        assert_eq!(calls, written, "what is in the blocks is in the files");
        // The same run's own count, made without the recorder.
        let made: u64 = run.made().values().flat_map(|c| c.values()).sum();
        assert_eq!(calls + lost, made, "{}", run.finished.story());
        assert!(run.finished.stderr.contains("could not be recorded"));
    }
}

#[test]
fn no_place_for_blocks() {
    for mpi in installed() {
        let run = with(mpi, "groups", &[("TRACE_TMPDIR", "/nonexistent/directory")]);
        assert!(
            run.finished.stderr.contains("/nonexistent/directory")
                && run
                    .finished
                    .stderr
                    .contains("2 of 2 ranks recorded nothing"),
            "{}",
            run.finished.story()
        );
    }
}

#[test]
fn no_place_for_files() {
    for mpi in installed() {
        let run = with(mpi, "groups", &[("TRACE_DIR", "/dev/null/below")]);
        assert!(
            run.finished.stderr.contains("/dev/null/below"),
            "{}",
            run.finished.story()
        );
        // Nothing is lost: the blocks are still there.
        let files = run.files("blocks");
        assert_eq!(files.len(), 2, "{}", run.finished.story());
        assert!(blocks::read(&files[0]).calls.values().sum::<u64>() > 0);
    }
}

/// A file system of a few megabytes, or `None` where none can be mounted.
struct Small(std::path::PathBuf);

impl Small {
    fn mount(folder: &std::path::Path, size: &str) -> Option<Small> {
        let path = folder.join("small");
        std::fs::create_dir(&path).expect("own folder");
        let option = format!("size={size}");
        let mounted = std::process::Command::new("mount")
            .args(["-t", "tmpfs", "-o", &option, "tmpfs"])
            .arg(&path)
            .output();
        mounted
            .is_ok_and(|o| o.status.success())
            .then_some(Small(path))
    }
}

impl Drop for Small {
    fn drop(&mut self) {
        drop(std::process::Command::new("umount").arg(&self.0).status());
    }
}

/// Blocks fit, and what is drawn of operations does not: the trace is made without them, and that is said once.
#[test]
fn no_room_to_sort_what_is_drawn() {
    for mpi in installed() {
        let folder = TestFolder::new(&format!("{}-small", mpi.suffix()));
        let Some(small) = Small::mount(folder.path(), "24m") else {
            tests::skip("no file system can be mounted");
            return;
        };
        let mut tracing = TraceSetup::new(mpi, 2);
        tracing.limit = Duration::from_secs(300);
        let tmpdir = small.0.to_str().expect("a name");
        let variables = [("TRACE_TMPDIR", tmpdir)];
        tracing.variables = &variables;
        let program = Program::c("accesses").compile(mpi);
        let run = tracing.run(&program, &["data", "45000"]);
        assert!(run.finished.status.success(), "{}", run.finished.story());
        assert_eq!(run.finished.stdout, "ok\n", "{}", run.finished.story());
        let printed = run
            .finished
            .stderr
            .matches("operations below MPI are not in the trace");
        assert_eq!(printed.count(), 1, "{}", run.finished.story());
        let contents = tests::contents::slog2(&run.file("slog2"));
        assert!(contents.operations.is_empty());
        assert_eq!(contents.states["MPI_File_write_at"], 2 * 45001);
        // Their calls are still in the blocks.
        let left = std::fs::read_dir(&small.0).expect("mounted").count();
        assert!(left >= 2, "{}", run.finished.story());
    }
}

#[test]
fn bad_settings_are_said_and_passed_over() {
    for mpi in installed() {
        let run = with(
            mpi,
            "groups",
            &[("TRACE_TIMESTAMP", "sometimes"), ("TRACE_OUTPUTS", "slog2")],
        );
        assert!(
            run.finished.stderr.contains("sometimes") && run.finished.stderr.contains("full"),
            "{}",
            run.finished.story()
        );
        assert_eq!(run.files("slog2").len(), 1);
        assert_eq!(run.files("clog2").len() + run.files("bin").len(), 0);
    }
}

#[test]
fn a_rank_that_comes_too_late_costs_the_merge_and_nothing_else() {
    beside_each_other(installed(), |mpi| {
        let run = with(mpi, "late", &[("TRACE_DEADLINE", "1")]);
        let story = run.finished.story();
        let given_up = run.finished.stderr.contains("within the deadline");
        assert!(given_up, "{story}");
        let files = run.files("blocks");
        assert_eq!(files.len(), 2, "{story}");
        let calls = blocks::read(&files[0]).calls;
        assert_eq!(calls.get("MPI_Barrier"), Some(&1), "{calls:?}");
    });
}

/// A library that stops a rank in the merge.
const STOPS: Program = Program {
    options: &["-shared", "-fPIC", "-ldl"],
    ..Program::c("stops_in_merge")
};

/// A rank that stops when all have come, until the others have given up: their MPI_Finalize and its own go on with the communicator that
/// was begun.
#[test]
fn a_rank_that_stops_while_the_ranks_meet_ends_well() {
    for mpi in installed() {
        let behind = [STOPS.compile(mpi)];
        let program = Program::c("partly").compile(mpi);
        let stops = |at| {
            let variables = [("TRACE_DEADLINE", "1"), ("STOP_AT", at)];
            let mut tracing = TraceSetup::new(mpi, 2);
            tracing.variables = &variables;
            tracing.behind = &behind;
            let run = tracing.run(&program, &[]);
            let story = run.finished.story();
            assert!(run.finished.status.success(), "{at}: {story}");
            // UCX may complain there of a message that a rank sent before it gave up.
            let lines = run.finished.stdout.lines();
            let lines: Vec<&str> = lines.filter(|line| !line.contains("UCX  WARN")).collect();
            assert_eq!(lines, ["ok"], "{at}: {story}");
            let given_up = run.finished.stderr.contains("within the deadline");
            assert!(given_up, "{at}: {story}");
            assert_eq!(run.files("blocks").len(), 2, "{at}: {story}");
        };
        // Two runs at a time: a rank of each is stopped.
        for (one, other) in [("0", "1"), ("2", "5")] {
            std::thread::scope(|scope| {
                scope.spawn(|| stops(one));
                stops(other);
            });
        }
    }
}

/// A rank that stops in the midst of a parallel merge, until the others have given up and are in MPI_Finalize: it hears of it before it sends
/// what they do not take any more, and for which MPI_Finalize would wait.
#[test]
fn a_rank_that_stops_while_it_sends_ends_well() {
    // A million calls of each rank, most of them messages to itself.
    let arguments = ["nothing", "2", "0", "1", "0", "50", "10000"];
    for mpi in installed() {
        let behind = [STOPS.compile(mpi)];
        let variables = [
            ("TRACE_MERGE", "parallel"),
            ("TRACE_DEADLINE", "1"),
            ("STOP_AT_SEND", "40"),
        ];
        let mut tracing = TraceSetup::new(mpi, 2);
        tracing.variables = &variables;
        tracing.behind = &behind;
        tracing.limit = Duration::from_secs(100);
        let run = tracing.run(&Program::c("ends").compile(mpi), &arguments);
        let story = run.finished.story();
        assert!(run.finished.status.success(), "{story}");
        let given_up = run.finished.stderr.contains("within the deadline");
        assert!(given_up, "{story}");
        assert_eq!(run.files("blocks").len(), 2, "{story}");
    }
}

/// MPI_Finalize of the sender comes before the receive: while the recorder waits there for the receiver, the message goes on.
#[test]
fn a_send_that_is_left_to_mpi_finalize_ends() {
    for mpi in installed() {
        let program = Program::c("left_sends").compile(mpi);
        for how in ["bsend", "freed"] {
            let mut tracing = TraceSetup::new(mpi, 2);
            tracing.limit = Duration::from_secs(60);
            let run = tracing.run(&program, &[how]);
            let story = run.finished.story();
            assert!(run.finished.status.success(), "{how}: {story}");
            assert_eq!(run.finished.stdout, "ok\n", "{how}: {story}");
            assert_eq!(run.closing_numbers().1, 0, "{how}: {story}");
        }
    }
}

/// The block file does not get the number of a stream that the program was started without, and the recorder's lines do not get
/// into a file of the program's that has the number of standard error.
#[test]
fn a_program_without_standard_streams() {
    for mpi in installed() {
        let program = Program::c("no_streams").compile(mpi);
        for streams in ["1", "2", "12", "012"] {
            let run = TraceSetup::new(mpi, 2).run(&program, &[streams]);
            let story = run.finished.story();
            assert!(run.finished.status.success(), "{streams}: {story}");
            assert_eq!(run.counted(), run.made(), "{streams}: {story}");
            run.file("slog2");
            assert!(run.files("blocks").is_empty(), "{streams}: {story}");
        }
    }
}

/// A program that closes the descriptor of the block file keeps its own files, which get the number.
#[test]
fn a_program_that_closes_descriptors_it_does_not_know() {
    for mpi in installed() {
        let program = Program::c("closed_descriptors").compile(mpi);
        for most in ["700", "70000"] {
            let run = TraceSetup::new(mpi, 2).run(&program, &[most]);
            let story = run.finished.story();
            assert!(run.finished.status.success(), "{most}: {story}");
            assert_eq!(run.finished.stdout, "ok\n", "{most}: {story}");
            if most == "70000" {
                assert!(run.finished.stderr.contains("has closed"), "{story}");
            }
        }
    }
}

/// A file that has got the descriptor of standard error keeps its bytes, a small stack is enough for the program, and nobody needs to sleep.
#[test]
fn a_program_that_leaves_little_room() {
    for mpi in installed() {
        let program = Program::c("cramped").compile(mpi);
        for what in ["stderr", "stack", "sleepless"] {
            let run = TraceSetup::new(mpi, 2).run(&program, &[what]);
            let story = run.finished.story();
            assert!(run.finished.status.success(), "{what}: {story}");
            assert_eq!(run.finished.stdout, "ok\n", "{what}: {story}");
            run.file("slog2");
            assert!(run.files("blocks").is_empty(), "{what}: {story}");
        }
    }
}

#[test]
fn an_exception_thrown_by_an_error_handler_passes_through() {
    for mpi in installed() {
        let compiler = format!("mpicxx.{}", mpi.suffix());
        if !tests::mpi::which(&compiler) || !tests::mpi::which("g++") {
            tests::skip(&format!("no {compiler} or no g++"));
            continue;
        }
        let source = tests::root().join("tests/programs/throw.cpp");
        let folder = tests::target().join("tests-programs").join(mpi.suffix());
        std::fs::create_dir_all(&folder).expect("a folder below target/");
        let executable = folder.join("throw");
        let mut command = std::process::Command::new(&compiler);
        command.arg("-O1").arg(&source);
        compile::build(command, &executable, &[source], false);
        let run = traced(mpi, 2, &executable);
        assert_eq!(run.finished.stdout, "ok\n", "{}", run.finished.story());
        for counts in run.in_dumpi().values() {
            assert_eq!(counts.get("MPI_Comm_size"), Some(&1), "{mpi:?}");
            assert_eq!(counts.get("MPI_Finalize"), Some(&1), "{mpi:?}");
        }
    }
}

/// The program's error handlers are called once for each call that fails, as without the recorder, which asks nothing about what such a call has left.
#[test]
fn an_error_handler_is_called_once_for_an_error() {
    for mpi in installed() {
        let run = traced(mpi, 2, &Program::c("handled").compile(mpi));
        assert_eq!(run.finished.stdout, "ok\n", "{}", run.finished.story());
        run.holds(&run.made());
    }
}

/// A jump leaves no record of the call; all calls before and after it are recorded.
#[test]
fn an_error_handler_may_leave_with_longjmp() {
    for mpi in installed() {
        let run = traced(mpi, 2, &Program::c("jump").compile(mpi));
        assert_eq!(run.finished.stdout, "ok\n", "{}", run.finished.story());
        for counts in run.in_dumpi().values() {
            let of = |function| counts.get(function).copied().unwrap_or(0);
            // While recording was on: each of the three jumps is followed by two calls, and one failed call returned.
            assert_eq!(of("MPI_Comm_size"), 6, "{mpi:?}");
            assert_eq!(of("MPI_Send"), 1, "{mpi:?}");
            assert_eq!(of("MPI_Comm_rank"), 1, "{mpi:?}");
            assert_eq!(of("MPI_Barrier"), 1, "{mpi:?}");
            assert_eq!(of("MPI_Finalize"), 1, "{mpi:?}");
        }
    }
}

/// The second rank's CLOCK_MONOTONIC is 1000 s ahead, as on a host that has been up for longer: the ranks compare clocks.
#[test]
fn clocks_that_differ_are_corrected() {
    let ahead = ["unshare", "-T", "--monotonic", "1000"];
    let possible = std::process::Command::new(ahead[0])
        .args(&ahead[1..])
        .arg("true")
        .status();
    if !possible.is_ok_and(|status| status.success()) {
        tests::skip("time namespaces cannot be made here");
        return;
    }
    for mpi in installed() {
        let program = Program::c("p2p").compile(mpi);
        let preload = format!("LD_PRELOAD={}", tests::recorder().display());
        let tracing = TraceSetup::new(mpi, 2);
        let folder = TestFolder::new(&format!("{}-clocks", mpi.suffix()));
        let mut command = mpi.mpiexec(1);
        tracing.settings(&mut command, &folder);
        command
            .args(["env", "TRACE_CLOCK=monotonic", &preload])
            .arg(&program)
            .args([":", "-n", "1"])
            .args(ahead)
            .args(["env", "TRACE_CLOCK=monotonic", &preload])
            .arg(&program);
        let run = TracedRun {
            finished: process::run(&mut command, tracing.limit),
            folder,
            ranks: 2,
        };
        assert_eq!(run.finished.stdout, "ok\n", "{}", run.finished.story());
        let text = run.print(&run.file("clog2"));
        let shift = text
            .lines()
            .filter(|l| l.contains("rank=1") && l.contains("type=shft"))
            .filter_map(|l| l.rsplit_once("shift=")?.1.parse::<f64>().ok())
            .next();
        assert!(
            shift.is_some_and(|s| (s - 1000.0).abs() < 1.0),
            "{shift:?}\n{text}"
        );
        let last = text
            .lines()
            .filter_map(|l| {
                l.strip_prefix("ts=")?
                    .split(' ')
                    .next()?
                    .parse::<f64>()
                    .ok()
            })
            .fold(0.0, f64::max);
        assert!(last < 500.0, "the run seems to take {last} s");
    }
}

/// Under the launcher of another MPI each process is a world of its own. It ends without waiting for the others, which it has never
/// heard of, and has a trace of its own.
#[test]
fn processes_of_another_mpis_launcher_do_not_wait_for_each_other() {
    for (launcher, mpi) in [(Mpi::Mpich, Mpi::OpenMpi), (Mpi::OpenMpi, Mpi::Mpich)] {
        if !(launcher.installed() && mpi.installed()) {
            continue;
        }
        let folder = TestFolder::new(&format!("{}-alone", mpi.suffix()));
        let program = Program::c("alike").compile(mpi);
        let mut command = launcher.mpiexec(2);
        mpi.environment(&mut command);
        TraceSetup::new(mpi, 2).settings(&mut command, &folder);
        command
            .arg("env")
            .arg(format!("LD_PRELOAD={}", tests::recorder().display()))
            .arg(program);
        let finished = process::run(&mut command, Duration::from_secs(60)).succeeded();
        let closing = finished
            .stderr
            .matches("trace: 1 rank, 23 calls, 0 lost")
            .count();
        assert_eq!(closing, 2, "{}", finished.story());
    }
}
