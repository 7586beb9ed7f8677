//! Nodes of the tree and the drawables and shadows (previews) in them, read in place (`spec/slog2.md` sections 4 and 5).
//!
//! Everything borrows the bytes of the file: a drawable costs a few words in its list and no allocation.

use std::cmp::Ordering;

use super::cursor::Slog2Cursor;
use super::encode::{write_bounds, write_count, write_f32, write_node_id, write_ptr};
use super::error::{Slog2Error, Slog2ErrorKind};
use super::types::{FileBlockPtr, Slog2Layout, TreeNodeId};
use trace_model::{Ratios, TimeBBox, Vertex};

/// Bytes of a vertex.
const VERTEX_SIZE: usize = 12;
/// Bytes of a primitive without info and vertices.
const PRIMITIVE_SIZE: usize = 8;

/// A state, an arrow or an event (`spec/slog2.md` section 4.1).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Primitive<'a> {
    /// Index of its category.
    pub category: i32,
    /// Values, laid out as the category's types say.
    pub info: &'a [u8],
    /// The vertices, 12 bytes each; at least one.
    vertices: &'a [u8],
    /// Stretch of time it takes.
    pub bounds: TimeBBox,
}

impl<'a> Primitive<'a> {
    #[inline]
    pub(super) fn read(cursor: &mut Slog2Cursor<'a>) -> Result<Self, Slog2Error> {
        let Some(primitive) = Primitive::at(cursor.rest()) else {
            return Err(Primitive::fault(cursor));
        };
        cursor.skip(primitive.byte_size());
        Ok(primitive)
    }

    /// The primitive at the beginning of these bytes; `None` if they do not have all of it, or it has no vertices.
    #[inline]
    fn at(bytes: &'a [u8]) -> Option<Self> {
        let (category, rest) = bytes.split_first_chunk()?;
        let (length, rest) = rest.split_first_chunk()?;
        let length = usize::try_from(i16::from_be_bytes(*length)).unwrap_or(0);
        let (info, rest) = rest.split_at_checked(length)?;
        let (count, rest) = rest.split_first_chunk()?;
        let count = usize::try_from(i16::from_be_bytes(*count)).ok()?;
        let vertices = rest.get(..count * VERTEX_SIZE)?;
        let mut primitive = Primitive {
            category: i32::from_be_bytes(*category),
            info,
            vertices,
            bounds: TimeBBox::EMPTY,
        };
        for Vertex { time, .. } in primitive.vertices() {
            let earliest = time;
            let latest = time;
            primitive.bounds.include(TimeBBox { earliest, latest });
        }
        (count > 0).then_some(primitive)
    }

    /// Why there is no primitive here.
    #[cold]
    fn fault(cursor: &mut Slog2Cursor<'a>) -> Slog2Error {
        let mut read = || {
            cursor.i32("category index")?;
            cursor.short_bytes("info")?;
            let count = cursor.short_count(VERTEX_SIZE, "vertices")?;
            cursor.bytes(count * VERTEX_SIZE, "vertices")
        };
        let truncated = read().err();
        truncated.unwrap_or_else(|| cursor.error(Slog2ErrorKind::NoVertices))
    }

    /// The vertices in the order of the file; of an arrow the send, then the receive.
    pub fn vertices(&self) -> impl ExactSizeIterator<Item = Vertex> + DoubleEndedIterator + 'a {
        self.vertices.as_chunks().0.iter().map(vertex)
    }

    /// The first vertex.
    pub fn first(&self) -> Vertex {
        self.vertices().next().unwrap_or_default()
    }

    /// The last vertex.
    pub fn last(&self) -> Vertex {
        self.vertices().next_back().unwrap_or_default()
    }

    /// Size of the primitive in the file, bytes, without the byte for its kind that stands before it in a list.
    pub fn byte_size(&self) -> usize {
        PRIMITIVE_SIZE + self.info.len() + self.vertices.len()
    }

    fn write(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.category.to_be_bytes());
        // Both lengths were 16 bits when they were read.
        out.extend_from_slice(&(self.info.len() as u16).to_be_bytes());
        out.extend_from_slice(self.info);
        out.extend_from_slice(&((self.vertices.len() / VERTEX_SIZE) as u16).to_be_bytes());
        out.extend_from_slice(self.vertices);
    }
}

/// The vertex in these bytes.
#[inline]
pub(super) fn vertex(bytes: &[u8; VERTEX_SIZE]) -> Vertex {
    let [a, b, c, d, e, f, g, h, i, j, k, l] = *bytes;
    Vertex {
        time: f64::from_be_bytes([a, b, c, d, e, f, g, h]),
        line: i32::from_be_bytes([i, j, k, l]),
    }
}

/// Several primitives that belong together (`spec/slog2.md` section 4.2). No log of MPI calls has them.
#[derive(Clone, Debug, PartialEq)]
pub struct Composite<'a> {
    /// Index of its category.
    pub category: i32,
    /// Values, laid out as the category's types say.
    pub info: &'a [u8],
    /// Primitives by increasing start time.
    pub primitives: Vec<Primitive<'a>>,
    /// Stretch of time it takes.
    pub bounds: TimeBBox,
}

impl<'a> Composite<'a> {
    fn read(cursor: &mut Slog2Cursor<'a>) -> Result<Self, Slog2Error> {
        let category = cursor.i32("category index")?;
        let info = cursor.short_bytes("info")?;
        let count = cursor.short_count(PRIMITIVE_SIZE + VERTEX_SIZE, "primitives")?;
        let mut primitives = Vec::with_capacity(count);
        let mut bounds = TimeBBox::EMPTY;
        for _ in 0..count {
            let primitive = Primitive::read(cursor)?;
            bounds.include(primitive.bounds);
            primitives.push(primitive);
        }
        if count == 0 {
            return Err(cursor.error(Slog2ErrorKind::NoVertices));
        }
        Ok(Composite {
            category,
            info,
            primitives,
            bounds,
        })
    }

    fn write(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.category.to_be_bytes());
        out.extend_from_slice(&(self.info.len() as u16).to_be_bytes());
        out.extend_from_slice(self.info);
        out.extend_from_slice(&(self.primitives.len() as u16).to_be_bytes());
        for primitive in &self.primitives {
            primitive.write(out);
        }
    }
}

/// A real drawable, as opposed to a shadow.
#[derive(Clone, Debug, PartialEq)]
pub enum NodeDrawable<'a> {
    /// Kind 0.
    Primitive(Primitive<'a>),
    /// Kind 1.
    Composite(Composite<'a>),
}

impl<'a> NodeDrawable<'a> {
    /// Bytes in a list of nodes, at least.
    pub(super) const LEAST_SIZE: usize = 1 + PRIMITIVE_SIZE + VERTEX_SIZE;

    #[inline]
    pub(super) fn read(cursor: &mut Slog2Cursor<'a>) -> Result<Self, Slog2Error> {
        match cursor.u8("kind of drawable")? {
            0 => Primitive::read(cursor).map(NodeDrawable::Primitive),
            1 => Composite::read(cursor).map(NodeDrawable::Composite),
            kind => Err(cursor.error(Slog2ErrorKind::DrawableKind(kind))),
        }
    }

    /// Index of its category.
    pub fn category(&self) -> i32 {
        match self {
            NodeDrawable::Primitive(primitive) => primitive.category,
            NodeDrawable::Composite(composite) => composite.category,
        }
    }

    /// Values, laid out as the category's types say.
    pub fn info(&self) -> &'a [u8] {
        match self {
            NodeDrawable::Primitive(primitive) => primitive.info,
            NodeDrawable::Composite(composite) => composite.info,
        }
    }

    /// The primitives that it is made of, which may be itself alone.
    pub fn primitives(&self) -> &[Primitive<'a>] {
        match self {
            NodeDrawable::Primitive(primitive) => std::slice::from_ref(primitive),
            NodeDrawable::Composite(composite) => &composite.primitives,
        }
    }

    /// Stretch of time it takes.
    pub fn bounds(&self) -> TimeBBox {
        match self {
            NodeDrawable::Primitive(primitive) => primitive.bounds,
            NodeDrawable::Composite(composite) => composite.bounds,
        }
    }

    /// The first vertex.
    pub fn first(&self) -> Vertex {
        let first = self.primitives().first();
        first.map_or_else(Vertex::default, Primitive::first)
    }

    /// The last vertex.
    pub fn last(&self) -> Vertex {
        let last = self.primitives().last();
        last.map_or_else(Vertex::default, Primitive::last)
    }

    /// Size of the composite in the file, bytes, without the byte for its kind.
    pub fn byte_size(&self) -> usize {
        match self {
            NodeDrawable::Primitive(primitive) => primitive.byte_size(),
            NodeDrawable::Composite(composite) => {
                let primitives = composite.primitives.iter().map(Primitive::byte_size);
                PRIMITIVE_SIZE + composite.info.len() + primitives.sum::<usize>()
            }
        }
    }

    fn write(&self, out: &mut Vec<u8>) {
        match self {
            NodeDrawable::Primitive(primitive) => {
                out.push(0);
                primitive.write(out);
            }
            NodeDrawable::Composite(composite) => {
                out.push(1);
                composite.write(out);
            }
        }
    }
}

/// Contribution of a category to a shadow (`spec/slog2.md` section 4.3).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Weight {
    /// Index of the category.
    pub category: i32,
    /// Share of the shadow's time.
    pub ratios: Ratios,
}

impl Weight {
    /// Bytes of a weight.
    fn size(layout: Slog2Layout) -> usize {
        match layout {
            Slog2Layout::V205 => 12,
            Slog2Layout::V206 => 20,
        }
    }

    fn read(cursor: &mut Slog2Cursor<'_>, layout: Slog2Layout) -> Result<Self, Slog2Error> {
        Ok(Weight {
            category: cursor.i32("category index")?,
            ratios: Ratios {
                inclusive: cursor.f32("inclusive ratio")?,
                exclusive: cursor.f32("exclusive ratio")?,
                count: match layout {
                    Slog2Layout::V205 => 0,
                    Slog2Layout::V206 => cursor.i64("count")?,
                },
            },
        })
    }
}

/// A preview: stands for all drawables of one topology on one line, or between two, in a subtree (`spec/slog2.md`
/// section 4.3).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NodeShadow<'a> {
    /// Preview category, no info, and vertices at the average times of the real ones. Its bounds are those of the averages.
    pub primitive: Primitive<'a>,
    /// Bounds of all real drawables it stands for.
    pub bounds: TimeBBox,
    /// Number of real drawables.
    pub count: i64,
    weights: &'a [u8],
    layout: Slog2Layout,
}

impl<'a> NodeShadow<'a> {
    /// Bytes behind the primitive, without the weights.
    const TAIL_SIZE: usize = 28;
    /// Bytes in a list, at least.
    pub(super) const LEAST_SIZE: usize = PRIMITIVE_SIZE + VERTEX_SIZE + Self::TAIL_SIZE;

    pub(super) fn read(
        cursor: &mut Slog2Cursor<'a>,
        layout: Slog2Layout,
    ) -> Result<Self, Slog2Error> {
        let primitive = Primitive::read(cursor)?;
        let bounds = cursor.time_bbox("bounds of a shadow")?;
        let count = cursor.i64("number of real drawables")?;
        let weights = cursor.count(Weight::size(layout), "weights")?;
        let weights = cursor.bytes(weights * Weight::size(layout), "weights")?;
        Ok(NodeShadow {
            primitive,
            bounds,
            count,
            weights,
            layout,
        })
    }

    /// The categories of the real drawables, by ascending inclusive ratio.
    pub fn weights(&self) -> impl ExactSizeIterator<Item = Weight> + DoubleEndedIterator + 'a {
        let layout = self.layout;
        self.weights
            .chunks_exact(Weight::size(layout))
            .map(move |bytes| {
                Weight::read(&mut Slog2Cursor::new(bytes, 0), layout).unwrap_or(Weight {
                    category: 0,
                    ratios: Ratios::default(),
                })
            })
    }

    /// The order of `spec/slog2.md` section 8.6.
    pub fn compare(&self, other: &Self) -> Ordering {
        let key = |shadow: &Self| {
            let primitive = &shadow.primitive;
            let lines = (primitive.first().line, primitive.last().line);
            (primitive.category, lines)
        };
        let start = self.bounds.earliest.total_cmp(&other.bounds.earliest);
        let end = other.bounds.latest.total_cmp(&self.bounds.latest);
        start.then(end).then_with(|| key(self).cmp(&key(other)))
    }

    /// Size of the shadow in the file, bytes.
    pub fn byte_size(&self) -> usize {
        self.primitive.byte_size() + Self::TAIL_SIZE + self.weights.len()
    }

    /// Size of the shadow in a file of this layout, bytes.
    fn byte_size_as(&self, layout: Slog2Layout) -> usize {
        self.primitive.byte_size() + Self::TAIL_SIZE + self.weights().len() * Weight::size(layout)
    }

    fn write_as(&self, layout: Slog2Layout, out: &mut Vec<u8>) {
        self.primitive.write(out);
        write_bounds(out, self.bounds);
        out.extend_from_slice(&self.count.to_be_bytes());
        write_count(out, self.weights().len());
        if layout == self.layout {
            out.extend_from_slice(self.weights);
            return;
        }
        for Weight { category, ratios } in self.weights() {
            out.extend_from_slice(&category.to_be_bytes());
            write_f32(out, ratios.inclusive);
            write_f32(out, ratios.exclusive);
            if layout == Slog2Layout::V206 {
                out.extend_from_slice(&ratios.count.to_be_bytes());
            }
        }
    }
}

/// The first 34 bytes of nodes and shadow buffers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stub {
    /// Bounds of the node.
    pub bounds: TimeBBox,
    /// Position of the node in the tree.
    pub id: TreeNodeId,
    /// Position of the node in the file.
    pub ptr: FileBlockPtr,
}

impl Stub {
    /// Bytes of a stub.
    pub const SIZE: usize = 34;

    pub(super) fn read(cursor: &mut Slog2Cursor<'_>) -> Result<Self, Slog2Error> {
        Ok(Stub {
            bounds: cursor.time_bbox("bounds of a node")?,
            id: cursor.node_id("node ID")?,
            ptr: cursor.file_block_ptr("pointer to a node")?,
        })
    }

    pub(super) fn write(&self, out: &mut Vec<u8>) {
        write_bounds(out, self.bounds);
        write_node_id(out, self.id);
        write_ptr(out, self.ptr);
    }
}

/// The preview of a child (`spec/slog2.md` section 5).
#[derive(Clone, Debug, PartialEq)]
pub struct ShadowBuffer<'a> {
    /// Stub of the child.
    pub stub: Stub,
    /// Previews of arrows and events.
    pub nestless: Vec<NodeShadow<'a>>,
    /// Previews of states.
    pub nestable: Vec<NodeShadow<'a>>,
}

impl ShadowBuffer<'_> {
    /// Number of real drawables it stands for.
    pub fn real_count(&self) -> i64 {
        let shadows = self.nestless.iter().chain(&self.nestable);
        shadows.fold(0, |sum, shadow| shadow.count.wrapping_add(sum))
    }

    /// Bytes in the file.
    pub fn byte_size(&self) -> usize {
        let shadows = self.nestless.iter().chain(&self.nestable);
        Stub::SIZE + 8 + shadows.map(NodeShadow::byte_size).sum::<usize>()
    }
}

/// A node of the tree (`spec/slog2.md` section 5).
#[derive(Clone, Debug, PartialEq)]
pub struct Slog2Node<'a> {
    /// Bounds, place in the tree, place in the file.
    pub stub: Stub,
    /// Arrows and events, in the order of `spec/slog2.md` section 8.6.
    pub nestless: Vec<NodeDrawable<'a>>,
    /// States, in the order of `spec/slog2.md` section 8.6.
    pub nestable: Vec<NodeDrawable<'a>>,
    /// Shadow buffers, one for each child.
    pub shadows: Vec<ShadowBuffer<'a>>,
}

/// Arrows and events, and states.
pub(super) type Sides<'a> = (Vec<NodeDrawable<'a>>, Vec<NodeDrawable<'a>>);

impl<'a> Slog2Node<'a> {
    pub(super) fn read(
        cursor: &mut Slog2Cursor<'a>,
        layout: Slog2Layout,
    ) -> Result<Self, Slog2Error> {
        let stub = Stub::read(cursor)?;
        let (nestless, nestable) = Slog2Node::read_sides(cursor)?;
        Ok(Slog2Node {
            stub,
            nestless,
            nestable,
            shadows: list(cursor, Stub::SIZE + 8, "shadow buffers", |cursor| {
                let read = |cursor: &mut Slog2Cursor<'a>| NodeShadow::read(cursor, layout);
                Ok(ShadowBuffer {
                    stub: Stub::read(cursor)?,
                    nestless: list(cursor, NodeShadow::LEAST_SIZE, "nestless shadows", read)?,
                    nestable: list(cursor, NodeShadow::LEAST_SIZE, "nestable shadows", read)?,
                })
            })?,
        })
    }

    /// Reads the drawables of a node and leaves its shadows alone.
    pub(super) fn read_drawables(cursor: &mut Slog2Cursor<'a>) -> Result<Sides<'a>, Slog2Error> {
        Stub::read(cursor)?;
        Slog2Node::read_sides(cursor)
    }

    fn read_sides(cursor: &mut Slog2Cursor<'a>) -> Result<Sides<'a>, Slog2Error> {
        let least = NodeDrawable::LEAST_SIZE;
        Ok((
            list(cursor, least, "nestless drawables", NodeDrawable::read)?,
            list(cursor, least, "nestable drawables", NodeDrawable::read)?,
        ))
    }

    /// Appends the bytes of the node to `out`, as they stand in a file of the version it was read from.
    pub fn write(&self, out: &mut Vec<u8>) {
        let shadows = self.shadows.iter();
        let first = shadows.flat_map(|buffer| buffer.nestless.iter().chain(&buffer.nestable));
        let layout = first.map(|shadow| shadow.layout).next();
        self.write_as(layout.unwrap_or(Slog2Layout::V206), out);
    }

    /// Appends its bytes as they stand in a file of this layout.
    pub(super) fn write_as(&self, layout: Slog2Layout, out: &mut Vec<u8>) {
        self.stub.write(out);
        for drawables in [&self.nestless, &self.nestable] {
            write_count(out, drawables.len());
            for drawable in drawables {
                drawable.write(out);
            }
        }
        write_count(out, self.shadows.len());
        for buffer in &self.shadows {
            buffer.stub.write(out);
            for shadows in [&buffer.nestless, &buffer.nestable] {
                write_count(out, shadows.len());
                for shadow in shadows {
                    shadow.write_as(layout, out);
                }
            }
        }
    }

    /// Size of the node in a file of this layout, bytes.
    pub(super) fn byte_size_as(&self, layout: Slog2Layout) -> usize {
        let drawables = self.nestless.iter().chain(&self.nestable);
        let drawables = drawables.map(|drawable| 1 + drawable.byte_size());
        let buffers = self.shadows.iter().map(|buffer| {
            let shadows = buffer.nestless.iter().chain(&buffer.nestable);
            let shadows = shadows.map(|shadow| shadow.byte_size_as(layout));
            Stub::SIZE + 8 + shadows.sum::<usize>()
        });
        Stub::SIZE + 12 + drawables.sum::<usize>() + buffers.sum::<usize>()
    }
}

fn list<'a, T>(
    cursor: &mut Slog2Cursor<'a>,
    least: usize,
    what: &'static str,
    read: impl Fn(&mut Slog2Cursor<'a>) -> Result<T, Slog2Error>,
) -> Result<Vec<T>, Slog2Error> {
    let count = cursor.count(least, what)?;
    (0..count).map(|_| read(cursor)).collect()
}
