//! Compares the records that a run has left with what the program counted.

use super::ways::{EndKind, EndTime, Victim};
use crate::process::{self, TestFolder};
use crate::tally::CallTally;
use crate::{contents, mpitrace};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// Result of a run, or of many.
#[derive(Clone, Debug, Default)]
pub struct RunOutcome {
    /// Runs.
    pub runs: u64,
    /// Calls that had returned, by the program's own count.
    pub expected: u64,
    /// Returned calls that were recovered.
    pub recovered: u64,
    /// Calls that had returned and are not there.
    pub lost: u64,
    /// Calls that are there and were never made.
    pub invented: u64,
    /// Calls that had begun and not returned.
    pub running: u64,
    /// Running calls that are there: as unfinished, or as the record that was complete before the program could count it.
    pub shown: u64,
    /// Runs whose trace was complete all the same.
    pub complete: u64,
    /// Other faults, in words.
    pub faults: Vec<String>,
}

impl RunOutcome {
    /// Adds another one.
    pub fn add(&mut self, other: RunOutcome) {
        self.runs += other.runs;
        self.expected += other.expected;
        self.recovered += other.recovered;
        self.lost += other.lost;
        self.invented += other.invented;
        self.running += other.running;
        self.shown += other.shown;
        self.complete += other.complete;
        self.faults.extend(other.faults);
    }

    /// Whether nothing is lost, invented or wrong.
    pub fn is_good(&self) -> bool {
        self.lost == 0 && self.invented == 0 && self.faults.is_empty()
    }
}

/// Numbers of calls of a function that a rank's thread has begun and ended.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct CallCounts {
    pub(super) begun: u64,
    pub(super) ended: u64,
}

/// Counts of the program on one rank.
#[derive(Debug, Default)]
pub(super) struct ProgramCounts {
    pub(super) pid: u32,
    /// Over all threads.
    pub(super) calls: BTreeMap<String, CallCounts>,
}

/// Reads `RANK.ends`, the `struct map` of ends.c.
fn truth(path: &Path) -> Option<ProgramCounts> {
    const NAME: usize = 32;
    let bytes = fs::read(path).ok()?;
    let word = |at: usize| Some(u64::from_ne_bytes(bytes.get(at..at + 8)?.try_into().ok()?));
    let (functions, threads) = (word(0)? as usize, word(8)? as usize);
    let mut truth = ProgramCounts {
        pid: word(16)? as u32,
        ..ProgramCounts::default()
    };
    let names = 32;
    let counts = (names + functions * NAME).next_multiple_of(8);
    for function in 0..functions {
        let name = bytes
            .get(names + function * NAME..)?
            .split(|b| *b == 0)
            .next()?;
        let mut made = CallCounts::default();
        for thread in 0..threads {
            let at = counts + (thread * functions + function) * 16;
            made.begun += word(at)?;
            made.ended += word(at + 8)?;
        }
        if made.begun > 0 {
            let name = String::from_utf8_lossy(name).into_owned();
            truth.calls.insert(name, made);
        }
    }
    Some(truth)
}

/// Reads the counts of the ranks that have begun.
pub(super) fn truths(folder: &Path, ranks: usize) -> BTreeMap<usize, ProgramCounts> {
    let of = |rank: usize| Some((rank, truth(&folder.join(format!("{rank}.ends")))?));
    (0..ranks)
        .filter_map(of)
        .filter(|(_, t)| t.pid != 0)
        .collect()
}

fn tool(folder: &Path, arguments: &[&str]) -> process::FinishedCommand {
    let mut command = Command::new(mpitrace());
    command.current_dir(folder).args(arguments);
    process::run(&mut command, Duration::from_secs(60))
}

/// Calls by rank, as `--count` tells them. Those of processes that never got a rank are added up under the one behind the last.
fn counted(text: &str, ranks: usize) -> Option<BTreeMap<usize, CallTally>> {
    let mut all: BTreeMap<usize, CallTally> = BTreeMap::new();
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let mut words = line.split(' ');
        let rank: i64 = words.next()?.parse().ok()?;
        let total: u64 = words.next()?.parse().ok()?;
        let of_rank = all
            .entry(usize::try_from(rank).unwrap_or(ranks))
            .or_default();
        let mut sum = 0;
        for word in words {
            let (name, count) = word.split_once('=')?;
            let count: u64 = count.parse().ok()?;
            *of_rank.entry(name.to_owned()).or_default() += count;
            sum += count;
        }
        if sum != total {
            return None;
        }
    }
    Some(all)
}

/// The DUMPI files of a folder, by rank: calls that ended, and how many did not.
fn in_dumpi(folder: &Path) -> BTreeMap<usize, (CallTally, Vec<String>)> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let bins = entries
        .map(|e| e.path())
        .filter(|p| p.extension().is_some_and(|e| e == "bin"));
    bins.filter_map(|path| {
        let stem = path.file_stem()?.to_str()?.to_owned();
        let rank = stem.rsplit('-').next()?.parse().ok()?;
        Some((rank, contents::dumpi_of_dead(&path)))
    })
    .collect()
}

fn the_one(folder: &Path, extension: &str) -> Option<PathBuf> {
    let entries = fs::read_dir(folder).ok()?.flatten().map(|e| e.path());
    entries
        .into_iter()
        .find(|p| p.extension().is_some_and(|e| e == extension))
}

/// Compares what the program counted on each rank for which `traced` holds with what is there.
pub(super) fn judge(folder: &TestFolder, traced: &[bool], way: EndKind) -> RunOutcome {
    let mut outcome = RunOutcome::default();
    let ranks = traced.len();
    let mut truths = truths(folder.path(), ranks);
    truths.retain(|rank, _| traced[*rank]);
    let trace = folder.path().join("trace");
    let blocks = fs::read_dir(&trace).expect("own folder").flatten();
    let blocks = blocks
        .filter(|e| e.path().extension().is_some_and(|e| e == "blocks"))
        .count();
    let whole = ["meta", "clog2", "slog2"]
        .iter()
        .all(|e| the_one(&trace, e).is_some());
    // Every rank has written its blocks, or rank 0 the whole trace.
    let (recorded, out) = if whole {
        outcome.complete = 1;
        let calls = in_dumpi(&trace).into_iter();
        (
            calls.map(|(rank, (calls, _))| (rank, calls)).collect(),
            trace,
        )
    } else {
        if blocks < truths.len() && way.when != EndTime::Init {
            let fault = format!("{blocks} block files of {} ranks", truths.len());
            outcome.faults.push(fault);
        }
        if blocks == 0 {
            return outcome;
        }
        let count = tool(folder.path(), &["recover", "--count", "trace"]);
        let Some(recorded) = counted(&count.stdout, ranks).filter(|_| count.status.success())
        else {
            outcome.faults.push(count.story());
            return outcome;
        };
        let full = tool(
            folder.path(),
            &[
                "recover",
                "--formats=dumpi,clog2,slog2",
                "--dir",
                "out",
                "--output",
                "all",
                "trace",
            ],
        );
        // Of a rank without a recorder it says that there is no file, which is no success.
        let without = missing(traced).map(|who| format!("no block file of rank {who}:"));
        let is_told = without.is_some_and(|words| {
            let mut lines = full.stderr.lines();
            full.status.code() == Some(1) && lines.all(|line| line.contains(&words))
        });
        if !full.status.success() && !is_told {
            outcome.faults.push(full.story());
            return outcome;
        }
        says(way, traced, &full.stdout, &mut outcome);
        (recorded, folder.path().join("out"))
    };
    let none = CallTally::new();
    let drawn = the_one(&out, "clog2").map(|path| contents::clog2(&path).calls);
    let drawn = drawn.unwrap_or_default();
    let dumpi = in_dumpi(&out);
    let has_rank = |rank: &usize| dumpi.contains_key(rank);
    for (rank, truth) in &truths {
        // Without MPI_Init's end it has no rank to be shown under; --count has it.
        let place = if recorded.contains_key(rank) {
            *rank
        } else {
            ranks
        };
        let recorded = recorded.get(&place).unwrap_or(&none);
        let drawn = drawn.get(rank).unwrap_or(&none);
        for (name, made) in &truth.calls {
            let of = |counts: &CallTally| counts.get(name).copied().unwrap_or(0);
            let there = of(recorded);
            outcome.expected += made.ended;
            outcome.recovered += there.min(made.ended);
            outcome.lost += made.ended.saturating_sub(there);
            outcome.invented += there.saturating_sub(made.begun);
            outcome.running += made.begun - made.ended;
            if !has_rank(rank) {
                continue;
            }
            let in_clog2 = of(drawn);
            let (in_dumpi, unfinished) = dumpi.get(rank).map_or((0, 0), |(calls, running)| {
                let running = running.iter().filter(|running| *running == name);
                (of(calls), running.count() as u64)
            });
            outcome.shown += in_clog2.saturating_sub(made.ended);
            if in_dumpi != there || in_clog2 != there + unfinished || in_clog2 > made.begun {
                outcome.faults.push(format!(
                    "rank {rank}, {name}: {made:?}, {there} counted, {in_clog2} in CLOG2, {in_dumpi} and {unfinished} unfinished in DUMPI"
                ));
            }
        }
        for name in recorded
            .keys()
            .filter(|name| !truth.calls.contains_key(*name))
        {
            outcome
                .faults
                .push(format!("rank {rank}: {name} was never called"));
        }
    }
    if let Some(slog2) = the_one(&out, "slog2") {
        let check = tool(&out, &["check", &slog2.to_string_lossy()]);
        if !check.status.success() {
            outcome.faults.push(check.story());
        }
        let states: u64 = contents::slog2(&slog2).states.values().sum();
        let calls: u64 = drawn.values().flat_map(CallTally::values).sum();
        if states != calls {
            let fault = format!("{states} states in SLOG2, {calls} in CLOG2");
            outcome.faults.push(fault);
        }
    } else if truths.keys().any(has_rank) {
        outcome.faults.push("no SLOG2 file".to_owned());
    }
    outcome
}

/// The ranks without a recorder, as `recover` writes them: `0, 2-3`. `None` if there are none.
fn missing(traced: &[bool]) -> Option<String> {
    let mut ranges: Vec<(usize, usize)> = Vec::new();
    for rank in (0..traced.len()).filter(|&rank| !traced[rank]) {
        match ranges.last_mut() {
            Some((_, last)) if *last + 1 == rank => *last = rank,
            _ => ranges.push((rank, rank)),
        }
    }
    let words = ranges.iter().map(|(first, last)| match first == last {
        true => first.to_string(),
        false => format!("{first}-{last}"),
    });
    let words: Vec<String> = words.collect();
    (!words.is_empty()).then(|| words.join(", "))
}

/// Whether the report tells how the rank ended.
fn says(way: EndKind, traced: &[bool], text: &str, outcome: &mut RunOutcome) {
    let Some(printed) = way.printed else { return };
    let ranks = traced.len();
    if way.who == Victim::One && !traced[ranks - 1] {
        return;
    }
    // Of those that all end by themselves the quickest ends the others.
    let mut lines = text.lines().filter(|line| match way.who {
        Victim::One => line.starts_with(&format!("  rank {}: ", ranks - 1)),
        _ => line.starts_with("  rank "),
    });
    if !lines.any(|line| line.contains(printed)) {
        let fault = format!("expected: {printed}\n{text}");
        outcome.faults.push(fault);
    }
}
