//! Helpers with which all findings are built: times by category, and how sure they are.

use std::collections::BTreeMap;
use std::ops::Deref;
use trace_formats::slog2::Topology;

use super::places::TracePlaces;
use crate::statistics::counting::WindowStatistics;

/// Items that a finding has at most.
pub(super) const MAX_ITEMS: usize = 5;

/// Builds the findings of a trace.
pub(super) struct FindingBuilder<'d, 'a> {
    pub places: TracePlaces<'d, 'a>,
    pub gathered: &'d WindowStatistics,
    /// Rank of each lane that belongs to a rank: its threads, and what lies beside them.
    pub ranks: &'d BTreeMap<u32, i32>,
    /// Number of threads of ranks, whose time shares are of.
    pub threads: usize,
}

impl<'d, 'a> Deref for FindingBuilder<'d, 'a> {
    type Target = TracePlaces<'d, 'a>;

    fn deref(&self) -> &TracePlaces<'d, 'a> {
        &self.places
    }
}

impl FindingBuilder<'_, '_> {
    pub(super) fn approximately(&self) -> &'static str {
        if self.gathered.exact { "" } else { "≈ " }
    }

    /// Exclusive seconds and drawables by kind, on the threads of ranks and beside them, and the lane with the most.
    pub(super) fn times(&self) -> Vec<(u32, f64, u64, u32, f64)> {
        let mut kinds: BTreeMap<u32, (f64, u64, u32, f64)> = BTreeMap::new();
        for cell in &self.gathered.found.cells {
            let lane = u32::try_from(cell.rank).unwrap_or(u32::MAX);
            let kind = self.trace.kind(cell.category);
            let (Some(kind), true) = (kind, self.ranks.contains_key(&lane)) else {
                continue;
            };
            let topology = self.trace.kinds()[kind as usize].category.topology;
            if topology != Topology::State {
                continue;
            }
            let found = kinds
                .entry(kind)
                .or_insert((0.0, 0, lane, f64::NEG_INFINITY));
            found.0 += cell.tally.exclusive;
            found.1 += cell.tally.count;
            if cell.tally.exclusive > found.3 {
                (found.2, found.3) = (lane, cell.tally.exclusive);
            }
        }
        let kinds = kinds.into_iter();
        let mut times: Vec<_> = kinds
            .map(|(kind, (a, b, c, d))| (kind, a, b, c, d))
            .collect();
        times.sort_by(|a, b| b.1.total_cmp(&a.1));
        times
    }
}
