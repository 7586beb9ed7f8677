//! The flight recorder: of a run longer than the disk limit the newest calls stay, with all that is needed to understand them.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;
use tests::trace::{LIMIT, TraceSetup};
use tests::{Mpi, Program, TracedRun, process};

const ROUNDS: u64 = 30000;

/// Calls of a rank before it frees what it has made, from reading the program.
const CALLS: u64 = 6 + 4 * ROUNDS + 3 * ROUNDS.div_ceil(50);

fn flight(mpi: Mpi, arguments: &[&str], variables: &[(&str, &str)]) -> TracedRun {
    let mut all = vec![
        ("TRACE_DISK_LIMIT", "1M"),
        ("TRACE_AT_DISK_LIMIT", "newest"),
        ("TRACE_KEEP_BLOCKS", "yes"),
    ];
    all.extend(variables);
    let mut tracing = TraceSetup::new(mpi, 2);
    tracing.variables = &all;
    tracing.limit = Duration::from_secs(300);
    tracing.run(&Program::c("flight").compile(mpi), arguments)
}

/// The number in front of this in what was said.
fn number_before(text: &str, words: &str) -> u64 {
    let head = text.split_once(words);
    let head = head.unwrap_or_else(|| panic!("{words}: {text}")).0;
    let line = head.rsplit(['\n', ':', ',']).next().unwrap_or_default();
    let digits: String = line.chars().filter(char::is_ascii_digit).collect();
    digits.parse().unwrap_or_else(|_| panic!("{words}: {text}"))
}

/// Arrows as every reader draws them: the n-th send of a channel to its n-th receive. How long a message is tells whether
/// both are of one message.
fn arrows(run: &TracedRun) -> usize {
    let text = run.print(&run.file("clog2"));
    let value = |line: &str, key: &str| -> Option<f64> {
        let rest = line.split_once(&format!(" {key}="))?.1;
        rest.split([' ', '\n']).next()?.parse().ok()
    };
    type Half = (f64, f64);
    let mut channels: BTreeMap<[i64; 3], (Vec<Half>, Vec<Half>)> = BTreeMap::new();
    for line in text.lines().filter(|line| line.contains("type=msg")) {
        let time = line.strip_prefix("ts=").and_then(|l| l.split(' ').next());
        let time: f64 = time.and_then(|t| t.parse().ok()).expect(line);
        let get = |key| value(line, key).unwrap_or_else(|| panic!("{key}: {line}"));
        let (own, tag) = (get("rank") as i64, get("tag") as i64);
        let is_send = line.contains("et=send");
        let channel = channels.entry([if is_send { own } else { 1 - own }, tag, 0]);
        let (sends, receives) = channel.or_default();
        if is_send { sends } else { receives }.push((time, get("sz")));
    }
    let mut arrows = 0;
    for (channel, (sends, receives)) in channels {
        assert_eq!(sends.len(), receives.len(), "{channel:?}");
        for ((sent, size), (received, size_received)) in sends.iter().zip(&receives) {
            // Printed to the microsecond.
            assert!(sent <= received, "{channel:?}: {sent} {received}");
            assert_eq!(size, size_received, "{channel:?} at {sent}");
            arrows += 1;
        }
    }
    arrows
}

#[test]
fn the_newest_calls_take_the_place_of_the_oldest() {
    for mpi in Mpi::ALL.into_iter().filter(|mpi| mpi.installed()) {
        let run = flight(mpi, &[&ROUNDS.to_string()], &[]);
        assert!(run.finished.status.success(), "{}", run.finished.story());
        assert_eq!(run.finished.stdout, "ok\n", "{}", run.finished.story());
        let (calls, lost) = run.closing_numbers();
        let dropped = number_before(&run.finished.stderr, " before these were given up");
        assert_eq!(lost, 0);
        assert!(dropped > calls, "{}", run.finished.story());
        let made: u64 = run.made().values().flat_map(|calls| calls.values()).sum();
        assert_eq!(calls + dropped, made, "{}", run.finished.story());
        let written: u64 = run.in_dumpi().values().flat_map(|c| c.values()).sum();
        assert_eq!(calls, written);
        let arrows = arrows(&run);
        assert!(arrows as u64 * 10 > calls, "{arrows} arrows, {calls} calls");
        // The last call that was made is the last one there is.
        assert_eq!(run.in_dumpi()[&0].get("MPI_Finalize"), Some(&1));
        assert_eq!(run.in_dumpi()[&0].get("MPI_Comm_dup"), None);
        for file in run.files("blocks") {
            let bytes = std::fs::metadata(&file).expect("kept").len();
            assert!(bytes <= (1 << 20) + (8 << 16), "{bytes}");
        }
        let mut check = Command::new(tests::mpitrace());
        check.arg("check").arg(run.file("slog2"));
        process::run(&mut check, LIMIT).succeeded();
    }
}

#[test]
fn what_a_killed_run_did_last_is_there() {
    for mpi in Mpi::ALL.into_iter().filter(|mpi| mpi.installed()) {
        let run = flight(mpi, &[&ROUNDS.to_string(), "kill"], &[]);
        assert!(!run.finished.status.success(), "{}", run.finished.story());
        let mut recover = Command::new(tests::mpitrace());
        recover
            .arg("recover")
            .arg("--dir")
            .arg(run.folder.path().join("recovered"))
            .arg(run.trace());
        let printed = process::run(&mut recover, LIMIT).succeeded().stdout;
        for rank in 0..2 {
            let line = printed
                .lines()
                .find(|l| l.contains(&format!("rank {rank}:")));
            let line = line.unwrap_or_else(|| panic!("{printed}"));
            let calls = number_before(line, " calls,") + number_before(line, " before them");
            assert_eq!(calls, CALLS, "{printed}");
        }
        // Messages that were under way are in no order, so none is drawn, and that is said.
        assert!(
            printed.contains("message endpoints are not drawn"),
            "{printed}"
        );
        // Nor are they guessed where DUMPI is read, and reports say that.
        let files = fs::read_dir(run.folder.path().join("recovered")).expect("made");
        let files = files.map(|entry| entry.expect("sound").path());
        let is_trace = |path: &PathBuf| {
            path.extension()
                .is_some_and(|e| e == "slog2" || e == "meta")
        };
        let traces: Vec<PathBuf> = files.filter(is_trace).collect();
        assert_eq!(traces.len(), 2, "{traces:?}");
        for trace in traces {
            let mut report = Command::new(tests::mpitrace());
            report.arg("report").arg("--json").arg(&trace);
            let printed = process::run(&mut report, LIMIT).succeeded().stdout;
            let report: serde_json::Value = serde_json::from_str(&printed).expect("JSON");
            assert_eq!(report["messages"], 0, "{trace:?}");
            let unmatched = report["unmatched"].as_u64().expect("a number");
            // DUMPI does not let follow the communicator of these messages, whose making is gone.
            let is_told = unmatched > 1000 || trace.extension().is_some_and(|e| e == "meta");
            assert!(is_told, "{trace:?}: {unmatched}");
        }
    }
}
