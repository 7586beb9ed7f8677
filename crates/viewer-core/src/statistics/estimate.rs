//! Statistics of a window that is too much to read: from previews, and from what stands above them in the tree.

use analysis::stats::{
    CategoryStatistics, DrawableTally, Histogram, Nesting, Statistics, ThreadCategoryStatistics,
    ThreadStatistics,
};
use std::collections::BTreeMap;
use trace_formats::slog2::{
    Depth, NodeDrawable, NodeShadow, PREVIEW_ARROW, PREVIEW_EVENT, PREVIEW_STATE, Primitive,
    TimeBBox, Topology, Visit,
};

use super::counting::{
    StatisticsBuilder, StatisticsScope, WindowStatistics, is_counted_arrow, timelines_of,
};
use crate::base::error::ApiError;
use crate::base::parallel::Cancel;
use crate::base::window::takes_part;
use crate::trace::OpenTrace;
use crate::trace::scan::{DRAWABLES_PER_CHECK, ReadBudget};
use crate::trace::states::{StatesByUnit, TraceState, for_each_shown};

/// Estimates what is in the window of `budget`.
///
/// # Errors
/// The file is damaged, or the answer is not wanted any more.
pub fn estimate(
    trace: &OpenTrace<'_>,
    scope: &StatisticsScope<'_>,
    timelines: usize,
    budget: ReadBudget<'_>,
) -> Result<WindowStatistics, ApiError> {
    let timeline_of = timelines_of(trace, scope);
    let mut estimate = StatisticsEstimate {
        trace,
        scope,
        timeline_of: &timeline_of,
        window: budget.window,
        builder: StatisticsBuilder::new(trace, scope, &timeline_of, timelines, budget),
        states: Vec::new(),
        shares: vec![Vec::new(); trace.lines().len()],
        stretches: Vec::new(),
        cancel: budget.cancel,
        left: DRAWABLES_PER_CHECK,
        is_cancelled: false,
    };
    let depth = Depth::Bytes(budget.bytes);
    (trace.reader()).visit_window(budget.window, depth, &mut estimate)?;
    if estimate.is_cancelled {
        return Err(ApiError::cancelled());
    }
    Ok(estimate.finish())
}

/// Statistics of previews and of the drawables above them.
struct StatisticsEstimate<'e, 'a> {
    trace: &'e OpenTrace<'a>,
    scope: &'e StatisticsScope<'e>,
    timeline_of: &'e [Option<u32>],
    window: TimeBBox,
    builder: StatisticsBuilder,
    /// States that were read.
    states: Vec<TraceState>,
    /// By line, of each kind what its previews say.
    shares: Vec<Vec<(u32, DrawableTally)>>,
    /// Stretches of time in which previews stand for states.
    stretches: Vec<PreviewedStretch>,
    cancel: Cancel<'e>,
    /// Drawables and previews until the next check for cancellation.
    left: u32,
    is_cancelled: bool,
}

/// Time that a preview takes from the states around it.
#[derive(Clone, Copy, Debug)]
struct PreviewedStretch {
    line: u32,
    /// Seconds.
    from: f64,
    /// Seconds.
    to: f64,
    /// Share of this time that is spent in states that the preview stands for, 0 to 1.
    part: f64,
}

/// By timeline, lane and category.
type EstimateCells = BTreeMap<(i32, i32, i32), ThreadCategoryStatistics>;

impl StatisticsEstimate<'_, '_> {
    fn finish(mut self) -> WindowStatistics {
        let (states, stretches) = (
            std::mem::take(&mut self.states),
            std::mem::take(&mut self.stretches),
        );
        let exclusive = self.exclusive(states, stretches);
        let mut found = self.builder.collector.finish();
        let mut cells = EstimateCells::new();
        for mut cell in found.cells.drain(..) {
            // States came level by level, so the collector does not know how they are nested.
            cell.tally.exclusive = 0.0;
            cells.insert((cell.rank, cell.thread, cell.category), cell);
        }
        for (line, of_line) in self
            .shares
            .iter()
            .enumerate()
            .chain(exclusive.iter().enumerate())
        {
            let rank = self.timeline_of[line].map_or(-1, |timeline| timeline as i32);
            let thread = self.trace.lines()[line].lane as i32;
            for (kind, tally) in of_line {
                let category = self.trace.kinds()[*kind as usize].category.index;
                let cell = cells.entry((rank, thread, category));
                let cell = cell.or_insert_with(|| ThreadCategoryStatistics {
                    rank,
                    thread,
                    category,
                    tally: DrawableTally::default(),
                    counters: Vec::new(),
                });
                cell.tally.join(tally);
            }
        }
        found.cells = cells.into_values().collect();
        add_up(self.trace, &mut found);
        WindowStatistics {
            found,
            bytes: self.builder.bytes,
            lengths: self.builder.lengths,
            ends: self.builder.ends,
            exact: false,
            has_extremes: false,
        }
    }

    /// By line and kind the exclusive time of the states that were read: without that of those nested in them, and without
    /// what previews stand for, which is thought to be spread evenly.
    fn exclusive(
        &self,
        states: Vec<TraceState>,
        mut stretches: Vec<PreviewedStretch>,
    ) -> Vec<Vec<(u32, DrawableTally)>> {
        let trace = self.trace;
        let unit_of = |line: u32| match self.scope.nesting {
            Nesting::Line => line,
            Nesting::Thread => trace.lines()[line as usize].lane,
        };
        let lines = trace.lines().len() as u32;
        let states = StatesByUnit::new(&[states], trace.kinds(), 0..lines, |line| {
            Some(unit_of(line))
        });
        stretches.sort_by(|a, b| {
            let units = unit_of(a.line).cmp(&unit_of(b.line));
            units.then(a.from.total_cmp(&b.from))
        });
        let mut found = vec![Vec::new(); lines as usize];
        let mut running = Vec::new();
        let mut rest = &stretches[..];
        for unit in 0..lines {
            let of_unit = states.of(unit);
            let count = rest.partition_point(|stretch| unit_of(stretch.line) == unit);
            let (mut stretches, others) = rest.split_at(count);
            rest = others;
            let shown = |nth: usize, from: f64, to: f64| {
                let (from, to) = (from.max(self.window.earliest), to.min(self.window.latest));
                let mut seconds = (to - from).max(0.0);
                while let Some((_, after)) = stretches.split_first().filter(|s| s.0.to <= from) {
                    stretches = after;
                }
                for stretch in stretches.iter().take_while(|stretch| stretch.from < to) {
                    let overlap = stretch.to.min(to) - stretch.from.max(from);
                    seconds -= stretch.part * overlap.max(0.0);
                }
                let state = &of_unit[nth];
                let of_line: &mut Vec<(u32, DrawableTally)> = &mut found[state.line as usize];
                let tally = DrawableTally {
                    exclusive: seconds.max(0.0),
                    ..DrawableTally::default()
                };
                add(of_line, state.kind, &tally);
            };
            for_each_shown(of_unit, &mut running, shown, |_, _| {});
        }
        found
    }

    /// Whether it is cancelled; checked for each drawable.
    fn is_cancelled_now(&mut self) -> bool {
        self.left -= 1;
        if self.left == 0 {
            self.left = DRAWABLES_PER_CHECK;
            self.is_cancelled |= (self.cancel)();
        }
        self.is_cancelled
    }

    fn primitive(&mut self, primitive: &Primitive<'_>) {
        let Some(item) = self.trace.item(primitive) else {
            return;
        };
        let Some(timeline) = self.timeline_of[item.line as usize] else {
            return;
        };
        let ends: Vec<_> = primitive.vertices().collect();
        let is_defined = self.trace.kind(primitive.category).is_some();
        if !is_defined || self.scope.hidden[item.kind as usize] || ends.len() > 2 {
            return;
        }
        let timeline_to = self.timeline_of[item.to_line as usize];
        if !is_counted_arrow(
            item.topology,
            [Some(timeline), timeline_to],
            self.scope.arrows,
        ) {
            return;
        }
        if item.topology == Topology::State && takes_part(primitive.bounds, self.window) {
            self.states.push(TraceState {
                start: item.start,
                end: item.end,
                line: item.line,
                kind: item.kind,
            });
        }
        let drawable = trace_model::Drawable {
            topology: item.topology,
            category: primitive.category,
            info: primitive.info,
            vertices: &ends,
        };
        (self.builder).put(
            self.trace,
            &drawable,
            Some(item.kind),
            timeline,
            self.window,
        );
    }
}

/// Adds to what is known of a kind.
fn add(of_line: &mut Vec<(u32, DrawableTally)>, kind: u32, tally: &DrawableTally) {
    match of_line.iter_mut().find(|found| found.0 == kind) {
        Some((_, sum)) => sum.join(tally),
        None => of_line.push((kind, *tally)),
    }
}

impl<'a> Visit<'a> for StatisticsEstimate<'_, 'a> {
    fn is_over(&self) -> bool {
        self.is_cancelled
    }

    fn drawable(&mut self, drawable: NodeDrawable<'a>) {
        if self.is_cancelled_now() {
            return;
        }
        let primitives = drawable.primitives().iter();
        primitives.for_each(|primitive| self.primitive(primitive));
    }

    fn shadow(&mut self, shadow: NodeShadow<'a>) {
        let previews = [PREVIEW_EVENT, PREVIEW_ARROW, PREVIEW_STATE];
        let line = self.trace.line(shadow.primitive.first().line);
        let Some(line) = line.filter(|&line| self.timeline_of[line as usize].is_some()) else {
            return;
        };
        if !previews.contains(&shadow.primitive.category) || self.is_cancelled_now() {
            return;
        }
        let TimeBBox { earliest, latest } = shadow.bounds;
        let inside = latest.min(self.window.latest) - earliest.max(self.window.earliest);
        let length = latest - earliest;
        let part = if length > 0.0 { inside / length } else { 1.0 };
        if !part.is_finite() {
            return;
        }
        let is_state = shadow.primitive.category == PREVIEW_STATE;
        let mut taken = 0.0;
        for weight in shadow.weights() {
            let kind = self.trace.kind(weight.category);
            let Some(kind) = kind.filter(|&kind| !self.scope.hidden[kind as usize]) else {
                continue;
            };
            let seconds = |ratio: f32| f64::from(ratio.max(0.0)) * inside.max(0.0);
            let exclusive = match is_state {
                true => seconds(weight.ratios.exclusive),
                false => 0.0,
            };
            taken += exclusive;
            let tally = DrawableTally {
                count: (weight.ratios.count.max(0) as f64 * part).round() as u64,
                total: seconds(weight.ratios.inclusive),
                exclusive,
                ..DrawableTally::default()
            };
            add(&mut self.shares[line as usize], kind, &tally);
        }
        if taken > 0.0 {
            self.stretches.push(PreviewedStretch {
                line,
                from: earliest,
                to: latest,
                part: (taken / inside).min(1.0),
            });
        }
    }
}

/// Makes categories and timelines of cells.
fn add_up(trace: &OpenTrace<'_>, found: &mut Statistics) {
    // Previews have no values of performance counters.
    found.counters.clear();
    found
        .cells
        .iter_mut()
        .for_each(|cell| cell.counters.clear());
    let mut categories: BTreeMap<i32, DrawableTally> = BTreeMap::new();
    let mut timelines: BTreeMap<(i32, i32), f64> = BTreeMap::new();
    for cell in &found.cells {
        categories
            .entry(cell.category)
            .or_default()
            .join(&cell.tally);
        *timelines.entry((cell.rank, cell.thread)).or_default() += cell.tally.exclusive.max(0.0);
    }
    found.drawables = categories.values().map(|tally| tally.count).sum();
    found.categories = categories
        .into_iter()
        .filter_map(|(index, tally)| {
            let kind = &trace.kinds()[trace.kind(index)? as usize];
            Some(CategoryStatistics {
                index,
                name: kind.category.name.clone(),
                topology: kind.category.topology,
                tally,
                durations: Histogram::default(),
                counters: Vec::new(),
            })
        })
        .collect();
    found.rows = timelines
        .into_iter()
        .map(|((rank, thread), covered)| ThreadStatistics {
            rank,
            thread,
            covered,
            ..ThreadStatistics::default()
        })
        .collect();
}
