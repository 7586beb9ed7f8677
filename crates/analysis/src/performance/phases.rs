//! Phases of the program: the iterations of its main loop, and how they differ.

use super::focus::Focus;
use super::pass::WaitPass;
use super::repetition::median;
use super::span_times::SpanTimes;
use super::spans::Spans;
use serde::Serialize;
use trace_model::TimeBBox;

/// Phases that are told apart. Where there are more iterations, several are one phase.
const MAX_PHASES: usize = 4096;
/// Standard deviations in the median distance from the median, of values that are normally distributed.
const DEVIATIONS: f64 = 1.4826;
/// An iteration is out of the ordinary if it takes so many times the median ...
const OUTLIER_FACTOR: f64 = 1.25;
/// ... and lies so many standard deviations above it.
const OUTLIER_DEVIATIONS: f64 = 4.0;

/// When the phases were, as the first pass found them.
#[derive(Clone, Debug)]
pub(super) struct PhaseRanges {
    /// Categories of what an iteration consists of.
    pub categories: Vec<u32>,
    /// Regions and calls in an iteration, each as often as it comes, on average.
    pub parts: f64,
    pub iterations: usize,
    /// Iterations in one phase.
    pub each: usize,
    pub ranges: Vec<TimeBBox>,
    /// Where what is looked at ends, if that is before the end of the focus.
    pub looked_until: Option<f64>,
}

impl WaitPass<'_> {
    /// The phases in what the watched rank did.
    pub(super) fn take_phases(&mut self) -> Option<PhaseRanges> {
        let watched = self.watched.take()?;
        let mut found = watched.iterations(self.focus.from, self.focus.to)?;
        let is_in_focus = |range: &TimeBBox| self.focus.within(range.earliest, range.latest) > 0.0;
        found.ranges.retain(is_in_focus);
        let mut categories = Vec::new();
        let parts = found.parts;
        for category in found.symbols {
            if !categories.contains(&category) {
                categories.push(category);
            }
        }
        let iterations = found.ranges.len();
        if iterations == 0 {
            return None;
        }
        let each = iterations.div_ceil(MAX_PHASES);
        let phase = |iterations: &[TimeBBox]| TimeBBox {
            earliest: iterations[0].earliest,
            latest: iterations[iterations.len() - 1].latest,
        };
        Some(PhaseRanges {
            categories,
            parts,
            iterations,
            each,
            looked_until: found.looked_until,
            ranges: found.ranges.chunks(each).map(phase).collect(),
        })
    }
}

/// How long the iterations of the main loop of a program are.
#[derive(Clone, Debug, Serialize)]
pub struct PhaseLengths {
    /// What an iteration consists of: regions and calls of the lowest rank in their order, each once.
    pub consist_of: Vec<String>,
    /// Regions and calls of the lowest rank in an iteration, each as often as it comes, on average.
    pub parts: f64,
    /// Number of the iterations.
    pub iterations: usize,
    /// Iterations in a phase: 1 unless there are very many.
    pub iterations_each: usize,
    /// Share of the focus that they take.
    pub covered: f64,
    /// Length of a phase: the median, seconds.
    pub median_seconds: f64,
    /// Spread of the length: 1.48 times the median distance from the median, seconds.
    pub spread_seconds: f64,
    /// Median length of the last quarter of the phases divided by that of the first, less 1.
    pub trend: f64,
    /// Phases that take much longer than the median, the longest first. Numbers begin with 1.
    pub outliers: Vec<usize>,
    /// Until when in the time of the trace they were looked for; `None` is to the end of the focus.
    pub looked_until: Option<f64>,
    /// When the phases were, in order.
    #[serde(skip)]
    pub ranges: Vec<TimeBBox>,
}

/// Iterations of the main loop of a program.
#[derive(Clone, Debug, Serialize)]
pub struct ProgramPhases {
    /// What they are, and how long.
    #[serde(flatten)]
    pub lengths: PhaseLengths,
    /// Median of the parallel efficiencies of phases.
    pub median_parallel: f64,
    /// Time of all threads in a phase by what they did, the longest first.
    pub activities: Vec<ActivityInPhases>,
    /// The phases in order.
    pub phases: Vec<SpanTimes>,
}

/// Time of all threads in one thing, in a phase.
#[derive(Clone, Debug, Serialize)]
pub struct ActivityInPhases {
    /// A state's category; `None` is computing outside of any.
    pub activity: Option<String>,
    /// Median over phases, seconds.
    pub median: f64,
    /// Spread over phases: 1.48 times the median distance from the median, seconds.
    pub spread: f64,
}

/// The median of values, and 1.48 times the median distance from it. Values are sorted.
fn middle(values: &mut [f64]) -> (f64, f64) {
    let of_values = median(values);
    let mut distances: Vec<f64> = values
        .iter()
        .map(|value| (value - of_values).abs())
        .collect();
    (of_values, DEVIATIONS * median(&mut distances))
}

impl PhaseLengths {
    /// Lengths of these phases, as far as they lie in the focus. `name` gives the name of a category.
    pub(super) fn of(ranges: PhaseRanges, focus: &Focus, name: impl Fn(u32) -> String) -> Self {
        let phases = ranges.ranges.iter();
        let lengths: Vec<f64> = phases
            .map(|range| focus.within(range.earliest, range.latest))
            .collect();
        let (median_seconds, spread_seconds) = middle(&mut lengths.clone());
        let quarter = lengths.len().div_ceil(4);
        let begin = median(&mut lengths[..quarter].to_vec());
        let end = median(&mut lengths[lengths.len() - quarter..].to_vec());
        let limit = (OUTLIER_FACTOR * median_seconds)
            .max(median_seconds + OUTLIER_DEVIATIONS * spread_seconds);
        let mut outliers: Vec<usize> = (1..=lengths.len())
            .filter(|&number| lengths[number - 1] > limit)
            .collect();
        outliers.sort_by(|&a, &b| lengths[b - 1].total_cmp(&lengths[a - 1]));
        PhaseLengths {
            consist_of: ranges.categories.iter().map(|&nth| name(nth)).collect(),
            parts: ranges.parts,
            iterations: ranges.iterations,
            iterations_each: ranges.each,
            covered: lengths.iter().sum::<f64>() / focus.seconds().max(f64::MIN_POSITIVE),
            median_seconds,
            spread_seconds,
            trend: if begin > 0.0 { end / begin - 1.0 } else { 0.0 },
            outliers,
            looked_until: ranges.looked_until,
            ranges: ranges.ranges,
        }
    }
}

impl ProgramPhases {
    /// Of phases with these figures. `name` gives the name of a category.
    pub(super) fn of(
        lengths: PhaseLengths,
        spans: &Spans,
        phases: Vec<SpanTimes>,
        name: impl Fn(u32) -> String,
    ) -> ProgramPhases {
        let mut parallel: Vec<f64> = (phases.iter())
            .map(|phase| phase.efficiencies.parallel)
            .collect();
        ProgramPhases {
            lengths,
            median_parallel: median(&mut parallel),
            activities: activities(spans, name),
            phases,
        }
    }
}

/// Time in each activity in a phase.
fn activities(spans: &Spans, name: impl Fn(u32) -> String) -> Vec<ActivityInPhases> {
    let categories = spans.categories.iter().map(|&category| Some(category));
    let mut activities: Vec<ActivityInPhases> = categories
        .chain([None])
        .enumerate()
        .filter_map(|(place, category)| {
            let spans = spans.spans.iter();
            let mut all: Vec<f64> = spans.map(|span| span.by_category[place]).collect();
            let is_used = all.iter().any(|&seconds| seconds > 0.0);
            let (median, spread) = middle(&mut all);
            is_used.then(|| ActivityInPhases {
                activity: category.map(&name),
                median,
                spread,
            })
        })
        .collect();
    activities.sort_by(|a, b| b.median.total_cmp(&a.median));
    activities
}
