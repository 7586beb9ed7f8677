//! Why a program is slow: wait states with their causes, efficiencies, critical path, and what would change if computing were balanced.
//!
//! The numbers are those of Scalasca's patterns and of the POP methodology; `docs/user/report.md` defines each. [`analyse`] goes over the drawables
//! of a trace twice. It keeps what is open, what is on its way and sums, and never the trace.

mod arrivals;
mod by_file;
mod call_info;
mod calls;
mod cause_sums;
mod chosen_values;
mod clocks;
mod collective;
mod coming;
mod comm_sums;
mod critical_path;
mod early_leaves;
mod end_marks;
mod ending;
mod events;
mod focus;
mod history;
mod intercomms;
mod kept_waits;
mod lacking;
mod lane;
mod longest;
mod message;
mod one_sided;
mod ordered_pass;
mod pairs;
mod pass;
mod phases;
mod prefetch;
mod repetition;
mod report;
mod report_builder;
mod role;
mod shared;
mod span_times;
mod spans;
mod transfers;
mod unseen;
mod use_times;
mod wait;
mod watched_rank;
pub mod words;

use by_file::SumsOfFiles;
use clocks::{Assumption, BALANCED, FASTER, IDEAL, REPLAYS};
use critical_path::{PathPiece, PathProfile};
use kept_waits::KeptWaits;
use lane::ThreadLane;
use ordered_pass::{OrderedPass, pass_over};
use pass::WaitPass;
use report_builder::SecondOutcome;
use spans::Spans;
use std::collections::BTreeSet;
#[cfg(feature = "spill")]
use std::collections::HashSet;
use trace_model::{Definitions, Drawable, TimeBBox};
#[cfg(feature = "spill")]
use trace_model::{DrawableOrder, Source, Stop, Topology, for_each_in_order};

pub use by_file::TimesOfFile;
pub use kept_waits::{CallWait, PathStretch, RankThread, WaitsOfCalls};
pub use pairs::RankPairs;
pub use phases::{ActivityInPhases, PhaseLengths, ProgramPhases};
pub use repetition::median;
pub use report::{
    ActivityOnPath, ActivityTime, CommunicatorTimes, FocusTimes, PerformanceReport, PlaceInTrace,
    RankOnPath, RankTimes, RegionTimes, RootCauseSum, WaitGroup, WhatIf,
};
pub use span_times::{Efficiencies, SpanTimes};
pub use use_times::TimeByUse;
pub use wait::WaitPattern;
use watched_rank::WatchedRank;

/// What part of a trace is looked at, and what is wanted beside the sums.
#[derive(Clone, Debug, Default)]
pub struct PerformanceOptions {
    /// Ranges of time in order, which do not overlap; none is from the latest end of MPI_Init to the earliest begin of MPI_Finalize.
    pub focus: Vec<TimeBBox>,
    /// Parts of equal length that the focus is cut into for figures over time; 0 for none.
    pub parts: usize,
}

/// The first of the two passes, for who has the drawables at hand: its report lacks what was done on the critical path, replays, and figures over
/// time.
pub struct PerformanceCollector<'a> {
    definitions: &'a Definitions,
    ordered: OrderedPass<'a>,
}

impl<'a> PerformanceCollector<'a> {
    /// A collector for a trace with these definitions.
    pub fn new(definitions: &'a Definitions, options: &PerformanceOptions) -> Self {
        let pass = WaitPass::first(definitions, options);
        let ordered = OrderedPass::new(pass);
        PerformanceCollector {
            definitions,
            ordered,
        }
    }

    /// Keeps what the lowest rank does, to find iterations of the main loop in it.
    pub fn watch(&mut self) {
        self.ordered.pass.watch();
    }

    /// Keeps the waits one by one.
    pub fn keep_waits(&mut self) {
        self.ordered.pass.kept = Some(KeptWaits::default());
    }

    /// Takes the next drawable in order of beginnings.
    pub fn put(&mut self, drawable: &Drawable<'_>) {
        self.ordered.put(drawable);
    }

    /// Ends the input.
    pub fn finish(self) -> PerformanceReport {
        self.finish_with_waits().report
    }

    /// Ends the input, and says more than the report does.
    pub fn finish_with_waits(self) -> CollectedPerformance {
        collected(self.definitions, self.ordered.finish())
    }
}

/// What one pass has found, at its end.
fn collected(definitions: &Definitions, mut pass: WaitPass<'_>) -> CollectedPerformance {
    let (path, phases) = (pass.take_path(), pass.take_phases());
    let kept = pass.kept.take();
    let thread = |lane: u32| {
        let lane = &pass.lanes[lane as usize];
        RankThread {
            rank: lane.rank,
            thread: lane.thread,
        }
    };
    let category = |place: u32| pass.categories[place as usize].index;
    let waits = kept.map(|kept| WaitsOfCalls::new(kept, &path, thread, category));
    let phases = phases.map(|phases| report_builder::phase_lengths(&pass, phases));
    let report = report_builder::build(definitions, &pass, None, &path);
    CollectedPerformance {
        report,
        phases,
        waits,
    }
}

/// What a [`PerformanceCollector`] has found.
#[derive(Debug)]
pub struct CollectedPerformance {
    /// The report of one pass.
    pub report: PerformanceReport,
    /// How long the iterations of the main loop are; `None` if there is none, or nothing was watched.
    pub phases: Option<PhaseLengths>,
    /// The waits one by one; `None` if they were not to be kept.
    pub waits: Option<WaitsOfCalls>,
}

/// Analyses the drawables of a trace.
///
/// # Errors
/// The errors of the source, and of temporary files where its drawables are not in order of their beginnings.
#[cfg(feature = "spill")]
pub fn analyse(
    source: &dyn Source,
    options: &PerformanceOptions,
) -> Result<PerformanceReport, Stop> {
    analyse_in_order(source.definitions(), options, |put| {
        read_in_order(source, put)
    })
}

/// The waits of all calls of a trace. Of more than a million, the longest.
///
/// # Errors
/// The errors of the source, and of temporary files where its drawables are not in order of their beginnings.
#[cfg(feature = "spill")]
pub fn waits_of_calls(source: &dyn Source) -> Result<WaitsOfCalls, Stop> {
    let definitions = source.definitions();
    let mut pass = WaitPass::first(definitions, &PerformanceOptions::default());
    pass.kept = Some(KeptWaits::default());
    let pass = pass_over(pass, |put| read_in_order(source, put))?;
    Ok(collected(definitions, pass).waits.unwrap_or_default())
}

/// Gives the drawables of a source in order of their beginnings.
#[cfg(feature = "spill")]
fn read_in_order(source: &dyn Source, put: &mut dyn FnMut(&Drawable<'_>)) -> Result<(), Stop> {
    for_each_in_order(source, DrawableOrder::Start, &mut |drawable| {
        put(drawable);
        Ok(())
    })
    .map(drop)
}

/// The ranges of time in which at least one rank is in a state of this name, in order; `None` if no state has it.
///
/// # Errors
/// The errors of the source, and of temporary files where its drawables are not in order of their beginnings.
#[cfg(feature = "spill")]
pub fn ranges_of_state(source: &dyn Source, name: &str) -> Result<Option<Vec<TimeBBox>>, Stop> {
    let categories = source.definitions().categories.iter();
    let wanted: HashSet<i32> = categories
        .filter(|category| category.topology == Topology::State && category.name.to_str() == name)
        .map(|category| category.index)
        .collect();
    if wanted.is_empty() {
        return Ok(None);
    }
    let mut ranges: Vec<TimeBBox> = Vec::new();
    for_each_in_order(source, DrawableOrder::Start, &mut |drawable| {
        if drawable.topology == Topology::State && wanted.contains(&drawable.category) {
            let bounds = drawable.bounds();
            match ranges.last_mut() {
                Some(last) if bounds.earliest <= last.latest => last.include(bounds),
                _ => ranges.push(bounds),
            }
        }
        Ok(())
    })?;
    Ok(Some(ranges))
}

/// The ranges of time of the phases, which [`ProgramPhases`] numbers from 1; none if the program has no main loop.
///
/// # Errors
/// The errors of the source, and of temporary files where its drawables are not in order of their beginnings.
#[cfg(feature = "spill")]
pub fn ranges_of_phases(
    source: &dyn Source,
    options: &PerformanceOptions,
) -> Result<Vec<TimeBBox>, Stop> {
    let mut pass = WaitPass::first(source.definitions(), options);
    pass.watch();
    let mut pass = pass_over(pass, |put| read_in_order(source, put))?;
    let phases = pass.take_phases();
    Ok(phases.map_or(Vec::new(), |phases| phases.ranges))
}

/// The names of the program's own states, each once, in order.
pub fn regions(definitions: &Definitions) -> Vec<String> {
    let finder = role::RoleFinder::new();
    let categories = definitions.categories.iter();
    let regions = categories.filter(|category| finder.of(category) == role::CategoryRole::Region);
    let names: BTreeSet<String> = regions
        .map(|category| category.name.to_str().into_owned())
        .collect();
    names.into_iter().collect()
}

/// Analyses drawables that `pass` gives in order of their beginnings, each of the two times that it is called.
///
/// # Errors
/// The errors of `pass`.
pub fn analyse_in_order<E>(
    definitions: &Definitions,
    options: &PerformanceOptions,
    mut pass: impl FnMut(&mut dyn FnMut(&Drawable<'_>)) -> Result<(), E>,
) -> Result<PerformanceReport, E> {
    let mut first = WaitPass::first(definitions, options);
    first.watch();
    let mut first = pass_over(first, &mut pass)?;
    let path = first.take_path();
    let phases = first.take_phases();
    let slowest = first.slowest_activity();
    let mut assumptions: [Assumption; REPLAYS] =
        std::array::from_fn(|_| Assumption::ideal_network());
    assumptions[BALANCED] = first.balanced();
    assumptions[FASTER] = Assumption::faster(slowest);
    let mut second = WaitPass::new(definitions, &first.focus.ranges(), assumptions);
    let lanes = second.lanes.len();
    if !first.by_file.has_hidden() {
        second.by_file = SumsOfFiles::default();
    }
    second.is_second = true;
    second.path = Some(PathProfile::new(&path, lanes));
    let used = (0..).zip(&first.times);
    let used = used.filter(|(_, time)| time.exclusive > 0.0);
    let used: Vec<u32> = used.map(|(category, _)| category).collect();
    let phase_spans = phases.iter().map(|phases| {
        let mut spans = Spans::new(&phases.ranges, lanes);
        spans.add_up(used.clone());
        spans
    });
    let parts = first.parts(options.parts);
    let part_spans = (!parts.is_empty()).then(|| Spans::new(&parts, lanes));
    second.spans = phase_spans.chain(part_spans).collect();
    let mut second = pass_over(second, &mut pass)?;
    let outcome = SecondOutcome {
        phase_spans: phases.is_some().then(|| second.spans.remove(0)),
        part_spans: second.spans.pop(),
        pass: second,
        phases,
        slowest,
    };
    Ok(report_builder::build(
        definitions,
        &first,
        Some(&outcome),
        &path,
    ))
}

impl<'a> WaitPass<'a> {
    /// The first pass over a trace with these definitions.
    fn first(definitions: &'a Definitions, options: &PerformanceOptions) -> WaitPass<'a> {
        let mut assumptions: [Assumption; REPLAYS] =
            std::array::from_fn(|_| Assumption::as_measured());
        assumptions[IDEAL] = Assumption::ideal_network();
        WaitPass::new(definitions, &options.focus, assumptions)
    }

    /// Keeps what the lowest rank does, to find iterations of the main loop in it.
    fn watch(&mut self) {
        self.watched = WatchedRank::lowest(&self.lanes, self.comms.len());
    }

    /// Ranges of equal length, so many of them, of a focus without gaps; none of another one.
    fn parts(&self, number: usize) -> Vec<TimeBBox> {
        let [focus] = self.focus.ranges()[..] else {
            return Vec::new();
        };
        let at = |nth: usize| {
            let part = nth as f64 / number.max(1) as f64;
            focus.earliest + part * (focus.latest - focus.earliest)
        };
        let part = |nth| TimeBBox {
            earliest: at(nth),
            latest: if nth + 1 == number {
                focus.latest
            } else {
                at(nth + 1)
            },
        };
        (0..number).map(part).collect()
    }

    /// The critical path. It ends on the lane that would be the last in a network without delay. A trace without lanes has none.
    fn take_path(&mut self) -> Vec<PathPiece> {
        if self.lanes.is_empty() {
            return Vec::new();
        }
        let [(_, lane), ..] = self.lengths();
        let path = std::mem::take(&mut self.edges).path(lane, self.focus.from, self.focus.to);
        let mut pieces = Vec::with_capacity(path.len());
        for piece in path {
            self.focus.parts(piece.from, piece.to, |from, to| {
                pieces.push(PathPiece { from, to, ..piece });
            });
        }
        pieces
    }

    /// All ranks compute as long as the mean of them: those above it compute less, and those below it take over the rest where they wait now.
    /// Their own stretches of computing stay as they are, since the work that they would get is not what these consist of.
    fn balanced(&self) -> Assumption {
        let mains = || self.lanes.iter().filter(|lane| lane.is_main());
        let mean =
            mains().map(|lane| lane.sums.computing).sum::<f64>() / mains().count().max(1) as f64;
        let factor = |lane: &ThreadLane| match lane.is_main() && lane.sums.computing > 0.0 {
            true => (mean / lane.sums.computing).min(1.0),
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
