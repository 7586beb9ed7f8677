//! Reads the drawables of a stretch of time without reading the rest: the base of viewers (`spec/slog2.md` section 9.3).
//!
//! From the root downwards only the nodes that overlap the window are read, and of those above the lowest level only the
//! drawables, not the previews. So time and bytes grow with what is shown, not with the file.

use super::cursor::Slog2Cursor;
use super::directory::NodeDirectory;
use super::error::Slog2Error;
use super::node::{NodeDrawable, NodeShadow, Stub};
use super::print::PrintOrder;
use super::read::Slog2Reader;
use super::types::{DirEntry, Slog2Header};
use trace_model::TimeBBox;

/// Depth to which the tree is read. Deeper nodes are represented by their previews.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Depth {
    /// To this level; 0 is that of the leaves, so that nothing is left to preview. The root is read in any case.
    Lowest(i16),
    /// Read as deep as possible while the nodes to read stay below this many bytes together.
    Bytes(u64),
}

impl Depth {
    /// Deep enough for a screen: thousands of drawables, or twice as many leaves as a window smaller than a leaf can touch,
    /// however large leaves are in this file.
    pub fn screenful(header: &Slog2Header) -> Self {
        let leaf = u64::from(header.leaf_byte_size.max(0).unsigned_abs());
        Depth::Bytes((4 * leaf).max(1 << 20))
    }
}

/// Amount of data read for a window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reading {
    /// The lowest level read.
    pub depth: i16,
    /// Nodes.
    pub nodes: u64,
    /// Bytes of them; previews count only where they are looked at, in the nodes of the lowest level.
    pub bytes: u64,
}

/// Takes what is in a window, in the order of the file: from the root downwards, drawables of a level, then previews.
pub trait Visit<'a> {
    /// Takes a drawable that overlaps the window.
    fn drawable(&mut self, drawable: NodeDrawable<'a>);

    /// Takes a preview that overlaps the window.
    fn shadow(&mut self, shadow: NodeShadow<'a>);

    /// Whether no more is wanted; asked before each node.
    fn is_over(&self) -> bool {
        false
    }
}

/// Drawables and previews of a window.
#[derive(Clone, Debug)]
pub struct WindowContents<'a> {
    /// The stretch of time that was asked for.
    pub bounds: TimeBBox,
    /// The drawables that overlap it, by start, of those that start together the longer one first.
    pub drawables: Vec<NodeDrawable<'a>>,
    /// Previews of what lies deeper, if it overlaps it, in the same order.
    pub shadows: Vec<NodeShadow<'a>>,
    /// Nodes and bytes that were read.
    pub reading: Reading,
}

impl<'a> Visit<'a> for WindowContents<'a> {
    fn drawable(&mut self, drawable: NodeDrawable<'a>) {
        self.drawables.push(drawable);
    }

    fn shadow(&mut self, shadow: NodeShadow<'a>) {
        self.shadows.push(shadow);
    }
}

impl<'a> Slog2Reader<'a> {
    /// Reads the drawables and previews that overlap `bounds`, in order.
    ///
    /// In a log with backward times drawables may end after the node they are in; those are missing in windows that
    /// begin behind its end, as in the original viewer.
    pub fn window(&self, bounds: TimeBBox, depth: Depth) -> Result<WindowContents<'a>, Slog2Error> {
        let mut window = WindowContents {
            bounds,
            drawables: Vec::new(),
            shadows: Vec::new(),
            reading: Reading::default(),
        };
        window.reading = self.visit_window(bounds, depth, &mut window)?;
        // Nodes are sorted in themselves, so this is a merge.
        let order = PrintOrder::IncreasingStart;
        window.drawables.sort_by(|a, b| order.compare(a, b));
        window.shadows.sort_by(NodeShadow::compare);
        Ok(window)
    }

    /// Visits the drawables of a window without collecting them: hands on what it finds where it stands in the file.
    pub fn visit_window(
        &self,
        bounds: TimeBBox,
        depth: Depth,
        visit: &mut impl Visit<'a>,
    ) -> Result<Reading, Slog2Error> {
        let children = self.children();
        let levels = self.directory().levels(children)?;
        let mut reading = Reading::default();
        // In a damaged file nodes may overlap, so what they take together is bounded, too.
        let mut sizes = 0;
        let mut levels = levels.into_iter();
        let Some(mut level) = levels.next() else {
            return Ok(reading);
        };
        let mut depth_read = level.get(0).map_or(0, |root| root.id.depth);
        loop {
            // The previews of the level's nodes, in case it is the last.
            let mut previews = Vec::with_capacity(level.len());
            for DirEntry { ptr, .. } in level {
                if visit.is_over() {
                    return Ok(reading);
                }
                sizes += u64::from(ptr.size.unsigned_abs());
                self.check_node_bytes(sizes)?;
                let mut part = self.part(ptr, "tree node")?;
                drawables(&mut part, bounds, visit)?;
                reading.nodes += 1;
                reading.bytes += part.offset() - ptr.offset as u64;
                previews.push(part);
            }
            let below = levels.next();
            let below = below.map(|next| next.below(&level, children).overlapping(bounds));
            let is_wanted = |below: &NodeDirectory<'_>| match depth {
                Depth::Lowest(lowest) => depth_read > lowest,
                Depth::Bytes(most) => reading.bytes.saturating_add(below.node_bytes()) <= most,
            };
            if let Some(below) = below.filter(is_wanted) {
                level = below;
                depth_read -= 1;
                continue;
            }
            reading.depth = depth_read;
            for mut part in previews {
                if visit.is_over() {
                    return Ok(reading);
                }
                let start = part.offset();
                shadows(&mut part, bounds, self, visit)?;
                reading.bytes += part.offset() - start;
            }
            return Ok(reading);
        }
    }
}

/// Hands on the drawables of a node; the cursor then stands before its previews.
fn drawables<'a>(
    part: &mut Slog2Cursor<'a>,
    window: TimeBBox,
    visit: &mut impl Visit<'a>,
) -> Result<(), Slog2Error> {
    Stub::read(part)?;
    for what in ["nestless drawables", "nestable drawables"] {
        for _ in 0..part.count(NodeDrawable::LEAST_SIZE, what)? {
            let drawable = NodeDrawable::read(part)?;
            if window.overlaps(drawable.bounds()) {
                visit.drawable(drawable);
            }
        }
    }
    Ok(())
}

/// Hands on the previews in a node.
fn shadows<'a>(
    part: &mut Slog2Cursor<'a>,
    window: TimeBBox,
    reader: &Slog2Reader<'a>,
    visit: &mut impl Visit<'a>,
) -> Result<(), Slog2Error> {
    for _ in 0..part.count(Stub::SIZE + 8, "shadow buffers")? {
        Stub::read(part)?;
        for what in ["nestless shadows", "nestable shadows"] {
            for _ in 0..part.count(NodeShadow::LEAST_SIZE, what)? {
                let shadow = NodeShadow::read(part, reader.layout())?;
                if window.overlaps(shadow.bounds) {
                    visit.shadow(shadow);
                }
            }
        }
    }
    part.finish("tree node")
}
