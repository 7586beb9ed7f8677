//! The plan of a merge by slices of time, which all ranks make alike from the same few numbers: where leaves of the tree begin, which
//! of them make a window, and which window's owner builds which node.
//!
//! Leaf l takes what ends from `cuts[l]` on and before `cuts[l + 1]`. A window is a run of leaves below one node of height
//! [`SlicePlan::window_levels`]. Windows are dealt to the ranks in turn, so that all of them have work at any time of the walk.
//! A drawable belongs to the lowest node that covers the leaf in which it begins and the one in which it ends.

use super::pace::Histogram;
use crate::operations::DrawnOperations;
use trace_formats::slog2::{TreeNodeId, TreeOptions};
use trace_model::TimeBBox;
use trace_model::hash::Wide;
use unify::scan::Scan;

/// Bytes of an SLOG2 file for each call, messages and previews included. A guess: leaves are larger or smaller by how wrong it is.
const BYTES_A_CALL: u64 = 50;
/// Leaves of a tree. With more data they are larger.
const MAX_LEAVES: u64 = 1 << 20;
/// Windows that a rank should own at least, so that all have about the same work.
const MIN_WINDOWS_A_RANK: u64 = 4;
/// Bytes that a rank sends to the owner of a window, if there are enough for that.
const MESSAGE_BYTES: u64 = 8 << 10;
/// Blocks of a CLOG2 file that a window should fill, as the last one of a window is not full. A call takes twice the room of SLOG2 in it.
const MIN_BLOCKS: u64 = 16;
/// Bytes of nodes, and of blocks of a CLOG2 file, that a rank keeps in memory until their places in the files are known.
const ROUND_BYTES: u64 = 4 << 20;

/// What one rank has to draw, or all together.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SliceShare {
    /// Recorded calls, regions, functions of the program, and operations below MPI with their arrows.
    pub calls: u64,
    /// When the first of them begins, but not later than time zero: seconds since then.
    pub start: f64,
    /// When the last of them ends, seconds since time zero.
    pub end: f64,
}

/// What a plan is made of: numbers that all ranks have agreed on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SliceTotals {
    /// What is drawn.
    pub share: SliceShare,
    /// Ranks whose records are merged, absent ones included.
    pub ranks: u32,
    /// Shape of the tree.
    pub tree: TreeOptions,
    /// Bytes of a block of the CLOG2 file; 0 if there is none.
    pub clog2_block: u32,
}

impl SliceShare {
    /// What one process has recorded; `zero_ns` is time zero on rank 0's clock.
    pub fn of_process(scan: &Scan, zero_ns: i64) -> SliceShare {
        let last_ns = scan.last_ns().unwrap_or(zero_ns);
        SliceShare {
            calls: scan.pace.calls(),
            start: 0.0,
            end: last_ns.wrapping_sub(zero_ns) as f64 / 1e9,
        }
    }

    /// The share of the calls and that of operations below MPI together.
    #[must_use]
    pub fn with_operations(self, drawn: &DrawnOperations) -> SliceShare {
        let [start, end] = drawn.span;
        self.and(SliceShare {
            calls: drawn.pace.calls(),
            start,
            end,
        })
    }

    /// Both together.
    #[must_use]
    pub(super) fn and(self, other: SliceShare) -> SliceShare {
        SliceShare {
            calls: self.calls.saturating_add(other.calls),
            start: self.start.min(other.start),
            end: self.end.max(other.end),
        }
    }

    /// Little-endian numbers, for [`SliceShare::decode`].
    pub(super) fn encode(self) -> Vec<u8> {
        let numbers = [self.calls, self.start.to_bits(), self.end.to_bits()];
        numbers.map(u64::to_le_bytes).concat()
    }

    /// What [`SliceShare::encode`] wrote; zeros where bytes are missing.
    pub(super) fn decode(bytes: &[u8]) -> SliceShare {
        let words = bytes.as_chunks().0;
        let word = |at: usize| u64::from_le_bytes(words.get(at).copied().unwrap_or_default());
        SliceShare {
            calls: word(0),
            start: f64::from_bits(word(1)),
            end: f64::from_bits(word(2)),
        }
    }
}

impl SliceTotals {
    /// Leaves of about the size that is wanted.
    fn leaves(&self) -> u64 {
        let bytes = self.share.calls.saturating_mul(BYTES_A_CALL);
        let leaf = u64::try_from(self.tree.leaf_byte_size).unwrap_or(1).max(1);
        bytes.div_ceil(leaf).clamp(1, MAX_LEAVES)
    }

    /// Bins of the histogram of calls over time that the plan needs.
    pub fn bins(&self) -> usize {
        (4 * self.leaves()).next_power_of_two().clamp(256, 1 << 16) as usize
    }
}

/// Where leaves begin and who builds which node. The same on all ranks.
#[derive(Clone, Debug, PartialEq)]
pub struct SlicePlan {
    /// Shape of the tree.
    pub tree: TreeOptions,
    /// Beginning of each leaf, and the end of the last one, seconds; ascending.
    cuts: Vec<f64>,
    /// Height of the node above the leaves of a window.
    pub window_levels: u32,
    /// Windows whose nodes are written together: a power of the number of children.
    round: u64,
    /// Ranks to which windows are dealt.
    owners: u32,
}

impl SlicePlan {
    /// `histogram` has the calls of all ranks; `owners` is the number of ranks that build nodes. Its choice changes neither nodes nor their
    /// places.
    pub fn new(totals: &SliceTotals, histogram: &Histogram, owners: u32) -> SlicePlan {
        let children = u64::from(totals.tree.children_per_node.unsigned_abs().max(2));
        let ranks = u64::from(totals.ranks.max(1));
        let wanted = totals.leaves();
        let leaf_bytes = totals.share.calls.saturating_mul(BYTES_A_CALL) / wanted;
        // A window of several leaves, as long as messages to its owner are short and each rank still owns some.
        let (mut window_levels, mut leaves_each) = (0, 1u64);
        let least = (MESSAGE_BYTES * ranks).max(MIN_BLOCKS * u64::from(totals.clog2_block) / 2);
        while leaf_bytes * leaves_each < least
            && wanted >= leaves_each * children * ranks * MIN_WINDOWS_A_RANK
        {
            leaves_each *= children;
            window_levels += 1;
        }
        // As many windows for each rank.
        let share = leaves_each * ranks;
        let leaves = match (wanted + share / 2) / share {
            0 => wanted,
            each => each * share,
        };
        // Blocks of a CLOG2 file are kept as well, with twice the bytes.
        let formats = if totals.clog2_block > 0 { 3 } else { 1 };
        let window_bytes = (leaf_bytes * leaves_each * formats).max(1);
        let mut round = 1;
        while round < ranks || round * children * window_bytes <= ROUND_BYTES * ranks {
            round *= children;
        }
        let mut cuts = histogram.cuts(leaves as usize, totals.share.end);
        cuts[0] = totals.share.start.min(0.0);
        SlicePlan {
            tree: totals.tree,
            cuts,
            window_levels,
            round,
            owners: owners.max(1),
        }
    }

    /// Has one rank build everything.
    pub(super) fn deal_to_one(&mut self) {
        self.owners = 1;
    }

    /// A number that plans have in common if they cut alike, whoever builds what.
    pub(super) fn identity(&self) -> u64 {
        let TreeOptions {
            children_per_node,
            leaf_byte_size,
        } = self.tree;
        let numbers = [
            children_per_node as u64,
            leaf_byte_size as u64,
            u64::from(self.window_levels),
            self.round,
        ];
        let cuts = self.cuts.iter().map(|cut| cut.to_bits());
        let hash = numbers
            .into_iter()
            .chain(cuts)
            .fold(Wide::new(), Wide::word);
        hash.finish().0[0]
    }

    fn children(&self) -> u64 {
        u64::from(self.tree.children_per_node.unsigned_abs().max(2))
    }

    /// Leaves below a node of this height that has all its children.
    fn span(&self, depth: u32) -> u64 {
        self.children().saturating_pow(depth)
    }

    /// Number of leaves.
    pub fn leaves(&self) -> usize {
        self.cuts.len() - 1
    }

    /// Number of windows.
    pub fn windows(&self) -> u64 {
        self.width(self.window_levels)
    }

    /// Number of nodes of this height.
    pub fn width(&self, depth: u32) -> u64 {
        (self.leaves() as u64).div_ceil(self.span(depth))
    }

    /// Height of the root.
    pub fn root_depth(&self) -> u32 {
        let mut depth = 0;
        while self.width(depth) > 1 {
            depth += 1;
        }
        depth
    }

    /// Height of the highest node of a window: lower than [`SlicePlan::window_levels`] where the whole tree is.
    pub fn window_depth(&self) -> u32 {
        self.window_levels.min(self.root_depth())
    }

    /// Number of nodes.
    pub fn nodes(&self) -> u64 {
        (0..=self.root_depth()).map(|depth| self.width(depth)).sum()
    }

    /// Place of a node in the directory, which goes from the root down, from left to right.
    pub fn directory_index(&self, id: TreeNodeId) -> u64 {
        let above = (id.depth as u32 + 1)..=self.root_depth();
        above.map(|depth| self.width(depth)).sum::<u64>() + id.xpos as u64
    }

    /// The leaf in which a time is; times beyond the ends are in the first and last one.
    #[inline]
    pub fn leaf_of(&self, time: f64) -> usize {
        let behind = self.cuts.partition_point(|&cut| cut <= time);
        behind.saturating_sub(1).min(self.leaves() - 1)
    }

    /// The leaf before leaf `end` in which a time is that is not before leaf `from`: for times that ascend, from one to the next.
    #[inline]
    pub(super) fn leaf_from(&self, from: usize, end: usize, time: f64) -> usize {
        let mut leaf = from;
        while leaf + 1 < end && self.end_of(leaf) <= time {
            leaf += 1;
        }
        leaf
    }

    /// Beginning of a leaf, or the end of the last one, seconds.
    #[inline]
    pub fn cut(&self, leaf: usize) -> f64 {
        self.cuts.get(leaf).copied().unwrap_or(f64::INFINITY)
    }

    /// When a leaf ends for who sorts records into leaves: the last one takes all that comes.
    #[inline]
    pub fn end_of(&self, leaf: usize) -> f64 {
        match self.cuts.get(leaf + 1) {
            Some(&end) if leaf + 1 < self.leaves() => end,
            _ => f64::INFINITY,
        }
    }

    /// The leaves of a window.
    pub fn leaves_of(&self, window: u64) -> std::ops::Range<usize> {
        let span = self.span(self.window_levels);
        let first = (window * span) as usize;
        first..(first + span as usize).min(self.leaves())
    }

    /// The node that covers both leaves.
    #[inline]
    pub fn node_of(&self, a: usize, b: usize) -> TreeNodeId {
        let (mut a, mut b, mut depth) = (a as u64, b as u64, 0);
        while a != b {
            a /= self.children();
            b /= self.children();
            depth += 1;
        }
        TreeNodeId {
            depth,
            xpos: a as i32,
        }
    }

    /// The node of this height above a leaf.
    #[inline]
    pub fn node_above(&self, leaf: usize, depth: u32) -> TreeNodeId {
        TreeNodeId {
            depth: depth as i16,
            xpos: (leaf as u64 / self.span(depth)) as i32,
        }
    }

    /// Stretch of time of a node: from the beginning of its first leaf to the end of its last one.
    pub fn bounds(&self, id: TreeNodeId) -> TimeBBox {
        let span = self.span(id.depth as u32) as usize;
        let first = id.xpos as usize * span;
        TimeBBox {
            earliest: self.cut(first),
            latest: self.cut((first + span).min(self.leaves())),
        }
    }

    /// The parent of a node; `None` for the root.
    pub fn parent(&self, id: TreeNodeId) -> Option<TreeNodeId> {
        ((id.depth as u32) < self.root_depth()).then(|| TreeNodeId {
            depth: id.depth + 1,
            xpos: (id.xpos as u64 / self.children()) as i32,
        })
    }

    /// The children of a node, in order.
    pub fn children_of(&self, id: TreeNodeId) -> impl Iterator<Item = TreeNodeId> + use<> {
        let depth = id.depth - 1;
        let first = id.xpos as u64 * self.children();
        let end = (first + self.children()).min(self.width(depth as u32));
        (first..end).map(move |xpos| TreeNodeId {
            depth,
            xpos: xpos as i32,
        })
    }

    /// The rank that owns a window.
    #[inline]
    pub fn owner(&self, window: u64) -> u32 {
        (window % u64::from(self.owners)) as u32
    }

    /// The rank that builds a node: of one within a window its owner. Those above are spread over all: each has the owner of another
    /// window, the one below its second child.
    pub fn builder(&self, id: TreeNodeId) -> u32 {
        let (depth, xpos) = (id.depth as u32, id.xpos as u64);
        if depth <= self.window_levels {
            return self.owner(xpos / self.span(self.window_levels - depth));
        }
        let span = self.span(depth - self.window_levels);
        let (first, second) = (xpos * span, xpos * span + span / self.children());
        self.owner(if second < self.windows() {
            second
        } else {
            first
        })
    }

    /// Number of rounds.
    pub fn rounds(&self) -> u64 {
        self.windows().div_ceil(self.round)
    }

    /// The windows of a round.
    pub fn windows_of(&self, round: u64) -> std::ops::Range<u64> {
        let first = round * self.round;
        first..(first + self.round).min(self.windows())
    }

    /// The nodes of a height that are complete when this round is, [`SlicePlan::window_depth`] or more: those whose last leaf is in it.
    pub fn completed(&self, round: u64, depth: u32) -> impl Iterator<Item = TreeNodeId> + use<> {
        let windows = self.windows_of(round);
        let span = self.span(depth.saturating_sub(self.window_levels));
        // The last node of a level is complete with the last window.
        let end = match windows.end == self.windows() {
            true => self.width(depth),
            false => windows.end / span,
        };
        (windows.start / span..end).map(move |xpos| TreeNodeId {
            depth: depth as i16,
            xpos: xpos as i32,
        })
    }

    /// The root.
    pub fn root(&self) -> TreeNodeId {
        TreeNodeId {
            depth: self.root_depth() as i16,
            xpos: 0,
        }
    }

    /// What is written in a round: the windows in their order, as their highest nodes, then the nodes above them, level by level.
    pub fn items(&self, round: u64) -> Vec<TreeNodeId> {
        let depths = self.window_depth()..=self.root_depth();
        depths
            .flat_map(|depth| self.completed(round, depth))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn plan(calls: u64, ranks: u32, children: i16, owners: u32) -> SlicePlan {
        let totals = SliceTotals {
            share: SliceShare {
                calls,
                start: 0.0,
                end: 10.0,
            },
            ranks,
            tree: TreeOptions {
                children_per_node: children,
                leaf_byte_size: 65536,
            },
            clog2_block: 0,
        };
        let mut histogram = Histogram::new(totals.bins(), totals.share.end);
        for nth in 0..calls.min(10_000) {
            histogram.add(10.0 * nth as f64 / 10_000.0, 1);
        }
        SlicePlan::new(&totals, &histogram, owners)
    }

    proptest! {
        /// Every node is complete in exactly one round, behind all its children, and has one place in the directory.
        #[test]
        fn nodes_are_complete_once(
            calls in 1u64..40_000_000,
            ranks in 1u32..70,
            children in 2i16..5,
        ) {
            let plan = plan(calls, ranks, children, ranks);
            let mut done = std::collections::HashSet::new();
            let mut indices = std::collections::HashSet::new();
            for window in 0..plan.windows() {
                prop_assert!(!plan.leaves_of(window).is_empty());
            }
            for round in 0..plan.rounds() {
                let windows: Vec<i32> = plan.windows_of(round).map(|w| w as i32).collect();
                let items = plan.items(round);
                let first = items.iter().take(windows.len());
                let first: Vec<(i16, i32)> = first.map(|id| (id.depth, id.xpos)).collect();
                let depth = plan.window_depth() as i16;
                prop_assert_eq!(first, windows.iter().map(|&w| (depth, w)).collect::<Vec<_>>());
                for id in items {
                    if id.depth > depth {
                        prop_assert!(plan.children_of(id).all(|child| done.contains(&child)));
                        prop_assert!(plan.children_of(id).all(|c| plan.parent(c) == Some(id)));
                        prop_assert!(plan.builder(id) < ranks);
                    }
                    prop_assert!(done.insert(id), "{id:?} twice");
                }
            }
            for depth in plan.window_depth()..=plan.root_depth() {
                for xpos in 0..plan.width(depth) {
                    let id = TreeNodeId { depth: depth as i16, xpos: xpos as i32 };
                    prop_assert!(done.contains(&id), "{id:?} is missing");
                }
            }
            for depth in 0..=plan.root_depth() {
                for xpos in 0..plan.width(depth) {
                    let id = TreeNodeId { depth: depth as i16, xpos: xpos as i32 };
                    prop_assert!(indices.insert(plan.directory_index(id)));
                }
            }
            prop_assert_eq!(indices.len() as u64, plan.nodes());
            prop_assert!(indices.iter().all(|&at| at < plan.nodes()));
        }

        /// A drawable is in the node that covers its leaves, and in none that is lower.
        #[test]
        fn the_lowest_node_covers(calls in 1u64..4_000_000, a in 0.0f64..11.0, b in 0.0f64..11.0) {
            let plan = plan(calls, 8, 2, 8);
            let (a, b) = (plan.leaf_of(a), plan.leaf_of(b));
            let id = plan.node_of(a.min(b), a.max(b));
            let span = plan.span(id.depth as u32) as usize;
            prop_assert_eq!((a / span, b / span), (id.xpos as usize, id.xpos as usize));
            if id.depth > 0 {
                let span = span / 2;
                prop_assert_ne!(a / span, b / span);
            }
        }
    }

    #[test]
    fn the_number_of_owners_changes_no_node() {
        let (one, many) = (plan(5_000_000, 16, 2, 1), plan(5_000_000, 16, 2, 16));
        assert_eq!((&one.cuts, one.round), (&many.cuts, many.round));
    }

    #[test]
    fn each_rank_builds_about_the_same() {
        let plan = plan(64 * 40_000, 64, 2, 64);
        let mut windows = vec![0; 64];
        for window in 0..plan.windows() {
            windows[plan.owner(window) as usize] += 1;
        }
        assert_eq!(windows.iter().min(), windows.iter().max());
    }
}
