//! Waits in collective calls of made-up runs in which recording was off at times: only operations of which all calls are recorded are known.

use crate::made_up::{self, TICK};
use analysis::correctness::FindingKind;
use analysis::correctness::drawables::DrawableChecks;
use analysis::performance::{PerformanceCollector, PerformanceReport};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use trace_model::Drawable;

const RANKS: usize = 2;
const NAMES: [&str; 5] = [
    "MPI_Init",
    "MPI_Barrier",
    "MPI_Allreduce",
    "MPI_Alltoall",
    "MPI_Pcontrol",
];
const INIT: i32 = 0;
const BARRIER: i32 = 1;
const CONTROL: i32 = 4;

/// A step of the run; ticks.
#[derive(Clone, Copy, Debug)]
enum Step {
    Compute(usize, u64),
    /// A collective call of this category.
    Together(i32),
    /// A rank switches recording off or on.
    Record(usize, bool),
}

#[derive(Default)]
struct Run {
    /// Category, begin, end and rank.
    states: Vec<(i32, u64, u64, usize)>,
    now: [u64; RANKS],
    is_off: [bool; RANKS],
    /// Ticks of waiting in operations of which all calls are recorded.
    waits: u64,
    /// Operations of which one call is recorded.
    incomplete: u64,
}

impl Run {
    fn step(&mut self, step: Step) {
        match step {
            Step::Compute(rank, ticks) => self.now[rank] += ticks,
            Step::Record(rank, on) => {
                let now = self.now[rank];
                self.states.push((CONTROL, now, now + 1, rank));
                self.now[rank] += 1;
                self.is_off[rank] = !on;
            }
            Step::Together(category) => {
                let last = self.now.into_iter().max().unwrap_or(0);
                let recorded = (0..RANKS).filter(|&rank| !self.is_off[rank]);
                let recorded: Vec<usize> = recorded.collect();
                for &rank in &recorded {
                    self.states.push((category, self.now[rank], last + 2, rank));
                }
                match recorded.len() {
                    RANKS => self.waits += self.now.iter().map(|now| last - now).sum::<u64>(),
                    one => self.incomplete += u64::from(one == 1),
                }
                self.now = [last + 2; RANKS];
            }
        }
    }

    fn report(mut self) -> PerformanceReport {
        let definitions = made_up::definitions(made_up::states(&NAMES), RANKS as i32);
        self.states
            .sort_by_key(|&(_, from, to, _)| (from, std::cmp::Reverse(to)));
        let mut collector = PerformanceCollector::new(&definitions, &made_up::whole());
        each_drawable(&self.states, |drawable| collector.put(drawable));
        collector.finish()
    }
}

/// Gives each state as a drawable: category, begin and end in ticks, and rank.
fn each_drawable(states: &[(i32, u64, u64, usize)], mut put: impl FnMut(&Drawable<'_>)) {
    for &(category, from, to, rank) in states {
        let times = [from, to].map(|tick| tick as f64 * TICK);
        made_up::put_state(&mut put, (category, rank as i32), times, &[]);
    }
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => (0..RANKS, 1u64..50).prop_map(|(rank, n)| Step::Compute(rank, n)),
        3 => (BARRIER..CONTROL).prop_map(Step::Together),
        1 => (0..RANKS, any::<bool>()).prop_map(|(rank, on)| Step::Record(rank, on)),
    ]
}

/// What is told of operations that lack calls.
fn lacking(report: &PerformanceReport) -> Vec<&str> {
    let notes = report.notes.iter();
    let lacking = notes.filter(|note| note.contains("lacks calls") || note.contains("clocks"));
    lacking.map(String::as_str).collect()
}

/// Checks that the report has the waits that were simulated.
fn is_as_simulated(run: Run) -> Result<(), TestCaseError> {
    let (waits, states) = (run.waits, run.states.clone());
    let report = run.report();
    prop_assert_eq!(
        report.time.waiting / TICK,
        waits as f64,
        "{:?} {:?}",
        states,
        report.notes
    );
    Ok(())
}

proptest! {
    // The same runs each time: in one of some ten thousand it follows from the times alone that a call belongs to the operation before, which it does not.
    #![proptest_config(ProptestConfig { cases: 1000, rng_seed: RngSeed::Fixed(1), ..ProptestConfig::default() })]

    /// Calls that were made while MPI_Pcontrol had switched recording off do not shift those that follow.
    #[test]
    fn unrecorded_calls_shift_no_others(steps in prop::collection::vec(step(), 0..60)) {
        let mut run = Run { now: [2; RANKS], ..Run::default() };
        run.states.extend((0..RANKS).map(|rank| (INIT, 0, 1, rank)));
        for step in steps {
            run.step(step);
            // No rank goes through many calls at once.
            if let Step::Together(_) = step {
                (0..RANKS).for_each(|rank| run.step(Step::Compute(rank, 1)));
            }
        }
        is_as_simulated(run)?;
    }

    /// Ranks of which the begin is not recorded, up to another time each, are matched from the first call on that all have.
    #[test]
    fn what_begins_late_is_matched(
        steps in prop::collection::vec(step(), 0..60),
        begins in prop::array::uniform2(0u64..600),
    ) {
        let mut run = Run { now: [2; RANKS], ..Run::default() };
        run.is_off = [true; RANKS];
        for step in steps {
            for (rank, begin) in begins.into_iter().enumerate() {
                run.is_off[rank] &= run.now[rank] < begin;
            }
            if !matches!(step, Step::Record(..)) {
                run.step(step);
            }
            if let Step::Together(_) = step {
                (0..RANKS).for_each(|rank| run.step(Step::Compute(rank, 1)));
            }
        }
        is_as_simulated(run)?;
    }
}

/// A rank leaves one barrier unrecorded, and is late to the four that follow.
#[test]
fn a_barrier_that_is_not_recorded_is_told() {
    let mut run = Run {
        now: [2; RANKS],
        ..Run::default()
    };
    run.states.extend((0..RANKS).map(|rank| (INIT, 0, 1, rank)));
    for step in [
        Step::Together(BARRIER),
        Step::Record(1, false),
        Step::Together(BARRIER),
        Step::Record(1, true),
    ] {
        run.step(step);
    }
    for _ in 0..4 {
        run.step(Step::Compute(1, 50));
        run.step(Step::Together(BARRIER));
    }
    assert_eq!(run.incomplete, 1);
    let report = run.report();
    assert_eq!(report.time.waiting / TICK, 4.0 * 50.0 + 1.0);
    let told = "1 collective operation of which the trace lacks calls of some ranks: who waited there is not known";
    assert_eq!(lacking(&report), [told]);
}

/// Clocks that differ shift no calls, though recording may have been off before. Only the wait in the first operation after that is lost.
#[test]
fn clocks_that_differ_shift_no_calls() {
    let mut run = Run::default();
    run.states.extend((0..RANKS).map(|rank| (INIT, 0, 1, rank)));
    run.states
        .extend((0..RANKS).map(|rank| (CONTROL, 5, 6, rank)));
    // The clock of rank 1 is four ticks ahead.
    for (from, from_ahead, to) in [(10, 17, 14), (50, 57, 54), (100, 124, 122)] {
        run.states.push((BARRIER, from, to, 0));
        run.states.push((BARRIER, from_ahead, to + 4, 1));
    }
    let report = run.report();
    assert_eq!(report.time.waiting / TICK, 4.0 + 22.0);
    assert_eq!(lacking(&report).len(), 1, "{:?}", report.notes);
}

/// What `mpitrace verify` finds, and whether it says that collective calls were not checked.
fn verified(states: &[(i32, u64, u64, usize)]) -> (Vec<FindingKind>, bool) {
    let definitions = made_up::definitions(made_up::states(&NAMES), RANKS as i32);
    let mut checks = DrawableChecks::new(&definitions);
    each_drawable(states, |drawable| checks.put(drawable));
    let report = checks.finish().expect("calls");
    let kinds = report.findings.iter().map(|finding| finding.kind).collect();
    let unchecked = report.not_checked.iter();
    let mut unchecked = unchecked
        .filter(|what| what.contains("MPI_Pcontrol") || what.contains("first recorded call"));
    (kinds, unchecked.next().is_some())
}

/// Collective calls of a rank that were not recorded are no fault of the program.
#[test]
fn unrecorded_calls_are_no_faults() {
    const ALLREDUCE: i32 = 2;
    let order = vec![FindingKind::CollectiveOrder];
    let whole = [(INIT, 0, 1, 0), (INIT, 0, 1, 1)];
    let calls = [
        (BARRIER, 2, 5, 0),
        (ALLREDUCE, 6, 9, 0),
        (ALLREDUCE, 6, 9, 1),
    ];
    let with = |before: &[(i32, u64, u64, usize)]| verified(&[before, &calls[..]].concat());
    assert_eq!(with(&whole), (order.clone(), false));
    assert_eq!(with(&whole[..1]), (vec![], true));
    let control = [whole[0], whole[1], (CONTROL, 1, 2, 1)];
    assert_eq!(with(&control), (vec![], true));
    // A recorder that never records MPI_Init.
    assert_eq!(with(&[]), (order, false));
}
