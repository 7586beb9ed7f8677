//! An SLOG2 file as a source of drawables, by start time, in memory that does not grow with the file.
//!
//! [`super::print()`] lists drawables as the original does and loses what starts at the very end of the log; here nothing is
//! lost. All nodes of a level are sorted in themselves and by their beginnings, so one node of each level is merged with
//! those of the other levels. A first look at the whole file finds out whether that holds; if not (files of other
//! programs), drawables come in the order of the file.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;

use super::cursor::Slog2Cursor;
use super::directory::{NodeDirectory, NodeDirectoryEntries};
use super::error::Slog2Error;
use super::node::{NodeDrawable, Primitive, Stub};
use super::ordered::Key;
use super::read::Slog2Reader;
use super::scan::{self, PlainDrawable};
use super::types::DirEntry;
use super::views;
use trace_model::hash::Map as HashMap;
use trace_model::{Category, TimeBBox, Topology, Vertex};
use trace_model::{Definitions, DrawableOrder, Losses, Stop};

type HashSet<K> = std::collections::HashSet<K, foldhash::fast::RandomState>;

/// An SLOG2 file that can be read as drawables. Composites are given as their primitives.
#[derive(Debug)]
pub struct Slog2Source<'a> {
    reader: Slog2Reader<'a>,
    definitions: Definitions,
    primitives: InModel,
    survey: NodeSurvey,
}

impl<'a> Slog2Source<'a> {
    /// Reads definitions, and all nodes once, to find the lines they use and their order.
    ///
    /// # Errors
    /// The file is damaged, wherever.
    pub fn new(file: &'a [u8]) -> Result<Self, Slog2Error> {
        Slog2Source::of(Slog2Reader::new(file)?)
    }

    /// Source of a file that is open.
    ///
    /// # Errors
    /// As [`Slog2Source::new`].
    pub fn of(reader: Slog2Reader<'a>) -> Result<Self, Slog2Error> {
        let survey = NodeSurvey::of(&reader)?;
        let mut definitions = reader.definitions();
        let named: HashSet<i32> = definitions.lines.iter().map(|line| line.id).collect();
        let unnamed = survey.lines.difference(&named);
        definitions
            .lines
            .extend(unnamed.map(|&line| views::unnamed(line)));
        definitions.lines.sort_by_key(|line| line.id);
        Ok(Slog2Source {
            primitives: InModel::new(&definitions.categories),
            definitions,
            survey,
            reader,
        })
    }

    /// The file.
    pub fn reader(&self) -> &Slog2Reader<'a> {
        &self.reader
    }
}

impl trace_model::Source for Slog2Source<'_> {
    fn definitions(&self) -> &Definitions {
        &self.definitions
    }

    fn order(&self) -> DrawableOrder {
        match self.survey.ordered {
            true => DrawableOrder::Start,
            false => DrawableOrder::Any,
        }
    }

    fn for_each(
        &self,
        put: &mut dyn FnMut(&trace_model::Drawable<'_>) -> Result<(), Stop>,
    ) -> Result<Losses, Stop> {
        let mut losses = Losses::default();
        let composites = self.survey.composites;
        losses.add("composite, given as its primitives", composites);
        if self.survey.ordered {
            let mut merge = LevelMerge::new(&self.reader)?;
            while let Some(primitive) = merge.next()? {
                self.primitives.put(&primitive, &mut losses, &mut *put)?;
            }
            return Ok(losses);
        }
        for entry in self.reader.directory() {
            let mut lists = Some(PendingDrawables::nestless(&self.reader, entry)?);
            while let Some(mut list) = lists.take() {
                while let Some(drawable) = list.next()? {
                    for primitive in drawable.primitives() {
                        self.primitives.put(primitive, &mut losses, &mut *put)?;
                    }
                }
                lists = list.behind()?;
            }
        }
        Ok(losses)
    }
}

/// Primitives as drawables of all formats, whose look only their category tells.
#[derive(Clone, Debug)]
pub struct InModel(HashMap<i32, Topology>);

impl InModel {
    /// A translator of primitives into drawables, for a file with these categories.
    pub fn new(categories: &[Category]) -> Self {
        InModel(categories.iter().map(|c| (c.index, c.topology)).collect())
    }

    /// Gives the drawable that a primitive is, or counts it as lost.
    ///
    /// # Errors
    /// The errors of `put`.
    #[inline]
    pub fn put<E>(
        &self,
        primitive: &Primitive<'_>,
        losses: &mut Losses,
        put: impl FnOnce(&trace_model::Drawable<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut ends = [Vertex::default(); 2];
        let vertices = primitive.vertices();
        let count = vertices.len();
        for (vertex, end) in vertices.zip(&mut ends) {
            *end = vertex;
        }
        let known = self.0.get(&primitive.category).copied();
        let topology = match (count, known) {
            (1, _) => Topology::Event,
            (2, Some(known @ (Topology::State | Topology::Arrow))) => known,
            (2, _) if ends[0].line == ends[1].line => Topology::State,
            (2, _) => Topology::Arrow,
            _ => {
                losses.add("drawable with more than two vertices", 1);
                return Ok(());
            }
        };
        put(&trace_model::Drawable {
            topology,
            category: primitive.category,
            info: primitive.info,
            vertices: &ends[..count],
        })
    }
}

/// Findings of a first look at all nodes.
#[derive(Debug)]
struct NodeSurvey {
    /// Whether the nodes can be merged level by level.
    ordered: bool,
    composites: u64,
    /// The lines that drawables are on.
    lines: HashSet<i32>,
}

impl NodeSurvey {
    fn of(reader: &Slog2Reader<'_>) -> Result<Self, Slog2Error> {
        let directory = reader.whole_directory()?;
        let levels = directory.levels(reader.children());
        let mut survey = NodeSurvey {
            ordered: levels.is_ok(),
            composites: 0,
            lines: HashSet::default(),
        };
        for level in levels.unwrap_or_else(|_| vec![directory]) {
            survey.look_at(reader, level)?;
        }
        Ok(survey)
    }

    /// Looks at the nodes of a level as [`LevelMerge`] takes it, whatever depths a damaged directory has in the middle of it.
    fn look_at(
        &mut self,
        reader: &Slog2Reader<'_>,
        level: NodeDirectory<'_>,
    ) -> Result<(), Slog2Error> {
        let mut left = f64::NEG_INFINITY;
        // Neighbours are mostly on the same line, or on those of the drawable before.
        let mut last = None;
        for entry in level {
            let begins = Key::before(entry);
            if left.total_cmp(&begins.start).is_gt() {
                self.ordered = false;
            }
            left = begins.start;
            let mut lists = Some(PendingDrawables::nestless(reader, entry)?);
            while let Some(mut list) = lists.take() {
                let mut previous = begins;
                let mut is_ordered = true;
                let mut look_at = |bounds: TimeBBox, ends: [i32; 2]| {
                    let next = Key::of(bounds);
                    is_ordered &= previous.cmp(&next).is_le();
                    previous = next;
                    if Some(ends) != last {
                        last = Some(ends);
                        self.lines.extend(ends);
                    }
                };
                loop {
                    list.for_plain(|plain| {
                        look_at(plain.bounds(), [plain.first.line, plain.last.line]);
                        true
                    });
                    let Some(drawable) = list.next()? else {
                        break;
                    };
                    self.composites += u64::from(matches!(drawable, NodeDrawable::Composite(_)));
                    for primitive in drawable.primitives() {
                        let ends = [primitive.first().line, primitive.last().line];
                        look_at(drawable.bounds(), ends);
                    }
                }
                self.ordered &= is_ordered;
                lists = list.behind()?;
            }
        }
        Ok(())
    }
}

/// Drawables that were not handed on yet.
#[derive(Clone)]
enum PendingDrawables<'a> {
    /// Drawables of a node: this many from here on.
    InFile {
        part: Slog2Cursor<'a>,
        left: usize,
        what: &'static str,
    },
    /// Primitives of a composite.
    Composite(std::vec::IntoIter<Primitive<'a>>),
}

impl<'a> PendingDrawables<'a> {
    /// The arrows and events of a node.
    fn nestless(reader: &Slog2Reader<'a>, entry: DirEntry) -> Result<Self, Slog2Error> {
        let mut part = reader.part(entry.ptr, "tree node")?;
        Stub::read(&mut part)?;
        PendingDrawables::begin(part, "nestless drawables")
    }

    fn begin(mut part: Slog2Cursor<'a>, what: &'static str) -> Result<Self, Slog2Error> {
        let left = part.count(NodeDrawable::LEAST_SIZE, what)?;
        Ok(PendingDrawables::InFile { part, left, what })
    }

    /// Passes over what is left.
    fn skip(&mut self) -> Result<(), Slog2Error> {
        loop {
            self.for_plain(|_| true);
            if self.next()?.is_none() {
                return Ok(());
            }
        }
    }

    /// The list that stands behind this one, of which all was read: the states behind the arrows and events.
    fn behind(self) -> Result<Option<Self>, Slog2Error> {
        match self {
            PendingDrawables::InFile {
                part,
                what: "nestless drawables",
                ..
            } => PendingDrawables::begin(part, "nestable drawables").map(Some),
            _ => Ok(None),
        }
    }

    fn of_composite(mut primitives: Vec<Primitive<'a>>) -> Self {
        primitives.sort_by(|a, b| Key::of(a.bounds).cmp(&Key::of(b.bounds)));
        PendingDrawables::Composite(primitives.into_iter())
    }

    /// Looks at what is plain up to the first that is not, as [`NodeScan::for_plain`](super::NodeScan::for_plain) does.
    #[inline]
    fn for_plain(&mut self, take: impl FnMut(&PlainDrawable<'a>) -> bool) {
        if let PendingDrawables::InFile { part, left, .. } = self {
            scan::for_plain(part, left, take);
        }
    }

    #[inline]
    fn next(&mut self) -> Result<Option<NodeDrawable<'a>>, Slog2Error> {
        match self {
            PendingDrawables::InFile { left: 0, .. } => Ok(None),
            PendingDrawables::InFile { part, left, .. } => {
                *left -= 1;
                NodeDrawable::read(part).map(Some)
            }
            PendingDrawables::Composite(primitives) => {
                Ok(primitives.next().map(NodeDrawable::Primitive))
            }
        }
    }
}

/// One node of each level, merged with those of the other levels.
struct LevelMerge<'r, 'a> {
    reader: &'r Slog2Reader<'a>,
    /// By level from the root: the node that begins next, and those behind it.
    levels: Vec<(Option<DirEntry>, NodeDirectoryEntries<'a>)>,
    streams: Vec<ListStream<'a>>,
    /// Streams at their end, whose places are used again.
    free: Vec<usize>,
    heads: BinaryHeap<Reverse<ListHead>>,
}

struct ListStream<'a> {
    at_hand: Option<NodeDrawable<'a>>,
    rest: PendingDrawables<'a>,
}

/// Next drawable of a list, with its key.
#[derive(Clone, Copy, Debug)]
struct ListHead {
    key: Key,
    what: StreamKind,
}

/// Order of drawables at the same time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum StreamKind {
    /// A node of this level begins.
    Node(usize),
    /// The drawable at hand of this stream.
    Drawable(usize),
}

impl Ord for ListHead {
    fn cmp(&self, other: &Self) -> Ordering {
        self.key.cmp(&other.key).then(self.what.cmp(&other.what))
    }
}

impl PartialOrd for ListHead {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for ListHead {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for ListHead {}

impl<'r, 'a> LevelMerge<'r, 'a> {
    fn new(reader: &'r Slog2Reader<'a>) -> Result<Self, Slog2Error> {
        let mut merge = LevelMerge {
            reader,
            levels: Vec::new(),
            streams: Vec::new(),
            free: Vec::new(),
            heads: BinaryHeap::new(),
        };
        for level in reader.directory().levels(reader.children())? {
            let mut nodes = level.iter();
            let first = nodes.next();
            if let Some(first) = first {
                let (key, what) = (Key::before(first), StreamKind::Node(merge.levels.len()));
                merge.heads.push(Reverse(ListHead { key, what }));
            }
            merge.levels.push((first, nodes));
        }
        Ok(merge)
    }

    fn next(&mut self) -> Result<Option<Primitive<'a>>, Slog2Error> {
        loop {
            let (node, drawable) = {
                let Some(mut top) = self.heads.peek_mut() else {
                    return Ok(None);
                };
                match top.0.what {
                    StreamKind::Node(level) => {
                        let (next, behind) = &mut self.levels[level];
                        let node = std::mem::replace(next, behind.next());
                        match next {
                            Some(next) => top.0.key = Key::before(*next),
                            None => drop(PeekMut::pop(top)),
                        }
                        (node, None)
                    }
                    StreamKind::Drawable(nth) => {
                        let ListStream { at_hand, rest } = &mut self.streams[nth];
                        let drawable = std::mem::replace(at_hand, rest.next()?);
                        match at_hand {
                            Some(next) => top.0.key = Key::of(next.bounds()),
                            None => {
                                PeekMut::pop(top);
                                self.free.push(nth);
                            }
                        }
                        (None, drawable)
                    }
                }
            };
            if let Some(node) = node {
                let nestless = PendingDrawables::nestless(self.reader, node)?;
                let mut skipped = nestless.clone();
                skipped.skip()?;
                self.begin(nestless)?;
                if let Some(nestable) = skipped.behind()? {
                    self.begin(nestable)?;
                }
            }
            match drawable {
                Some(NodeDrawable::Primitive(primitive)) => return Ok(Some(primitive)),
                Some(NodeDrawable::Composite(composite)) => {
                    self.begin(PendingDrawables::of_composite(composite.primitives))?;
                }
                None => {}
            }
        }
    }

    /// Adds a list to those that are merged.
    fn begin(&mut self, mut rest: PendingDrawables<'a>) -> Result<(), Slog2Error> {
        let Some(first) = rest.next()? else {
            return Ok(());
        };
        let key = Key::of(first.bounds());
        let at_hand = Some(first);
        let stream = ListStream { at_hand, rest };
        let nth = match self.free.pop() {
            Some(nth) => {
                self.streams[nth] = stream;
                nth
            }
            None => {
                self.streams.push(stream);
                self.streams.len() - 1
            }
        };
        let what = StreamKind::Drawable(nth);
        self.heads.push(Reverse(ListHead { key, what }));
        Ok(())
    }
}
