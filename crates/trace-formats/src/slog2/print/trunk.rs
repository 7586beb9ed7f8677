//! The part of the tree that a walk through it has in memory: the root and, floor by floor, the nodes of a window
//! (`spec/slog2.md` section 9.3, `spec/slog2-tools.md` section 6).
//!
//! Floors are counted from the leaves: floor 0. Which nodes are kept when the window moves is that of the original, so that
//! the texts are.

use std::collections::BTreeMap;
use std::io::Write;

use super::super::error::Slog2Error;
use super::super::node::{NodeDrawable, NodeShadow, Slog2Node, Stub};
use super::super::read::Slog2Reader;
use super::floors::merge_floors;
use super::order::PrintOrder;
use super::parts::TextBuffer;
use super::stub::{PlannedNode, print_stub};
use super::{flush, flush_if_long};
use trace_model::TimeBBox;

/// Nodes in memory.
pub(super) struct Trunk<'r, 'a> {
    reader: &'r Slog2Reader<'a>,
    /// By depth, then from left to right.
    floors: Vec<BTreeMap<i32, (PlannedNode, Slog2Node<'a>)>>,
    /// The lowest floor that counts.
    lowest: usize,
    /// The floor that was asked for when the window was the whole log.
    initial: i64,
    root: TimeBBox,
}

/// Result of a move to another window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Moved {
    /// The window has nothing in common with the log.
    Outside,
    /// The window did not move.
    Nowhere,
    /// The window was moved to where it was asked to go.
    There,
}

impl<'r, 'a> Trunk<'r, 'a> {
    /// A window of the same length, within this part of it, is one that was scrolled.
    const TOLERANCE: f64 = 0.01f32 as f64;

    /// Reads the root.
    pub(super) fn new(reader: &'r Slog2Reader<'a>) -> Result<Self, Slog2Error> {
        let root = reader.node(reader.header().tree_root)?;
        let depth = usize::try_from(root.stub.id.depth).unwrap_or(0);
        let bounds = root.stub.bounds;
        let mut floors: Vec<BTreeMap<_, _>> = (0..=depth).map(|_| BTreeMap::new()).collect();
        floors[depth].insert(0, (PlannedNode::root(&root), root));
        Ok(Trunk {
            reader,
            floors,
            lowest: depth,
            initial: depth as i64,
            root: bounds,
        })
    }

    /// Bounds of the log.
    pub(super) fn bounds(&self) -> TimeBBox {
        self.root
    }

    /// Depth of the root.
    pub(super) fn depth(&self) -> usize {
        self.floors.len() - 1
    }

    /// Reads the nodes of the first window, down to this floor.
    pub(super) fn begin(&mut self, window: TimeBBox, depth: i64) -> Result<(), Slog2Error> {
        self.initial = depth;
        if self.root.overlaps(window) {
            self.grow(self.depth(), depth, window)?;
        }
        let lowest = self.floors.iter().position(|floor| !floor.is_empty());
        self.lowest = lowest.unwrap_or(self.depth());
        Ok(())
    }

    /// Goes to another window: reads what is missing and forgets what is not needed.
    pub(super) fn go(&mut self, from: TimeBBox, to: TimeBBox) -> Result<Moved, Slog2Error> {
        if !self.root.overlaps(to) {
            return Ok(Moved::Outside);
        }
        if from == to {
            return Ok(Moved::Nowhere);
        }
        let scrolled = (to.duration() / from.duration() - 1.0).abs() <= Self::TOLERANCE;
        let depth = if scrolled {
            if self.covers(self.lowest, to) {
                return Ok(Moved::There);
            }
            self.lowest as i64
        } else {
            // As many floors deeper as the window is smaller than the log, by powers of the number of children.
            let children = f64::from(self.reader.header().children_per_node);
            let level = (self.root.duration() / to.duration()).ln() / children.ln();
            // A window of no length counts as larger than the log, by the width of the original's number.
            let level = (level + 0.5).floor() as i64 as i32 as i16;
            (self.initial - i64::from(level)).clamp(0, self.depth() as i64)
        };
        let floors = self.lowest..self.floors.len();
        let covering = floors.clone().find(|&floor| self.covers(floor, to));
        let covering = covering.unwrap_or(self.depth());
        if depth < covering as i64 {
            self.keep(covering, to);
            self.grow(covering, depth, to)?;
            for floor in &mut self.floors[..depth as usize] {
                floor.clear();
            }
            self.lowest = depth as usize;
        }
        Ok(Moved::There)
    }

    fn covers(&self, floor: usize, window: TimeBBox) -> bool {
        let ends = [
            self.floors[floor].first_key_value(),
            self.floors[floor].last_key_value(),
        ];
        let [Some((_, (first, _))), Some((_, (last, _)))] = ends else {
            return false;
        };
        let bounds = TimeBBox {
            earliest: first.stub.bounds.earliest,
            latest: last.stub.bounds.latest,
        };
        bounds.covers(window)
    }

    /// Forgets the nodes of a floor that the window does not touch, and what is below them.
    fn keep(&mut self, floor: usize, window: TimeBBox) {
        let nodes = self.floors[floor].values();
        let outside = nodes.filter(|(_, node)| !node.stub.bounds.overlaps(window));
        let outside: Vec<i32> = outside.map(|(_, node)| node.stub.id.xpos).collect();
        for xpos in outside {
            self.forget(floor, xpos);
        }
    }

    /// Forgets a node and what is below it.
    fn forget(&mut self, floor: usize, xpos: i32) {
        let Some((_, node)) = self.floors[floor].remove(&xpos) else {
            return;
        };
        let Some(below) = floor.checked_sub(1) else {
            return;
        };
        for buffer in &node.shadows {
            self.forget(below, buffer.stub.id.xpos);
        }
    }

    /// Reads what the window touches below the nodes of a floor, down to another one.
    fn grow(&mut self, from: usize, to: i64, window: TimeBBox) -> Result<(), Slog2Error> {
        let mut bytes = 0;
        for floor in (0..from).rev().take_while(|&floor| floor as i64 >= to) {
            let parents = self.floors[floor + 1].values();
            let parents = parents.filter(|(_, node)| node.stub.bounds.overlaps(window));
            let children = parents.flat_map(|(_, node)| &node.shadows);
            // In a damaged file a child may claim any depth.
            let children = children.filter(|buffer| buffer.stub.id.depth as i64 == floor as i64);
            let children: Vec<PlannedNode> = children.map(PlannedNode::child).collect();
            for planned in children {
                let Stub { bounds, id, ptr } = planned.stub;
                if !bounds.overlaps(window) {
                    self.forget(floor, id.xpos);
                } else if !self.floors[floor].contains_key(&id.xpos) {
                    bytes += u64::from(ptr.size.unsigned_abs());
                    self.reader.check_node_bytes(bytes)?;
                    let node = self.reader.node(ptr)?;
                    self.floors[floor].insert(id.xpos, (planned, node));
                    self.lowest = self.lowest.min(floor);
                }
            }
        }
        Ok(())
    }

    /// The nodes in memory, floor by floor from the root, each floor with a blank line behind it.
    pub(super) fn print_stubs(&self, printer: &mut TextBuffer) {
        for floor in self.floors.iter().rev() {
            for (planned, _) in floor.values() {
                print_stub(printer, planned);
            }
            printer.text("\n");
        }
    }

    /// Drawables of a viewer: states, then arrows and events of all nodes, then the previews of what is below the lowest
    /// floor, likewise.
    pub(super) fn print_window(
        &self,
        window: TimeBBox,
        printer: &mut TextBuffer,
        out: &mut impl Write,
    ) -> Result<(), Slog2Error> {
        let mut count = 0u64;
        let drawables: [for<'c> fn(&'c Slog2Node<'a>) -> &'c [NodeDrawable<'a>]; 2] =
            [|node| &node.nestable, |node| &node.nestless];
        for part in drawables {
            let floors = self.floors[self.lowest..].iter().rev().map(|floor| {
                let all = floor.values().flat_map(|(_, node)| part(node));
                all.filter(|drawable| window.overlaps(drawable.bounds()))
                    .collect()
            });
            for drawable in merge_floors(floors, PrintOrder::IncreasingStart) {
                number(printer, &mut count);
                printer.drawable(drawable);
                printer.text("\n");
                flush_if_long(printer, out)?;
            }
        }
        let shadows: [for<'c> fn(&'c Slog2Node<'a>) -> Vec<&'c NodeShadow<'a>>; 2] = [
            |node| node.shadows.iter().flat_map(|b| &b.nestable).collect(),
            |node| node.shadows.iter().flat_map(|b| &b.nestless).collect(),
        ];
        count = 0;
        for part in shadows {
            let all = self.floors[self.lowest].values();
            for shadow in all.flat_map(|(_, node)| part(node)) {
                if window.overlaps(shadow.bounds) {
                    number(printer, &mut count);
                    printer.shadow(shadow, self.reader.layout());
                    flush_if_long(printer, out)?;
                }
            }
        }
        flush(printer, out)
    }
}

fn number(printer: &mut TextBuffer, count: &mut u64) {
    *count += 1;
    printer.number(*count);
    printer.text(", ");
}
