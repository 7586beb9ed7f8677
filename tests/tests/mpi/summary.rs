//! The summary of traces of real runs: it names the culprit.

use std::process::Command;
use tests::trace::{LIMIT, TraceSetup};
use tests::{Mpi, Program, process};

/// One rank computes four times as long as the others and writes small pieces to a file: the summary names it, what it
/// does, and the calls in which the others wait for it.
#[test]
fn a_late_rank_is_named() {
    for mpi in Mpi::ALL.into_iter().filter(|mpi| mpi.installed()) {
        let program = Program::c("late_rank").compile(mpi);
        let run = TraceSetup::new(mpi, 3).run(&program, &["1", "10", "20"]);
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

/// Seconds of a figure as the summary prints it.
fn seconds(figure: &str) -> f64 {
    let mut words = figure.split(' ');
    let number: f64 = words.next().and_then(|n| n.parse().ok()).expect(figure);
    let unit = match words.next() {
        Some("s") => 1.0,
        Some("ms") => 1e-3,
        Some("us") => 1e-6,
        Some("ns") => 1e-9,
        _ => panic!("{figure}"),
    };
    number * unit
}

/// One of three ranks comes 50 ms late to ten calls: who waits for it, and how long, follows from what the call needs of it.
#[test]
fn who_waits_for_a_late_comer() {
    for mpi in Mpi::ALL.into_iter().filter(|mpi| mpi.installed()) {
        let program = Program::c("late_comer").compile(mpi);
        // The call, the late rank, how many others wait for it.
        for (call, late, waiting) in [
            ("barrier", "2", 2),
            ("allreduce", "2", 2),
            ("bcast", "0", 2),
            ("bcast", "2", 0),
            ("reduce", "2", 1),
            ("reduce", "0", 0),
        ] {
            let run = TraceSetup::new(mpi, 3).run(&program, &[call, late]);
            assert!(run.finished.status.success(), "{}", run.finished.story());
            let mut command = Command::new(tests::mpitrace());
            command.args(["view", "--summary"]).arg(run.file("slog2"));
            let text = process::run(&mut command, LIMIT).succeeded().stdout;
            let (who, waited) = match text.split_once(" and keeps the others waiting for ") {
                Some((before, after)) => {
                    let (before, _) = before.rsplit_once(" comes last to ").expect(&text);
                    (before.rsplit(". ").next(), seconds(after))
                }
                None => (None, 0.0),
            };
            let expected = 10.0 * 0.05 * f64::from(waiting);
            println!("{mpi:?}: {call}, rank {late} late: {waited} of {expected} s");
            if waiting == 0 {
                assert!(waited < 0.02, "{mpi:?}, {call}, rank {late} late: {text}");
                continue;
            }
            // On a busy machine sleeping takes longer, and so does waiting; who is held up itself comes later and waits less.
            let fits = waited >= 0.9 * expected && waited < 1.5 * expected;
            assert!(fits, "{mpi:?}, {call}, {waited} of {expected}: {text}");
            assert!(
                who.is_some_and(|who| who.ends_with(&format!("rank {late}"))),
                "{text}"
            );
        }
    }
}
