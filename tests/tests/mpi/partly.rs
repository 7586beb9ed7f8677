//! Runs in which not every rank has a recorder, or not the same one: the program ends as without us, and what was recorded is there.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;
use tests::process::{self, FinishedCommand, TestFolder};
use tests::trace::{LIMIT, TraceSetup};
use tests::{Mpi, Program, beside_each_other, contents};

fn installed() -> impl Iterator<Item = Mpi> {
    Mpi::EVERY.into_iter().filter(|mpi| mpi.is_here())
}

/// Runs one rank for each item of `recorders`, with that library preloaded, or with none.
fn run(
    mpi: Mpi,
    folder: &Path,
    recorders: &[Option<PathBuf>],
    arguments: &[&str],
) -> FinishedCommand {
    let program = Program::c("partly").compile(mpi);
    let mut command = mpi.mpiexec(1);
    for (rank, recorder) in recorders.iter().enumerate() {
        if rank > 0 {
            command.args([":", "-n", "1"]);
        }
        if let Some(library) = recorder {
            command.arg("env");
            command.arg(format!("LD_PRELOAD={}", library.display()));
        }
        command.arg(&program).args(arguments);
    }
    command
        .env("TRACE_DIR", folder)
        .env("TRACE_TMPDIR", folder)
        // Whoever waits for a rank that never comes, waits for ever.
        .env("TRACE_DEADLINE", "0");
    process::run(&mut command, LIMIT)
}

/// The ranks of which there is a DUMPI file in `folder`, after a look at its calls.
fn ranks(folder: &TestFolder) -> BTreeSet<usize> {
    let files = folder.files();
    let files = files.iter().filter(|name| name.ends_with(".bin"));
    files
        .map(|name| {
            let counts = contents::dumpi(&folder.path().join(name));
            assert!(counts.get("MPI_Finalize") == Some(&1), "{name}: {counts:?}");
            let rank = name.trim_end_matches(".bin").rsplit('-').next();
            rank.and_then(|rank| rank.parse().ok()).expect(name)
        })
        .collect()
}

fn lines<'a>(finished: &'a FinishedCommand, words: &str) -> Vec<&'a str> {
    let lines = finished.stderr.lines();
    lines.filter(|line| line.contains(words)).collect()
}

#[test]
fn ranks_without_a_recorder_do_not_hold_up_the_others() {
    for mpi in installed() {
        for traced in [&[0][..], &[1], &[0, 2], &[1, 2]] {
            let recorder = |rank| traced.contains(&rank).then(tests::recorder);
            let recorders: Vec<_> = (0..3).map(recorder).collect();
            let folder = TestFolder::new("partly");
            let finished = run(mpi, folder.path(), &recorders, &[]);
            let story = finished.story();
            assert!(finished.status.success(), "{story}");
            assert_eq!(finished.stdout, "ok\n", "{story}");
            let printed = lines(&finished, "no recorder");
            assert_eq!(printed.len(), 1, "{story}");
            let n = traced.len();
            assert!(
                printed[0].contains(&format!("{} of 3 ranks", 3 - n)),
                "{story}"
            );
            let closing = format!("trace: {n} of 3 ranks, ");
            assert_eq!(lines(&finished, &closing).len(), 1, "{story}");
            assert_eq!(ranks(&folder), traced.iter().copied().collect(), "{story}");
            // The metafile tells which files are not missing.
            let files = folder.files();
            let meta = files.iter().find(|name| name.ends_with(".meta"));
            let meta = folder.path().join(meta.expect(&story));
            let text = std::fs::read_to_string(&meta).expect("a metafile");
            let absent = (0..3).filter(|rank| !traced.contains(rank));
            let absent: BTreeSet<String> = absent.map(|rank: usize| rank.to_string()).collect();
            let line = text.lines().find_map(|line| line.strip_prefix("absent="));
            let named: Vec<String> = match line.expect(&text).split_once('-') {
                Some((first, last)) => vec![first.to_owned(), last.to_owned()],
                None => line
                    .into_iter()
                    .flat_map(|l| l.split(','))
                    .map(str::to_owned)
                    .collect(),
            };
            assert_eq!(named.into_iter().collect::<BTreeSet<_>>(), absent, "{text}");
            assert!(text.contains("numprocs=3\n"), "{text}");
            let mut check = Command::new(tests::mpitrace());
            process::run(check.arg("check").arg(&meta), LIMIT).succeeded();
            let left = folder.files();
            let left = left.iter().filter(|name| name.starts_with("libtrace."));
            assert_eq!(left.count(), 0, "{story}");
        }
    }
}

#[test]
fn a_rank_that_is_late_is_waited_for_all_the_same() {
    let is_waited_for = |mpi| {
        let folder = TestFolder::new("partly-late");
        let recorders = [Some(tests::recorder()), Some(tests::recorder())];
        // Longer than it takes until the neighbours are looked at.
        let finished = run(mpi, folder.path(), &recorders, &["2500"]);
        let story = finished.story();
        assert_eq!(finished.stdout, "ok\n", "{story}");
        assert_eq!(lines(&finished, "trace: 2 ranks, ").len(), 1, "{story}");
        assert_eq!(lines(&finished, "no recorder").len(), 0, "{story}");
    };
    beside_each_other(installed(), is_waited_for);
}

/// A rank that cannot see the processes of the others, as if they were on other hosts.
#[test]
fn ranks_that_are_waited_for_are_named_once() {
    let mut may = Command::new("unshare");
    let may = may.args(["-fp", "--mount-proc", "true"]).status();
    if !may.is_ok_and(|status| status.success()) {
        return tests::skip("no processes of its own: not root");
    }
    // MPICH does not connect processes that cannot see each other.
    let may_hide = |mpi: &Mpi| matches!(mpi, Mpi::OpenMpi | Mpi::OpenMpi5);
    beside_each_other(installed().filter(may_hide), |mpi| {
        let folder = TestFolder::new("partly-waits");
        let program = Program::c("partly").compile(mpi);
        let mut command = mpi.mpiexec(1);
        command.args(["unshare", "-fp", "--mount-proc", "env"]);
        command.arg(format!("LD_PRELOAD={}", tests::recorder().display()));
        command.arg(&program).args([":", "-n", "2"]).arg(&program);
        command
            .env("TRACE_DIR", folder.path())
            .env("TRACE_TMPDIR", folder.path())
            .env("TRACE_DEADLINE", "5");
        let finished = process::run(&mut command, LIMIT);
        let story = finished.story();
        let printed = lines(&finished, "waits in MPI_Finalize for");
        assert_eq!(printed.len(), 1, "{story}");
        assert!(
            printed[0].contains("for 2 ranks (first: 1, 2), for at most 5 s"),
            "{story}"
        );
    });
}

#[test]
fn ranks_that_another_mpi_has_started_are_told_of_once() {
    let launchers = [
        (Mpi::Mpich, Mpi::OpenMpi),
        (Mpi::OpenMpi, Mpi::Mpich),
        (Mpi::Mpich, Mpi::Mpich),
    ];
    for (mpi, launched_by) in launchers {
        if !mpi.installed() || !launched_by.installed() {
            continue;
        }
        let folder = TestFolder::new("partly-launcher");
        let mut command = launched_by.mpiexec(2);
        command.arg("env");
        command.arg(format!("LD_PRELOAD={}", tests::recorder().display()));
        command.arg(Program::c("partly").compile(mpi));
        command
            .env("TRACE_DIR", folder.path())
            .env("TRACE_TMPDIR", folder.path());
        let finished = process::run(&mut command, LIMIT);
        let story = format!("{mpi:?} by {launched_by:?}: {}", finished.story());
        let (traces, told) = match mpi == launched_by {
            true => (1, 0),
            false => (2, 1),
        };
        assert_eq!(lines(&finished, " calls, ").len(), traces, "{story}");
        let said = "MPI_COMM_WORLD has this rank only, though the launcher has started 2:";
        assert_eq!(lines(&finished, said).len(), told, "{story}");
    }
}

#[test]
fn settings_that_differ_are_said_once() {
    for mpi in Mpi::ALL.into_iter().filter(|mpi| mpi.installed()) {
        let folder = TestFolder::new("partly-settings");
        let program = Program::c("partly").compile(mpi);
        let mut command = mpi.mpiexec(1);
        let preload = format!("LD_PRELOAD={}", tests::recorder().display());
        let (program, preload) = (program.as_os_str(), std::ffi::OsStr::new(&preload));
        command.arg("env").args([preload, program]);
        command.args([":", "-n", "1", "env", "TRACE_OUTPUTS=clog2"]);
        command.args([preload, program]);
        command
            .env("TRACE_DIR", folder.path())
            .env("TRACE_TMPDIR", folder.path());
        let finished = process::run(&mut command, LIMIT);
        let story = finished.story();
        assert_eq!(finished.stdout, "ok\n", "{story}");
        let printed = lines(&finished, "differ from rank 0's");
        assert_eq!(printed.len(), 1, "{story}");
        assert!(
            printed[0].contains("outputs") && printed[0].contains("rank 1"),
            "{story}"
        );
        // Rank 0's count.
        assert_eq!(ranks(&folder), BTreeSet::from([0, 1]), "{story}");
    }
}

/// MPI would take the recorder's own collective call for the one that the others have not made, and its ranks would not come out of it: they are
/// merged without MPI, at once.
#[test]
fn a_collective_call_that_one_rank_made_keeps_nobody() {
    for mpi in Mpi::ALL.into_iter().filter(|mpi| mpi.installed()) {
        let program = Program::c("unmatched_collective").compile(mpi);
        for function in ["MPI_Ibarrier", "MPI_Ibcast", "MPI_Ireduce", "MPI_Bcast"] {
            let run = TraceSetup::new(mpi, 2).run(&program, &[function]);
            let finished = &run.finished;
            let story = format!("{mpi:?} {function}: {}", finished.story());
            assert!(finished.status.success(), "{story}");
            // UCX warns of messages that nobody took on stdout.
            assert!(finished.stdout.starts_with("done\n"), "{story}");
            let told = lines(
                finished,
                "have made 1 collective calls on MPI_COMM_WORLD, others 2: merged without MPI",
            );
            assert_eq!(told.len(), 1, "{story}");
            let calls = &contents::slog2(&run.file("slog2")).states;
            let counts = [("MPI_Barrier", 2), (function, 1), ("MPI_Finalize", 2)];
            for (function, count) in counts {
                assert_eq!(calls.get(function), Some(&count), "{calls:?} {story}");
            }
        }
    }
}

/// Ranks whose block files lie apart tell each other nothing before they meet in MPI. They cannot, and do not wait until the deadline.
#[test]
fn ranks_that_cannot_meet_give_up() {
    let mpi = Mpi::Mpich;
    if !mpi.installed() {
        return;
    }
    let folder = TestFolder::new("partly-apart");
    let program = Program::c("unmatched_collective").compile(mpi);
    let mut command = mpi.mpiexec(1);
    let preload = format!("LD_PRELOAD={}", tests::recorder().display());
    for rank in 0..2 {
        let blocks = folder.path().join(rank.to_string());
        std::fs::create_dir(&blocks).unwrap();
        if rank > 0 {
            command.args([":", "-n", "1"]);
        }
        let tmpdir = format!("TRACE_TMPDIR={}", blocks.display());
        command.args(["env", &preload, &tmpdir]);
        command.arg(&program).arg("MPI_Ibarrier");
    }
    command.env("TRACE_DIR", folder.path());
    let finished = process::run(&mut command, LIMIT);
    let story = finished.story();
    assert!(finished.status.success(), "{story}");
    let told = lines(&finished, "cannot exchange messages there");
    assert_eq!(told.len(), 2, "one for each folder: {story}");
    assert!(
        told.iter().all(|line| line.contains("not merged")),
        "{story}"
    );
    for rank in 0..2 {
        let left = std::fs::read_dir(folder.path().join(rank.to_string())).unwrap();
        let left: Vec<_> = left.map(|entry| entry.unwrap().file_name()).collect();
        let is_block_file = |name: &std::ffi::OsString| name.to_string_lossy().ends_with(".blocks");
        assert!(
            left.len() == 1 && is_block_file(&left[0]),
            "{left:?} {story}"
        );
    }
}
