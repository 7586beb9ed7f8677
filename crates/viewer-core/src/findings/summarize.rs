//! Makes the summary of a trace, in one pass over all drawables or from previews.

use analysis::performance::{
    CollectedPerformance, PerformanceCollector, PerformanceOptions, PhaseLengths, WaitsOfCalls,
};
use analysis::stats::Nesting;
use io_attribution::Actor;
use std::collections::{BTreeMap, BTreeSet};
use trace_model::{Definitions, Drawable, lane_of};

use super::builder::FindingBuilder;
use super::pass::DrawablePass;
use super::places::TracePlaces;
use super::summary::{PhaseMoments, TimeShare, TraceFinding, TraceSummary};
use crate::base::error::ApiError;
use crate::statistics::counting::{
    CountedArrows, DrawableObserver, StatisticsScope, WindowStatistics,
};
use crate::statistics::estimate::estimate;
use crate::statistics::gather::gather_all;
use crate::timelines::tree::LabelTree;
use crate::trace::OpenTrace;
use crate::trace::class::ActivityClass;
use crate::trace::scan::ReadBudget;
use crate::tracks::collector::TrackCollector;
use crate::tracks::roles::TrackRoles;
use crate::tracks::totals::TraceTracks;

/// The part of what may be read that the first summary of a large trace is made from, since it is to be there at once.
const PREVIEW_BUDGET_DIVISOR: u64 = 8;

/// What the look at all drawables finds beside the summary.
pub(crate) struct FoundBeside {
    /// The waits one by one.
    pub waits: Option<WaitsOfCalls>,
    /// The tracks of the whole trace.
    pub tracks: TraceTracks,
}

/// Makes the summary of the window of `budget`: exactly, however much there is to read, with what is found beside it; or from previews, which
/// know no waits.
///
/// # Errors
/// The file is damaged, or the answer is not wanted any more.
pub(crate) fn summarize(
    trace: &OpenTrace<'_>,
    trees: &[LabelTree],
    roles: &TrackRoles,
    budget: ReadBudget<'_>,
    exact: bool,
) -> Result<(TraceSummary, Option<FoundBeside>), ApiError> {
    let lanes: Vec<u32> = trace.lines().iter().map(|line| line.lane).collect();
    let count = lanes.iter().map(|lane| *lane as usize + 1).max();
    let count = count.unwrap_or(0);
    let timeline = |line: u32| lanes.get(line as usize).copied();
    let hidden = vec![false; trace.kinds().len()];
    let scope = StatisticsScope {
        timeline: &timeline,
        hidden: &hidden,
        // A thread does one thing at a time, whatever communicator it is about.
        nesting: Nesting::Thread,
        arrows: CountedArrows::From,
    };
    let definitions = trace.definitions();
    let (gathered, found) = match exact {
        true => {
            let mut looking = PassObserver::new(trace, &definitions, roles);
            let gathered = gather_all(trace, &scope, count, budget, &mut looking)?;
            let found = ExactFindings {
                pass: looking.pass,
                performance: looking.waits.finish_with_waits(),
                tracks: TraceTracks {
                    found: looking.tracks.finish(),
                },
            };
            (gathered, Some(found))
        }
        false => {
            let bytes = budget.bytes / PREVIEW_BUDGET_DIVISOR;
            (
                estimate(trace, &scope, count, ReadBudget { bytes, ..budget })?,
                None,
            )
        }
    };
    // The lanes of ranks that have drawables, not those of servers and devices.
    let mut ranks: BTreeMap<u32, i32> = BTreeMap::new();
    let mut hosts = Vec::new();
    let used: Vec<i32> = gathered
        .found
        .rows
        .iter()
        .map(|timeline| timeline.rank)
        .collect();
    for line in trace.lines() {
        if let Actor::Rank(_) = lane_of(&line.line).actor
            && used.binary_search(&(line.lane as i32)).is_ok()
        {
            ranks.insert(line.lane, line.line.rank);
            hosts.extend(line.line.host.clone());
        }
    }
    hosts.sort();
    hosts.dedup();
    // What lies beside a thread, such as asynchronous I/O, is no thread more.
    let rank_threads = trace.rank_threads();
    let thread_of = |lane: u32| rank_threads.get(lane as usize).copied().flatten();
    let threads: BTreeSet<u32> = ranks.keys().copied().filter_map(thread_of).collect();
    let threads = threads.len();
    let mut distinct: Vec<i32> = ranks.values().copied().collect();
    distinct.sort_unstable();
    distinct.dedup();
    let mut lost = Vec::new();
    if !gathered.exact {
        lost.push(
            "the trace is too large to be read at once: all numbers are estimates (≈) from previews".into(),
        );
    }
    let not_counted = gathered.found.untold;
    if let Some(found) = &found {
        lost.extend(found.performance.report.notes.iter().cloned());
    }
    for (number, what) in [
        (
            not_counted.without_time,
            "drawables have a time that is no number",
        ),
        (not_counted.out_of_order, "states are out of order"),
    ] {
        if number > 0 {
            lost.push(format!("{number} {what}"));
        }
    }
    let bar = bar(trace, &gathered, threads, |lane| {
        thread_of(lane) == Some(lane)
    });
    let builder = FindingBuilder {
        places: TracePlaces {
            trace,
            trees,
            all: trace.bounds(),
        },
        gathered: &gathered,
        ranks: &ranks,
        threads,
    };
    let summary = TraceSummary {
        name: String::new(),
        ranks: distinct.len(),
        threads,
        nodes: hosts.len(),
        duration: budget.window.duration(),
        drawables: gathered.found.drawables,
        exact: gathered.exact,
        pending: false,
        lost,
        verdict: found.as_ref().and_then(|found| {
            let ended = &found.performance;
            builder.verdict(&ended.report, ended.waits.as_ref(), trace.bounds())
        }),
        findings: builder.build(found.as_ref()),
        phases: (found.as_ref())
            .and_then(|found| found.performance.phases.as_ref())
            .map_or_else(PhaseMoments::default, moments),
        bar,
    };
    let beside = found.map(|found| FoundBeside {
        waits: found.performance.waits,
        tracks: found.tracks,
    });
    Ok((summary, beside))
}

/// When the phases are.
fn moments(found: &PhaseLengths) -> PhaseMoments {
    let ranges = found.ranges.iter();
    PhaseMoments {
        each: found.iterations_each,
        ranges: ranges.map(|range| [range.earliest, range.latest]).collect(),
    }
}

/// What is found only by looking at every drawable.
struct ExactFindings {
    pass: DrawablePass,
    performance: CollectedPerformance,
    tracks: TraceTracks,
}

impl FindingBuilder<'_, '_> {
    /// All findings that have something to say.
    fn build(&self, found: Option<&ExactFindings>) -> Vec<TraceFinding> {
        let pass = found.map(|found| &found.pass);
        let exact = found.map(|found| (&found.pass, &found.performance.report));
        let mut findings = vec![self.top(), self.imbalance(exact)];
        if let Some(found) = found {
            let performance = &found.performance;
            findings.push(self.waits(&performance.report));
            let phases = performance.phases.as_ref();
            findings.push(phases.map(|phases| self.phases(phases)));
        }
        findings.push(self.io(pass));
        findings.push(self.communication());
        if let Some(pass) = pass {
            findings.push(self.trouble(pass));
        }
        findings.into_iter().flatten().collect()
    }
}

/// Looks at the drawables that are counted.
struct PassObserver<'l, 'a> {
    trace: &'l OpenTrace<'a>,
    definitions: &'l Definitions,
    roles: &'l TrackRoles,
    pass: DrawablePass,
    waits: PerformanceCollector<'l>,
    tracks: TrackCollector<'l, 'a>,
}

impl<'l, 'a> PassObserver<'l, 'a> {
    fn new(trace: &'l OpenTrace<'a>, definitions: &'l Definitions, roles: &'l TrackRoles) -> Self {
        let mut waits = PerformanceCollector::new(definitions, &PerformanceOptions::default());
        waits.watch();
        waits.keep_waits();
        PassObserver {
            trace,
            definitions,
            roles,
            pass: DrawablePass::new(trace),
            waits,
            tracks: TrackCollector::of_whole(trace, roles),
        }
    }
}

impl DrawableObserver for PassObserver<'_, '_> {
    fn begin(&mut self) {
        *self = PassObserver::new(self.trace, self.definitions, self.roles);
    }

    fn put(&mut self, drawable: &Drawable<'_>) {
        self.pass.put(self.trace, drawable);
        self.waits.put(drawable);
        self.tracks.put(drawable);
    }
}

/// Shares of the time of the ranks' threads by activity.
fn bar(
    trace: &OpenTrace<'_>,
    gathered: &WindowStatistics,
    threads: usize,
    is_thread: impl Fn(u32) -> bool,
) -> Vec<TimeShare> {
    let all = gathered.found.span() * threads as f64;
    let mut seconds: BTreeMap<ActivityClass, f64> = BTreeMap::new();
    for cell in &gathered.found.cells {
        let counts = u32::try_from(cell.rank).is_ok_and(&is_thread);
        if let (true, Some(kind)) = (counts, trace.kind(cell.category)) {
            let class = trace.kinds()[kind as usize].class;
            *seconds.entry(class).or_default() += cell.tally.exclusive.max(0.0);
        }
    }
    let in_states: f64 = seconds.values().sum();
    seconds.insert(ActivityClass::Compute, (all - in_states).max(0.0));
    let mut parts: Vec<TimeShare> = seconds
        .into_iter()
        .filter(|(_, seconds)| *seconds > 0.0)
        .map(|(class, seconds)| TimeShare {
            class: class.name().into(),
            seconds,
            share: if all > 0.0 { seconds / all } else { 0.0 },
        })
        .collect();
    parts.sort_by(|a, b| b.seconds.total_cmp(&a.seconds));
    parts
}
