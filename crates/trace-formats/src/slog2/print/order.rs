//! The orders in which drawables can be listed.

use std::cmp::Ordering;

use super::super::node::NodeDrawable;
use trace_model::TimeBBox;

/// Time by which drawables are listed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PrintOrder {
    /// Increasing start time, the longer one first (option `-is`).
    #[default]
    IncreasingStart,
    /// The reverse of that (`-ds`).
    DecreasingStart,
    /// Increasing end time, the shorter one first (`-ie`).
    IncreasingEnd,
    /// The reverse of that (`-de`).
    DecreasingEnd,
}

impl PrintOrder {
    /// True if the leaves are to be visited from the last to the first.
    pub(super) fn is_decreasing(self) -> bool {
        matches!(
            self,
            PrintOrder::DecreasingStart | PrintOrder::DecreasingEnd
        )
    }

    /// The time that decides in which leaf's time box a drawable is listed.
    pub(super) fn border_time(self, bounds: TimeBBox) -> f64 {
        match self {
            PrintOrder::IncreasingStart | PrintOrder::DecreasingStart => bounds.earliest,
            PrintOrder::IncreasingEnd | PrintOrder::DecreasingEnd => bounds.latest,
        }
    }

    /// True if this border time lies before the place where a box begins or ends. By start time boxes contain their
    /// beginning, by end time their end (`spec/slog2.md` section 9.2).
    pub(super) fn is_before(self, border: f64, edge: f64) -> bool {
        match self {
            PrintOrder::IncreasingStart | PrintOrder::DecreasingStart => border < edge,
            PrintOrder::IncreasingEnd | PrintOrder::DecreasingEnd => border <= edge,
        }
    }

    /// The order of those that meet when lists are merged. Of drawables with the same times the one of the lower category,
    /// then lines, comes first, in decreasing orders, too.
    pub(in super::super) fn compare(self, a: &NodeDrawable<'_>, b: &NodeDrawable<'_>) -> Ordering {
        let times = self.compare_times(a, b);
        let times = if self.is_decreasing() {
            times.reverse()
        } else {
            times
        };
        times.then_with(|| compare_kinds(a, b))
    }

    /// The order within a node: a decreasing one is the increasing one backward.
    pub(super) fn compare_in_node(self, a: &NodeDrawable<'_>, b: &NodeDrawable<'_>) -> Ordering {
        let order = self.compare_times(a, b).then_with(|| compare_kinds(a, b));
        if self.is_decreasing() {
            order.reverse()
        } else {
            order
        }
    }

    fn compare_times(self, a: &NodeDrawable<'_>, b: &NodeDrawable<'_>) -> Ordering {
        let (x, y) = (a.bounds(), b.bounds());
        match self {
            PrintOrder::IncreasingStart | PrintOrder::DecreasingStart => x
                .earliest
                .total_cmp(&y.earliest)
                .then(y.latest.total_cmp(&x.latest)),
            PrintOrder::IncreasingEnd | PrintOrder::DecreasingEnd => x
                .latest
                .total_cmp(&y.latest)
                .then(y.earliest.total_cmp(&x.earliest)),
        }
    }
}

fn compare_kinds(a: &NodeDrawable<'_>, b: &NodeDrawable<'_>) -> Ordering {
    let key = |drawable: &NodeDrawable<'_>| {
        let (first, last) = (drawable.first(), drawable.last());
        (drawable.category(), first.line, last.line)
    };
    key(a).cmp(&key(b))
}
