//! The summary of traces of real runs: it names the culprit.

use std::process::Command;
use tests::trace::{LIMIT, Tracing};
use tests::{Mpi, Program, process};

/// One rank computes four times as long as the others and writes small pieces to a file: the summary names it, what it
/// does, and the calls in which the others wait for it.
#[test]
fn a_late_rank_is_named() {
    for mpi in Mpi::ALL.into_iter().filter(|mpi| mpi.installed()) {
        let program = Program::c("late_rank").compile(mpi);
        let run = Tracing::new(mpi, 3).run(&program, &["1", "10", "20"]);
        assert!(run.finished.status.success(), "{}", run.finished.story());
        let mut command = Command::new(tests::mpitrace());
        command.args(["view", "--summary"]).arg(run.file("slog2"));
        let printed = process::run(&mut command, LIMIT).succeeded();
        let text = printed.stdout.as_str();
        let after = |start: &str| {
            let mut lines = text.lines();
            let _ = lines.by_ref().find(|line| line.starts_with(start));
            lines.next().unwrap_or_default().trim().to_owned()
        };
        let imbalance = after("Imbalance: ");
        assert!(imbalance.starts_with("rank 1 computes "), "{mpi:?}: {text}");
        assert!(
            imbalance.contains("rank 1 comes last to "),
            "{mpi:?}: {text}"
        );
        // The others wait for it at the end of the message that goes round, or for it to come to the collective call.
        let waits = after("Longest waits: ");
        assert!(
            waits.contains("rank 0") || waits.contains("rank 2"),
            "{mpi:?}: {text}"
        );
        let io = after("I/O: ");
        assert!(
            io.contains("of 50 accesses, 50 move less than 64 KiB"),
            "{mpi:?}: {text}"
        );
        assert!(text.contains("15 messages with"), "{mpi:?}: {text}");
    }
}
