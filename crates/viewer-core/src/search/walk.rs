//! Finds the next drawable that fits, by start, and reads of the tree only what can have it.
//!
//! The previews of a node's children tell which categories are below on which lines, in which stretch of time, and for how
//! long together. Children that can have a hit wait in a queue by the earliest start that it could have; when a hit was
//! found that is earlier than all of these, it is the one. Backwards the same with the latest start.

use std::cmp::Ordering;
use std::collections::BinaryHeap;
use trace_formats::slog2::{
    DirEntry, FileBlockPtr, NodeShadow, Primitive, Stub, TimeBBox, VisitNode,
};

use super::plan::SearchPlan;
use crate::base::error::ApiError;
use crate::trace::reference::DrawableReference;
use crate::trace::scan::ReadBudget;
use crate::trace::{OpenTrace, TraceItem};

/// A place among all drawables: by start, then line, kind and, of arrows, the end.
#[derive(Clone, Copy, Debug)]
pub struct SearchPosition {
    start: f64,
    /// Line and kind, and line and time of an arrow's end. `None`: before everything that starts then.
    what: Option<(i32, u32, i32, f64)>,
}

impl SearchPosition {
    /// Before everything that starts at this time.
    pub fn at(start: f64) -> Self {
        SearchPosition { start, what: None }
    }

    /// The position of a drawable.
    pub fn of(reference: &DrawableReference) -> Self {
        let (to_line, to) = reference.to.unwrap_or((i32::MIN, f64::NEG_INFINITY));
        SearchPosition {
            start: reference.start,
            what: Some((reference.line, reference.kind, to_line, to)),
        }
    }

    fn cmp(&self, other: &SearchPosition) -> Ordering {
        self.start.total_cmp(&other.start).then_with(|| {
            let key =
                |place: &SearchPosition| place.what.map(|(line, kind, to, _)| (line, kind, to));
            let time = |place: &SearchPosition| place.what.map_or(f64::NEG_INFINITY, |what| what.3);
            let key = key(self).cmp(&key(other));
            key.then(time(self).total_cmp(&time(other)))
        })
    }
}

/// Result of a search step.
#[derive(Clone, Copy, Debug, Default)]
pub struct SearchStep<'a> {
    /// The hit.
    pub item: Option<TraceItem<'a>>,
    /// Nodes that were read.
    pub nodes: u64,
    /// Bytes of them.
    pub bytes: u64,
    /// Time from which to go on, if the budget ended the search.
    pub resume: Option<f64>,
}

/// Looks for the first drawable behind a place that fits, or for the last before it.
///
/// # Errors
/// The file is damaged, or the answer is not wanted any more.
pub fn find<'a>(
    trace: &OpenTrace<'a>,
    plan: &SearchPlan,
    from: SearchPosition,
    is_forward: bool,
    budget: ReadBudget<'_>,
) -> Result<SearchStep<'a>, ApiError> {
    let mut found = SearchStep::default();
    let (Some(root), true) = (trace.reader().root(), plan.is_possible()) else {
        return Ok(found);
    };
    // From here on times are mirrored for searches backwards, so that there is one direction only.
    let sign = if is_forward { 1.0 } else { -1.0 };
    let start = sign * from.start;
    let mut queue = BinaryHeap::from([PendingNode::root(root)]);
    let mut best: Option<(SearchPosition, TraceItem<'a>)> = None;
    while let Some(node) = queue.pop() {
        if best.is_some_and(|(place, _)| sign * place.start < node.from) {
            break;
        }
        let is_over = (budget.cancel)();
        if (is_over || found.bytes > budget.bytes) && node.from > start {
            found.resume = Some(sign * node.from);
            best = None;
            break;
        }
        if is_over {
            return Err(ApiError::cancelled());
        }
        found.nodes += 1;
        found.bytes += u64::from(node.ptr.size.unsigned_abs());
        let mut look = NodeSearch {
            trace,
            plan,
            from,
            sign,
            best,
            child_from: f64::INFINITY,
            below: Vec::new(),
            depth: node.depth,
        };
        trace.reader().visit_node(node.ptr, &mut look)?;
        best = look.best;
        queue.extend(look.below);
    }
    found.item = best.map(|(_, item)| item);
    Ok(found)
}

/// A node that may have a hit.
#[derive(Clone, Copy, Debug)]
struct PendingNode {
    /// Hits in it do not start before this.
    from: f64,
    ptr: FileBlockPtr,
    depth: i16,
}

impl PendingNode {
    fn root(root: DirEntry) -> Self {
        PendingNode {
            from: f64::NEG_INFINITY,
            ptr: root.ptr,
            depth: root.id.depth,
        }
    }
}

impl Ord for PendingNode {
    /// The earliest is the greatest; of those the deepest, where it is likelier to be decided.
    fn cmp(&self, other: &Self) -> Ordering {
        let from = other.from.total_cmp(&self.from);
        from.then(other.depth.cmp(&self.depth))
            .then(other.ptr.offset.cmp(&self.ptr.offset))
    }
}

impl PartialOrd for PendingNode {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for PendingNode {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for PendingNode {}

struct NodeSearch<'p, 'a> {
    trace: &'p OpenTrace<'a>,
    plan: &'p SearchPlan,
    from: SearchPosition,
    sign: f64,
    best: Option<(SearchPosition, TraceItem<'a>)>,
    /// Hits in the next child do not start before this.
    child_from: f64,
    below: Vec<PendingNode>,
    depth: i16,
}

impl<'a> VisitNode<'a> for NodeSearch<'_, 'a> {
    fn primitive(&mut self, primitive: &Primitive<'a>) {
        if !self.plan.takes_category(self.trace, primitive.category) {
            return;
        }
        let Some(item) = self.trace.item(primitive) else {
            return;
        };
        // The place costs less than the conditions, so it is looked at first.
        let place = SearchPosition::of(&DrawableReference::of(self.trace, &item, 0));
        let order = |a: &SearchPosition, b: &SearchPosition| match self.sign > 0.0 {
            true => a.cmp(b),
            false => b.cmp(a),
        };
        let is_better = order(&place, &self.from).is_gt()
            && (self.best).is_none_or(|(best, _)| order(&place, &best).is_lt());
        if is_better && self.plan.fits(self.trace, &item) {
            self.best = Some((place, item));
        }
    }

    fn child(&mut self, child: Stub) {
        let child_from = std::mem::replace(&mut self.child_from, f64::INFINITY);
        // Deeper than its parent: so that damaged files lead in no circles.
        if child_from < f64::INFINITY && child.id.depth < self.depth {
            self.below.push(PendingNode {
                from: child_from,
                ptr: child.ptr,
                depth: child.id.depth,
            });
        }
    }

    fn shadow(&mut self, shadow: NodeShadow<'a>) {
        let TimeBBox { earliest, latest } = shadow.bounds;
        let (first, last) = match self.sign > 0.0 {
            true => (earliest, latest),
            false => (-latest, -earliest),
        };
        let start = self.sign * self.from.start;
        if last >= start && first < self.child_from && self.plan.count(self.trace, &shadow) > 0 {
            self.child_from = first.max(start);
        }
    }
}
