//! Drawables on their way to a node of the tree: what each of them tells of itself, and its bytes there (`spec/slog2.md` section 4).

use std::cmp::Ordering;

use super::super::encode::f64_bytes;
use super::shadow::{EndLines, drawable_order};
use trace_model::{Drawable as NewDrawable, TimeBBox, Topology, Vertex};

/// Bytes of a vertex.
const VERTEX_BYTES: usize = 12;

/// Drawables that belong together, to add to the tree as one (`spec/slog2.md` section 4.2). It is listed among the
/// states. In previews and summaries its primitives count, each for its own category, and it does not.
#[derive(Clone, Copy, Debug)]
pub struct NewComposite<'a> {
    /// Index of its category.
    pub category: i32,
    /// Values, laid out as the category's types say; at most 32767 bytes.
    pub info: &'a [u8],
    /// Primitives of the composite, in the order of `spec/slog2.md` section 8.6; 1 to 32767.
    pub primitives: &'a [NewDrawable<'a>],
}

impl NewComposite<'_> {
    /// Bytes in the file, without the byte for its kind.
    pub(super) fn byte_size(&self) -> usize {
        let primitives = self.primitives.iter().map(NewDrawable::byte_size);
        8 + self.info.len() + primitives.sum::<usize>()
    }

    pub(super) fn bounds(&self) -> TimeBBox {
        let mut bounds = TimeBBox::EMPTY;
        for primitive in self.primitives {
            bounds.include(primitive.bounds());
        }
        bounds
    }

    /// Whether its primitives are in the order of `spec/slog2.md` section 8.6.
    pub(super) fn is_sorted(&self) -> bool {
        self.primitives
            .is_sorted_by(|a, b| NewDrawable::order(a, b).is_le())
    }
}

/// A state on its way to its node, as nearly all are: on one line, and its start no later than its end.
#[derive(Clone, Copy, Debug)]
pub(in super::super) struct StateOnLine<'a> {
    /// Index of its category.
    pub(in super::super) category: i32,
    /// Values, laid out as the category's types say; at most 32767 bytes.
    pub(in super::super) info: &'a [u8],
    /// Line of both of its vertices.
    pub(in super::super) line: i32,
    /// Start and end, seconds.
    pub(in super::super) bounds: TimeBBox,
}

impl<'a> StateOnLine<'a> {
    /// Bytes in the file, without the byte for its kind.
    #[inline]
    pub(super) fn byte_size(&self) -> usize {
        8 + self.info.len() + 2 * VERTEX_BYTES
    }

    /// Start and end.
    #[inline]
    pub(in super::super) fn vertices(&self) -> [Vertex; 2] {
        let vertex = |time| Vertex {
            time,
            line: self.line,
        };
        [vertex(self.bounds.earliest), vertex(self.bounds.latest)]
    }

    /// The state as a drawable that has these vertices.
    #[inline]
    pub(in super::super) fn drawable(&self, vertices: &'a [Vertex; 2]) -> NewDrawable<'a> {
        NewDrawable {
            topology: Topology::State,
            category: self.category,
            info: self.info,
            vertices,
        }
    }
}

/// How a drawable of a node is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum DrawablePlacement {
    /// In the node's list.
    Listed,
    /// Not at all, though the node is as large as if it were: what is in a leaf is found elsewhere.
    Elsewhere,
    /// Within a composite that is in the list.
    Inside,
}

/// How a drawable is laid out in the file, and how it is ordered there.
pub(in super::super) trait FileDrawable {
    /// Bytes in the file, without the byte for its kind.
    fn byte_size(&self) -> usize;
    /// Appends its bytes, without the one for its kind.
    fn encode(&self, out: &mut Vec<u8>);
    /// Lines of the first and the last vertex.
    fn lines(&self) -> EndLines;
    /// The order of `spec/slog2.md` section 8.6.
    fn order(&self, other: &Self) -> Ordering;
}

impl FileDrawable for NewDrawable<'_> {
    #[inline]
    fn byte_size(&self) -> usize {
        8 + self.info.len() + 12 * self.vertices.len()
    }

    fn encode(&self, out: &mut Vec<u8>) {
        push_primitive(out, self.category, self.info, self.vertices);
    }

    fn lines(&self) -> EndLines {
        let line = |vertex: Option<&Vertex>| vertex.map_or(0, |vertex| vertex.line);
        [line(self.vertices.first()), line(self.vertices.last())]
    }

    fn order(&self, other: &Self) -> Ordering {
        drawable_order(self.bounds(), other.bounds())
            .then_with(|| (self.category, self.lines()).cmp(&(other.category, other.lines())))
    }
}

/// A state, an arrow or an event on its way to its node, and what its place depends on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EncodedDrawable<'a> {
    /// The number of the topology, then the primitive as it stands in a node (`spec/slog2.md` section 4.1).
    pub bytes: &'a [u8],
    /// What it is.
    pub topology: Topology,
    /// Index of its category.
    pub category: i32,
    /// Lines of the first and the last vertex.
    pub(super) lines: EndLines,
    /// Times of the first and the last vertex, seconds.
    pub(super) times: [f64; 2],
    /// Stretch of time it takes.
    pub bounds: TimeBBox,
}

impl<'a> EncodedDrawable<'a> {
    /// Appends the bytes of a primitive to `out`, as [`EncodedDrawable::first_of`] reads them.
    #[inline]
    pub fn encode(drawable: &NewDrawable<'_>, out: &mut Vec<u8>) {
        out.push(drawable.topology.number() as u8);
        FileDrawable::encode(drawable, out);
    }

    /// The primitive at the beginning of `bytes`; `None` if none is there.
    #[inline]
    pub fn first_of(bytes: &'a [u8]) -> Option<EncodedDrawable<'a>> {
        let (head, rest) = bytes.split_first_chunk::<7>()?;
        let [topology, c0, c1, c2, c3, i0, i1] = *head;
        let info = usize::from(u16::from_be_bytes([i0, i1]));
        let (count, rest) = rest.get(info..)?.split_first_chunk()?;
        let count = usize::from(u16::from_be_bytes(*count));
        let vertices = rest.get(..count * VERTEX_BYTES)?;
        let vertex = |bytes: &[u8]| {
            let (time, line) = bytes.split_first_chunk()?;
            let line = i32::from_be_bytes(*line.first_chunk()?);
            Some((f64::from_be_bytes(*time), line))
        };
        let (first, last) = (
            vertex(vertices)?,
            vertex(vertices.get(vertices.len() - VERTEX_BYTES..)?)?,
        );
        let times = [first.0, last.0];
        Some(EncodedDrawable {
            bytes: bytes.get(..head.len() + info + 2 + vertices.len())?,
            topology: Topology::from_number(topology.into())?,
            category: i32::from_be_bytes([c0, c1, c2, c3]),
            lines: [first.1, last.1],
            times,
            bounds: TimeBBox {
                earliest: times[0].min(times[1]),
                latest: times[0].max(times[1]),
            },
        })
    }
}

/// Appends a primitive without the byte for its kind (`spec/slog2.md` section 4.1).
pub(super) fn push_primitive(out: &mut Vec<u8>, category: i32, info: &[u8], vertices: &[Vertex]) {
    push_head(out, category, info);
    push_short(out, vertices.len());
    for vertex in vertices {
        out.extend_from_slice(&f64_bytes(vertex.time));
        out.extend_from_slice(&vertex.line.to_be_bytes());
    }
}

pub(super) fn push_head(out: &mut Vec<u8>, category: i32, info: &[u8]) {
    out.extend_from_slice(&category.to_be_bytes());
    push_short(out, info.len());
    out.extend_from_slice(info);
}

/// Appends a count that was checked to fit.
pub(super) fn push_short(out: &mut Vec<u8>, count: usize) {
    out.extend_from_slice(&(count as u16).to_be_bytes());
}
