//! Clocks that are wrong by a known amount: what the ranks find out about each other, and what comes of it in the trace.

use blockfile::define::{Definition, SYNC, Sync};
use blockfile::file::BlockFile;
use std::collections::BTreeMap;
use std::process::Command;
use tests::trace::{LIMIT, TraceSetup};
use tests::{Mpi, Program, TracedRun, contents, process};

/// Rank 1's clock is so far ahead, ns.
const OFFSET: i64 = 5_000_000_000;
/// And runs so much faster, ns per s: ten times what clocks of machines do.
const DRIFT: i64 = 500_000;

/// The comparisons in the block file of a rank.
fn comparisons(run: &TracedRun, rank: usize) -> Vec<Sync> {
    let bytes = std::fs::read(&run.files("blocks")[rank]).expect("kept");
    let file = BlockFile::new(&bytes).expect("a block file");
    let mut found = Vec::new();
    for thread in file.threads() {
        let mut records = thread.records();
        while let Some(record) = records.next() {
            if let Some(Definition::Sync(sync)) = Definition::decode(SYNC, record.payload)
                && record.function == SYNC
            {
                found.push(sync);
            }
        }
    }
    found
}

#[test]
fn offset_and_drift_are_found_and_taken_out() {
    for mpi in Mpi::ALL.into_iter().filter(|mpi| mpi.installed()) {
        let wrong = format!("{OFFSET},{DRIFT}");
        let variables = [
            ("TRACE_TEST_CLOCK", &*wrong),
            ("TRACE_KEEP_BLOCKS", "yes"),
            ("TRACE_CLOCK_SYNC", "twice"),
        ];
        let mut tracing = TraceSetup::new(mpi, 2);
        tracing.variables = &variables;
        let run = tracing.run(&Program::c("flight").compile(mpi), &["5000"]);
        assert!(run.finished.status.success(), "{}", run.finished.story());
        let syncs = comparisons(&run, 1);
        assert_eq!(syncs.len(), 2, "{syncs:?}");
        for sync in syncs {
            // The clock showed the true time, made wrong.
            let printed = sync.ticks as i128;
            let t = (printed - i128::from(OFFSET)) * 1_000_000_000
                / (1_000_000_000 + i128::from(DRIFT));
            let error = (i128::from(sync.shift) - (t - printed)).unsigned_abs() as u64;
            println!("{mpi:?}: {sync:?}, error {error} ns");
            assert!(sync.gap > 0 && error <= 2 * sync.gap, "{error}: {sync:?}");
        }
        // The remaining error is within the doubt of the comparisons, and gone when times are corrected forward.
        let doubt = comparisons(&run, 1).iter().map(|s| s.gap).max();
        let doubt = doubt.unwrap_or(0) as f64 * 1e-9;
        let (messages, worst, last) = self::messages(&run.print(&run.file("clog2")));
        assert_eq!(messages, 2 * (5000 + 100));
        println!("{mpi:?}: at worst {worst} s late, doubt {doubt} s");
        assert!(worst >= -2.0 * doubt - 1e-6, "{worst} {doubt}");
        assert!(last < 60.0, "the offset is in the times: {last} s");
        // DUMPI's files of the ranks have the times of one clock, too.
        let of_dumpi = run.folder.path().join("of-dumpi.clog2");
        let mut convert = Command::new(tests::mpitrace());
        convert
            .args(["convert", "-q"])
            .arg(run.file("meta"))
            .arg(&of_dumpi);
        process::run(&mut convert, LIMIT).succeeded();
        let (messages, worst, last) = self::messages(&run.print(&of_dumpi));
        assert_eq!(messages, 2 * (5000 + 100));
        println!("{mpi:?}, DUMPI: at worst {worst} s late, doubt {doubt} s");
        assert!(worst >= -2.0 * doubt - 1e-6, "{worst} {doubt}");
        assert!(last < 60.0, "the offset is in the times: {last} s");
        let right = run.folder.path().join("right.clog2");
        let mut forward = Command::new(tests::mpitrace());
        forward
            .args(["clock", "--forward"])
            .arg(&right)
            .arg(run.file("clog2"));
        let printed = process::run(&mut forward, LIMIT).succeeded().stdout;
        assert!(printed.starts_with("10200 messages, "), "{printed}");
        let (messages, worst, _) = self::messages(&run.print(&right));
        assert_eq!(messages, 2 * (5000 + 100));
        assert!(worst >= 0.0, "{worst}");
    }
}

/// Unless told, clocks are compared in MPI_Finalize only: a constant offset is taken out to within the doubt of the comparison.
#[test]
fn an_offset_is_found_at_the_end() {
    for mpi in Mpi::ALL.into_iter().filter(|mpi| mpi.installed()) {
        let wrong = format!("{OFFSET},0");
        let variables = [("TRACE_TEST_CLOCK", &*wrong), ("TRACE_KEEP_BLOCKS", "yes")];
        let mut tracing = TraceSetup::new(mpi, 2);
        tracing.variables = &variables;
        let run = tracing.run(&Program::c("flight").compile(mpi), &["1000"]);
        assert!(run.finished.status.success(), "{}", run.finished.story());
        let syncs = comparisons(&run, 1);
        assert_eq!(syncs.len(), 1, "{syncs:?}");
        let doubt = syncs[0].gap;
        assert!(
            doubt > 0 && (syncs[0].shift + OFFSET).unsigned_abs() <= 2 * doubt,
            "{syncs:?}"
        );
        let (messages, worst, last) = self::messages(&run.print(&run.file("clog2")));
        assert_eq!(messages, 2 * (1000 + 20));
        println!("{mpi:?}: at worst {worst} s late, doubt {doubt} ns");
        assert!(worst >= -2e-9 * doubt as f64 - 1e-6, "{worst} {doubt}");
        assert!(last < 60.0, "the offset is in the times: {last} s");
    }
}

/// A run that is killed comes to no comparison. What is recovered of it has all ranks on one clock, by the time of day, although one host has run for
/// five thousand seconds longer.
#[test]
fn hosts_of_a_killed_run_are_placed_by_the_time_of_day() {
    for mpi in Mpi::ALL.into_iter().filter(|mpi| mpi.installed()) {
        let variables = [("TRACE_TEST_CLOCK", "5000000000000,0")];
        let mut tracing = TraceSetup::new(mpi, 2);
        tracing.variables = &variables;
        let run = tracing.run(&Program::c("flight").compile(mpi), &["1000", "kill"]);
        assert!(!run.finished.status.success(), "{}", run.finished.story());
        let out = run.folder.path().join("recovered");
        let mut recover = Command::new(tests::mpitrace());
        recover.args(["recover", "--formats", "slog2", "--output", "run", "--dir"]);
        recover.arg(&out).arg(run.trace());
        let recovered = process::run(&mut recover, LIMIT).succeeded();
        let said = "1 rank on another host is placed by the time of day";
        assert!(recovered.stdout.contains(said), "{}", recovered.story());
        let mut info = Command::new(tests::mpitrace());
        info.arg("info").arg(out.join("run.slog2"));
        let about = process::run(&mut info, LIMIT).succeeded().stdout;
        let span = about.lines().find_map(|line| line.strip_prefix("span s "));
        let span: f64 = span.expect("a span").trim().parse().expect("a number");
        assert!(span < LIMIT.as_secs_f64(), "{about}");
    }
}

/// Clocks that nobody compares: the merge puts every message right where that is asked for, and says how many there were.
#[test]
fn messages_are_put_right_in_the_merge() {
    for mpi in Mpi::ALL.into_iter().filter(|mpi| mpi.installed()) {
        for forward in ["no", "yes"] {
            let variables = [
                ("TRACE_TEST_CLOCK", "20000000,0"),
                ("TRACE_CLOCK_SYNC", "no"),
                ("TRACE_CLOCK_FORWARD", forward),
            ];
            let mut tracing = TraceSetup::new(mpi, 2);
            tracing.variables = &variables;
            let run = tracing.run(&Program::c("flight").compile(mpi), &["2000"]);
            let story = run.finished.story();
            assert!(run.finished.status.success(), "{story}");
            let (messages, worst, _) = messages(&run.print(&run.file("clog2")));
            assert_eq!(messages, 2 * (2000 + 40), "{story}");
            let printed = run.finished.stderr.lines();
            let printed =
                printed.filter(|l| l.contains(" arrived before they were sent, at most 0.0"));
            if forward == "no" {
                assert!(worst < -0.015, "{worst}");
                assert_eq!(printed.count(), 0, "{story}");
                continue;
            }
            // Printed to the microsecond.
            assert!(worst >= 0.0, "{worst}");
            let printed: Vec<&str> = printed.collect();
            assert!(
                printed.len() == 1 && printed[0].contains(" of 4 080 messages "),
                "{story}"
            );
            let slog2 = contents::slog2(&run.file("slog2"));
            assert_eq!(slog2.arrows, 4080);
            let mut check = Command::new(tests::mpitrace());
            check.arg("check").arg(run.file("slog2"));
            process::run(&mut check, LIMIT).succeeded();
        }
    }
}

/// Number of messages in a CLOG2 file in text, the least time that one takes, and the latest time.
pub(super) fn messages(text: &str) -> (usize, f64, f64) {
    let mut channels: BTreeMap<(i64, bool), (Vec<f64>, Vec<f64>)> = BTreeMap::new();
    let mut last: f64 = 0.0;
    for line in text.lines().filter(|line| line.contains("type=msg")) {
        let word = |key: &str| -> Option<f64> {
            let rest = line.split_once(&format!(" {key}="))?.1;
            rest.split([' ', '\n']).next()?.parse().ok()
        };
        let time = line.strip_prefix("ts=").and_then(|l| l.split(' ').next());
        let time: f64 = time.and_then(|t| t.parse().ok()).expect(line);
        let (rank, tag) = (word("rank").expect(line), word("tag").expect(line));
        let is_send = line.contains("et=send");
        let channel = channels.entry((tag as i64, (rank == 0.0) == is_send));
        let (sends, receives) = channel.or_default();
        if is_send { sends } else { receives }.push(time);
        last = last.max(time);
    }
    let (mut messages, mut worst) = (0, f64::INFINITY);
    for (sends, receives) in channels.values() {
        assert_eq!(sends.len(), receives.len());
        messages += sends.len();
        for (sent, received) in sends.iter().zip(receives) {
            worst = worst.min(received - sent);
        }
    }
    (messages, worst, last)
}
