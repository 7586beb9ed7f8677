//! Counting of the drawables of a window on some timelines.

use analysis::stats::{Nesting, Statistics, StatisticsCollector, StatisticsOptions};
use trace_formats::slog2::{TimeBBox, Topology};
use trace_model::{Category, Definitions, Line, Text};

use crate::base::window::takes_part;
use crate::trace::OpenTrace;
use crate::trace::scan::ReadBudget;

/// Window, timelines and kinds that statistics cover.
pub struct StatisticsScope<'w> {
    /// The timeline of a line, or `None` if it does not count.
    pub timeline: &'w dyn Fn(u32) -> Option<u32>,
    /// For each kind, true if it does not count.
    pub hidden: &'w [bool],
    /// Whether states nest within a line or within a thread.
    pub nesting: Nesting,
    /// Arrows that count, by the timelines of their ends.
    pub arrows: CountedArrows,
}

/// Arrows that count, by the timelines of their ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CountedArrows {
    /// Arrows that begin on a timeline that counts.
    From,
    /// Arrows that begin and end on timelines that count.
    Between,
    /// Arrows from one timeline to another.
    Pair(u32, u32),
}

/// Statistics of a window.
#[derive(Debug)]
pub struct WindowStatistics {
    /// The statistics. The rank of timelines, cells and pairs is the timeline, −1 for arrows' ends on none; the thread is the lane.
    pub found: Statistics,
    /// Bytes of messages and accesses by kind; with [`super::gather::gather`], for calls the bytes of the messages that begin
    /// or end in them.
    pub bytes: Vec<u64>,
    /// Numbers of drawables by kind and by the power of two of their nanoseconds.
    pub lengths: Vec<[u64; 64]>,
    /// End of the last state by timeline; minus infinity if there is none.
    pub ends: Vec<f64>,
    /// Whether these numbers are exact; otherwise everything about messages is missing.
    pub exact: bool,
    /// Whether shortest and longest durations are known: all drawables were counted, here or for the index, so numbers and times are exact.
    pub has_extremes: bool,
}

/// Who looks at the drawables as well while they are counted.
pub trait DrawableObserver {
    /// All begins, or begins again.
    fn begin(&mut self) {}
    /// A drawable of the window, on whatever timeline; they come by start.
    fn put(&mut self, _drawable: &trace_model::Drawable<'_>) {}
}

/// Nobody.
impl DrawableObserver for () {}

/// The categories, with CallIDs as numbers like any other: nobody here asks how often each occurs, which costs a quarter of
/// all counting.
fn categories_of(trace: &OpenTrace<'_>) -> Vec<Category> {
    let mut categories = Vec::new();
    for category in trace.reader().categories().iter().filter(|c| c.index >= 0) {
        let mut category = category.clone();
        let kind = trace.kind(category.index);
        let callid = kind.and_then(|kind| trace.kinds()[kind as usize].callid);
        if let Some(key) = callid.and_then(|at| category.info_keys.get_mut(at)) {
            *key = Text::default();
        }
        categories.push(category);
    }
    categories
}

/// By line its timeline.
pub(super) fn timelines_of(trace: &OpenTrace<'_>, scope: &StatisticsScope<'_>) -> Vec<Option<u32>> {
    (0..trace.lines().len() as u32)
        .map(scope.timeline)
        .collect()
}

/// Whether an arrow with ends on these timelines is one of those that count. States and events always are.
pub(super) fn is_counted_arrow(
    topology: Topology,
    timelines: [Option<u32>; 2],
    arrows: CountedArrows,
) -> bool {
    let is_counted = match arrows {
        CountedArrows::From => timelines[0].is_some(),
        CountedArrows::Between => timelines.iter().all(Option::is_some),
        CountedArrows::Pair(from, to) => timelines == [Some(from), Some(to)],
    };
    topology != Topology::Arrow || is_counted
}

pub(super) struct StatisticsBuilder {
    pub collector: StatisticsCollector,
    pub bytes: Vec<u64>,
    pub lengths: Vec<[u64; 64]>,
    pub ends: Vec<f64>,
}

impl StatisticsBuilder {
    pub fn new(
        trace: &OpenTrace<'_>,
        scope: &StatisticsScope<'_>,
        timeline_of: &[Option<u32>],
        timelines: usize,
        budget: ReadBudget<'_>,
    ) -> Self {
        let definitions = Definitions {
            categories: categories_of(trace),
            lines: (trace.lines().iter().zip(timeline_of))
                .map(|(line, timeline)| Line {
                    thread: line.lane as i32,
                    ..Line::of_thread(
                        line.line.id,
                        timeline.map_or(-1, |timeline| timeline as i32),
                        0,
                    )
                })
                .collect(),
            ..Definitions::default()
        };
        let options = StatisticsOptions {
            window: Some(budget.window),
            nesting: scope.nesting,
        };
        let kinds = trace.kinds().len();
        StatisticsBuilder {
            collector: StatisticsCollector::new(&definitions, options),
            bytes: vec![0; kinds],
            lengths: vec![[0; 64]; kinds],
            ends: vec![f64::NEG_INFINITY; timelines],
        }
    }

    pub fn put(
        &mut self,
        trace: &OpenTrace<'_>,
        drawable: &trace_model::Drawable<'_>,
        kind: Option<u32>,
        timeline: u32,
        window: TimeBBox,
    ) {
        self.collector.put(drawable);
        let times = || drawable.vertices.iter().map(|vertex| vertex.time);
        let bounds = TimeBBox {
            earliest: times().fold(f64::INFINITY, f64::min),
            latest: times().fold(f64::NEG_INFINITY, f64::max),
        };
        if !takes_part(bounds, window) {
            return;
        }
        let end = bounds.latest.min(window.latest);
        if let Some(kind) = kind {
            let of = &trace.kinds()[kind as usize];
            self.bytes[kind as usize] += of.bytes_of(drawable.info).unwrap_or(0);
            let seconds = end - bounds.earliest.max(window.earliest);
            let nanoseconds = (seconds * 1e9) as u64;
            self.lengths[kind as usize][nanoseconds.max(1).ilog2() as usize] += 1;
        }
        if let (Topology::State, Some(last)) =
            (drawable.topology, self.ends.get_mut(timeline as usize))
        {
            *last = last.max(end);
        }
    }
}
