//! Writes the nodes of a tree to its file as they are closed: a node comes behind its children, whose previews it holds.

use std::io::{Seek, Write};

use super::super::encode;
use super::super::error::Slog2Error;
use super::super::node::Stub;
use super::super::part_writer::PartWriter;
use super::super::types::{DirEntry, Slog2Header, TreeNodeId};
use super::drawables::Drawables;
use super::node_parts::NodeWriter;
use super::shadow::{DoneShadows, Shadows};
use trace_model::TimeBBox;

/// A node that takes no more drawables.
#[derive(Debug)]
pub(super) struct ClosedNode {
    pub id: TreeNodeId,
    pub bounds: TimeBBox,
    /// Nestless drawables, then nestable ones.
    pub sides: [Drawables; 2],
    /// What is written behind the node; nothing if it is empty.
    pub record: Vec<u8>,
}

/// The file of a tree, as far as its nodes are closed.
#[derive(Debug)]
pub(super) struct NodeFile<W> {
    pub out: PartWriter<W>,
    pub directory: Vec<DirEntry>,
    writer: NodeWriter,
    bytes: Vec<u8>,
    /// By level the shadows of the nodes that are written and whose parent is not.
    done: Vec<Vec<DoneShadows>>,
    /// Emptied shadow lists, kept for their memory.
    spare: Vec<Shadows>,
}

impl<W: Write + Seek> NodeFile<W> {
    /// Starts a file at the beginning of `out`, which should be empty.
    pub(super) fn new(out: W) -> Result<NodeFile<W>, Slog2Error> {
        let header = encode::header(&Slog2Header::default());
        Ok(NodeFile {
            out: PartWriter::new(out, &header)?,
            directory: Vec::new(),
            writer: NodeWriter::default(),
            bytes: Vec::new(),
            done: Vec::new(),
            spare: Vec::new(),
        })
    }

    /// Writes a node, whose children have been written. Gives what its drawables were in, emptied.
    pub(super) fn write(&mut self, node: ClosedNode) -> Result<[Drawables; 2], Slog2Error> {
        let ClosedNode {
            id,
            bounds,
            mut sides,
            record,
        } = node;
        let level = id.depth as usize;
        if self.done.len() <= level {
            self.done.resize_with(level + 1, Vec::new);
        }
        let (below, own) = self.done.split_at_mut(level);
        let children = below.last().map_or(&[][..], Vec::as_slice);
        let mut shadow_bounds = bounds;
        for child in children {
            shadow_bounds.include(child.stub.bounds);
        }

        let out = &mut self.bytes;
        out.clear();
        out.resize(Stub::SIZE, 0);
        self.writer.write(&mut sides, children, out, |_| ());
        let ptr = self.out.next_pointer("tree node", out.len())?;
        let mut stub = Stub { bounds, id, ptr };
        let mut head = Vec::with_capacity(Stub::SIZE);
        stub.write(&mut head);
        out[..Stub::SIZE].copy_from_slice(&head);
        self.out.part("tree node", out)?;
        if !record.is_empty() {
            self.out.write(&record)?;
        }
        self.directory.push(DirEntry { id, bounds, ptr });

        stub.bounds = shadow_bounds;
        let shadows = [0, 1].map(|side: usize| {
            let empty = self.spare.pop().unwrap_or_default();
            sides[side].reset(empty)
        });
        own[0].push(DoneShadows {
            stub,
            sides: shadows,
        });
        for done in below.last_mut().into_iter().flat_map(|done| done.drain(..)) {
            self.spare.extend(done.sides.map(|mut shadows| {
                shadows.clear();
                shadows
            }));
        }
        Ok(sides)
    }

    /// Takes the shadows of the root, which was written last; `None` if no node was.
    pub(super) fn take_root(&mut self) -> Option<DoneShadows> {
        self.done.last_mut()?.pop()
    }
}
