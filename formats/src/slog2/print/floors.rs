//! Lists all drawables of a file in order, with a leaf and its ancestors in memory at a time (section 9.2).

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use super::super::error::Error;
use super::super::node::Drawable;
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
    let mut nodes = reader.directory().to_vec();
    nodes.sort_by_key(|entry| entry.id);
    // From the leaves to the root; only levels that exist, whatever depths a damaged file names.
    let levels: Vec<&[DirEntry]> = nodes.chunk_by(|a, b| a.id.depth == b.id.depth).collect();
    let children = i32::from(reader.header().children_per_node).max(2);
    let mut boxes = leaf_boxes(&levels, root.bounds);
    if order.is_decreasing() {
        boxes.reverse();
    }
    // By level and place in the level.
    let mut floors: BTreeMap<(usize, usize), Vec<Drawable<'a>>> = BTreeMap::new();
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
        let mut drawables: Vec<&Drawable<'a>> = Vec::new();
        for (depth, range) in wanted.into_iter().enumerate() {
            for at in range {
                if let Entry::Vacant(vacant) = floors.entry((depth, at)) {
                    vacant.insert(read_floor(reader, levels[depth][at].ptr, order, kinds)?);
                }
            }
        }
        for floor in floors.values() {
            let edge = |edge: f64| {
                floor.partition_point(|drawable| {
                    order.is_before(order.border_time(drawable.bounds()), edge)
                })
            };
            drawables.extend(floor.get(edge(begin)..edge(end)).unwrap_or_default());
        }
        drawables.sort_by(|a, b| order.compare(a, b));
        list(&drawables)?;
    }
    Ok(())
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

/// The drawables of a node, by ascending border time.
fn read_floor<'a>(
    reader: &Reader<'a>,
    ptr: FileBlockPtr,
    order: Order,
    kinds: Kinds,
) -> Result<Vec<Drawable<'a>>, Error> {
    let node = reader.node(ptr)?;
    let mut drawables = match kinds {
        Kinds::Nestable => node.nestable,
        Kinds::Nestless => node.nestless,
        Kinds::All => {
            let mut all = node.nestless;
            all.extend(node.nestable);
            all
        }
    };
    drawables.sort_by(|a, b| {
        order
            .border_time(a.bounds())
            .total_cmp(&order.border_time(b.bounds()))
    });
    Ok(drawables)
}
