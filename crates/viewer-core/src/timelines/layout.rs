//! The timelines of the page: which lines are in each, under which label, in which order.

use std::collections::BTreeMap;
use std::ops::Range;

use super::measure::LineMeasures;
use super::selection::TimelineSelection;
use super::spec::{SortBy, TimelineKey, TimelineSpec, text_of};
use crate::base::error::ApiError;
use crate::timelines::tree::LabelTree;
use crate::trace::OpenTrace;

/// In place of the timeline of a line that is on none.
pub const NO_TIMELINE: u32 = u32::MAX;

/// A timeline.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ViewTimeline {
    /// Label of the timeline.
    pub label: String,
    /// By which the spec names it; empty for clusters.
    pub key: String,
    /// Level in the tree.
    pub depth: u16,
    /// Number of lines in it and below it.
    pub lines: u32,
    /// Whether it stands for several leaves.
    pub group: bool,
    /// Whether it is a heading, whose leaves are timelines of their own.
    pub open: bool,
    /// Labels above it.
    pub path: Vec<String>,
}

impl ViewTimeline {
    /// The label with those above it: `rank 1 thread 0`, where the label alone is `thread 0`.
    pub fn full_label(&self) -> String {
        let mut labels: Vec<&str> = self.path.iter().map(String::as_str).collect();
        labels.push(&self.label);
        labels.join(" ")
    }
}

/// The timelines of the page, in order.
#[derive(Clone, Debug, Default)]
pub struct TimelineLayout {
    /// The canonical spec.
    pub spec: String,
    /// The timelines.
    pub timelines: Vec<ViewTimeline>,
    /// Number of pinned timelines; these come first.
    pub pinned: usize,
    /// By number of the line its timeline or [`NO_TIMELINE`].
    pub timeline_of: Vec<u32>,
    /// Lines by timeline.
    lines: Vec<u32>,
    /// By timeline where its lines begin, and behind all of them.
    starts: Vec<u32>,
    /// By number of the line its unit or [`NO_TIMELINE`]: lines of one timeline that differ in their communicator only. States nest
    /// within a unit. Units are numbered timeline by timeline.
    unit_of: Vec<u32>,
    /// By timeline its first unit, and behind all of them.
    units: Vec<u32>,
    /// Call depths that each unit has a timeline for, one after the other; 0 where units are not shown in full. The lines of a unit are on the first of
    /// its timelines, and each timeline is numbered as a unit of its own.
    pub(crate) levels: usize,
}

/// Leaves that are one timeline, or a heading.
#[derive(Clone, Debug)]
struct TimelineDraft {
    node: u32,
    leaves: Vec<u32>,
    open: bool,
}

impl TimelineLayout {
    /// Lays out timelines.
    ///
    /// # Errors
    /// There is no such map, or there are no such timelines.
    pub fn new(
        trace: &OpenTrace<'_>,
        trees: &[LabelTree],
        spec: &TimelineSpec,
        measures: &LineMeasures,
    ) -> Result<Self, ApiError> {
        let lines = trace.lines().len();
        let tree = trees.get(spec.map).ok_or_else(|| {
            let last = trees.len().saturating_sub(1);
            ApiError::not_found(format!(
                "timelines: there is no map {}, only 0 to {last}",
                spec.map
            ))
        })?;
        let mut plan = LayoutPlan::new(tree, spec, measures)?;
        if !spec.levels.is_empty() {
            return TimelineLayout::in_full(trace, tree, spec, &mut plan);
        }
        let pinned = plan.take_pins();
        let mut layout = TimelineLayout {
            spec: spec.to_string(),
            pinned: pinned.len(),
            timeline_of: vec![NO_TIMELINE; lines],
            starts: vec![0],
            ..TimelineLayout::default()
        };
        for piece in &pinned {
            layout.add_piece(tree, piece, true);
        }
        for (name, leaves) in plan.take_groups()? {
            layout.add_group(tree, name, key_of(&leaves), &leaves);
        }
        let rest = plan.pieces();
        if spec.cluster > 0 {
            for (label, leaves) in
                super::cluster::clusters(tree, &rest_of(&rest), spec.cluster, measures)
            {
                layout.add_group(tree, label, String::new(), &leaves);
            }
        } else if spec.block > 1 {
            for block in rest.chunks(spec.block as usize) {
                let label = block_label(tree, block);
                let leaves = rest_of(block);
                layout.add_group(tree, label, key_of(&leaves), &leaves);
            }
        } else {
            for piece in &rest {
                layout.add_piece(tree, piece, spec.is_flat());
            }
        }
        layout.number_units(trace);
        Ok(layout)
    }

    /// The threads of some timelines in full: a timeline for each call depth.
    fn in_full(
        trace: &OpenTrace<'_>,
        tree: &LabelTree,
        spec: &TimelineSpec,
        plan: &mut LayoutPlan<'_>,
    ) -> Result<Self, ApiError> {
        let levels = spec.call_depths();
        let mut layout = TimelineLayout {
            spec: spec.to_string(),
            timeline_of: vec![NO_TIMELINE; trace.lines().len()],
            starts: vec![0],
            levels,
            ..TimelineLayout::default()
        };
        for piece in plan.take_timelines(&spec.levels) {
            let key = match tree.nodes[piece.node as usize].inner {
                Some(inner) => format!("n{inner}"),
                None => key_of(&piece.leaves),
            };
            let mut lanes: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
            for &leaf in &piece.leaves {
                for &line in &tree.lines[leaf as usize] {
                    if let Some(of) = trace.lines().get(line as usize) {
                        lanes.entry(of.lane).or_default().push(line);
                    }
                }
            }
            for lines in lanes.values() {
                layout.add_in_full(tree, lines, &key);
            }
        }
        if layout.timelines.is_empty() {
            let keys: String = text_of(&spec.levels).chars().take(60).collect();
            let last = tree.leaves.len().saturating_sub(1);
            return Err(ApiError::bad_request(format!(
                "timelines=levels:{keys}: expected some of the timelines 0 to {last}"
            )));
        }
        layout.unit_of = layout.timeline_of.clone();
        layout.units = (0..=layout.timelines.len() as u32).collect();
        Ok(layout)
    }

    /// Adds a timeline for each call depth of a thread, whose lines are on the first one.
    fn add_in_full(&mut self, tree: &LabelTree, lines: &[u32], key: &str) {
        let leaf = lines
            .first()
            .and_then(|&line| tree.leaf_of.get(line as usize));
        let node = leaf.and_then(|&leaf| tree.leaves.get(leaf as usize));
        let label = node.map_or_else(String::new, |&node| tree.full_label(node));
        let first = self.timelines.len() as u32;
        for &line in lines {
            if let Some(of) = self.timeline_of.get_mut(line as usize) {
                *of = first;
                self.lines.push(line);
            }
        }
        for level in 0..self.levels {
            self.timelines.push(ViewTimeline {
                label: label.clone(),
                key: key.to_owned(),
                depth: level as u16,
                lines: lines.len() as u32,
                ..ViewTimeline::default()
            });
            self.starts.push(self.lines.len() as u32);
        }
    }

    /// Whole threads that some timelines of a layout in full are of; elsewhere these timelines.
    pub(crate) fn whole_threads(&self, timelines: Range<usize>) -> Range<usize> {
        match self.levels {
            0 => timelines,
            levels => {
                let end = timelines.end.div_ceil(levels).saturating_mul(levels);
                timelines.start / levels * levels..end.min(self.timelines.len())
            }
        }
    }

    fn number_units(&mut self, trace: &OpenTrace<'_>) {
        let lane = |line: u32| trace.lines().get(line as usize).map(|l| l.lane);
        self.unit_of = vec![NO_TIMELINE; trace.lines().len()];
        let mut units = 0;
        for timeline in 0..self.timelines.len() {
            self.units.push(units);
            let mut lines: Vec<_> = self
                .lines_of(timeline)
                .iter()
                .map(|&l| (lane(l), l))
                .collect();
            lines.sort_unstable();
            for same in lines.chunk_by(|a, b| a.0 == b.0) {
                same.iter()
                    .for_each(|&(_, line)| self.unit_of[line as usize] = units);
                units += 1;
            }
        }
        self.units.push(units);
    }

    /// The unit of a line.
    #[inline]
    pub(crate) fn unit(&self, line: u32) -> Option<u32> {
        let unit = self.unit_of.get(line as usize).copied();
        unit.filter(|&unit| unit != NO_TIMELINE)
    }

    /// The units of some timelines.
    pub(crate) fn units(&self, timelines: Range<usize>) -> Range<u32> {
        let at = |timeline: usize| {
            self.units
                .get(timeline)
                .or(self.units.last())
                .copied()
                .unwrap_or(0)
        };
        at(timelines.start)..at(timelines.end)
    }

    /// The lines of a timeline, by number.
    pub fn lines_of(&self, timeline: usize) -> &[u32] {
        let ends = self.starts.get(timeline).zip(self.starts.get(timeline + 1));
        let lines = ends.and_then(|(&from, &to)| self.lines.get(from as usize..to as usize));
        lines.unwrap_or_default()
    }

    /// The timeline of a line.
    #[inline]
    pub fn timeline(&self, line: u32) -> Option<u32> {
        let timeline = self.timeline_of.get(line as usize).copied();
        timeline.filter(|&timeline| timeline != NO_TIMELINE)
    }

    fn add_piece(&mut self, tree: &LabelTree, piece: &TimelineDraft, is_flat: bool) {
        let node = &tree.nodes[piece.node as usize];
        let label = match is_flat {
            true => tree.full_label(piece.node),
            false => node.label.clone(),
        };
        let timeline = ViewTimeline {
            label,
            key: match node.inner {
                Some(inner) => format!("n{inner}"),
                None => node.leaves[0].to_string(),
            },
            depth: if is_flat { 0 } else { node.depth },
            group: node.inner.is_some(),
            open: piece.open,
            path: if is_flat {
                Vec::new()
            } else {
                tree.path(piece.node)
            },
            lines: 0,
        };
        self.add(tree, timeline, &piece.leaves);
    }

    fn add_group(&mut self, tree: &LabelTree, label: String, key: String, leaves: &[u32]) {
        let timeline = ViewTimeline {
            label,
            key,
            group: leaves.len() > 1,
            ..ViewTimeline::default()
        };
        self.add(tree, timeline, leaves);
    }

    fn add(&mut self, tree: &LabelTree, mut timeline: ViewTimeline, leaves: &[u32]) {
        let number = self.timelines.len() as u32;
        for &leaf in leaves {
            let lines = &tree.lines[leaf as usize];
            timeline.lines += lines.len() as u32;
            if timeline.open {
                continue;
            }
            for &line in lines {
                if let Some(of) = self.timeline_of.get_mut(line as usize) {
                    *of = number;
                    self.lines.push(line);
                }
            }
        }
        self.timelines.push(timeline);
        self.starts.push(self.lines.len() as u32);
    }
}

fn rest_of(pieces: &[TimelineDraft]) -> Vec<u32> {
    pieces
        .iter()
        .flat_map(|piece| piece.leaves.iter().copied())
        .collect()
}

/// What a block of neighbours is called: by the first and the last one where all between them are in it.
fn block_label(tree: &LabelTree, block: &[TimelineDraft]) -> String {
    let label = |piece: &TimelineDraft| tree.full_label(piece.node);
    let leaves: Vec<u32> = rest_of(block);
    let steps = leaves
        .windows(2)
        .map(|pair| i64::from(pair[1]) - i64::from(pair[0]));
    let is_whole = |step| steps.clone().all(|found| found == step);
    match block {
        [] => String::new(),
        [only] => label(only),
        [first, .., last] if is_whole(1) || is_whole(-1) => {
            format!("{} – {}", label(first), label(last))
        }
        [first, second] => format!("{}, {}", label(first), label(second)),
        [first, others @ ..] => format!("{} and {} others", label(first), others.len()),
    }
}

/// Leaves, or other numbers in ascending order, as a list, short if they follow each other: `0-3,7`.
pub(crate) fn key_of(leaves: &[u32]) -> String {
    let mut keys: Vec<TimelineKey> = Vec::new();
    for &leaf in leaves {
        match keys.last_mut() {
            Some(TimelineKey::Leaves(_, last)) if *last + 1 == leaf => *last = leaf,
            _ => keys.push(TimelineKey::Leaves(leaf, leaf)),
        }
    }
    text_of(&keys)
}

/// Leaves that still have to be placed.
struct LayoutPlan<'t> {
    tree: &'t LabelTree,
    spec: &'t TimelineSpec,
    measures: &'t LineMeasures,
    /// By leaf whether it still is to become a timeline.
    wanted: Vec<bool>,
}

impl<'t> LayoutPlan<'t> {
    fn new(
        tree: &'t LabelTree,
        spec: &'t TimelineSpec,
        measures: &'t LineMeasures,
    ) -> Result<Self, ApiError> {
        let mut wanted = vec![true; tree.leaves.len()];
        if !spec.only.is_empty() {
            let selection = TimelineSelection::parse(&spec.only).map_err(ApiError::bad_request)?;
            for (leaf, wanted) in wanted.iter_mut().enumerate() {
                *wanted = selection.takes(leaf, &tree.full_label(tree.leaves[leaf]));
            }
            if !wanted.contains(&true) {
                let only: String = spec.only.chars().take(60).collect();
                return Err(ApiError::bad_request(format!(
                    "timelines=only:{only}: expected some of the {} timelines, which are numbered from 0",
                    wanted.len()
                )));
            }
        }
        let mut plan = LayoutPlan {
            tree,
            spec,
            measures,
            wanted,
        };
        for key in &spec.hide {
            plan.take(key);
        }
        Ok(plan)
    }

    /// The leaves that a key names, and its node if it names one.
    fn leaves(&self, key: &TimelineKey) -> (std::ops::Range<usize>, Option<u32>) {
        let all = self.tree.leaves.len();
        match *key {
            TimelineKey::Leaves(first, last) => {
                let end = (last as usize).saturating_add(1).min(all);
                ((first as usize).min(end)..end, None)
            }
            TimelineKey::Inner(inner) => match self.tree.inner.get(inner as usize) {
                Some(&node) => {
                    let [from, to] = self.tree.nodes[node as usize].leaves;
                    (from as usize..to as usize, Some(node))
                }
                None => (0..0, None),
            },
        }
    }

    /// The leaves of a key that are left, which are left no more.
    fn take(&mut self, key: &TimelineKey) -> Vec<u32> {
        let (range, _) = self.leaves(key);
        let left = range.filter(|&leaf| std::mem::take(&mut self.wanted[leaf]));
        left.map(|leaf| leaf as u32).collect()
    }

    fn leaf(&self, leaf: u32) -> TimelineDraft {
        TimelineDraft {
            node: self.tree.leaves[leaf as usize],
            leaves: vec![leaf],
            open: false,
        }
    }

    /// The timelines of these keys: a timeline for each leaf, and one for an inner node.
    fn take_timelines(&mut self, keys: &[TimelineKey]) -> Vec<TimelineDraft> {
        let mut pieces = Vec::new();
        for key in keys {
            let (_, node) = self.leaves(key);
            let leaves = self.take(key);
            match node {
                Some(node) if !leaves.is_empty() => pieces.push(TimelineDraft {
                    node,
                    leaves,
                    open: false,
                }),
                _ => pieces.extend(leaves.into_iter().map(|leaf| self.leaf(leaf))),
            }
        }
        pieces
    }

    fn take_pins(&mut self) -> Vec<TimelineDraft> {
        self.take_timelines(&self.spec.pin)
    }

    /// The groups of the spec with the leaves of each that are left; one without any is none.
    fn take_groups(&mut self) -> Result<Vec<(String, Vec<u32>)>, ApiError> {
        let mut groups = Vec::new();
        for (name, filter) in &self.spec.groups {
            let selection = TimelineSelection::parse(filter).map_err(ApiError::bad_request)?;
            let mut leaves = Vec::new();
            for (leaf, wanted) in self.wanted.iter_mut().enumerate() {
                let label = || self.tree.full_label(self.tree.leaves[leaf]);
                if *wanted && selection.takes(leaf, &label()) {
                    *wanted = false;
                    leaves.push(leaf as u32);
                }
            }
            if !leaves.is_empty() {
                groups.push((name.clone(), leaves));
            }
        }
        Ok(groups)
    }

    /// The timelines of what is left.
    fn pieces(&mut self) -> Vec<TimelineDraft> {
        let first = self.take_timelines(&self.spec.order);
        let mut rest = self.tree_timelines();
        if self.spec.is_flat() {
            rest.retain(|piece| !piece.open);
        }
        if let Some((by, is_descending)) = self.spec.sort {
            self.sort(&mut rest, by, is_descending);
        }
        let mut pieces = first;
        pieces.append(&mut rest);
        pieces
    }

    fn tree_timelines(&self) -> Vec<TimelineDraft> {
        let names = |keys: &[TimelineKey], inner: u32| keys.contains(&TimelineKey::Inner(inner));
        let mut pieces = Vec::new();
        let mut at = 0;
        while let Some(node) = self.tree.nodes.get(at) {
            let [from, to] = node.leaves;
            let left = (from..to).filter(|&leaf| self.wanted[leaf as usize]);
            let leaves: Vec<u32> = left.collect();
            let open = node.inner.is_some_and(|inner| {
                let is_folded = match self.spec.fold {
                    Some(depth) => depth == node.depth,
                    None => node.is_server && self.spec.only.is_empty(),
                };
                let is_shut = is_folded || names(&self.spec.shut, inner);
                !is_shut || names(&self.spec.open, inner)
            });
            let behind = if open { at + 1 } else { node.end as usize };
            if leaves.is_empty() {
                at = node.end as usize;
                continue;
            }
            pieces.push(TimelineDraft {
                node: at as u32,
                leaves,
                open,
            });
            at = behind;
        }
        pieces
    }

    fn sort(&self, pieces: &mut [TimelineDraft], by: SortBy, is_descending: bool) {
        if by == SortBy::Label {
            if is_descending {
                pieces.reverse();
            }
            return;
        }
        let value = |piece: &TimelineDraft| {
            let lines = piece
                .leaves
                .iter()
                .flat_map(|&leaf| &self.tree.lines[leaf as usize]);
            let m = self.measures;
            let of = |values: &[f64], line: u32, none| {
                values.get(line as usize).copied().unwrap_or(none)
            };
            match by {
                SortBy::Busy | SortBy::Label => lines.map(|&line| of(&m.busy, line, 0.0)).sum(),
                SortBy::First => lines.fold(f64::INFINITY, |a, &line| a.min(of(&m.first, line, a))),
                SortBy::End => lines.fold(f64::NEG_INFINITY, |a, &line| a.max(of(&m.end, line, a))),
                SortBy::DrawableKind(kind) => {
                    let at = |line: u32| (line as usize * m.kinds).checked_add(kind as usize);
                    let found = |line: u32| m.exclusive.get(at(line)?).copied();
                    let is_kind = (kind as usize) < m.kinds;
                    let found = lines.map(|&line| f64::from(found(line).unwrap_or(0.0)));
                    if is_kind { found.sum() } else { 0.0 }
                }
            }
        };
        let mut valued: Vec<(f64, TimelineDraft)> =
            pieces.iter().map(|p| (value(p), p.clone())).collect();
        valued.sort_by(|a, b| match is_descending {
            true => b.0.total_cmp(&a.0),
            false => a.0.total_cmp(&b.0),
        });
        for (place, (_, piece)) in pieces.iter_mut().zip(valued) {
            *place = piece;
        }
    }
}
