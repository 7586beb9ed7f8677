//! Counts what fits, and tells where it is.
//!
//! Where category and line decide, previews count; only what lies across the borders of bins is read, the largest stretches
//! first, as far as the budget goes. Where the waits of the whole trace decide, nothing is read.

use std::collections::VecDeque;
use trace_formats::slog2::{
    FileBlockPtr, NodeShadow, Primitive, Slog2Layout, Stub, TimeBBox, Topology, VisitNode,
};

use super::plan::SearchPlan;
use crate::base::error::ApiError;
use crate::base::parallel::Cancel;
use crate::trace::scan::ReadBudget;
use crate::trace::waits::{StateWait, TraceWaits};
use crate::trace::{OpenTrace, TraceItem};

/// Number of drawables that match a search, and their starts.
#[derive(Clone, Debug, PartialEq)]
pub struct HitCounts {
    /// Drawables that fit and start in the window.
    pub count: u64,
    /// Whether that is all of them.
    pub is_count_exact: bool,
    /// Whether there are as many at least: what was not read may have more. Otherwise what is not exact is what previews say.
    pub is_lower_bound: bool,
    /// Number of hits by bin of the window.
    pub bins: Vec<f64>,
    /// Whether all of them are in the right bin.
    pub are_bins_exact: bool,
}

/// Counts the drawables that start in the window and fit. What is not read in time counts as previews say.
///
/// # Errors
/// The file is damaged.
pub fn count(
    trace: &OpenTrace<'_>,
    plan: &SearchPlan,
    bins: usize,
    budget: ReadBudget<'_>,
) -> Result<HitCounts, ApiError> {
    let mut hits = HitCounts::none(bins);
    let (Some(root), true) = (trace.reader().root(), plan.is_possible()) else {
        return Ok(hits);
    };
    if let Some(waits) = plan.deciding_waits() {
        hits.count_waiting(trace, plan, waits, budget.window);
        return Ok(hits);
    }
    let counted = plan.is_counted() && trace.reader().layout() == Slog2Layout::V206;
    let mut queue = VecDeque::from([(root.ptr, root.id.depth, Vec::new())]);
    let mut bytes = 0;
    while let Some((ptr, depth, previews)) = queue.pop_front() {
        let size = u64::from(ptr.size.unsigned_abs());
        if bytes > 0 && (bytes + size > budget.bytes || (budget.cancel)()) {
            for (bounds, count) in previews {
                hits.add_preview(budget.window, bounds, count, counted);
            }
            continue;
        }
        bytes += size;
        let count = HitCounter {
            counted,
            ..HitCounter::new(trace, plan, budget.window, depth, &mut hits)
        };
        queue.extend(count.node(ptr)?);
    }
    hits.is_lower_bound = !counted && !hits.is_count_exact;
    Ok(hits)
}

/// A hit, with all that it takes to show it.
#[derive(Clone, Debug, PartialEq)]
pub struct SearchHit {
    item: TraceItem<'static>,
    info: Box<[u8]>,
}

impl SearchHit {
    fn new(item: &TraceItem<'_>) -> Self {
        SearchHit {
            item: TraceItem { info: &[], ..*item },
            info: item.info.into(),
        }
    }

    /// The drawable that was found.
    pub fn item(&self) -> TraceItem<'_> {
        TraceItem {
            info: &self.info,
            ..self.item
        }
    }
}

/// Most hits that are listed of traces that are too large to be read, and most bytes that are read to find them.
pub(crate) const MAX_LISTED_HITS: u64 = 5000;
pub(crate) const MAX_BYTES_FOR_LISTED_HITS: u64 = 150 << 20;

/// All hits of the trace; `None` if they are more than `most`, or so far apart that more than these bytes would have to be read.
///
/// # Errors
/// The file is damaged.
pub fn places(
    trace: &OpenTrace<'_>,
    plan: &SearchPlan,
    most: u64,
    most_bytes: u64,
    cancel: Cancel<'_>,
) -> Result<Option<Vec<SearchHit>>, ApiError> {
    let (Some(root), true) = (trace.reader().root(), plan.is_possible()) else {
        return Ok(Some(Vec::new()));
    };
    let budget = ReadBudget {
        window: root.bounds,
        bytes: most_bytes,
        cancel,
    };
    // If previews count, the root knows the number of hits.
    if plan.is_counted() && count(trace, plan, 1, budget)?.count > most {
        return Ok(None);
    }
    let mut hits = HitCounts::none(1);
    let mut places = Vec::new();
    let mut queue = VecDeque::from([(root.ptr, root.id.depth)]);
    let mut bytes = 0;
    while let Some((ptr, depth)) = queue.pop_front() {
        bytes += u64::from(ptr.size.unsigned_abs());
        if bytes > most_bytes || places.len() as u64 > most || cancel() {
            return Ok(None);
        }
        let count = HitCounter {
            places: Some(&mut places),
            ..HitCounter::new(trace, plan, root.bounds, depth, &mut hits)
        };
        let below = count.node(ptr)?.into_iter();
        queue.extend(below.map(|(ptr, depth, _)| (ptr, depth)));
    }
    Ok(Some(places))
}

impl HitCounts {
    fn none(bins: usize) -> Self {
        HitCounts {
            count: 0,
            is_count_exact: true,
            is_lower_bound: false,
            bins: vec![0.0; bins.max(1)],
            are_bins_exact: true,
        }
    }

    fn bin(&self, window: TimeBBox, time: f64) -> usize {
        let part = (time - window.earliest) / window.duration();
        ((part * self.bins.len() as f64) as usize).min(self.bins.len() - 1)
    }

    /// Counts the states that wait. If short waits were forgotten, there are as many at least.
    fn count_waiting(
        &mut self,
        trace: &OpenTrace<'_>,
        plan: &SearchPlan,
        waits: &TraceWaits,
        window: TimeBBox,
    ) {
        let is_same = |a: &StateWait, b: &StateWait| a.line == b.line && a.start == b.start;
        for waits in waits.all().chunk_by(is_same) {
            let mut kinds: Vec<u32> = waits.iter().map(|wait| wait.kind).collect();
            kinds.sort_unstable();
            kinds.dedup();
            for kind in kinds {
                let (line, start) = (waits[0].line, waits[0].start);
                let item = TraceItem {
                    kind,
                    topology: Topology::State,
                    line,
                    to_line: line,
                    start,
                    end: start,
                    info: &[],
                };
                let is_inside = (window.earliest..=window.latest).contains(&start);
                if is_inside && plan.fits(trace, &item) {
                    self.count += 1;
                    let bin = self.bin(window, start);
                    self.bins[bin] += 1.0;
                }
            }
        }
        self.is_lower_bound = waits.shortest() > 0.0;
        self.is_count_exact = !self.is_lower_bound;
        self.are_bins_exact = self.is_count_exact;
    }

    /// Counts what was not read.
    fn add_preview(&mut self, window: TimeBBox, bounds: TimeBBox, count: u64, counted: bool) {
        let inside = TimeBBox {
            earliest: bounds.earliest.max(window.earliest),
            latest: bounds.latest.min(window.latest),
        };
        let length = bounds.duration();
        let part = match length > 0.0 {
            true => (inside.duration() / length).clamp(0.0, 1.0),
            false => 1.0,
        };
        self.are_bins_exact = false;
        self.is_count_exact &= counted && window.covers(bounds);
        // Conditions on single drawables cannot be guessed from previews; where hits may be is shown all the same.
        if counted {
            self.count += (count as f64 * part).round() as u64;
        }
        let (first, last) = (
            self.bin(window, inside.earliest),
            self.bin(window, inside.latest),
        );
        let each = count as f64 * part / (last.max(first) - first + 1) as f64;
        if counted {
            self.bins[first..=last.max(first)]
                .iter_mut()
                .for_each(|bin| *bin += each);
        }
    }
}

/// A node to read: its place, its depth, and what previews say is in it.
type ChildNode = (FileBlockPtr, i16, Vec<(TimeBBox, u64)>);

struct HitCounter<'p, 'a> {
    trace: &'p OpenTrace<'a>,
    plan: &'p SearchPlan,
    window: TimeBBox,
    counted: bool,
    hits: &'p mut HitCounts,
    /// List in which hits are kept one by one.
    places: Option<&'p mut Vec<SearchHit>>,
    /// Previews of the next child.
    previews: Vec<(TimeBBox, u64)>,
    below: Vec<ChildNode>,
    depth: i16,
}

impl<'p, 'a> HitCounter<'p, 'a> {
    /// In a node of this depth, of which no preview counts and no hit is kept.
    fn new(
        trace: &'p OpenTrace<'a>,
        plan: &'p SearchPlan,
        window: TimeBBox,
        depth: i16,
        hits: &'p mut HitCounts,
    ) -> Self {
        HitCounter {
            trace,
            plan,
            window,
            counted: false,
            hits,
            places: None,
            previews: Vec::new(),
            below: Vec::new(),
            depth,
        }
    }

    /// Counts what is in the node. Gives those below it in which there may be more.
    fn node(mut self, ptr: FileBlockPtr) -> Result<Vec<ChildNode>, ApiError> {
        self.trace.reader().visit_node(ptr, &mut self)?;
        Ok(self.below)
    }
}

impl<'a> VisitNode<'a> for HitCounter<'_, 'a> {
    fn primitive(&mut self, primitive: &Primitive<'a>) {
        if !self.plan.takes_category(self.trace, primitive.category) {
            return;
        }
        let time = primitive.first().time;
        let time = match primitive.vertices().len() {
            2 if primitive.first().line == primitive.last().line => primitive.bounds.earliest,
            _ => time,
        };
        if !(self.window.earliest..=self.window.latest).contains(&time) {
            return;
        }
        let Some(item) = self.trace.item(primitive) else {
            return;
        };
        if self.plan.fits(self.trace, &item) {
            if let Some(places) = &mut self.places {
                places.push(SearchHit::new(&item));
            }
            self.hits.count += 1;
            let bin = self.hits.bin(self.window, time);
            self.hits.bins[bin] += 1.0;
        }
    }

    fn shadow(&mut self, shadow: NodeShadow<'a>) {
        if !self.window.overlaps(shadow.bounds) {
            return;
        }
        let count = self.plan.count(self.trace, &shadow);
        if count > 0 {
            self.previews.push((shadow.bounds, count));
        }
    }

    fn child(&mut self, child: Stub) {
        let previews = std::mem::take(&mut self.previews);
        if previews.is_empty() || child.id.depth >= self.depth {
            return;
        }
        let hits = &mut *self.hits;
        let bin_of = |bounds: &TimeBBox| {
            let bins = [bounds.earliest, bounds.latest].map(|time| hits.bin(self.window, time));
            (bins[0] == bins[1] && self.window.covers(*bounds)).then_some(bins[0])
        };
        let bins: Option<Vec<usize>> = previews.iter().map(|(bounds, _)| bin_of(bounds)).collect();
        match bins.filter(|_| self.counted) {
            Some(bins) => {
                for ((_, count), bin) in previews.into_iter().zip(bins) {
                    hits.count += count;
                    hits.bins[bin] += count as f64;
                }
            }
            None => self.below.push((child.ptr, child.id.depth, previews)),
        }
    }
}
