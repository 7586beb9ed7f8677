//! The drawables of a window by start, in memory that does not grow with the window; and single nodes, for those who
//! choose their own way through the tree.
//!
//! As in [`super::Slog2Source`] the lists of one node of each level are merged, here only of nodes that reach into the window and
//! without a first look at the whole file. So it turns out on the way whether a file is in order; if it is not,
//! [`Slog2Reader::window`] sorts.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;
use std::ops::ControlFlow;

use super::cursor::Slog2Cursor;
use super::directory::{NodeDirectory, NodeDirectoryEntries};
use super::error::Slog2Error;
use super::node::{NodeDrawable, NodeShadow, Primitive, Stub};
use super::read::Slog2Reader;
use super::types::{DirEntry, FileBlockPtr};
use trace_model::TimeBBox;

/// Result of [`Slog2Reader::for_each_in_order`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InOrder {
    /// All was handed on. So many composites were given as their primitives.
    Complete {
        /// Composites.
        composites: u64,
    },
    /// The taker wanted no more.
    Stopped,
    /// The file is not in order; what was handed on so far is, but some of it would have come later.
    Disordered,
}

/// Takes what is in a node, in the order of the file.
pub trait VisitNode<'a> {
    /// Takes a drawable: hands on the primitives that it is made of.
    fn drawable(&mut self, drawable: NodeDrawable<'a>) {
        let primitives = drawable.primitives().iter();
        primitives.for_each(|primitive| self.primitive(primitive));
    }

    /// Takes a primitive.
    fn primitive(&mut self, primitive: &Primitive<'a>);

    /// Takes a preview of the child that comes next.
    fn shadow(&mut self, shadow: NodeShadow<'a>);

    /// Takes a child, whose previews have all come since the child before.
    fn child(&mut self, child: Stub);
}

impl<'a> Slog2Reader<'a> {
    /// Hands on all that is in a node, without collecting it.
    ///
    /// # Errors
    /// The node is damaged, or there is none at this place.
    pub fn visit_node(
        &self,
        ptr: FileBlockPtr,
        visit: &mut impl VisitNode<'a>,
    ) -> Result<(), Slog2Error> {
        let mut part = self.part(ptr, "tree node")?;
        Stub::read(&mut part)?;
        for what in ["nestless drawables", "nestable drawables"] {
            for _ in 0..part.count(NodeDrawable::LEAST_SIZE, what)? {
                visit.drawable(NodeDrawable::read(&mut part)?);
            }
        }
        for _ in 0..part.count(Stub::SIZE + 8, "shadow buffers")? {
            let child = Stub::read(&mut part)?;
            for what in ["nestless shadows", "nestable shadows"] {
                for _ in 0..part.count(NodeShadow::LEAST_SIZE, what)? {
                    visit.shadow(NodeShadow::read(&mut part, self.layout())?);
                }
            }
            visit.child(child);
        }
        part.finish("tree node")
    }

    /// Bytes of all nodes that overlap a window: what [`Slog2Reader::for_each_in_order`] reads.
    ///
    /// # Errors
    /// The directory is damaged.
    pub fn bytes_in(&self, window: TimeBBox) -> Result<u64, Slog2Error> {
        let levels = self.levels_in(window)?;
        let bytes = levels.iter().map(NodeDirectory::node_bytes);
        Ok(bytes.fold(0, u64::saturating_add))
    }

    /// Nodes that overlap a window, by level from the root down.
    ///
    /// # Errors
    /// The directory is damaged.
    pub fn levels_in(&self, window: TimeBBox) -> Result<Vec<NodeDirectory<'a>>, Slog2Error> {
        let children = self.children();
        let mut found: Vec<NodeDirectory<'a>> = Vec::new();
        for level in self.directory().levels(children)? {
            let level = match found.last() {
                Some(above) => level.below(above, children).overlapping(window),
                None => level,
            };
            found.push(level);
        }
        Ok(found)
    }

    /// Gives the drawables that overlap a window by start, of those that start together the longer one first, the rest as
    /// they stand in the file from the root downwards: the order of [`Slog2Reader::window`] before it looks at categories.
    /// Composites are given as their primitives, all of them.
    ///
    /// # Errors
    /// The file is damaged.
    pub fn for_each_in_order(
        &self,
        window: TimeBBox,
        put: &mut dyn FnMut(&Primitive<'a>) -> ControlFlow<()>,
    ) -> Result<InOrder, Slog2Error> {
        let mut merge = NodeMerge::new(self, window)?;
        loop {
            match merge.next()? {
                NextItem::Primitive(primitive) => {
                    if put(&primitive).is_break() {
                        return Ok(InOrder::Stopped);
                    }
                }
                NextItem::Disordered => return Ok(InOrder::Disordered),
                NextItem::End => {
                    let composites = merge.composites;
                    return Ok(InOrder::Complete { composites });
                }
            }
        }
    }
}

/// By start, the longer one first.
#[derive(Clone, Copy, Debug)]
pub(super) struct Key {
    pub(super) start: f64,
    pub(super) end: f64,
}

impl Key {
    pub(super) fn of(bounds: TimeBBox) -> Self {
        Key {
            start: bounds.earliest,
            end: bounds.latest,
        }
    }

    /// Before everything in a node.
    pub(super) fn before(node: DirEntry) -> Self {
        Key {
            start: node.bounds.earliest,
            end: f64::INFINITY,
        }
    }

    pub(super) fn cmp(&self, other: &Key) -> Ordering {
        let start = self.start.total_cmp(&other.start);
        start.then(other.end.total_cmp(&self.end))
    }
}

/// The lists of nodes that are being read, by what they give next.
struct NodeMerge<'r, 'a> {
    reader: &'r Slog2Reader<'a>,
    window: TimeBBox,
    /// By level from the root: the node that begins next, and those behind it.
    levels: Vec<(Option<DirEntry>, NodeDirectoryEntries<'a>)>,
    streams: Vec<NodeStream<'a>>,
    /// Streams at their end, whose places are used again.
    free: Vec<usize>,
    heads: BinaryHeap<Reverse<NextKey>>,
    /// Lists begun so far.
    begun: u64,
    /// Bytes of nodes begun so far; in a damaged file nodes may overlap, so this is bounded.
    bytes: u64,
    composites: u64,
}

enum NextItem<'a> {
    Primitive(Primitive<'a>),
    Disordered,
    End,
}

/// The next item. At the same time, nodes come first, then by level, then as lists were begun.
#[derive(Clone, Copy, Debug)]
struct NextKey {
    key: Key,
    is_drawable: bool,
    level: usize,
    list: u64,
    /// Place in `streams`.
    stream: usize,
}

impl Ord for NextKey {
    fn cmp(&self, other: &Self) -> Ordering {
        let place = |head: &NextKey| (head.is_drawable, head.level, head.list);
        self.key
            .cmp(&other.key)
            .then_with(|| place(self).cmp(&place(other)))
    }
}

impl PartialOrd for NextKey {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for NextKey {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for NextKey {}

/// Drawables that were not handed on yet.
struct NodeStream<'a> {
    at_hand: NodeDrawable<'a>,
    rest: RemainingDrawables<'a>,
}

enum RemainingDrawables<'a> {
    /// `left` drawables of a node from `part` on; one with a key before `last` is not in order.
    Node {
        part: Slog2Cursor<'a>,
        left: usize,
        last: Key,
    },
    Composite(std::vec::IntoIter<Primitive<'a>>),
}

/// Item of a list.
enum YieldedDrawable<'a> {
    Drawable(NodeDrawable<'a>),
    Disordered,
    End,
}

impl<'a> RemainingDrawables<'a> {
    #[inline]
    fn next(&mut self, window: TimeBBox) -> Result<YieldedDrawable<'a>, Slog2Error> {
        match self {
            RemainingDrawables::Node { part, left, last } => {
                while *left > 0 {
                    *left -= 1;
                    let drawable = NodeDrawable::read(part)?;
                    let bounds = drawable.bounds();
                    let key = Key::of(bounds);
                    if last.cmp(&key).is_gt() {
                        return Ok(YieldedDrawable::Disordered);
                    }
                    *last = key;
                    if window.overlaps(bounds) {
                        return Ok(YieldedDrawable::Drawable(drawable));
                    }
                }
                Ok(YieldedDrawable::End)
            }
            RemainingDrawables::Composite(primitives) => Ok(match primitives.next() {
                Some(primitive) => YieldedDrawable::Drawable(NodeDrawable::Primitive(primitive)),
                None => YieldedDrawable::End,
            }),
        }
    }
}

impl<'r, 'a> NodeMerge<'r, 'a> {
    fn new(reader: &'r Slog2Reader<'a>, window: TimeBBox) -> Result<Self, Slog2Error> {
        let mut merge = NodeMerge {
            reader,
            window,
            levels: Vec::new(),
            streams: Vec::new(),
            free: Vec::new(),
            heads: BinaryHeap::new(),
            begun: 0,
            bytes: 0,
            composites: 0,
        };
        for (level, directory) in reader.levels_in(window)?.into_iter().enumerate() {
            let mut nodes = directory.iter();
            let first = nodes.next();
            if let Some(first) = first {
                merge.heads.push(Reverse(NextKey {
                    key: Key::before(first),
                    is_drawable: false,
                    level,
                    list: 0,
                    stream: 0,
                }));
            }
            merge.levels.push((first, nodes));
        }
        Ok(merge)
    }

    fn next(&mut self) -> Result<NextItem<'a>, Slog2Error> {
        loop {
            let Some(Reverse(head)) = self.heads.peek().copied() else {
                return Ok(NextItem::End);
            };
            let NextKey { level, stream, .. } = head;
            if !head.is_drawable {
                if !self.next_node(head)? {
                    return Ok(NextItem::Disordered);
                }
                continue;
            }
            let NodeStream { at_hand, rest } = &mut self.streams[stream];
            let drawable = match rest.next(self.window)? {
                YieldedDrawable::Drawable(next) => {
                    let key = Key::of(next.bounds());
                    if let Some(mut top) = self.heads.peek_mut() {
                        top.0.key = key;
                    }
                    std::mem::replace(at_hand, next)
                }
                YieldedDrawable::Disordered => return Ok(NextItem::Disordered),
                YieldedDrawable::End => {
                    self.heads.pop();
                    self.free.push(stream);
                    at_hand.clone()
                }
            };
            match drawable {
                NodeDrawable::Primitive(primitive) => return Ok(NextItem::Primitive(primitive)),
                NodeDrawable::Composite(composite) => {
                    self.composites += 1;
                    let mut primitives = composite.primitives;
                    primitives.sort_by(|a, b| Key::of(a.bounds).cmp(&Key::of(b.bounds)));
                    // They start with their composite or later, so they cannot break the order.
                    self.begin(RemainingDrawables::Composite(primitives.into_iter()), level)?;
                }
            }
        }
    }

    /// Begins the node that is next of a level; false if something there is not in order.
    fn next_node(&mut self, head: NextKey) -> Result<bool, Slog2Error> {
        let (next, behind) = &mut self.levels[head.level];
        let node = std::mem::replace(next, behind.next());
        if let Some(mut top) = self.heads.peek_mut() {
            match next {
                Some(next) if head.key.start.total_cmp(&next.bounds.earliest).is_gt() => {
                    return Ok(false);
                }
                Some(next) => top.0.key = Key::before(*next),
                None => drop(PeekMut::pop(top)),
            }
        }
        match node {
            Some(node) => self.begin_node(node, head.level),
            None => Ok(true),
        }
    }

    /// Begins both lists of a node; false if they are not in order.
    fn begin_node(&mut self, node: DirEntry, level: usize) -> Result<bool, Slog2Error> {
        self.bytes = (self.bytes).saturating_add(node.ptr.size.unsigned_abs().into());
        self.reader.check_node_bytes(self.bytes)?;
        let mut part = self.reader.part(node.ptr, "tree node")?;
        Stub::read(&mut part)?;
        for what in ["nestless drawables", "nestable drawables"] {
            let left = part.count(NodeDrawable::LEAST_SIZE, what)?;
            let last = Key::before(node);
            let list = RemainingDrawables::Node {
                part: part.clone(),
                left,
                last,
            };
            if !self.begin(list, level)? {
                return Ok(false);
            }
            if what == "nestless drawables" {
                for _ in 0..left {
                    NodeDrawable::read(&mut part)?;
                }
            }
        }
        Ok(true)
    }

    /// Adds a list to those that are merged.
    fn begin(
        &mut self,
        mut rest: RemainingDrawables<'a>,
        level: usize,
    ) -> Result<bool, Slog2Error> {
        let at_hand = match rest.next(self.window)? {
            YieldedDrawable::Drawable(first) => first,
            YieldedDrawable::Disordered => return Ok(false),
            YieldedDrawable::End => return Ok(true),
        };
        let key = Key::of(at_hand.bounds());
        let begun = NodeStream { at_hand, rest };
        let stream = match self.free.pop() {
            Some(stream) => {
                self.streams[stream] = begun;
                stream
            }
            None => {
                self.streams.push(begun);
                self.streams.len() - 1
            }
        };
        self.begun += 1;
        self.heads.push(Reverse(NextKey {
            key,
            is_drawable: true,
            level,
            list: self.begun,
            stream,
        }));
        Ok(true)
    }
}
