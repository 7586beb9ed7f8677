//! The summary of traces of real runs: it names the culprit.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;
use tests::trace::{LIMIT, TraceSetup};
use tests::{Mpi, Program, process};
use trace_formats::clog2::{self, Clog2Body};

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

/// A collective call of one rank: its name, start and end in seconds.
type Call = (String, f64, f64);

/// The collective calls of each rank of MPI_COMM_WORLD in a CLOG2 file, in order.
fn collective_calls(path: &Path) -> BTreeMap<i32, Vec<Call>> {
    const NAMES: [&str; 4] = ["MPI_Barrier", "MPI_Allreduce", "MPI_Bcast", "MPI_Reduce"];
    let bytes = std::fs::read(path).expect("just written");
    let reader = clog2::Clog2Reader::new(&bytes).expect("CLOG2");
    let (mut starts, mut ends) = (BTreeMap::new(), BTreeMap::new());
    let mut events = Vec::new();
    for record in reader.records() {
        let record = record.expect("a record");
        match record.body {
            Clog2Body::StateDef(state) => {
                let name = state.name.to_str().into_owned();
                if NAMES.contains(&name.as_str()) {
                    starts.insert(state.start_etype, name);
                    ends.insert(state.final_etype, ());
                }
            }
            Clog2Body::Bare { etype } | Clog2Body::Cargo { etype, .. } => {
                events.push((record.header.rank, record.header.time, etype));
            }
            _ => {}
        }
    }
    let mut calls: BTreeMap<i32, Vec<Call>> = BTreeMap::new();
    for (rank, time, etype) in events {
        if let Some(name) = starts.get(&etype) {
            calls
                .entry(rank)
                .or_default()
                .push((name.clone(), time, time));
        } else if ends.contains_key(&etype) {
            let last = calls.get_mut(&rank).and_then(|calls| calls.last_mut());
            last.expect("a start").2 = time;
        }
    }
    calls
}

/// Seconds that others waited for each rank, by the times of all collective calls: a rank waits from its start until the last one
/// that starts before it ends. Where that one was itself in collective calls for more than half of the time since the first start, it
/// is not to blame.
fn waits(calls: &BTreeMap<i32, Vec<Call>>) -> BTreeMap<i32, f64> {
    let mut waits = BTreeMap::new();
    for n in 0..calls[&0].len() {
        let first = calls.values().map(|of| of[n].1).fold(f64::MAX, f64::min);
        for (rank, of) in calls {
            let (name, start, end) = &of[n];
            assert!(calls.values().all(|of| of[n].0 == *name));
            let came = calls.iter().filter(|(_, of)| of[n].1 < *end);
            let last = came.max_by(|a, b| a.1[n].1.total_cmp(&b.1[n].1));
            let (&culprit, of_culprit) = last.expect("the rank itself");
            let until = of_culprit[n].1;
            let inside = |call: &Call| (call.2.min(until) - call.1.max(first)).max(0.0);
            let inside: f64 = of_culprit[..n].iter().map(inside).sum();
            if culprit != *rank && inside <= 0.5 * (until - first) {
                *waits.entry(culprit).or_default() += until - start;
            }
        }
    }
    waits
}

/// One of three ranks comes at least 50 ms late to ten calls. What the summary says of waiting is what the times of the calls tell: on
/// a busy machine a rank may be late for other reasons as well.
#[test]
fn who_waits_for_a_late_comer() {
    for mpi in Mpi::ALL.into_iter().filter(|mpi| mpi.installed()) {
        let program = Program::c("late_comer").compile(mpi);
        // The call, the late rank, who must wait for it whatever happens.
        for (call, late, waiting) in [
            ("barrier", 2, &[0, 1][..]),
            ("allreduce", 2, &[0, 1]),
            ("bcast", 0, &[1, 2]),
            ("bcast", 2, &[]),
            ("reduce", 2, &[0]),
            ("reduce", 0, &[]),
        ] {
            let run = TraceSetup::new(mpi, 3).run(&program, &[call, &late.to_string()]);
            assert!(run.finished.status.success(), "{}", run.finished.story());
            let calls = collective_calls(&run.file("clog2"));
            assert!(calls.len() == 3 && calls.values().all(|of| of.len() == 11));
            for n in 1..11 {
                let came = calls[&late][n].1;
                assert!(came - calls[&late][n - 1].2 >= 0.05, "{calls:?}");
                assert!(
                    waiting.iter().all(|rank| calls[rank][n].2 > came),
                    "{calls:?}"
                );
            }
            let truth = waits(&calls);
            let most = truth.values().copied().fold(0.0, f64::max);
            let mut command = Command::new(tests::mpitrace());
            command.args(["view", "--summary"]).arg(run.file("slog2"));
            let text = process::run(&mut command, LIMIT).succeeded().stdout;
            let Some((before, after)) = text.split_once(" and keeps the others waiting for ")
            else {
                assert!(most < 1e-6, "{mpi:?}, {call}, {truth:?}: {text}");
                continue;
            };
            let (before, _) = before.rsplit_once(" comes last to ").expect(&text);
            let who = before
                .rsplit(". ")
                .next()
                .and_then(|who| who.strip_prefix("rank "));
            let who: i32 = who.and_then(|who| who.parse().ok()).expect(&text);
            let waited = seconds(after);
            println!("{mpi:?}: {call}, rank {late} late: rank {who} {waited} s of {truth:?}");
            let of_who = truth.get(&who).copied().unwrap_or(0.0);
            let close = |a: f64, b: f64| (a - b).abs() <= 0.01 * b + 1e-6;
            assert!(
                close(waited, of_who) && close(of_who, most),
                "{mpi:?}, {call}, rank {who} {waited} of {truth:?}: {text}"
            );
        }
    }
}
