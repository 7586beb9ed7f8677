//! Builds the tree of an SLOG2 file from a stream of drawables (`spec/slog2.md` section 8), in one pass.
//!
//! In memory are only the open nodes, one per level, and one shadow per line (or pair of lines) for each of their
//! children; everything else is in the file already, or on its way there on another thread ([`TreeBuilder::on_thread`]).

mod drawables;
mod incoming;
mod node_file;
mod node_parts;
mod node_thread;
mod shadow;
mod tree;

use std::collections::BTreeSet;
use std::io::{Seek, Write};
use std::{fmt, mem, thread};

use drawables::Drawables;
pub(super) use drawables::Lists;
pub(super) use incoming::{DrawablePlacement, FileDrawable, StateOnLine};
pub use incoming::{EncodedDrawable, NewComposite};
use node_file::{ClosedNode, NodeFile};
pub use node_parts::{BuiltNode, NodeContents, NodePreview, NodeWriter};
use node_thread::NodesElsewhere;
use shadow::vertex_count;
use trace_model::Drawable as NewDrawable;
pub use tree::{TreeEnd, WrittenTree};

use super::error::{Slog2Error, Slog2ErrorKind};
use super::types::TreeNodeId;
use trace_model::TimeBBox;

/// Bytes of a node without drawables and shadows: its stub and three counts.
const EMPTY_NODE_SIZE: usize = 46;

/// The shape of the tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TreeOptions {
    /// Children of an inner node, 2 to 32767; other numbers count as the nearest of these.
    pub children_per_node: i16,
    /// A leaf is closed before it gets larger than this, in bytes; at least 1.
    pub leaf_byte_size: i32,
}

impl TreeOptions {
    /// Bytes of a leaf that fit a trace with this many lines: max(64 KiB, 1600 bytes x lines). With many lines, the
    /// previews of small leaves would take more room than what they stand for.
    pub fn leaf_for(lines: u64) -> i32 {
        let bytes = lines.saturating_mul(1600).max(64 << 10);
        i32::try_from(bytes).unwrap_or(i32::MAX)
    }
}

impl Default for TreeOptions {
    fn default() -> Self {
        TreeOptions {
            children_per_node: 2,
            leaf_byte_size: 65536,
        }
    }
}

/// A node that can still take drawables.
#[derive(Debug)]
struct OpenNode {
    id: TreeNodeId,
    bounds: TimeBBox,
    /// Nestless drawables, then nestable ones.
    sides: [Drawables; 2],
}

impl OpenNode {
    fn new(id: TreeNodeId, earliest: f64) -> Self {
        OpenNode {
            id,
            bounds: TimeBBox {
                earliest,
                ..TimeBBox::EMPTY
            },
            sides: [(); 2].map(|()| Drawables::shaded_at_once()),
        }
    }

    /// Bytes of the node's own drawables, and of a node around them.
    #[inline]
    fn byte_size(&self) -> usize {
        EMPTY_NODE_SIZE + self.sides.iter().map(Drawables::byte_size).sum::<usize>()
    }
}

/// Takes drawables, best in order of increasing end time, and writes nodes as they get full.
#[derive(Debug)]
pub struct TreeBuilder<W> {
    nodes: NodeOutput<W>,
    options: TreeOptions,
    /// From the leaf to the root.
    open: Vec<OpenNode>,
    /// End of the drawable added last.
    last_latest: f64,
    count: u64,
    /// Categories of composites, which no shadow tells.
    composites: BTreeSet<i32>,
    /// What is written behind the next leaf.
    leaf_record: Vec<u8>,
}

impl<W: Write + Seek> TreeBuilder<W> {
    /// Starts a file at the beginning of `out`, which should be empty.
    pub fn new(out: W, options: TreeOptions) -> Result<Self, Slog2Error> {
        let options = TreeOptions {
            children_per_node: options.children_per_node.max(2),
            leaf_byte_size: options.leaf_byte_size.max(1),
        };
        Ok(TreeBuilder {
            nodes: NodeOutput::Here(Box::new(NodeFile::new(out)?)),
            options,
            open: vec![OpenNode::new(TreeNodeId::default(), f64::INFINITY)],
            last_latest: f64::NEG_INFINITY,
            count: 0,
            composites: BTreeSet::new(),
            leaf_record: Vec::new(),
        })
    }

    /// From now on nodes are written by a thread, beside whoever adds drawables: where there is more than one processor, and a
    /// thread is to be had. The file is the same.
    #[must_use]
    pub fn on_thread(self) -> Self
    where
        W: Send + 'static,
    {
        let has_processors = thread::available_parallelism().is_ok_and(|number| number.get() > 1);
        let nodes = match self.nodes {
            NodeOutput::Here(file) if has_processors => {
                match node_thread::start(file, self.options.leaf_byte_size as usize) {
                    Ok(thread) => NodeOutput::Elsewhere(thread),
                    Err(file) => NodeOutput::Here(file),
                }
            }
            nodes => nodes,
        };
        let mut open = self.open;
        for side in open.iter_mut().flat_map(|node| &mut node.sides) {
            side.shades_at_once = matches!(nodes, NodeOutput::Here(_));
        }
        TreeBuilder {
            nodes,
            open,
            ..self
        }
    }

    /// Number of drawables added.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Adds a drawable (`spec/slog2.md` section 8.3).
    ///
    /// # Errors
    /// [`Slog2ErrorKind::VertexCount`] and [`Slog2ErrorKind::TooLarge`] for one that the format cannot hold, which is then left
    /// out; [`Slog2ErrorKind::Io`] when a node could not be written, after which the builder is of no more use.
    #[inline]
    pub fn add(&mut self, drawable: &NewDrawable<'_>) -> Result<(), Slog2Error> {
        if self.must_switch(drawable)? {
            self.switch_branch()?;
        }
        self.put(drawable, |_| DrawablePlacement::Listed)
    }

    /// Adds a state: [`TreeBuilder::add`] of such a drawable, with less to look at.
    ///
    /// # Errors
    /// The errors of [`TreeBuilder::add`].
    #[inline]
    pub(super) fn add_state(&mut self, state: &StateOnLine<'_>) -> Result<(), Slog2Error> {
        let size = state.byte_size();
        let is_small = state.info.len() <= i16::MAX as usize && !self.is_full(size);
        let leaf = &mut self.open[0];
        if !is_small || leaf.bounds.earliest > state.bounds.earliest {
            return self.add(&state.drawable(&state.vertices()));
        }
        leaf.sides[1].add_state(state);
        self.last_latest = state.bounds.latest;
        self.count += 1;
        Ok(())
    }

    /// Adds a composite. Primitives that are not in order are brought into it.
    ///
    /// # Errors
    /// The errors of [`TreeBuilder::add`]; [`Slog2ErrorKind::NoVertices`] if there are no primitives.
    pub fn add_composite(&mut self, composite: &NewComposite<'_>) -> Result<(), Slog2Error> {
        if composite.is_sorted() {
            return self.add_sorted(composite);
        }
        let mut primitives = composite.primitives.to_vec();
        primitives.sort_by(NewDrawable::order);
        self.add_sorted(&NewComposite {
            primitives: &primitives,
            ..*composite
        })
    }

    fn add_sorted(&mut self, composite: &NewComposite<'_>) -> Result<(), Slog2Error> {
        for primitive in composite.primitives {
            self.check(primitive)?;
        }
        for (what, size) in [
            ("info of a drawable", composite.info.len()),
            ("composite", composite.primitives.len()),
        ] {
            if size > i16::MAX as usize {
                let size = size as u64;
                let kind = Slog2ErrorKind::TooLarge { what, size };
                return Err(Slog2Error::new(self.nodes.position(), kind));
            }
        }
        if composite.primitives.is_empty() {
            return Err(Slog2Error::new(
                self.nodes.position(),
                Slog2ErrorKind::NoVertices,
            ));
        }
        let size = composite.byte_size();
        if self.is_full(size) {
            self.switch_branch()?;
        }
        let bounds = composite.bounds();
        let (level, node) = self.node_for(bounds, size)?;
        if level.is_none() {
            node.bounds.earliest = bounds.earliest;
        }
        node.sides[1].add_composite(composite, bounds);
        for primitive in composite.primitives {
            let side = usize::from(primitive.topology.is_nestable());
            node.sides[side].add(primitive, primitive.bounds(), DrawablePlacement::Inside);
        }
        self.composites.insert(composite.category);
        self.last_latest = bounds.latest;
        self.count += 1;
        Ok(())
    }

    /// Whether the leaf must be closed before this drawable is added.
    ///
    /// # Errors
    /// If the format cannot hold the drawable.
    #[inline]
    pub(super) fn must_switch(&self, drawable: &NewDrawable<'_>) -> Result<bool, Slog2Error> {
        self.check(drawable)?;
        Ok(self.is_full(drawable.byte_size()))
    }

    /// Whether the leaf has no room for a drawable of this size. The byte for the kind is not counted here. An empty tree
    /// takes anything, else the first leaf would stay empty.
    #[inline]
    fn is_full(&self, size: usize) -> bool {
        self.open[0].byte_size() + size > self.options.leaf_byte_size as usize && self.count > 0
    }

    /// Closes the leaf, as [`TreeBuilder::must_switch`] asks, and writes `record` behind it.
    pub(super) fn switch_with(&mut self, record: Vec<u8>) -> Result<(), Slog2Error> {
        self.leaf_record = record;
        self.switch_branch()
    }

    /// Adds a drawable for which there is room; `place` is given the depth of its node.
    #[inline]
    pub(super) fn put(
        &mut self,
        drawable: &NewDrawable<'_>,
        place: impl FnOnce(usize) -> DrawablePlacement,
    ) -> Result<(), Slog2Error> {
        let bounds = drawable.bounds();
        let root = self.open.len() - 1;
        let (level, node) = self.node_for(bounds, drawable.byte_size())?;
        if level.is_none() {
            node.bounds.earliest = bounds.earliest;
        }
        let side = usize::from(drawable.topology.is_nestable());
        node.sides[side].add(drawable, bounds, place(level.unwrap_or(root)));
        self.last_latest = bounds.latest;
        self.count += 1;
        Ok(())
    }

    /// The node that a drawable goes to, and its depth if it is not the root for want of a better one.
    #[inline]
    fn node_for(
        &mut self,
        bounds: TimeBBox,
        size: usize,
    ) -> Result<(Option<usize>, &mut OpenNode), Slog2Error> {
        if self.open[0].bounds.earliest <= bounds.earliest {
            // It is closed before it gets too large.
            return Ok((Some(0), &mut self.open[0]));
        }
        let root = self.open.len() - 1;
        let level = self
            .open
            .iter()
            .position(|node| node.bounds.earliest <= bounds.earliest);
        let node = &mut self.open[level.unwrap_or(root)];
        if node.byte_size() + size > i32::MAX as usize {
            let size = (node.byte_size() + size) as u64;
            let what = "tree node";
            return Err(Slog2Error::new(
                self.nodes.position(),
                Slog2ErrorKind::TooLarge { what, size },
            ));
        }
        Ok((level, node))
    }

    /// Checks that the format can hold a drawable.
    #[inline]
    fn check(&self, drawable: &NewDrawable<'_>) -> Result<(), Slog2Error> {
        if drawable.vertices.len() != vertex_count(drawable.topology)
            || drawable.info.len() > i16::MAX as usize
        {
            return Err(self.refuse(drawable));
        }
        Ok(())
    }

    #[cold]
    fn refuse(&self, drawable: &NewDrawable<'_>) -> Slog2Error {
        let kind = if drawable.info.len() > i16::MAX as usize {
            let what = "info of a drawable";
            let size = drawable.info.len() as u64;
            Slog2ErrorKind::TooLarge { what, size }
        } else {
            let found = drawable.vertices.len();
            Slog2ErrorKind::VertexCount { found }
        };
        Slog2Error::new(self.nodes.position(), kind)
    }

    /// Closes the leaf and every node above it that is full, and opens their successors (`spec/slog2.md` section 8.4).
    #[cold]
    fn switch_branch(&mut self) -> Result<(), Slog2Error> {
        let leaf = self.open[0].id;
        let mut next = TreeNodeId {
            depth: 0,
            xpos: leaf.xpos + 1,
        };
        for level in 0.. {
            if self.open[level].id == next {
                break;
            }
            let earliest = self.open[level].bounds.earliest;
            self.close_node(level)?;
            let node = &mut self.open[level];
            node.bounds = TimeBBox {
                earliest: node.bounds.latest,
                ..TimeBBox::EMPTY
            };
            node.id = next;
            next = TreeNodeId {
                depth: next.depth + 1,
                xpos: next.xpos / i32::from(self.options.children_per_node),
            };
            if level + 1 == self.open.len() {
                self.open.push(OpenNode::new(next, earliest));
                break;
            }
        }
        Ok(())
    }

    /// Sets the end of an open node, has it written, and empties it.
    fn close_node(&mut self, level: usize) -> Result<(), Slog2Error> {
        let node = &mut self.open[level];
        // Of a leaf: the end of the drawable added last, wherever it went. Of an inner node: the end of the child below,
        // which was closed just now, so the same.
        node.bounds.latest = self.last_latest;
        let record = match level {
            0 => mem::take(&mut self.leaf_record),
            _ => Vec::new(),
        };
        node.sides = self.nodes.write(ClosedNode {
            id: node.id,
            bounds: node.bounds,
            sides: mem::take(&mut node.sides),
            record,
        })?;
        Ok(())
    }
}

/// Where closed nodes are written.
enum NodeOutput<W> {
    Here(Box<NodeFile<W>>),
    // Behind a pointer, so that threads are in no program that does not ask for one: the recorder must load with old C libraries.
    Elsewhere(Box<dyn NodesElsewhere<W> + Send>),
}

impl<W> fmt::Debug for NodeOutput<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            NodeOutput::Here(_) => "Here",
            NodeOutput::Elsewhere(_) => "Elsewhere",
        })
    }
}

impl<W: Write + Seek> NodeOutput<W> {
    /// Writes a node. Gives room for the drawables of another one.
    fn write(&mut self, node: ClosedNode) -> Result<[Drawables; 2], Slog2Error> {
        match self {
            NodeOutput::Here(file) => file.write(node),
            NodeOutput::Elsewhere(thread) => thread.write(node),
        }
    }

    /// Where the next node comes in the file.
    fn position(&self) -> u64 {
        match self {
            NodeOutput::Here(file) => file.out.position(),
            NodeOutput::Elsewhere(thread) => thread.position(),
        }
    }

    /// The file, with all nodes so far.
    fn finish(self) -> Result<Box<NodeFile<W>>, Slog2Error> {
        match self {
            NodeOutput::Here(file) => Ok(file),
            NodeOutput::Elsewhere(thread) => thread.finish(),
        }
    }
}
