//! Helpers with which all findings are built: names, labels, places to look at, and times by category.

use std::collections::BTreeMap;
use trace_formats::slog2::{TimeBBox, Topology};

use super::summary::FindingTarget;
use crate::statistics::counting::WindowStatistics;
use crate::timelines::tree::LabelTree;
use crate::trace::OpenTrace;
use crate::trace::class::ActivityClass;
use crate::trace::states::TraceState;

/// Items that a finding has at most.
pub(super) const MAX_ITEMS: usize = 5;

/// Builds the findings of a trace.
pub(super) struct FindingBuilder<'d, 'a> {
    pub trace: &'d OpenTrace<'a>,
    pub trees: &'d [LabelTree],
    pub gathered: &'d WindowStatistics,
    /// Rank of each lane that belongs to a rank.
    pub ranks: &'d BTreeMap<u32, i32>,
    /// The whole trace.
    pub all: TimeBBox,
}

impl FindingBuilder<'_, '_> {
    pub(super) fn name(&self, kind: u32) -> &str {
        &self.trace.kinds()[kind as usize].name
    }

    pub(super) fn class(&self, kind: u32) -> ActivityClass {
        self.trace.kinds()[kind as usize].class
    }

    /// The leaf of a line in the first line map.
    pub(super) fn leaf(&self, line: u32) -> Option<u32> {
        let tree = self.trees.first()?;
        tree.leaf_of.get(line as usize).copied()
    }

    pub(super) fn label(&self, line: u32) -> String {
        let tree = self.trees.first();
        let leaf = self.leaf(line).and_then(|leaf| {
            let tree = tree?;
            Some(tree.full_label(*tree.leaves.get(leaf as usize)?))
        });
        leaf.unwrap_or_else(|| format!("line {line}"))
    }

    /// A line of a lane.
    pub(super) fn line_of(&self, lane: u32) -> Option<u32> {
        let lines = self.trace.lines();
        let at = lines.iter().position(|line| line.lane == lane)?;
        u32::try_from(at).ok()
    }

    /// The spec that has these lines on top.
    pub(super) fn pinned(&self, first: &str, lines: &[u32]) -> String {
        let mut leaves: Vec<String> = Vec::new();
        for leaf in lines.iter().filter_map(|&line| self.leaf(line)) {
            let leaf = leaf.to_string();
            if !leaves.contains(&leaf) {
                leaves.push(leaf);
            }
        }
        let pins = format!("pin:{}", leaves.join(","));
        match (first, leaves.is_empty()) {
            (_, true) => first.to_owned(),
            ("", false) => pins,
            _ => format!("{pins};{first}"),
        }
    }

    /// A stretch of time with something around it.
    pub(super) fn around(&self, from: f64, to: f64) -> FindingTarget {
        let margin = ((to - from) * 0.25).max(1e-7);
        FindingTarget {
            t0: (from - margin).max(self.all.earliest),
            t1: (to + margin).min(self.all.latest),
            ..FindingTarget::default()
        }
    }

    pub(super) fn everywhere(&self) -> FindingTarget {
        FindingTarget {
            t0: self.all.earliest,
            t1: self.all.latest,
            ..FindingTarget::default()
        }
    }

    pub(super) fn at(&self, state: &TraceState, lines: &[u32]) -> FindingTarget {
        FindingTarget {
            timelines: self.pinned("", lines),
            sel: state.reference(self.trace),
            ..self.around(state.start, state.end)
        }
    }

    pub(super) fn approximately(&self) -> &'static str {
        if self.gathered.exact { "" } else { "≈ " }
    }

    /// Exclusive seconds and drawables by kind, on the threads of ranks, and the lane with the most.
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
