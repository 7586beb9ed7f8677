//! Lists all drawables of a file in order, with a leaf and its ancestors in memory at a time (section 9.2).

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use super::super::error::Error;
use super::super::node::{Drawable, Node};
use super::super::read::Reader;
use super::super::types::{DirEntry, FileBlockPtr, TimeBBox};
use super::order::Order;

/// Which drawables to list.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Kinds {
    /// All.
    #[default]
    All,
    /// States only (option `-s`).
    Nestable,
    /// Arrows and events only (`-a`).
    Nestless,
}

/// Calls `list` with the drawables of each leaf's time box, in order, from box to box.
///
/// As in the original, what starts exactly at the end of the log (or ends at its start, by end time) is in no box.
pub(super) fn for_each_box<'a>(
    reader: &Reader<'a>,
    order: Order,
    kinds: Kinds,
    mut list: impl FnMut(&[&Drawable<'a>]) -> Result<(), Error>,
) -> Result<(), Error> {
    let Some(root) = reader.root() else {
        return Ok(());
    };
    let mut nodes: Vec<DirEntry> = reader.whole_directory()?.iter().collect();
    nodes.sort_by_key(|entry| entry.id);
    // From the leaves to the root; only levels that exist, whatever depths a damaged file names.
    let levels: Vec<&[DirEntry]> = nodes.chunk_by(|a, b| a.id.depth == b.id.depth).collect();
    let children = i32::from(reader.header().children_per_node).max(2);
    let mut boxes = leaf_boxes(&levels, root.bounds);
    if order.is_decreasing() {
        boxes.reverse();
    }
    // By level and place in the level.
    let mut floors: BTreeMap<(usize, usize), Content<'a>> = BTreeMap::new();
    for TimeBox { leaf, begin, end } in boxes {
        let mut xpos = leaf;
        let mut wanted = Vec::with_capacity(levels.len());
        for level in &levels {
            let ancestor = level.partition_point(|entry| entry.id.xpos < xpos);
            // A drawable at the very edge of the box may be in a neighbour, which touches the box.
            let first = level.partition_point(|entry| entry.bounds.latest < begin);
            let behind = level.partition_point(|entry| entry.bounds.earliest <= end);
            wanted.push(first.min(ancestor)..behind.max(ancestor + 1).min(level.len()));
            xpos /= children;
        }
        floors.retain(|&(level, at), _| wanted[level].contains(&at));
        for (depth, range) in wanted.iter().enumerate() {
            for at in range.clone() {
                if let Entry::Vacant(vacant) = floors.entry((depth, at)) {
                    vacant.insert(Content::read(reader, levels[depth][at].ptr, order, kinds)?);
                }
            }
        }
        let time_box = TimeBBox {
            earliest: begin,
            latest: end,
        };
        if order == Order::IncreasingStart {
            for content in floors.values_mut() {
                content.nestable.pass_over(begin);
                content.nestless.pass_over(begin);
            }
        }
        let merged = |part: for<'c> fn(&'c Content<'a>) -> &'c List<'a>| {
            let floor = |depth: usize| {
                let nodes = floors.range((depth, 0)..(depth + 1, 0));
                let parts = nodes.map(|(_, node)| part(node).up_to(end, order));
                let mut parts: Vec<&[Drawable<'a>]> = parts.collect();
                if order.is_decreasing() {
                    parts.reverse();
                }
                let all = parts.into_iter().flatten();
                all.filter(|drawable| time_box.overlaps(drawable.bounds()))
                    .collect()
            };
            merge_floors((0..levels.len()).map(floor), order)
        };
        let nestable = merged(|node| &node.nestable);
        let nestless = merged(|node| &node.nestless);
        let mut drawables = merge_kinds(nestable, nestless, order);
        drawables.retain(|drawable| {
            let border = order.border_time(drawable.bounds());
            !order.is_before(border, begin) && order.is_before(border, end)
        });
        list(&drawables)?;
    }
    Ok(())
}

/// Merges the lists of the floors. As in the original, one goes on with a floor as long as no other has something earlier;
/// the full order only decides to which floor one turns then.
fn merge_floors<'d, 'a>(
    floors: impl Iterator<Item = Vec<&'d Drawable<'a>>>,
    order: Order,
) -> Vec<&'d Drawable<'a>> {
    let mut merged = Vec::new();
    // The next drawable of each floor, and what follows it.
    let mut waiting: Vec<_> = floors
        .filter_map(|list| {
            let mut rest = list.into_iter();
            rest.next().map(|head| (head, rest))
        })
        .collect();
    let first = |waiting: &[(&'d Drawable<'a>, _)]| {
        (0..waiting.len()).min_by(|&a, &b| order.compare(waiting[a].0, waiting[b].0))
    };
    let border = |drawable: &Drawable<'a>| order.border_time(drawable.bounds());
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
    nestable: Vec<&'d Drawable<'a>>,
    nestless: Vec<&'d Drawable<'a>>,
    order: Order,
) -> Vec<&'d Drawable<'a>> {
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
struct Content<'a> {
    nestable: List<'a>,
    nestless: List<'a>,
}

impl<'a> Content<'a> {
    fn read(
        reader: &Reader<'a>,
        ptr: FileBlockPtr,
        order: Order,
        kinds: Kinds,
    ) -> Result<Content<'a>, Error> {
        let (nestless, nestable) = Node::read_drawables(&mut reader.part(ptr, "tree node")?)?;
        let sorted = |mut drawables: Vec<Drawable<'a>>, unwanted: Kinds| {
            if kinds == unwanted {
                drawables.clear();
            }
            drawables.sort_by(|a, b| order.compare_in_node(a, b));
            let passed = 0;
            List { drawables, passed }
        };
        Ok(Content {
            nestable: sorted(nestable, Kinds::Nestless),
            nestless: sorted(nestless, Kinds::Nestable),
        })
    }
}

struct List<'a> {
    drawables: Vec<Drawable<'a>>,
    /// Those before this one are of no interest any more.
    passed: usize,
}

impl<'a> List<'a> {
    /// Passes over what ends before this time, as far as it stands in front.
    fn pass_over(&mut self, begin: f64) {
        let rest = &self.drawables[self.passed..];
        let live = rest
            .iter()
            .position(|drawable| drawable.bounds().latest >= begin);
        self.passed += live.unwrap_or(rest.len());
    }

    /// Those that were not passed over, without what stands behind and starts after this time.
    fn up_to(&self, end: f64, order: Order) -> &[Drawable<'a>] {
        let rest = &self.drawables[self.passed..];
        let count = match order {
            Order::IncreasingStart => rest.partition_point(|d| d.bounds().earliest <= end),
            _ => rest.len(),
        };
        &rest[..count]
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::cursor::Cursor;
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

    fn drawables(bytes: &[Vec<u8>]) -> Vec<Drawable<'_>> {
        let primitive = |bytes| Primitive::read(&mut Cursor::new(bytes, 0)).expect("reads");
        bytes
            .iter()
            .map(|b| Drawable::Primitive(primitive(b)))
            .collect()
    }

    fn categories(merged: &[&Drawable<'_>]) -> Vec<i32> {
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
        assert_eq!(merge(Order::IncreasingStart, lists()), [1, 2, 3, 5, 4, 6]);
        // When both are turned to at once, the longer one comes first, whatever its floor.
        let lists = || [high[1..].iter().collect(), low[1..].iter().collect()];
        assert_eq!(merge(Order::IncreasingStart, lists()), [3, 5, 4, 6]);
        // From 1 the floor goes on with 5, though 3 starts at the same time and is longer.
        let lists = || [high.iter().collect(), low[1..].iter().collect()];
        assert_eq!(merge(Order::IncreasingStart, lists()), [1, 5, 3, 4, 6]);
    }

    #[test]
    fn of_equals_the_state_comes_first() {
        let (states, others) = (
            [bytes(1, 1.0, 2.0)],
            [bytes(0, 1.0, 3.0), bytes(1, 1.0, 2.0)],
        );
        let (states, others) = (drawables(&states), drawables(&others));
        let order = Order::IncreasingStart;
        let merged = merge_kinds(states.iter().collect(), others.iter().collect(), order);
        assert_eq!(categories(&merged), [0, 1, 1]);
        assert!(std::ptr::eq(merged[1], &states[0]));
    }
}
