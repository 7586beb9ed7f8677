//! Iterations of made-up runs: how many there are, how long they are, and what is done in them.

use crate::made_up;
use analysis::performance::{
    PerformanceCollector, PerformanceOptions, PerformanceReport, PhaseLengths, analyse_in_order,
};
use std::convert::Infallible;
use trace_model::{Definitions, TimeBBox};

/// A state: its category, rank, begin and end.
type State = (i32, i32, f64, f64);

fn report_of(
    definitions: &Definitions,
    focus: &[TimeBBox],
    states: impl Fn(&mut dyn FnMut(State)),
) -> PerformanceReport {
    let options = PerformanceOptions {
        focus: focus.to_vec(),
        parts: 0,
    };
    let made = analyse_in_order(definitions, &options, |put| {
        states(&mut |(category, line, from, to)| {
            made_up::put_state(&mut *put, (category, line), [from, to], &[]);
        });
        Ok::<(), Infallible>(())
    });
    match made {
        Ok(report) => report,
        Err(never) => match never {},
    }
}

fn range(earliest: f64, latest: f64) -> TimeBBox {
    TimeBBox { earliest, latest }
}

/// Each iteration of two ranks takes 8 s: a second of computing, region `step` of 2 s with a call of a second in it, and 5 s of computing.
#[test]
fn what_lies_in_gaps_of_the_focus_is_in_no_phase() {
    let definitions = made_up::definitions(made_up::states(&["step", "MPI_Allreduce"]), 2);
    let states = |put: &mut dyn FnMut(State)| {
        for nth in 0..10 {
            let from = 8.0 * f64::from(nth);
            for rank in 0..2 {
                put((0, rank, from + 1.0, from + 3.0));
            }
            for rank in 0..2 {
                put((1, rank, from + 2.0, from + 3.0));
            }
        }
    };
    let step = |nth| range(8.0 * f64::from(nth) + 1.0, 8.0 * f64::from(nth) + 3.0);
    let of_steps: Vec<TimeBBox> = (0..10).map(step).collect();
    let report = report_of(&definitions, &of_steps, states);
    let phases = report.phases.expect("a loop");
    let lengths = &phases.lengths;
    assert_eq!((lengths.iterations, lengths.covered), (10, 1.0));
    assert_eq!((lengths.median_seconds, lengths.spread_seconds), (2.0, 0.0));
    for phase in &phases.phases {
        let time = phase.time;
        assert_eq!((phase.seconds, time.all), (2.0, 4.0));
        assert_eq!((time.computing, time.transfer), (2.0, 2.0));
        let found = phase.efficiencies;
        assert_eq!((found.parallel, found.longest_computing), (0.5, 1.0));
        assert_eq!(found.ideal_seconds, 1.0);
    }
    let median = |name: Option<&str>| {
        let mut activities = phases.activities.iter();
        let found = activities.find(|it| it.activity.as_deref() == name);
        found.map(|it| it.median)
    };
    assert_eq!(median(Some("step")), Some(2.0));
    assert_eq!(median(Some("MPI_Allreduce")), Some(2.0));
    assert_eq!(median(None), None);
    // Iterations outside of the focus are none of its phases.
    let report = report_of(
        &definitions,
        &[step(1), step(3), step(4), step(5), step(7)],
        states,
    );
    let lengths = report.phases.expect("a loop").lengths;
    assert_eq!((lengths.iterations, lengths.covered), (5, 1.0));
}

/// Iterations of a second on one rank, with two calls of a quarter of one each.
fn lengths_of(iterations: u32, focus: TimeBBox) -> Option<PhaseLengths> {
    let names = ["MPI_Allreduce", "MPI_Bcast"];
    let definitions = made_up::definitions(made_up::states(&names), 1);
    let options = PerformanceOptions {
        focus: vec![focus],
        parts: 0,
    };
    let mut collector = PerformanceCollector::new(&definitions, &options);
    collector.watch();
    for nth in 0..iterations {
        for category in 0..2 {
            let from = f64::from(nth) + 0.5 * f64::from(category);
            let times = [from, from + 0.25];
            made_up::put_state(|state| collector.put(state), (category, 0), times, &[]);
        }
    }
    collector.finish_with_waits().phases
}

/// Of so many iterations not all are looked at: the rest is not told as no iterations. What comes before the focus takes no room of what lies in it.
#[test]
fn only_the_begin_of_a_long_focus_is_looked_at_for_iterations() {
    let (all, kept) = (540_000, 1 << 19);
    let end = f64::from(all);
    let begin = lengths_of(all, range(0.0, end)).expect("a loop");
    assert_eq!(begin.iterations, kept as usize);
    assert_eq!(begin.looked_until, Some(f64::from(kept)));
    let late = lengths_of(all, range(end - 1000.0, end)).expect("a loop");
    assert_eq!((late.iterations, late.looked_until), (1000, None));
}

/// Each iteration has a long stretch of a state, and then many short ones of it.
#[test]
fn short_stretches_of_long_phases_count() {
    let definitions = made_up::definitions(made_up::states(&["step", "work"]), 1);
    let (long, short, number) = (4096.0, 1.0 / 8192.0, 1 << 14);
    let each = long + 2.0 * short * f64::from(number) + 1.0;
    let report = report_of(&definitions, &[range(0.0, 5.0 * each)], |put| {
        for nth in 0..5 {
            let from = each * f64::from(nth);
            put((0, 0, from, from + 0.5));
            put((1, 0, from + 1.0, from + 1.0 + long));
            for nth in 0..number {
                let from = from + 1.0 + long + 2.0 * short * f64::from(nth);
                put((1, 0, from, from + short));
            }
        }
    });
    let phases = report.phases.expect("a loop");
    let is_work = |name: &Option<String>| name.as_deref() == Some("work");
    let work = phases.activities.iter().find(|it| is_work(&it.activity));
    assert_eq!(
        work.map(|it| it.median),
        Some(long + short * f64::from(number))
    );
}

/// All ranks are in a call for all of the focus: none computes longer than the others.
#[test]
fn where_nobody_computes_nobody_computes_longest() {
    let definitions = made_up::definitions(made_up::states(&["MPI_Barrier"]), 2);
    let report = report_of(&definitions, &[range(1.0, 2.0)], |put| {
        (0..2).for_each(|rank| put((0, rank, 0.0, 3.0)));
    });
    let found = report.efficiencies;
    assert_eq!((found.parallel, found.communication), (0.0, 0.0));
    assert_eq!((found.load_balance, found.serialisation), (1.0, 1.0));
}
