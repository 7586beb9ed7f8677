//! Findings of `mpitrace io` on I/O in which ranks differ, get in each other's way, or fail.

use crate::io_advice::{findings, io_report, jumps};
use serde_json::Value;
use tests::trace::TraceSetup;
use tests::{Mpi, MpiTurns, Program, TracedRun, clocks};

/// A case of the program, run by so many ranks.
fn run(mpi: Mpi, case: &str, ranks: usize) -> TracedRun {
    let program = Program::c("io_trouble").compile(mpi);
    let mut setup = TraceSetup::new(mpi, ranks);
    setup.variables = &[("TRACE_POSIX", "all")];
    let run = setup.run(&program, &[case]);
    assert!(run.finished.status.success(), "{}", run.finished.story());
    run
}

/// The finding of this name, if the report has it.
pub(super) fn finding<'a>(report: &'a Value, name: &str) -> Option<&'a Value> {
    findings(report).iter().find(|one| one["finding"] == name)
}

/// What a case must be found to be: the case, the number of ranks, the finding, and figures of it.
type Expected = (
    &'static str,
    usize,
    &'static str,
    &'static [(&'static str, u64)],
);

const MIB: u64 = 1 << 20;

/// As in the program.
const ROUNDS: u64 = 8;

const BOTH: [Expected; 10] = [
    (
        "unequal",
        2,
        "unequal_writes",
        &[
            ("rank", 0),
            ("bytes", ROUNDS * 60 * MIB),
            ("mean_bytes", ROUNDS * 32 * MIB),
        ],
    ),
    (
        "unequal-reads",
        2,
        "unequal_reads",
        &[
            ("rank", 0),
            ("bytes", ROUNDS * 60 * MIB),
            ("mean_bytes", ROUNDS * 32 * MIB),
        ],
    ),
    ("slow", 3, "slow_rank", &[("rank", 2)]),
    // The limit is ten blocks and a part of one: of twenty writes, nine fail and one is short.
    ("failing", 2, "failed", &[("operations", 18)]),
    ("failing", 2, "short_writes", &[("operations", 2)]),
    ("overwriting", 2, "overwriting", &[("groups", 1), ("of", 1)]),
    (
        "small-collectives",
        2,
        "small_collectives",
        &[("calls", 400), ("bytes", 40_000)],
    ),
    (
        "small-requests",
        2,
        "small_requests",
        &[("small", 400), ("bytes", 400 * 4096)],
    ),
    (
        "one-rank-reads",
        2,
        "one_rank_reads",
        &[("rank", 0), ("bytes", ROUNDS * 64 * MIB)],
    ),
    (
        "stdio",
        2,
        "stdio_or_mapped",
        &[("files", 20), ("unseen_files", 20)],
    ),
];

/// What only ROMIO does: locks in atomic mode, and data sieving on writes.
const ROMIO: [Expected; 2] = [
    ("atomic", 2, "atomic_mode", &[("calls", 2)]),
    (
        "sieving",
        2,
        "read_modify_write",
        &[("calls", 2), ("of", 4)],
    ),
];

/// A case is found to be what is expected.
///
/// # Errors
/// There is no such finding, or it has other figures: a rank that has lost the processor for long may have been slower than the one that is meant.
fn is_named(mpi: Mpi, expected: &Expected) -> Result<(), String> {
    let &(case, ranks, name, figures) = expected;
    let report = io_report(&run(mpi, case, ranks));
    let Some(found) = finding(&report, name) else {
        return Err(format!("{mpi:?} {case}: {:#}", report["findings"]));
    };
    let differs = |(figure, number): &&(&str, u64)| found["figures"][*figure] != *number;
    match figures.iter().find(differs) {
        None => Ok(()),
        Some(figure) => Err(format!("{mpi:?} {case}, not {figure:?}: {found:#}")),
    }
}

#[test]
fn trouble_is_named_with_its_figures() {
    let turns = MpiTurns::new("each kind of bad I/O");
    for (nth, expected) in BOTH.iter().enumerate() {
        for &mpi in turns.of(nth) {
            clocks::in_one_of_three_runs(|| is_named(mpi, expected));
        }
    }
    for &mpi in turns.all().iter().filter(|mpi| mpi.is_mpich()) {
        for expected in &ROMIO {
            clocks::in_one_of_three_runs(|| is_named(mpi, expected));
        }
    }
}

#[test]
fn random_writes_are_those_of_the_program() {
    for mpi in Mpi::ALL.into_iter().filter(|mpi| mpi.installed()) {
        let report = io_report(&run(mpi, "random-writes", 2));
        let found = finding(&report, "random_writes").expect("found");
        let jumps = jumps(0, 200) + jumps(1, 200);
        assert_eq!(found["figures"]["random"], jumps, "{mpi:?} {found:#}");
    }
}

/// A finding costs what ranks wait by the program's own clocks.
///
/// # Errors
/// There is no such finding, or it costs something else.
fn costs_what_ranks_wait(mpi: Mpi, case: &str, name: &str) -> Result<(), String> {
    let run = run(mpi, case, 2);
    let report = io_report(&run);
    let Some(found) = finding(&report, name) else {
        return Err(format!("{mpi:?} {case}: {:#}", report["findings"]));
    };
    let cost = found["cost_s"].as_f64().expect("a number");
    let lines = run.finished.stdout.lines();
    let seconds = lines.filter_map(|line| line.rsplit(' ').next()?.parse::<f64>().ok());
    let seconds: f64 = seconds.sum();
    match clocks::agree(cost, seconds) {
        true => Ok(()),
        false => Err(format!(
            "{mpi:?} {case}: {cost} s in place of {seconds} s: {found:#}"
        )),
    }
}

/// Collective writes of OMPIO do not wait for late ranks here.
#[test]
fn waits_are_as_long_as_the_program_says() {
    for mpi in Mpi::ALL.into_iter().filter(|mpi| mpi.installed()) {
        let late = ("late", "late_ranks");
        let reads = ("one-rank-reads", "one_rank_reads");
        let cases = if mpi.is_mpich() {
            &[late, reads][..]
        } else {
            &[reads]
        };
        for &(case, name) in cases {
            clocks::in_one_of_three_runs(|| costs_what_ranks_wait(mpi, case, name));
        }
    }
}

/// Of three ranks one waits for another in collective writes: its I/O is not slow.
#[test]
fn a_rank_that_waits_for_others_is_not_slow() {
    for mpi in Mpi::ALL.into_iter().filter(|mpi| mpi.installed()) {
        clocks::in_one_of_three_runs(|| {
            let report = io_report(&run(mpi, "waiting", 3));
            let is_slow = finding(&report, "slow_rank").is_some();
            let is_late = finding(&report, "late_ranks").is_some();
            // Another rank may lose the processor while it writes, and be slow.
            match !is_slow && (is_late || !mpi.is_mpich()) {
                true => Ok(()),
                false => Err(format!("{mpi:?} {:#}", report["findings"])),
            }
        });
    }
}
