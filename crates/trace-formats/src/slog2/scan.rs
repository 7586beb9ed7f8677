//! The drawables of a node one after the other, for those who go over a whole file: what most drawables are, with one or two
//! vertices, is decoded in one go, and the previews behind them are not touched.

use super::cursor::Slog2Cursor;
use super::error::Slog2Error;
use super::node::{Composite, NodeDrawable, Primitive, Stub, vertex};
use super::read::Slog2Reader;
use super::types::FileBlockPtr;
use trace_model::{TimeBBox, Vertex};

/// A primitive drawable as it stands in its node.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PlainDrawable<'a> {
    /// Index of its category.
    pub category: i32,
    /// Values, laid out as the category's types say.
    pub info: &'a [u8],
    /// The first vertex: of an arrow the send.
    pub first: Vertex,
    /// The last vertex; the first again of an event.
    pub last: Vertex,
    /// Number of vertices, at least 1.
    pub vertices: u16,
}

impl<'a> PlainDrawable<'a> {
    /// A primitive without what stands between its first and last vertex.
    pub fn of(primitive: &Primitive<'a>) -> Self {
        PlainDrawable {
            category: primitive.category,
            info: primitive.info,
            first: primitive.first(),
            last: primitive.last(),
            // It was 16 bits when it was read.
            vertices: primitive.vertices().len() as u16,
        }
    }

    /// Stretch of time from one of its ends to the other.
    #[inline]
    pub fn bounds(&self) -> TimeBBox {
        let mut bounds = TimeBBox::EMPTY;
        for Vertex { time, .. } in [self.first, self.last] {
            bounds.include(TimeBBox {
                earliest: time,
                latest: time,
            });
        }
        bounds
    }
}

/// A drawable that a [`NodeScan`] came to.
#[derive(Clone, Debug, PartialEq)]
pub enum ScannedDrawable<'a> {
    /// A state, an arrow or an event.
    Plain(PlainDrawable<'a>),
    /// Several that belong together, which no log of MPI calls has.
    Composite(Box<Composite<'a>>),
}

/// The drawables of a node: arrows and events by start, then states by start, longer ones first.
#[derive(Clone, Debug)]
pub struct NodeScan<'a> {
    cursor: Slog2Cursor<'a>,
    left: usize,
    is_nestable: bool,
}

impl<'a> Slog2Reader<'a> {
    /// The drawables of the node at this place.
    ///
    /// # Errors
    /// The place is not in the file, or no node begins there.
    pub fn scan(&self, ptr: FileBlockPtr) -> Result<NodeScan<'a>, Slog2Error> {
        let mut cursor = self.part(ptr, "tree node")?;
        Stub::read(&mut cursor)?;
        let left = cursor.count(NodeDrawable::LEAST_SIZE, "nestless drawables")?;
        Ok(NodeScan {
            cursor,
            left,
            is_nestable: false,
        })
    }
}

impl<'a> NodeScan<'a> {
    /// Bytes of the file before the next drawable.
    pub fn offset(&self) -> u64 {
        self.cursor.offset()
    }

    /// True once it has come to the states.
    pub fn is_nestable(&self) -> bool {
        self.is_nestable
    }

    /// Goes on to the states, over what is left of arrows and events.
    ///
    /// # Errors
    /// The node is damaged.
    pub fn skip_to_states(&mut self) -> Result<(), Slog2Error> {
        while !self.is_nestable {
            while self.next()?.is_some() {}
        }
        Ok(())
    }

    /// The next drawable of the list; `None` at its end, once for arrows and events, and again and again after the states.
    ///
    /// # Errors
    /// The node is damaged.
    #[inline]
    #[expect(
        clippy::should_implement_trait,
        reason = "an iterator ends after its first None"
    )]
    pub fn next(&mut self) -> Result<Option<ScannedDrawable<'a>>, Slog2Error> {
        if self.left == 0 {
            return self.end_of_list();
        }
        self.left -= 1;
        match plain(self.cursor.rest()) {
            Some((plain, size)) => {
                self.cursor.skip(size);
                Ok(Some(ScannedDrawable::Plain(plain)))
            }
            None => self.other(),
        }
    }

    /// Hands on what is plain in the list up to the first that `take` does not want, which comes next; so does what is not plain.
    /// Decodes in a loop of its own, which takes a third of the time of [`NodeScan::next`].
    #[inline]
    pub fn for_plain(&mut self, take: impl FnMut(&PlainDrawable<'a>) -> bool) {
        for_plain(&mut self.cursor, &mut self.left, take);
    }

    #[cold]
    fn end_of_list(&mut self) -> Result<Option<ScannedDrawable<'a>>, Slog2Error> {
        if !self.is_nestable {
            self.is_nestable = true;
            let what = "nestable drawables";
            self.left = self.cursor.count(NodeDrawable::LEAST_SIZE, what)?;
        }
        Ok(None)
    }

    /// Reads an entry that is not plain, or damaged.
    #[cold]
    fn other(&mut self) -> Result<Option<ScannedDrawable<'a>>, Slog2Error> {
        Ok(Some(match NodeDrawable::read(&mut self.cursor)? {
            NodeDrawable::Primitive(primitive) => {
                ScannedDrawable::Plain(PlainDrawable::of(&primitive))
            }
            NodeDrawable::Composite(composite) => ScannedDrawable::Composite(Box::new(composite)),
        }))
    }
}

/// Hands on what is plain in a list, of which there are `left` more, as [`NodeScan::for_plain`] does.
#[inline]
pub(super) fn for_plain<'a>(
    cursor: &mut Slog2Cursor<'a>,
    left: &mut usize,
    mut take: impl FnMut(&PlainDrawable<'a>) -> bool,
) {
    let mut rest = cursor.rest();
    while *left > 0
        && let Some((plain, size)) = plain(rest)
        && take(&plain)
    {
        rest = &rest[size..];
        *left -= 1;
    }
    cursor.skip(cursor.left() - rest.len());
}

/// A primitive with one or two vertices at the beginning of these bytes, and how many of them it takes.
#[inline]
pub(super) fn plain(bytes: &[u8]) -> Option<(PlainDrawable<'_>, usize)> {
    let (head, rest) = bytes.split_first_chunk::<7>()?;
    if head[0] != 0 {
        return None;
    }
    let category = i32::from_be_bytes([head[1], head[2], head[3], head[4]]);
    // A length below 0 reads as 0, as in the original.
    let length = usize::try_from(i16::from_be_bytes([head[5], head[6]])).unwrap_or(0);
    let (info, rest) = rest.split_at_checked(length)?;
    let (count, rest) = rest.split_first_chunk::<2>()?;
    let (first, rest) = rest.split_first_chunk::<12>()?;
    let (last, vertices) = match *count {
        [0, 1] => (first, 1),
        [0, 2] => (rest.first_chunk::<12>()?, 2),
        _ => return None,
    };
    let plain = PlainDrawable {
        category,
        info,
        first: vertex(first),
        last: vertex(last),
        vertices,
    };
    Some((plain, 9 + length + 12 * usize::from(vertices)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::slog2::{
        Category, Color, LineIdMap, NewComposite, NewDrawable, Topology, TreeBuilder, TreeOptions,
    };
    use std::io::Cursor as Bytes;

    #[test]
    fn finds_what_nodes_hold() {
        let at = |time, line| Vertex { time, line };
        let options = TreeOptions {
            leaf_byte_size: 200,
            ..TreeOptions::default()
        };
        let mut builder = TreeBuilder::new(Bytes::new(Vec::new()), options).unwrap();
        for step in 0..40 {
            let time = f64::from(step);
            let state = [at(time, step % 3), at(time + 0.5, step % 3)];
            let arrow = [at(time, 0), at(time + 0.25, 1)];
            let mut add = |topology, info: &[u8], vertices: &[Vertex]| {
                let drawable = NewDrawable {
                    topology,
                    category: 0,
                    info,
                    vertices,
                };
                builder.add(&drawable).unwrap();
            };
            add(Topology::Arrow, &[1, 2, 3, 4], &arrow);
            add(Topology::Event, &[], &arrow[1..]);
            add(Topology::State, &[7], &state);
            if step == 20 {
                let part = NewDrawable {
                    topology: Topology::State,
                    category: 0,
                    info: &[],
                    vertices: &[at(time + 0.6, 0), at(time + 0.7, 0)],
                };
                let composite = NewComposite {
                    category: 0,
                    info: &[],
                    primitives: &[part],
                };
                builder.add_composite(&composite).unwrap();
            }
        }
        let tree = builder.close().unwrap();
        let map = LineIdMap::identity(tree.lines());
        let category = Category::new(0, "x".into(), Topology::State, Color::WHITE);
        let (file, _) = tree.finish(&[category], &[map]).unwrap();
        let file = file.into_inner();
        let reader = Slog2Reader::new(&file).unwrap();
        let mut composites = 0;
        for entry in reader.directory() {
            let node = reader.node(entry.ptr).unwrap();
            let mut scan = reader.scan(entry.ptr).unwrap();
            for list in [&node.nestless, &node.nestable] {
                for drawable in list {
                    match (scan.next().unwrap(), drawable) {
                        (
                            Some(ScannedDrawable::Plain(found)),
                            NodeDrawable::Primitive(expected),
                        ) => {
                            assert_eq!(found, PlainDrawable::of(expected));
                        }
                        (
                            Some(ScannedDrawable::Composite(found)),
                            NodeDrawable::Composite(expected),
                        ) => {
                            assert_eq!(&*found, expected);
                            composites += 1;
                        }
                        other => panic!("{other:?}"),
                    }
                }
                assert_eq!(scan.next().unwrap(), None);
            }
            assert_eq!(scan.next().unwrap(), None);
            let mut states = reader.scan(entry.ptr).unwrap();
            states.skip_to_states().unwrap();
            let first = states.next().unwrap().is_some();
            assert_eq!(first, !node.nestable.is_empty());
        }
        assert_eq!(composites, 1);
        for cut in (entry_start(&reader)..file.len()).step_by(7) {
            let Ok(reader) = Slog2Reader::new(&file[..cut]) else {
                continue;
            };
            for entry in reader.directory() {
                let Ok(mut scan) = reader.scan(entry.ptr) else {
                    continue;
                };
                let _ = scan.skip_to_states();
            }
        }
    }

    fn entry_start(reader: &Slog2Reader<'_>) -> usize {
        let starts = reader.directory().iter().map(|entry| entry.ptr.offset);
        starts.min().unwrap() as usize
    }
}
