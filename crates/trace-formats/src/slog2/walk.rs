//! All drawables of a file by increasing end time, as trees are built, with one node of each level in memory.
//!
//! The nodes of a level follow each other in time: what is in one does not end after what is in the next. So each level,
//! read from left to right with the drawables of a node sorted, is in order, and merging the levels gives the whole. Unlike
//! the lists of the original (`spec/slog2.md` section 9.2) nothing is left out.
//!
//! [`super::Slog2Source`] goes by start. Nodes hold their drawables in that order, so it need not keep nodes and sort them.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

use super::error::Slog2Error;
use super::node::NodeDrawable;
use super::print::PrintOrder;
use super::read::Slog2Reader;
use super::types::DirEntry;

/// Order of the walk: by end time; at one end time the drawable that started last comes first, then that of the lower category and lines.
const ORDER: PrintOrder = PrintOrder::IncreasingEnd;

/// Iterator over all drawables of a file. After an error it ends.
///
/// In a file that was built from drawables out of order (`spec/slog2.md` section 8.9) the order is broken in places;
/// each drawable comes once all the same.
#[derive(Debug)]
pub struct DrawableWalk<'r, 'a> {
    reader: &'r Slog2Reader<'a>,
    levels: Vec<LevelNodes<'a>>,
    /// The next drawable of each level.
    next: BinaryHeap<Reverse<NextDrawable<'a>>>,
    failed: Option<Slog2Error>,
}

/// The nodes of a level that are not yet read, from right to left, and what is left of the one that is.
#[derive(Debug)]
struct LevelNodes<'a> {
    nodes: Vec<DirEntry>,
    /// Last one first.
    drawables: Vec<NodeDrawable<'a>>,
}

#[derive(Debug)]
struct NextDrawable<'a> {
    drawable: NodeDrawable<'a>,
    level: usize,
}

impl<'r, 'a> DrawableWalk<'r, 'a> {
    /// Goes over all drawables of the file.
    pub fn new(reader: &'r Slog2Reader<'a>) -> Self {
        let (directory, failed) = match reader.whole_directory() {
            Ok(directory) => (Some(directory), None),
            Err(error) => (None, Some(error)),
        };
        let nodes = directory.iter().flat_map(|directory| directory.iter());
        let mut nodes: Vec<DirEntry> = nodes.collect();
        nodes.sort_by_key(|entry| (entry.id.depth, Reverse(entry.id.xpos)));
        let levels = nodes.chunk_by(|a, b| a.id.depth == b.id.depth);
        let levels = levels.map(|nodes| LevelNodes {
            nodes: nodes.to_vec(),
            drawables: Vec::new(),
        });
        let mut walk = DrawableWalk {
            reader,
            levels: levels.collect(),
            next: BinaryHeap::new(),
            failed,
        };
        for level in 0..walk.levels.len() {
            walk.advance(level);
        }
        walk
    }

    /// Puts the next drawable of a level into the heap.
    fn advance(&mut self, level: usize) {
        let LevelNodes { nodes, drawables } = &mut self.levels[level];
        // Neighbours touch: what happens at the very border may be in either of them, in any order.
        while let Some(node) = nodes.last()
            && drawables
                .last()
                .is_none_or(|next| next.bounds().latest >= node.bounds.earliest)
        {
            let ptr = node.ptr;
            nodes.pop();
            match self.reader.node(ptr) {
                Ok(node) => {
                    drawables.extend(node.nestable);
                    drawables.extend(node.nestless);
                    drawables.sort_by(|a, b| ORDER.compare(b, a));
                }
                Err(error) => {
                    self.failed = Some(error);
                    return;
                }
            }
        }
        if let Some(drawable) = drawables.pop() {
            self.next.push(Reverse(NextDrawable { drawable, level }));
        }
    }
}

impl<'a> Iterator for DrawableWalk<'_, 'a> {
    type Item = Result<NodeDrawable<'a>, Slog2Error>;

    fn next(&mut self) -> Option<Self::Item> {
        if let Some(error) = self.failed.take() {
            self.next.clear();
            return Some(Err(error));
        }
        let Reverse(next) = self.next.pop()?;
        self.advance(next.level);
        Some(Ok(next.drawable))
    }
}

impl Ord for NextDrawable<'_> {
    fn cmp(&self, other: &Self) -> Ordering {
        let drawables = ORDER.compare(&self.drawable, &other.drawable);
        drawables.then(self.level.cmp(&other.level))
    }
}

impl PartialOrd for NextDrawable<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for NextDrawable<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for NextDrawable<'_> {}
