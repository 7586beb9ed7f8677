//! Programs of unusual shape: threads that come and go, functions of the program that MPI calls, very many communicators and
//! requests, children of every kind, several programs in one run, other tools beside the recorder.

use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;
use tests::tally::CallTally;
use tests::trace::{LIMIT, TraceSetup};
use tests::{
    Mpi, MpiTurns, Program, TestFolder, TracedRun, blocks, compile, contents, matrix, mpitrace,
    process,
};

fn installed() -> impl Iterator<Item = Mpi> {
    Mpi::ALL.into_iter().filter(|mpi| mpi.installed())
}

/// These and, if they are asked for, the newer ones.
fn every(what: &str) -> impl Iterator<Item = Mpi> {
    installed().chain(Mpi::newer(what))
}

/// Those with sessions.
fn with_sessions() -> impl Iterator<Item = Mpi> {
    every("sessions").filter(|mpi| {
        let has = compile::declared(*mpi).contains("MPI_Session_init");
        if !has {
            tests::skip(&format!("{mpi:?} has no sessions"));
        }
        has
    })
}

/// Enters what was found of the calls of a run into the table of the docs.
#[track_caller]
fn enter(kind: &str, run: &TracedRun, mpi: Mpi) {
    let sum = |calls: std::collections::BTreeMap<usize, CallTally>| -> u64 {
        calls.values().flat_map(CallTally::values).sum()
    };
    matrix::seen(
        &format!("Shape: {kind}"),
        mpi,
        sum(run.in_dumpi()),
        sum(run.made()),
    );
}

/// Runs a program and expects of it what it prints untraced.
#[track_caller]
fn ran(tracing: &TraceSetup<'_>, name: &'static str, arguments: &[&str]) -> TracedRun {
    let run = tracing.run(&Program::c(name).compile(tracing.mpi), arguments);
    assert!(run.finished.status.success(), "{}", run.finished.story());
    assert_eq!(run.finished.stdout, "ok\n", "{}", run.finished.story());
    run
}

/// A trace that `mpitrace check` has nothing to say about.
#[track_caller]
fn is_sound(run: &TracedRun) {
    for extension in ["slog2", "clog2"] {
        let mut command = Command::new(mpitrace());
        command.arg("check").arg(run.file(extension));
        process::run(&mut command, LIMIT).succeeded();
    }
}

/// Memory of Fortran programs need not be aligned as C has it.
#[test]
fn statuses_among_integers() {
    for mpi in installed() {
        let run = ran(&TraceSetup::new(mpi, 2), "unaligned", &[]);
        run.holds(&run.made());
    }
}

/// MPI_THREAD_MULTIPLE with eight threads all the time is in `programs.rs`; here a thousand short ones. Each call is found,
/// and no more lines and blocks are taken than there were threads at a time.
#[test]
fn threads_that_come_and_go() {
    for mpi in every("short threads") {
        let mut tracing = TraceSetup::new(mpi, 2);
        tracing.variables = &[("TRACE_KEEP_BLOCKS", "yes")];
        let run = ran(&tracing, "short_threads", &[]);
        assert_eq!(run.holds(&run.made()), 2 * 1000, "{mpi:?}: messages");
        enter("1000 short threads", &run, mpi);
        for file in run.files("blocks") {
            let threads = blocks::read(&file).threads;
            // Nine at a time; one that begins while others have the list of those that ended may take a line of its own.
            assert!((2..=16).contains(&threads), "{mpi:?}: {threads} threads");
            let bytes = std::fs::metadata(&file).expect("a block file").len();
            assert!(bytes < 4 << 20, "{mpi:?}: {bytes} bytes");
        }
    }
}

/// Calls made by functions of the program that MPI calls are not recorded: the outer call stands there, once.
#[test]
fn functions_that_mpi_calls() {
    for mpi in every("callbacks") {
        let run = ran(&TraceSetup::new(mpi, 2), "callbacks", &[]);
        run.holds_calls(&run.made());
        enter("callbacks that call MPI", &run, mpi);
    }
}

/// What such functions make is known when the program uses it afterwards. An error handler that jumps back into one ends only the call that the function has
/// made, also where the call of MPI's that it runs in is not recorded.
#[test]
fn objects_that_functions_make_inside_mpi() {
    for mpi in every("objects made in callbacks") {
        let run = ran(&TraceSetup::new(mpi, 2), "made_in_callbacks", &[]);
        assert_eq!(run.holds(&run.made()), 3, "{mpi:?}: messages");
        let mut tracing = TraceSetup::new(mpi, 2);
        tracing.variables = &[("TRACE_SETTINGS", "MPI_Comm_dup disable")];
        let run = ran(&tracing, "made_in_callbacks", &[]);
        let arrows = contents::slog2(&run.file("slog2")).arrows;
        assert_eq!(arrows, 3, "{mpi:?}: {}", run.finished.story());
    }
}

/// The recorder's system calls are no places at which threads end that the program has cancelled.
#[test]
fn cancelled_threads() {
    for mpi in every("cancelled threads") {
        let run = ran(&TraceSetup::new(mpi, 2), "cancelled", &[]);
        run.holds_calls(&run.made());
    }
}

/// MPI_Finalize comes from an exit handler, and one of the ranks has exchanged nothing.
#[test]
fn finalize_in_an_exit_handler() {
    for mpi in every("exit handlers") {
        for ranks in [1, 3] {
            let run = ran(&TraceSetup::new(mpi, ranks), "late_finalize", &[]);
            run.holds_calls(&run.made());
            if ranks == 3 {
                enter("MPI_Finalize at exit, a silent rank", &run, mpi);
            }
        }
    }
}

/// Ten thousand communicators, a few at a time.
#[test]
fn many_communicators() {
    for mpi in installed() {
        let run = ran(&TraceSetup::new(mpi, 2), "many_comms", &[]);
        assert_eq!(run.holds(&run.made()), 2 * 10_000, "{mpi:?}: messages");
        enter("10 000 communicators", &run, mpi);
        is_sound(&run);
    }
}

/// Ten thousand requests at a time, completed in another order. [`a_million_requests`] makes more of them.
#[test]
fn many_requests() {
    for mpi in installed() {
        let run = ran(&TraceSetup::new(mpi, 2), "many_requests", &["4"]);
        assert_eq!(run.holds(&run.made()), 2 * 4 * 5000, "{mpi:?}: messages");
        enter("10 000 requests at a time", &run, mpi);
    }
}

/// A million requests on two ranks, ten thousand at a time on each, and what the recorder takes of memory for them.
#[test]
fn a_million_requests() {
    for &mpi in MpiTurns::new("a million requests").of(0) {
        let program = Program::c("outstanding").compile(mpi);
        let mut tracing = TraceSetup::new(mpi, 2);
        tracing.preload = false;
        let bare = peaks(&tracing.run(&program, &["2"]));
        tracing.preload = true;
        let run = tracing.run(&program, &[]);
        let traced = peaks(&run);
        assert_eq!(run.holds(&run.made()), 2 * 50 * 5000, "{mpi:?}: messages");
        for (rank, (bare, traced)) in bare.iter().zip(&traced).enumerate() {
            println!("{mpi:?} rank {rank}: without {bare:?}, with {traced:?} kB");
            assert!(traced[0] - bare[0] < 32 << 10, "while it runs");
            assert!(traced[1] - bare[1] < 32 << 10, "in MPI_Finalize");
        }
        println!("{mpi:?}: {}", run.closing_line());
    }
}

/// Peak memory that each rank printed, before MPI_Finalize and at the end, kB.
#[track_caller]
fn peaks(run: &TracedRun) -> Vec<[i64; 2]> {
    assert!(run.finished.status.success(), "{}", run.finished.story());
    let mut lines: Vec<&str> = run.finished.stdout.lines().collect();
    lines.sort_unstable();
    let peaks = lines.iter().map(|line| {
        let words = line.split(' ').filter_map(|word| word.parse().ok());
        let [_, before, after] = words.collect::<Vec<i64>>()[..] else {
            panic!("{}", run.finished.story());
        };
        [before, after]
    });
    let peaks: Vec<_> = peaks.collect();
    assert_eq!(peaks.len(), 2, "{}", run.finished.story());
    peaks
}

/// Children by fork, vfork, posix_spawn, exec, system and popen, from two threads, before, during and after MPI: they record
/// nothing, say nothing, and leave the rank's record alone.
#[test]
fn children_of_every_kind() {
    for mpi in installed() {
        let mut tracing = TraceSetup::new(mpi, 2);
        tracing.variables = &[("TRACE_POSIX", "all")];
        let run = ran(&tracing, "offspring", &[]);
        run.holds_calls(&run.made());
        enter("children of every kind", &run, mpi);
        assert!(run.files("blocks").is_empty(), "{:?}", run.files("blocks"));
        let printed: Vec<&str> = run
            .finished
            .stderr
            .lines()
            .filter(|line| line.starts_with("trace: "))
            .collect();
        assert_eq!(printed.len(), 1, "{}", run.finished.story());
    }
}

/// Children by `_Fork` and by the system calls fork and clone, of which the C library tells nobody: they call MPI as their parent does, and
/// nothing of it is in the parent's trace.
#[test]
fn children_that_nobody_tells_of() {
    for mpi in installed() {
        let run = ran(&TraceSetup::new(mpi, 2), "forks", &[]);
        run.holds_calls(&run.made());
        enter("children that nobody tells of", &run, mpi);
        assert!(run.files("blocks").is_empty(), "{:?}", run.files("blocks"));
    }
}

/// Children that are the ranks, of processes that had called MPI before they forked: nothing of them is recorded, and that is said once.
#[test]
fn children_that_begin_mpi() {
    for mpi in installed() {
        let run = ran(&TraceSetup::new(mpi, 2), "forked_rank", &[]);
        let said = run.finished.stderr.matches("this rank is not traced");
        assert_eq!(said.count(), 1, "{}", run.finished.story());
        assert!(run.files("slog2").is_empty(), "{:?}", run.files("slog2"));
        assert!(run.files("blocks").is_empty(), "{:?}", run.files("blocks"));
    }
}

/// A signal handler that calls MPI while the recorder works on the thread.
#[test]
fn handlers_that_interrupt_the_recorder() {
    for mpi in installed() {
        let run = ran(&TraceSetup::new(mpi, 2), "handlers", &[]);
        is_sound(&run);
    }
}

/// A rank that executes another program in its place: what it does before and after MPI is not the trace's.
#[test]
fn a_rank_that_executes_another_program() {
    for mpi in installed() {
        let run = ran(&TraceSetup::new(mpi, 2), "replaced", &[]);
        run.holds_calls(&run.counted());
        assert_eq!(run.counted()[&1]["MPI_Barrier"], 1);
        assert!(run.files("blocks").is_empty(), "{:?}", run.files("blocks"));
    }
}

/// Compiles the counting tool as a library to be preloaded.
fn tool(mpi: Mpi) -> PathBuf {
    let source = tests::root().join("tests/programs/counting_tool.c");
    let library = tests::target()
        .join("tests-programs")
        .join(mpi.suffix())
        .join("libcounting.so");
    std::fs::create_dir_all(library.parent().expect("a folder")).expect("a folder below target/");
    let mut command = mpi.mpicc();
    command.args(["-O1", "-shared", "-fPIC"]).arg(&source);
    compile::build(command, &library, &[source], false);
    library
}

/// Calls that the tool must have seen of each rank, and the recorder too.
#[track_caller]
fn both_saw_everything(run: &TracedRun) {
    assert!(run.finished.status.success(), "{}", run.finished.story());
    assert_eq!(run.finished.stdout, "ok\n", "{}", run.finished.story());
    let made = run.made();
    for rank in 0..2 {
        let line = format!("tool: rank {rank}: 1 100 100 10 1 told 7 2.5");
        let printed = run.finished.stderr.matches(&line).count();
        assert_eq!(printed, 1, "{line}\n{}", run.finished.story());
    }
    let mut counted = run.counted();
    for counts in counted.values_mut() {
        // In front of the recorder the tool's own calls are the program's.
        if counts["MPI_Comm_rank"] == 2 {
            counts.insert("MPI_Comm_rank".into(), 1);
        }
    }
    assert_eq!(counted, made, "{}", run.finished.story());
    assert_eq!(run.files("bin").len(), 2);
    run.file("slog2");
}

/// Another tool that wraps MPI functions, in front of the recorder, behind it, and linked into the program: both see every
/// call once.
#[test]
fn another_tool_beside_the_recorder() {
    for mpi in every("other tools") {
        let program = Program::c("observed").compile(mpi);
        let tool = tool(mpi);
        for first in [true, false] {
            let mut tracing = TraceSetup::new(mpi, 2);
            let other = [tool.clone()];
            match first {
                true => tracing.before = &other,
                false => tracing.behind = &other,
            }
            both_saw_everything(&tracing.run(&program, &[]));
        }
        // In the executable itself.
        let object = tests::root().join("tests/programs/counting_tool.c");
        let folder = TestFolder::new("tool-linked");
        let linked = folder.path().join("observed");
        let sources = tests::root().join("tests/programs");
        let mut command = mpi.mpicc();
        command
            .args(["-O1", "-w", "-I"])
            .arg(program.parent().expect("a folder"))
            .arg("-I")
            .arg(&sources)
            .arg(sources.join("observed.c"))
            .arg(&object)
            .arg("-lpthread");
        compile::build(command, &linked, &[object], true);
        both_saw_everything(&TraceSetup::new(mpi, 2).run(&linked, &[]));
    }
}

/// Two programs in one mpiexec are one run; which rank is which stands in its files.
#[test]
fn several_programs_in_one_run() {
    for mpi in every("several programs") {
        let program = Program::c("p2p").compile(mpi);
        let folder = TestFolder::new(&format!("{}-mpmd", mpi.suffix()));
        let names = ["ocean", "atmosphere"].map(|name| folder.path().join(name));
        for name in &names {
            std::fs::copy(&program, name).expect("own folder");
        }
        let mut command = mpi.mpiexec(1);
        TraceSetup::new(mpi, 3).settings(&mut command, &folder);
        let preload = format!("LD_PRELOAD={}", tests::recorder().display());
        command.args(["env", &preload]).arg(&names[0]);
        command
            .args([":", "-n", "2", "env", &preload])
            .arg(&names[1]);
        let finished = process::run(&mut command, Duration::from_secs(60)).succeeded();
        assert_eq!(finished.stdout, "ok\n", "{}", finished.story());
        let run = TracedRun {
            folder,
            finished,
            ranks: 3,
        };
        run.holds(&run.made());
        enter("several programs", &run, mpi);
        is_sound(&run);
        let text = run.print(&run.file("slog2"));
        for (rank, name) in ["ocean", "atmosphere", "atmosphere"]
            .into_iter()
            .enumerate()
        {
            assert!(text.contains(name), "{mpi:?}: rank {rank}\n{text}");
        }
    }
}

/// Programs with sessions only have a trace at their end, too, with every call: also with several sessions, one after the
/// other and at the same time, and with ranks that have different numbers of them.
#[test]
fn sessions() {
    for mpi in with_sessions() {
        for (name, ranks) in [("sessions", 2), ("sessions_again", 2), ("sessions", 1)] {
            let run = ran(&TraceSetup::new(mpi, ranks), name, &[]);
            run.holds_calls(&run.made());
            if name == "sessions_again" {
                enter("sessions only", &run, mpi);
            }
            is_sound(&run);
            let left: Vec<PathBuf> = ["blocks", "leaving"]
                .iter()
                .flat_map(|ending| run.files(ending))
                .collect();
            assert!(left.is_empty(), "{mpi:?}: {left:?}");
        }
    }
}

/// Sessions round MPI_Init and MPI_Finalize: the trace is that of the world, with what the sessions did before its end.
#[test]
fn sessions_and_a_world() {
    for mpi in with_sessions() {
        let run = ran(&TraceSetup::new(mpi, 2), "sessions_again", &["world"]);
        run.holds_calls(&run.made());
        enter("sessions and a world", &run, mpi);
        assert!(run.files("blocks").is_empty(), "{:?}", run.files("blocks"));
    }
}

/// The block files of sessions that one process left too early for the others: nothing waits, and nothing is lost.
#[test]
fn sessions_that_end_badly() {
    for mpi in with_sessions() {
        let program = Program::c("sessions_left").compile(mpi);
        let run = TraceSetup::new(mpi, 2).run(&program, &[]);
        assert!(
            run.finished.stdout.contains("ok\n"),
            "{}",
            run.finished.story()
        );
        let files = run.files("blocks");
        assert_eq!(files.len(), 2, "{}", run.finished.story());
        for file in &files {
            assert_eq!(blocks::read(file).calls["MPI_Session_init"], 1);
        }
        assert!(run.files("slog2").is_empty());
        let printed = run.finished.stderr.matches("mpitrace recover").count();
        assert_eq!(printed, 1, "{}", run.finished.story());
    }
}

/// The last of the processes that have sessions only leaves the merge to a later command, if that is what the settings say.
#[test]
fn sessions_merged_later() {
    for mpi in with_sessions() {
        let program = Program::c("sessions").compile(mpi);
        let mut tracing = TraceSetup::new(mpi, 2);
        tracing.variables = &[("TRACE_MERGE", "later"), ("TRACE_OUTPUTS", "clog2,slog2")];
        let run = tracing.run(&program, &[]);
        let story = run.finished.story();
        assert_eq!(
            story.matches("not merged (merge later)").count(),
            1,
            "{story}"
        );
        assert_eq!(run.files("blocks").len(), 2, "{story}");
        assert!(run.files("slog2").is_empty(), "{story}");
        assert!(run.files("clog2").is_empty(), "{story}");
    }
}

/// Runs `mpitrace join --worlds` on all CLOG2 files of a run.
#[track_caller]
fn joined(run: &TracedRun, out: &str) -> (PathBuf, String) {
    let path = run.folder.path().join(out);
    let mut command = Command::new(mpitrace());
    command.arg("join").arg("--worlds").args(run.files("clog2"));
    let finished = process::run(command.arg(&path), LIMIT).succeeded();
    (path, finished.stderr)
}

/// Runs a program that starts others, which the recorder is preloaded into as well. `None` where MPI could not start them.
#[track_caller]
fn starting(mpi: Mpi, ranks: usize, name: &'static str) -> Option<TracedRun> {
    let program = Program::c(name).compile(mpi);
    let folder = TestFolder::new(&format!("{}-{name}", mpi.suffix()));
    let mut command = mpi.mpiexec(ranks);
    TraceSetup::new(mpi, ranks).settings(&mut command, &folder);
    // Started processes get the variables that the launcher is told of, not those of `env`.
    let library = tests::recorder().display().to_string();
    match mpi.is_mpich() {
        true => command.args(["-genv", "LD_PRELOAD", &library]),
        false => command.args(["-x".to_owned(), format!("LD_PRELOAD={library}")]),
    };
    let finished = process::run_starting(command.arg(&program))?.succeeded();
    assert_eq!(finished.stdout, "ok\n", "{}", finished.story());
    Some(TracedRun {
        folder,
        finished,
        ranks,
    })
}

/// Worlds that a world started: put together they have one clock, lines for all processes, and an arrow for each message
/// between them. Debian's MPICH cannot start processes.
#[test]
fn started_worlds_put_together() {
    let starts = [Mpi::OpenMpi, Mpi::Mpich5, Mpi::OpenMpi5];
    for mpi in every("started worlds").filter(|mpi| starts.contains(mpi)) {
        for ranks in [1, 2] {
            let Some(run) = starting(mpi, ranks, "worlds") else {
                continue;
            };
            assert_eq!(run.files("clog2").len(), 3, "{}", run.finished.story());
            let (path, printed) = joined(&run, "all.clog2");
            assert!(
                printed.contains(" of 3 worlds, 4 communicators"),
                "{printed}"
            );
            let (slog2, _) = joined(&run, "all.slog2");
            // Each rank with each of the four started ones, on two communicators, both ways.
            let messages = (ranks * 4 * 2 * 25 * 2) as u64;
            let together = tests::contents::clog2(&path);
            assert_eq!(
                (together.sends, together.receives),
                (messages, messages),
                "{mpi:?}"
            );
            assert_eq!(tests::contents::slog2(&slog2).arrows, messages, "{mpi:?}");
            assert_eq!(together.calls.len(), ranks + 4, "{mpi:?}");
            // No call is lost or counted twice.
            let calls = |path: &PathBuf| -> u64 {
                let contents = tests::contents::clog2(path);
                contents.calls.values().flat_map(|c| c.values()).sum()
            };
            let apart: u64 = run.files("clog2").iter().map(calls).sum();
            assert_eq!(calls(&path), apart);
            for path in [&path, &slog2] {
                let mut command = Command::new(mpitrace());
                process::run(command.arg("check").arg(path), LIMIT).succeeded();
            }
            forward_in_time(&path);
        }
    }
}

/// Every receive is after its send, and the second started world begins after the first has ended.
#[track_caller]
fn forward_in_time(path: &std::path::Path) {
    let bytes = std::fs::read(path).expect("just written");
    let reader = trace_formats::clog2::Clog2Reader::new(&bytes).expect("CLOG2");
    let mut sent = std::collections::HashMap::new();
    for record in reader.records() {
        let record = record.expect("a record");
        let header = record.header;
        let trace_formats::clog2::Clog2Body::Msg(message) = record.body else {
            continue;
        };
        let own = (header.icomm, header.rank);
        let other = (message.icomm, message.rank);
        let queue = |from, to| (from, to, message.tag);
        if message.etype == trace_formats::clog2::msg_etype::SEND {
            let sends: &mut std::collections::VecDeque<f64> =
                sent.entry(queue(own, other)).or_default();
            sends.push_back(header.time);
        } else {
            let sends = sent.get_mut(&queue(other, own));
            let send = sends.and_then(std::collections::VecDeque::pop_front);
            assert!(send.is_some_and(|s| s <= header.time), "{record:?}");
        }
    }
}

/// Two started worlds that meet through a port.
#[test]
fn worlds_that_meet() {
    let meets = [Mpi::OpenMpi, Mpi::OpenMpi5];
    for mpi in every("worlds that meet").filter(|mpi| meets.contains(mpi)) {
        let Some(run) = starting(mpi, 1, "meeting") else {
            continue;
        };
        let (path, printed) = joined(&run, "all.clog2");
        assert!(
            printed.contains(" of 3 worlds, 3 communicators"),
            "{printed}"
        );
        let together = tests::contents::clog2(&path);
        assert_eq!(together.calls.len(), 5);
        assert_eq!((together.sends, together.receives), (82, 82), "{mpi:?}");
        forward_in_time(&path);
    }
}
