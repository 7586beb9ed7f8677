//! Why a program is slow: wait states with their causes, efficiencies, critical path, and what would change if computing were balanced.
//!
//! The numbers are those of Scalasca's patterns and of the POP methodology; `docs/user/report.md` defines each. [`analyse`] goes over the drawables
//! of a trace twice. It keeps what is open, what is on its way and sums, and never the trace.

mod calls;
mod clocks;
mod collective;
mod critical_path;
mod ending;
mod history;
mod lane;
mod message;
mod pass;
mod report;
mod request_info;
mod role;
mod transfers;
mod wait;
pub mod words;

use clocks::Assumption;
use critical_path::{PathPiece, PathProfile};
use lane::ThreadLane;
use pass::WaitPass;
use trace_model::{Definitions, Drawable, TimeBBox};
#[cfg(feature = "spill")]
use trace_model::{DrawableOrder, Source, Stop, for_each_in_order};

pub use report::{
    ActivityOnPath, ActivityTime, Efficiencies, FocusTimes, PerformanceReport, PlaceInTrace,
    RankOnPath, RankTimes, RootCauseSum, TimeByUse, WaitGroup, WhatIf,
};
pub use wait::WaitPattern;

/// What part of a trace is looked at.
#[derive(Clone, Copy, Debug, Default)]
pub struct PerformanceOptions {
    /// Range of time, seconds; `None` is from the latest end of MPI_Init to the earliest begin of MPI_Finalize.
    pub window: Option<TimeBBox>,
}

/// The first of the two passes, for who has the drawables at hand: its report lacks what was done on the critical path, and replays.
pub struct PerformanceCollector<'a> {
    definitions: &'a Definitions,
    pass: WaitPass<'a>,
}

impl<'a> PerformanceCollector<'a> {
    /// A collector for a trace with these definitions.
    pub fn new(definitions: &'a Definitions, options: PerformanceOptions) -> Self {
        let ideal = std::array::from_fn(|_| Assumption::ideal_network());
        PerformanceCollector {
            definitions,
            pass: WaitPass::new(definitions, options.window, ideal),
        }
    }

    /// Takes the next drawable in order of beginnings.
    pub fn put(&mut self, drawable: &Drawable<'_>) {
        self.pass.put(drawable);
    }

    /// Ends the input.
    pub fn finish(mut self) -> PerformanceReport {
        self.pass.finish();
        let path = self.pass.take_path();
        report::build(self.definitions, &self.pass, None, &path, None)
    }
}

/// Analyses the drawables of a trace.
///
/// # Errors
/// The errors of the source, and of temporary files where its drawables are not in order of their beginnings.
#[cfg(feature = "spill")]
pub fn analyse(
    source: &dyn Source,
    options: PerformanceOptions,
) -> Result<PerformanceReport, Stop> {
    analyse_in_order(source.definitions(), options, |put| {
        for_each_in_order(source, DrawableOrder::Start, &mut |drawable| {
            put(drawable);
            Ok(())
        })
        .map(drop)
    })
}

/// Analyses drawables that `pass` gives in order of their beginnings, each of the two times that it is called.
///
/// # Errors
/// The errors of `pass`.
pub fn analyse_in_order<E>(
    definitions: &Definitions,
    options: PerformanceOptions,
    mut pass: impl FnMut(&mut dyn FnMut(&Drawable<'_>)) -> Result<(), E>,
) -> Result<PerformanceReport, E> {
    let mut collector = PerformanceCollector::new(definitions, options);
    pass(&mut |drawable| collector.put(drawable))?;
    let mut first = collector.pass;
    first.finish();
    let focus = first.focus_range();
    let path = first.take_path();
    let slowest = first.slowest_activity();
    let assumptions = [
        Assumption::as_measured(),
        first.balanced(),
        Assumption::faster(slowest),
    ];
    let mut second = WaitPass::new(definitions, Some(focus), assumptions);
    second.path = Some(PathProfile::new(&path, second.lanes.len()));
    pass(&mut |drawable| second.put(drawable))?;
    second.finish();
    Ok(report::build(
        definitions,
        &first,
        Some(&second),
        &path,
        slowest,
    ))
}

impl WaitPass<'_> {
    fn focus_range(&self) -> TimeBBox {
        TimeBBox {
            earliest: self.focus.from,
            latest: self.focus.to,
        }
    }

    /// The critical path. It ends on the lane that would be the last in a network without delay.
    fn take_path(&mut self) -> Vec<PathPiece> {
        let [(_, lane), ..] = self.lengths();
        let focus = self.focus_range();
        std::mem::take(&mut self.edges).path(lane, focus.earliest, focus.latest)
    }

    /// All ranks compute as long as the mean of them.
    fn balanced(&self) -> Assumption {
        let mains = || self.lanes.iter().filter(|lane| lane.is_main());
        let mean = mains().map(|lane| lane.useful).sum::<f64>() / mains().count().max(1) as f64;
        let factor = |lane: &ThreadLane| match lane.is_main() && lane.useful > 0.0 {
            true => mean / lane.useful,
            false => 1.0,
        };
        Assumption {
            computing: self.lanes.iter().map(factor).collect(),
            ..Assumption::as_measured()
        }
    }

    /// The program's own state with the most time.
    fn slowest_activity(&self) -> Option<u32> {
        let categories = (0..self.times.len() as u32).filter(|&nth| self.is_region(nth));
        let time = |nth: &u32| self.times[*nth as usize].exclusive;
        categories
            .filter(|nth| time(nth) > 0.0)
            .max_by(|a, b| time(a).total_cmp(&time(b)))
    }
}
