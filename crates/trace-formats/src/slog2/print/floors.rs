//! Lists all drawables of a file in order, with a leaf and its ancestors in memory at a time (`spec/slog2.md` section 9.2).

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use super::super::error::Slog2Error;
use super::super::node::{NodeDrawable, Slog2Node};
use super::super::read::Slog2Reader;
use super::super::types::{DirEntry, FileBlockPtr};
use super::order::PrintOrder;
use trace_model::TimeBBox;

/// Selection of the drawables to list.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PrintedDrawables {
    /// All.
    #[default]
    All,
    /// States only (option `-s`).
    Nestable,
    /// Arrows and events only (`-a`).
    Nestless,
}

/// Calls `list` with the drawables of each leaf's time box, as far as it is in the window, in order, from box to box.
///
/// As in the original, what starts exactly at the end of the window (or ends at its start, by end time) is in no box.
pub(super) fn for_each_box<'a>(
    reader: &Slog2Reader<'a>,
    order: PrintOrder,
    kinds: PrintedDrawables,
    window: TimeBBox,
    mut list: impl FnMut(&[&NodeDrawable<'a>]) -> Result<(), Slog2Error>,
) -> Result<(), Slog2Error> {
    let Some(root) = reader.root() else {
        return Ok(());
    };
    let mut nodes: Vec<DirEntry> = reader.whole_directory()?.iter().collect();
    nodes.sort_by_key(|entry| entry.id);
    // From the leaves to the root; only levels that exist, whatever depths a damaged file names.
    let levels: Vec<&[DirEntry]> = nodes.chunk_by(|a, b| a.id.depth == b.id.depth).collect();
    let mut boxes = leaf_boxes(&levels, root.bounds);
    if order.is_decreasing() {
        boxes.reverse();
    }
    let mut floors = Floors {
        reader,
        order,
        kinds,
        levels: &levels,
        nodes: levels.iter().map(|_| BTreeMap::new()).collect(),
    };
    if let Some(first) = boxes.first() {
        floors.go_to(first)?;
    }
    for whole in boxes {
        let time_box = TimeBox {
            begin: whole.begin.max(window.earliest),
            end: whole.end.min(window.latest),
            ..whole
        };
        let TimeBox { begin, end, .. } = time_box;
        if begin > end {
            continue;
        }
        floors.go_to(&time_box)?;
        let nestable = floors.merged(&time_box, |node| &node.nestable);
        let nestless = floors.merged(&time_box, |node| &node.nestless);
        let mut drawables = merge_kinds(nestable, nestless, order);
        drawables.retain(|drawable| {
            let border = order.border_time(drawable.bounds());
            !order.is_before(border, begin) && order.is_before(border, end)
        });
        list(&drawables)?;
    }
    Ok(())
}

/// The nodes in memory, level by level.
struct Floors<'r, 'a> {
    reader: &'r Slog2Reader<'a>,
    order: PrintOrder,
    kinds: PrintedDrawables,
    /// From the leaves to the root.
    levels: &'r [&'r [DirEntry]],
    /// Nodes of each level, by position in the level.
    nodes: Vec<BTreeMap<usize, NodeContent<'a>>>,
}

impl<'a> Floors<'_, 'a> {
    /// Reads the nodes that touch a time box and forgets others.
    ///
    /// As in the original, nothing is read as long as the leaves in memory cover the box. A drawable at its very edge
    /// that is in a neighbour is then missing, in one direction.
    fn go_to(&mut self, time_box: &TimeBox) -> Result<(), Slog2Error> {
        let covers = |level: usize| {
            let at = self.nodes[level]
                .first_key_value()
                .zip(self.nodes[level].last_key_value());
            at.is_some_and(|((&first, _), (&last, _))| {
                let bounds = TimeBBox {
                    earliest: self.levels[level][first].bounds.earliest,
                    latest: self.levels[level][last].bounds.latest,
                };
                bounds.covers(time_box.bounds())
            })
        };
        let root = self.levels.len().saturating_sub(1);
        let covering = (0..=root).find(|&level| covers(level)).unwrap_or(root);
        let children = i32::from(self.reader.header().children_per_node).max(2);
        // The way from the root to the leaf of the box.
        let xpos = std::iter::successors(Some(time_box.leaf), |xpos| Some(xpos / children));
        let way: Vec<i32> = xpos.take(self.levels.len()).collect();
        for level in (0..=root).rev() {
            let entries = self.levels[level];
            let ancestor = entries.partition_point(|entry| entry.id.xpos < way[level]);
            let mut missing = vec![ancestor];
            if covering > 0 && level <= covering {
                let touches = |at: &usize| time_box.bounds().overlaps(entries[*at].bounds);
                self.nodes[level].retain(|at, _| *at == ancestor || touches(at));
            }
            if level < covering {
                let parents = self.levels[level + 1];
                let above = self.nodes[level + 1].keys().map(|&at| parents[at].id.xpos);
                for parent in above {
                    let first = parent.saturating_mul(children);
                    let first = entries.partition_point(|entry| entry.id.xpos < first);
                    let own = (first..entries.len()).take(children as usize);
                    let own = own.filter(|&at| entries[at].id.xpos / children == parent);
                    missing
                        .extend(own.filter(|at| time_box.bounds().overlaps(entries[*at].bounds)));
                }
            }
            for at in missing {
                if at < entries.len()
                    && let Entry::Vacant(vacant) = self.nodes[level].entry(at)
                {
                    let ptr = entries[at].ptr;
                    vacant.insert(NodeContent::read(self.reader, ptr, self.order, self.kinds)?);
                }
            }
        }
        if self.order == PrintOrder::IncreasingStart {
            for content in self.nodes.iter_mut().flat_map(BTreeMap::values_mut) {
                content.nestable.pass_over(time_box.begin);
                content.nestless.pass_over(time_box.begin);
            }
        }
        Ok(())
    }

    /// Drawables that overlap a time box.
    fn merged<'c>(
        &'c self,
        time_box: &TimeBox,
        part: impl Fn(&'c NodeContent<'a>) -> &'c DrawableList<'a>,
    ) -> Vec<&'c NodeDrawable<'a>> {
        let bounds = time_box.bounds();
        let floor = |nodes: &'c BTreeMap<usize, NodeContent<'a>>| {
            let parts = nodes
                .values()
                .map(|node| part(node).up_to(time_box.end, self.order));
            let mut parts: Vec<&[NodeDrawable<'a>]> = parts.collect();
            if self.order.is_decreasing() {
                parts.reverse();
            }
            let all = parts.into_iter().flatten();
            all.filter(|drawable| bounds.overlaps(drawable.bounds()))
                .collect()
        };
        merge_floors(self.nodes.iter().map(floor), self.order)
    }
}

/// Merges the lists of the floors. As in the original, one goes on with a floor as long as no other has something earlier;
/// the full order only decides to which floor one turns then.
pub(super) fn merge_floors<'d, 'a>(
    floors: impl Iterator<Item = Vec<&'d NodeDrawable<'a>>>,
    order: PrintOrder,
) -> Vec<&'d NodeDrawable<'a>> {
    let mut merged = Vec::new();
    // The next drawable of each floor, and what follows it.
    let mut waiting: Vec<_> = floors
        .filter_map(|list| {
            let mut rest = list.into_iter();
            rest.next().map(|head| (head, rest))
        })
        .collect();
    let first = |waiting: &[(&'d NodeDrawable<'a>, _)]| {
        (0..waiting.len()).min_by(|&a, &b| order.compare(waiting[a].0, waiting[b].0))
    };
    let border = |drawable: &NodeDrawable<'a>| order.border_time(drawable.bounds());
    while let Some(at) = first(&waiting) {
        let mut floor = waiting.swap_remove(at);
        let mut other = first(&waiting);
        loop {
            merged.push(floor.0);
            let Some(following) = floor.1.next() else {
                break;
            };
            floor.0 = following;
            if let Some(at) = other
                && (border(waiting[at].0) < border(following)) != order.is_decreasing()
            {
                std::mem::swap(&mut floor, &mut waiting[at]);
                other = first(&waiting);
            }
        }
    }
    merged
}

/// Merges states with arrows and events; of equals the state comes first.
fn merge_kinds<'d, 'a>(
    nestable: Vec<&'d NodeDrawable<'a>>,
    nestless: Vec<&'d NodeDrawable<'a>>,
    order: PrintOrder,
) -> Vec<&'d NodeDrawable<'a>> {
    let mut merged = Vec::with_capacity(nestable.len() + nestless.len());
    let mut nestless = nestless.into_iter().peekable();
    for state in nestable {
        while let Some(other) = nestless.next_if(|other| order.compare(state, other).is_gt()) {
            merged.push(other);
        }
        merged.push(state);
    }
    merged.extend(nestless);
    merged
}

/// The time of a leaf, made to touch that of its neighbours.
struct TimeBox {
    /// Place of the leaf in its level.
    leaf: i32,
    begin: f64,
    end: f64,
}

impl TimeBox {
    fn bounds(&self) -> TimeBBox {
        TimeBBox {
            earliest: self.begin,
            latest: self.end,
        }
    }
}

/// Cuts the time axis at the ends of the leaves. Boxes of no length, which contain nothing, are left out.
fn leaf_boxes(levels: &[&[DirEntry]], root: TimeBBox) -> Vec<TimeBox> {
    let leaves = levels.first().copied().unwrap_or_default();
    let mut begin = root.earliest;
    let mut boxes = Vec::with_capacity(leaves.len());
    for (nth, leaf) in leaves.iter().enumerate() {
        let latest = if nth + 1 == leaves.len() {
            root.latest
        } else {
            leaf.bounds.latest
        };
        // In a log with backward times a leaf may end before the one to its left.
        if latest > begin {
            boxes.push(TimeBox {
                leaf: leaf.id.xpos,
                begin,
                end: latest,
            });
            begin = latest;
        }
    }
    boxes
}

/// The drawables of a node, in order.
struct NodeContent<'a> {
    nestable: DrawableList<'a>,
    nestless: DrawableList<'a>,
}

impl<'a> NodeContent<'a> {
    fn read(
        reader: &Slog2Reader<'a>,
        ptr: FileBlockPtr,
        order: PrintOrder,
        kinds: PrintedDrawables,
    ) -> Result<NodeContent<'a>, Slog2Error> {
        let (nestless, nestable) = Slog2Node::read_drawables(&mut reader.part(ptr, "tree node")?)?;
        let sorted = |mut drawables: Vec<NodeDrawable<'a>>, unwanted: PrintedDrawables| {
            if kinds == unwanted {
                drawables.clear();
            }
            drawables.sort_by(|a, b| order.compare_in_node(a, b));
            let passed = 0;
            DrawableList { drawables, passed }
        };
        Ok(NodeContent {
            nestable: sorted(nestable, PrintedDrawables::Nestless),
            nestless: sorted(nestless, PrintedDrawables::Nestable),
        })
    }
}

struct DrawableList<'a> {
    drawables: Vec<NodeDrawable<'a>>,
    /// Number of drawables at the front that were passed over.
    passed: usize,
}

impl<'a> DrawableList<'a> {
    /// Passes over what ends before this time, as far as it stands in front.
    fn pass_over(&mut self, begin: f64) {
        let rest = &self.drawables[self.passed..];
        let live = rest
            .iter()
            .position(|drawable| drawable.bounds().latest >= begin);
        self.passed += live.unwrap_or(rest.len());
    }

    /// Drawables that were not passed over, up to the last one that starts by `end`.
    fn up_to(&self, end: f64, order: PrintOrder) -> &[NodeDrawable<'a>] {
        let rest = &self.drawables[self.passed..];
        let count = match order {
            PrintOrder::IncreasingStart => rest.partition_point(|d| d.bounds().earliest <= end),
            _ => rest.len(),
        };
        &rest[..count]
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::cursor::Slog2Cursor;
    use super::super::super::node::Primitive;
    use super::*;

    /// A drawable as it stands in a file, without info.
    fn bytes(category: i32, from: f64, to: f64) -> Vec<u8> {
        let mut bytes = category.to_be_bytes().to_vec();
        bytes.extend([0, 0, 0, 2]);
        for time in [from, to] {
            bytes.extend(time.to_be_bytes());
            bytes.extend([0; 4]);
        }
        bytes
    }

    fn drawables(bytes: &[Vec<u8>]) -> Vec<NodeDrawable<'_>> {
        let primitive = |bytes| Primitive::read(&mut Slog2Cursor::new(bytes, 0)).expect("reads");
        bytes
            .iter()
            .map(|b| NodeDrawable::Primitive(primitive(b)))
            .collect()
    }

    fn categories(merged: &[&NodeDrawable<'_>]) -> Vec<i32> {
        merged.iter().map(|drawable| drawable.category()).collect()
    }

    #[test]
    fn a_floor_goes_on_until_another_has_something_earlier() {
        let high = [bytes(1, 0.0, 9.0), bytes(5, 2.0, 3.0), bytes(6, 4.0, 5.0)];
        let low = [bytes(2, 1.0, 8.0), bytes(3, 2.0, 7.0), bytes(4, 3.0, 4.0)];
        let (high, low) = (drawables(&high), drawables(&low));
        let merge = |order, lists: [Vec<_>; 2]| categories(&merge_floors(lists.into_iter(), order));
        // 3 starts with 5 and is longer, but its floor is the one at hand; then 5 is the earlier one.
        let lists = || [high.iter().collect(), low.iter().collect()];
        assert_eq!(
            merge(PrintOrder::IncreasingStart, lists()),
            [1, 2, 3, 5, 4, 6]
        );
        // When both are turned to at once, the longer one comes first, whatever its floor.
        let lists = || [high[1..].iter().collect(), low[1..].iter().collect()];
        assert_eq!(merge(PrintOrder::IncreasingStart, lists()), [3, 5, 4, 6]);
        // From 1 the floor goes on with 5, though 3 starts at the same time and is longer.
        let lists = || [high.iter().collect(), low[1..].iter().collect()];
        assert_eq!(merge(PrintOrder::IncreasingStart, lists()), [1, 5, 3, 4, 6]);
    }

    #[test]
    fn of_equals_the_state_comes_first() {
        let (states, others) = (
            [bytes(1, 1.0, 2.0)],
            [bytes(0, 1.0, 3.0), bytes(1, 1.0, 2.0)],
        );
        let (states, others) = (drawables(&states), drawables(&others));
        let order = PrintOrder::IncreasingStart;
        let merged = merge_kinds(states.iter().collect(), others.iter().collect(), order);
        assert_eq!(categories(&merged), [0, 1, 1]);
        assert!(std::ptr::eq(merged[1], &states[0]));
    }
}
