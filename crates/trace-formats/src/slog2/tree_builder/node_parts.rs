//! Single nodes of a tree that several builders make together: each node is built where its drawables are, and what its parent
//! must know of it, its preview, can be sent.

use super::super::encode::write_count;
use super::super::node::Stub;
use super::super::types::{DirEntry, FileBlockPtr, TreeNodeId};
use super::drawables::{Drawables, Scratch};
use super::incoming::{DrawablePlacement, EncodedDrawable};
use super::shadow::{DoneShadows, Shadows, WeightSlot};
use trace_model::{Drawable, Ratios, TimeBBox, Topology};

/// Offset of the pointer in a stub.
const POINTER_AT: usize = Stub::SIZE - POINTER_BYTES;
/// Bytes of a pointer.
const POINTER_BYTES: usize = 12;

/// The drawables of one node, in the making.
#[derive(Debug)]
pub struct NodeContents {
    /// Nestless, then nestable ones.
    sides: [Drawables; 2],
}

impl Default for NodeContents {
    fn default() -> NodeContents {
        NodeContents {
            sides: [(); 2].map(|()| Drawables::shaded_at_once()),
        }
    }
}

impl NodeContents {
    /// Adds a drawable. The order of those that differ in times, category or lines does not matter.
    #[inline]
    pub fn add(&mut self, drawable: &Drawable<'_>) {
        let side = usize::from(drawable.topology.is_nestable());
        self.sides[side].add(drawable, drawable.bounds(), DrawablePlacement::Listed);
    }

    /// Adds a drawable by its bytes.
    #[inline]
    pub fn add_encoded(&mut self, drawable: &EncodedDrawable<'_>) {
        let side = usize::from(drawable.topology.is_nestable());
        self.sides[side].add_encoded(drawable);
    }
}

/// What a node tells its parent: where it is, and its drawables and those of all nodes below it in short.
#[derive(Debug)]
pub struct NodePreview(pub(super) DoneShadows);

impl Default for NodePreview {
    /// Of a node without drawables that is nowhere.
    fn default() -> NodePreview {
        NodePreview(DoneShadows {
            stub: Stub {
                bounds: TimeBBox::EMPTY,
                id: TreeNodeId::default(),
                ptr: FileBlockPtr::default(),
            },
            sides: Default::default(),
        })
    }
}

impl NodePreview {
    /// Depth and place of the node in the tree.
    pub fn id(&self) -> TreeNodeId {
        self.0.stub.id
    }

    /// Stretch of time of the node, and of what is below it.
    pub fn bounds(&self) -> TimeBBox {
        self.0.stub.bounds
    }

    /// Number of drawables it stands for.
    pub fn drawables(&self) -> i64 {
        let shadows = self.0.sides.iter().flat_map(|side| &side.list);
        shadows.map(|shadow| shadow.count).sum()
    }

    /// Appends the preview without the pointer to its node: little-endian numbers, for [`NodePreview::decode`].
    pub fn encode(&self, out: &mut Vec<u8>) {
        let stub = &self.0.stub;
        put_bounds(out, stub.bounds);
        out.extend_from_slice(&stub.id.depth.to_le_bytes());
        out.extend_from_slice(&stub.id.xpos.to_le_bytes());
        for side in &self.0.sides {
            out.extend_from_slice(&(side.list.len() as u32).to_le_bytes());
            for shadow in &side.list {
                out.push(shadow.topology.number() as u8);
                for line in shadow.lines {
                    out.extend_from_slice(&line.to_le_bytes());
                }
                for time in shadow.times {
                    out.extend_from_slice(&time.to_le_bytes());
                }
                put_bounds(out, shadow.bounds);
                out.extend_from_slice(&shadow.count.to_le_bytes());
                out.extend_from_slice(&shadow.weights.to_le_bytes());
                for weight in side.weights_of(shadow) {
                    out.extend_from_slice(&weight.category.to_le_bytes());
                    out.extend_from_slice(&weight.ratios.inclusive.to_le_bytes());
                    out.extend_from_slice(&weight.ratios.exclusive.to_le_bytes());
                    out.extend_from_slice(&weight.ratios.count.to_le_bytes());
                }
            }
        }
    }

    /// The preview at the beginning of `bytes`, which loses it; `None` if none is there.
    pub fn decode(bytes: &mut &[u8]) -> Option<NodePreview> {
        let bounds = take_bounds(bytes)?;
        let id = TreeNodeId {
            depth: i16::from_le_bytes(take(bytes)?),
            xpos: i32::from_le_bytes(take(bytes)?),
        };
        let mut side = || {
            let mut side = Shadows::default();
            for _ in 0..u32::from_le_bytes(take(bytes)?) {
                let [topology] = take(bytes)?;
                let topology = Topology::from_number(topology.into())?;
                let lines = [
                    i32::from_le_bytes(take(bytes)?),
                    i32::from_le_bytes(take(bytes)?),
                ];
                let times = [
                    f64::from_le_bytes(take(bytes)?),
                    f64::from_le_bytes(take(bytes)?),
                ];
                let bounds = take_bounds(bytes)?;
                let count = i64::from_le_bytes(take(bytes)?);
                let shadow = side.push_preview(topology, lines, times, bounds, count);
                for _ in 0..u32::from_le_bytes(take(bytes)?) {
                    let category = i32::from_le_bytes(take(bytes)?);
                    let ratios = Ratios {
                        inclusive: f32::from_le_bytes(take(bytes)?),
                        exclusive: f32::from_le_bytes(take(bytes)?),
                        count: i64::from_le_bytes(take(bytes)?),
                    };
                    side.push_weight(shadow, category, ratios);
                }
            }
            Some(side)
        };
        let sides = [side()?, side()?];
        let ptr = FileBlockPtr::default();
        let stub = Stub { bounds, id, ptr };
        Some(NodePreview(DoneShadows { stub, sides }))
    }
}

/// A node that is built: all but the places of the nodes in the file.
#[derive(Debug)]
pub struct BuiltNode {
    /// Depth and place of the node in the tree.
    pub id: TreeNodeId,
    /// Stretch of time of the node.
    pub bounds: TimeBBox,
    /// Bytes of the node.
    pub size: usize,
    /// Offsets in these bytes of the pointers to the children.
    pub child_pointers: Vec<usize>,
}

impl BuiltNode {
    /// Writes the pointers into the bytes of the node: its own, and those of its children in their order.
    pub fn place(&self, bytes: &mut [u8], own: FileBlockPtr, children: &[FileBlockPtr]) {
        let pointers = self
            .child_pointers
            .iter()
            .copied()
            .zip(children.iter().copied());
        for (at, ptr) in std::iter::once((POINTER_AT, own)).chain(pointers) {
            if let Some(room) = bytes.get_mut(at..at + POINTER_BYTES) {
                room[..8].copy_from_slice(&ptr.offset.to_be_bytes());
                room[8..].copy_from_slice(&ptr.size.to_be_bytes());
            }
        }
    }

    /// The entry of the node in the directory.
    pub fn entry(&self, ptr: FileBlockPtr) -> DirEntry {
        DirEntry {
            id: self.id,
            bounds: self.bounds,
            ptr,
        }
    }
}

/// Writes nodes. It keeps memory that is needed for a while from one node to the next.
#[derive(Debug, Default)]
pub struct NodeWriter {
    scratch: Scratch,
    shadow_order: Vec<u32>,
    shadow_weights: Vec<WeightSlot>,
}

impl NodeWriter {
    /// Appends all of a node but its stub, and completes the shadows of `sides` (`spec/slog2.md` sections 5 and 8.5). `at_child` is
    /// given the offset in `out` of the stub of each child.
    pub(super) fn write(
        &mut self,
        sides: &mut [Drawables; 2],
        children: &[DoneShadows],
        out: &mut Vec<u8>,
        mut at_child: impl FnMut(usize),
    ) {
        for side in sides.iter_mut() {
            side.make_shadows();
        }
        for child in children {
            for (side, shadows) in sides.iter_mut().zip(&child.sides) {
                side.merge(shadows);
            }
        }
        let [nestless, nestable] = sides;
        nestless.write(out, &mut self.scratch, false);
        nestable.write(out, &mut self.scratch, true);
        write_count(out, children.len());
        for child in children {
            at_child(out.len());
            child.write(out, &mut self.shadow_order, &mut self.shadow_weights);
        }
    }

    /// Builds a node from its drawables and the previews of its children, which are in order. Appends its bytes to `out`, without
    /// any pointers ([`BuiltNode::place`]). Gives what its parent must know, too.
    pub fn build(
        &mut self,
        id: TreeNodeId,
        bounds: TimeBBox,
        mut contents: NodeContents,
        children: Vec<NodePreview>,
        out: &mut Vec<u8>,
    ) -> (BuiltNode, NodePreview) {
        let mut stub = Stub {
            bounds,
            id,
            ptr: FileBlockPtr::default(),
        };
        let start = out.len();
        stub.write(out);
        let children: Vec<DoneShadows> = children.into_iter().map(|child| child.0).collect();
        let mut child_pointers = Vec::with_capacity(children.len());
        self.write(&mut contents.sides, &children, out, |at| {
            child_pointers.push(at - start + POINTER_AT);
        });
        for child in &children {
            stub.bounds.include(child.stub.bounds);
        }
        let sides = [0, 1].map(|side: usize| contents.sides[side].reset(Shadows::default()));
        let built = BuiltNode {
            id,
            bounds,
            size: out.len() - start,
            child_pointers,
        };
        (built, NodePreview(DoneShadows { stub, sides }))
    }
}

fn put_bounds(out: &mut Vec<u8>, bounds: TimeBBox) {
    out.extend_from_slice(&bounds.earliest.to_le_bytes());
    out.extend_from_slice(&bounds.latest.to_le_bytes());
}

fn take<const N: usize>(bytes: &mut &[u8]) -> Option<[u8; N]> {
    let (taken, rest) = bytes.split_first_chunk()?;
    *bytes = rest;
    Some(*taken)
}

fn take_bounds(bytes: &mut &[u8]) -> Option<TimeBBox> {
    Some(TimeBBox {
        earliest: f64::from_le_bytes(take(bytes)?),
        latest: f64::from_le_bytes(take(bytes)?),
    })
}
