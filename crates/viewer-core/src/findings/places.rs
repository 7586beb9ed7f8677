//! Names of what a trace has, and places in its timeline to look at.

use analysis::performance::WaitGroup;
use trace_formats::slog2::{TimeBBox, Topology};

use super::summary::FindingTarget;
use crate::timelines::tree::LabelTree;
use crate::trace::OpenTrace;
use crate::trace::class::ActivityClass;
use crate::trace::reference::DrawableReference;
use crate::trace::states::TraceState;

/// A trace with the labels of its lines.
#[derive(Clone, Copy)]
pub(super) struct TracePlaces<'d, 'a> {
    pub trace: &'d OpenTrace<'a>,
    pub trees: &'d [LabelTree],
    /// The whole trace.
    pub all: TimeBBox,
}

impl TracePlaces<'_, '_> {
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

    /// The longest wait of a group, with who waits, and the threads that are to blame, on top.
    pub(super) fn longest_wait(&self, group: &WaitGroup) -> FindingTarget {
        let place = &group.longest;
        let mut lines: Vec<u32> = self.trace.line(place.line).into_iter().collect();
        lines.extend(self.line_of_thread(group.culprit, group.culprit_thread));
        // Of which of its threads nothing is known.
        if ![place.rank, group.culprit].contains(&group.cause_rank) {
            lines.extend(self.line_of_thread(group.cause_rank, 0));
        }
        let kinds = (0..).zip(self.trace.kinds());
        let mut kinds = kinds.filter(|(_, kind)| kind.category.topology == Topology::State);
        let reference = kinds
            .find(|(_, kind)| kind.name == group.call)
            .map(|(kind, _)| {
                let reference = DrawableReference {
                    line: place.line,
                    kind,
                    start: place.call_from,
                    to: None,
                    nth: 0,
                };
                reference.to_string()
            });
        FindingTarget {
            timelines: self.pinned("", &lines),
            sel: reference.unwrap_or_default(),
            ..self.around(place.from, place.to)
        }
    }

    /// A line of a thread of a rank.
    fn line_of_thread(&self, rank: i32, thread: i32) -> Option<u32> {
        let lines = self.trace.lines();
        let at = lines
            .iter()
            .position(|line| line.line.rank == rank && line.line.thread == thread)?;
        u32::try_from(at).ok()
    }
}
