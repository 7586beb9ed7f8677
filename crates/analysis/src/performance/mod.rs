//! Why a program is slow: wait states with their causes, efficiencies, critical path, and what would change if computing were balanced.
//!
//! The numbers are those of Scalasca's patterns and of the POP methodology; `docs/user/report.md` defines each. [`analyse`] goes over the drawables
//! of a trace twice. It keeps what is open, what is on its way and sums, and never the trace.

mod clocks;
mod collective;
mod critical_path;
mod history;
mod lane;
mod message;
mod pass;
mod report;
mod request_info;
mod role;
mod wait;

use clocks::Assumption;
use critical_path::{PathPiece, PathProfile};
use pass::WaitPass;
use trace_model::{Drawable, DrawableOrder, Source, Stop, TimeBBox};

pub use report::{
    ActivityOnPath, Efficiencies, FocusTimes, PerformanceReport, PlaceInTrace, RankOnPath,
    RankTimes, RootCauseSum, TimeByUse, WaitGroup, WhatIf,
};
pub use wait::WaitPattern;

/// What part of a trace is looked at.
#[derive(Clone, Copy, Debug, Default)]
pub struct PerformanceOptions {
    /// Range of time, seconds; `None` is from the latest end of MPI_Init to the earliest begin of MPI_Finalize.
    pub window: Option<TimeBBox>,
}

/// Analyses the drawables of a trace.
///
/// # Errors
/// The errors of the source, and of temporary files where its drawables are not in order of their beginnings.
pub fn analyse(
    source: &dyn Source,
    options: PerformanceOptions,
) -> Result<PerformanceReport, Stop> {
    let definitions = source.definitions();
    let ideal = [(); clocks::REPLAYS].map(|()| Assumption::ideal_network());
    let mut first = WaitPass::new(definitions, options.window, ideal);
    in_order(source, &mut |drawable| first.put(drawable))?;
    first.finish();

    let focus = TimeBBox {
        earliest: first.focus.from,
        latest: first.focus.to,
    };
    let path =
        std::mem::take(&mut first.edges).path(last_lane(&first), focus.earliest, focus.latest);
    let slowest = first.slowest_activity(&path);
    let assumptions = [
        Assumption::as_measured(),
        first.balanced(),
        Assumption::faster(slowest),
    ];
    let mut second = WaitPass::new(definitions, Some(focus), assumptions);
    second.path = Some(PathProfile::new(&path, second.lanes.len()));
    in_order(source, &mut |drawable| second.put(drawable))?;
    second.finish();
    Ok(report::build(definitions, &first, &second, &path, slowest))
}

/// Gives the drawables of a source in order of their beginnings.
fn in_order(source: &dyn Source, put: &mut dyn FnMut(&Drawable<'_>)) -> Result<(), Stop> {
    if source.order() == DrawableOrder::Start {
        source.for_each(&mut |drawable| {
            put(drawable);
            Ok(())
        })?;
        return Ok(());
    }
    let mut sorter = trace_model::Sorter::new(DrawableOrder::Start);
    source.for_each(&mut |drawable| Ok(sorter.push(drawable)?))?;
    sorter.finish(&mut |drawable| {
        put(drawable);
        Ok(())
    })
}

/// The lane on which the critical path ends: the one that was last in what a network without delay would have left to do.
fn last_lane(pass: &WaitPass<'_>) -> u32 {
    let [(_, lane), ..] = pass.lengths();
    lane
}

impl WaitPass<'_> {
    /// All ranks compute as long as the mean of them.
    fn balanced(&self) -> Assumption {
        let mains = || self.lanes.iter().filter(|lane| lane.is_main());
        let mean = mains().map(|lane| lane.useful).sum::<f64>() / mains().count().max(1) as f64;
        let factor = |useful: f64| if useful > 0.0 { mean / useful } else { 1.0 };
        let lanes = self.lanes.iter();
        Assumption {
            computing: lanes
                .map(|lane| {
                    if lane.is_main() {
                        factor(lane.useful)
                    } else {
                        1.0
                    }
                })
                .collect(),
            ..Assumption::as_measured()
        }
    }

    /// The program's own state with the most time, if it has any on the lanes of the path.
    fn slowest_activity(&self, path: &[PathPiece]) -> Option<u32> {
        if path.is_empty() {
            return None;
        }
        let categories = (0..self.times.len() as u32).filter(|&nth| self.is_region(nth));
        let time = |nth: &u32| self.times[*nth as usize].exclusive;
        categories
            .filter(|nth| time(nth) > 0.0)
            .max_by(|a, b| time(a).total_cmp(&time(b)))
    }
}
