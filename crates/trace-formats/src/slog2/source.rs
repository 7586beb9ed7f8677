//! An SLOG2 file as a source of drawables, by start time, in memory that does not grow with the file.
//!
//! [`super::print()`] lists drawables as the original does and loses what starts at the very end of the log; here nothing is
//! lost. All nodes of a level are sorted in themselves and by their beginnings, so one node of each level is merged with
//! those of the other levels. A first look at the whole file finds out whether that holds; if not (files of other
//! programs), drawables come in the order of the file.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;
use std::sync::Arc;

use super::cursor::Slog2Cursor;
use super::directory::{NodeDirectory, NodeDirectoryEntries};
use super::error::Slog2Error;
use super::node::{NodeDrawable, Primitive, Stub};
use super::ordered::Key;
use super::read::Slog2Reader;
use super::scan::{self, PlainDrawable};
use super::start_range::StartRange;
use super::types::DirEntry;
use super::views;
use trace_model::{Category, NumberMap, TimeBBox, Topology, Vertex};
use trace_model::{Definitions, Drawable, DrawableOrder, Losses, Stop};

type HashSet<K> = std::collections::HashSet<K, foldhash::fast::RandomState>;

/// An SLOG2 file that can be read as drawables. Composites are given as their primitives.
#[derive(Debug)]
pub struct Slog2Source<'a> {
    reader: Slog2Reader<'a>,
    definitions: Definitions,
    primitives: InModel,
    survey: Arc<NodeSurvey>,
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
        let survey = Arc::new(NodeSurvey::of(&reader)?);
        Ok(Slog2Source::surveyed(reader, survey))
    }

    /// Source of a file whose nodes have been looked at before: it is not read again for that.
    pub fn surveyed(reader: Slog2Reader<'a>, survey: Arc<NodeSurvey>) -> Self {
        let mut definitions = reader.definitions();
        let unnamed = survey.unnamed.iter().copied();
        definitions.lines.extend(unnamed.map(views::unnamed));
        definitions.lines.sort_by_key(|line| line.id);
        Slog2Source {
            primitives: InModel::new(&definitions.categories),
            definitions,
            survey,
            reader,
        }
    }

    /// The file.
    pub fn reader(&self) -> &Slog2Reader<'a> {
        &self.reader
    }

    /// Gives the drawables of a topology that begin in a range to `put`, by start, and perhaps others that begin there; without a topology, all of them. Only of
    /// a file of which [`NodeSurvey::is_divisible`] says that ranges can be read alone.
    ///
    /// # Errors
    /// The errors of `put`; the file is damaged.
    pub fn for_each_begun_in(
        &self,
        range: StartRange,
        topology: Option<Topology>,
        put: &mut dyn FnMut(&Drawable<'_>) -> Result<(), Stop>,
    ) -> Result<Losses, Stop> {
        let mut losses = Losses::default();
        let lists = self.lists(topology);
        LevelMerge::new(&self.reader, lists, range.within(TimeBBox::EVER))?.for_each(|plain| {
            match range.holds(plain.bounds().earliest) {
                true => self.primitives.put_plain(plain, &mut losses, &mut *put),
                false => Ok(()),
            }
        })?;
        Ok(losses)
    }

    /// The lists of nodes that have the drawables of a topology.
    fn lists(&self, topology: Option<Topology>) -> NodeLists {
        match topology.filter(|_| self.survey.apart) {
            None => NodeLists::All,
            Some(Topology::State) => NodeLists::Nestable,
            Some(Topology::Arrow | Topology::Event) => NodeLists::Nestless,
        }
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
        put: &mut dyn FnMut(&Drawable<'_>) -> Result<(), Stop>,
    ) -> Result<Losses, Stop> {
        let mut losses = Losses::default();
        let composites = self.survey.composites;
        losses.add("composite, given as its primitives", composites);
        if self.survey.ordered {
            LevelMerge::new(&self.reader, NodeLists::All, TimeBBox::EVER)?
                .for_each(|plain| self.primitives.put_plain(plain, &mut losses, &mut *put))?;
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

    fn for_each_of(
        &self,
        topology: Topology,
        put: &mut dyn FnMut(&Drawable<'_>) -> Result<(), Stop>,
    ) -> Result<Losses, Stop> {
        let mut put = self.definitions.only(topology, put);
        if !(self.survey.ordered && self.survey.apart) {
            return self.for_each(&mut put);
        }
        let mut losses = Losses::default();
        LevelMerge::new(&self.reader, self.lists(Some(topology)), TimeBBox::EVER)?
            .for_each(|plain| self.primitives.put_plain(plain, &mut losses, &mut put))?;
        Ok(losses)
    }
}

/// Primitives as drawables of all formats, whose look only their category tells.
#[derive(Clone, Debug)]
pub struct InModel(NumberMap<Topology>);

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
        put: impl FnOnce(&Drawable<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        self.put_plain(&PlainDrawable::of(primitive), losses, put)
    }

    /// Gives the drawable that a decoded primitive is, or counts it as lost.
    ///
    /// # Errors
    /// The errors of `put`.
    #[inline]
    fn put_plain<E>(
        &self,
        primitive: &PlainDrawable<'_>,
        losses: &mut Losses,
        put: impl FnOnce(&Drawable<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        let known = self.0.get(primitive.category).copied();
        let ends = [primitive.first, primitive.last];
        let (topology, vertices) = match (primitive.vertices, known) {
            (1, _) => (Topology::Event, &ends[..1]),
            (2, Some(known @ (Topology::State | Topology::Arrow))) => (known, &ends[..]),
            (2, _) if ends[0].line == ends[1].line => (Topology::State, &ends[..]),
            (2, _) => (Topology::Arrow, &ends[..]),
            _ => {
                losses.add("drawable with more than two vertices", 1);
                return Ok(());
            }
        };
        put(&Drawable {
            topology,
            category: primitive.category,
            info: primitive.info,
            vertices,
        })
    }
}

/// Findings of a first look at all nodes of a file.
#[derive(Debug)]
pub struct NodeSurvey {
    /// Whether the nodes can be merged level by level.
    ordered: bool,
    /// Whether all that is of a category of states is in the lists of nestable drawables, and nothing that is of another.
    apart: bool,
    /// Whether the drawables that begin in a stretch of time are in the nodes that overlap it, which of each level follow each other.
    divisible: bool,
    /// Whether each state begins at its first vertex.
    forward: bool,
    composites: u64,
    /// The lines that drawables are on and that no view names.
    unnamed: HashSet<i32>,
}

impl NodeSurvey {
    /// Looks at all nodes of a file.
    ///
    /// # Errors
    /// The file is damaged, wherever.
    pub fn of(reader: &Slog2Reader<'_>) -> Result<Self, Slog2Error> {
        let definitions = reader.definitions();
        let categories = InModel::new(&definitions.categories);
        let named = definitions.lines.iter().map(|line| (line.id, ())).collect();
        let directory = reader.whole_directory()?;
        let levels = directory.levels(reader.children());
        let mut survey = NodeSurvey {
            ordered: levels.is_ok(),
            apart: true,
            divisible: true,
            forward: true,
            composites: 0,
            unnamed: HashSet::default(),
        };
        for level in levels.unwrap_or_else(|_| vec![directory]) {
            survey.look_at(reader, (&categories, &named), level)?;
        }
        // What belongs together in one may be of both.
        survey.apart &= survey.composites == 0;
        survey.divisible &= survey.ordered && survey.composites == 0;
        Ok(survey)
    }

    /// Whether ranges of begins can be read alone, as [`Slog2Source::for_each_begun_in`] does: nodes are in order and enclose what is in them, and nothing is
    /// composite.
    pub fn is_divisible(&self) -> bool {
        self.divisible
    }

    /// Whether states come in order of their first vertices, and events, too, where drawables are read by start.
    pub fn is_by_first_vertex(&self) -> bool {
        self.ordered && self.apart && self.forward
    }

    /// Looks at the nodes of a level as [`LevelMerge`] takes it, whatever depths a damaged directory has in the middle of it. `named` are the lines
    /// that views name.
    fn look_at(
        &mut self,
        reader: &Slog2Reader<'_>,
        (categories, named): (&InModel, &NumberMap<()>),
        level: NodeDirectory<'_>,
    ) -> Result<(), Slog2Error> {
        let (mut left, mut right) = (f64::NEG_INFINITY, f64::NEG_INFINITY);
        // Neighbours are mostly of the same line and category, or of those of the drawable before.
        let mut last = None;
        for entry in level {
            let begins = Key::before(entry);
            if left.total_cmp(&begins.start).is_gt() {
                self.ordered = false;
            }
            left = begins.start;
            let ends = entry.bounds.latest;
            self.divisible &= right <= ends && begins.start <= ends;
            right = ends;
            let mut lists = Some(PendingDrawables::nestless(reader, entry)?);
            let mut has_states = false;
            while let Some(mut list) = lists.take() {
                let mut previous = begins;
                let mut is_ordered = true;
                let forward = &mut self.forward;
                let mut look_at = |bounds: TimeBBox, category: i32, ends: [Vertex; 2]| {
                    *forward &= !has_states || ends[0].time <= ends[1].time;
                    let ends = ends.map(|vertex| vertex.line);
                    let next = Key::of(bounds);
                    is_ordered &= previous.cmp(&next).is_le();
                    previous = next;
                    if Some((category, ends)) != last {
                        last = Some((category, ends));
                        let unnamed = ends.into_iter().filter(|&line| named.get(line).is_none());
                        self.unnamed.extend(unnamed);
                        let is_state = |&topology: &Topology| topology == Topology::State;
                        let is_apart = |topology| is_state(topology) == has_states;
                        self.apart &= categories.0.get(category).is_none_or(is_apart);
                    }
                };
                loop {
                    list.for_plain(|plain| {
                        let ends = [plain.first, plain.last];
                        look_at(plain.bounds(), plain.category, ends);
                        true
                    });
                    let Some(drawable) = list.next()? else {
                        break;
                    };
                    self.composites += u64::from(matches!(drawable, NodeDrawable::Composite(_)));
                    for primitive in drawable.primitives() {
                        let ends = [primitive.first(), primitive.last()];
                        look_at(drawable.bounds(), primitive.category, ends);
                    }
                }
                self.ordered &= is_ordered;
                self.divisible &= previous.start <= ends;
                lists = list.behind()?;
                last = None;
                has_states = true;
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

    /// The next one, with its place in the order.
    #[inline]
    fn advance(&mut self) -> Result<Option<(Key, AtHand<'a>)>, Slog2Error> {
        if let PendingDrawables::InFile { part, left, .. } = self
            && *left > 0
            && let Some((plain, size)) = scan::plain(part.rest())
        {
            part.skip(size);
            *left -= 1;
            return Ok(Some((Key::of(plain.bounds()), AtHand::Plain(plain))));
        }
        self.advance_slowly()
    }

    #[inline(never)]
    fn advance_slowly(&mut self) -> Result<Option<(Key, AtHand<'a>)>, Slog2Error> {
        let next = self.next()?;
        Ok(next.map(|drawable| {
            let key = Key::of(drawable.bounds());
            let at_hand = match drawable {
                NodeDrawable::Primitive(primitive) => AtHand::Plain(PlainDrawable::of(&primitive)),
                NodeDrawable::Composite(composite) => AtHand::Composite(composite.primitives),
            };
            (key, at_hand)
        }))
    }

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

/// The lists of each node that a merge reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum NodeLists {
    All,
    /// Arrows and events.
    Nestless,
    /// States.
    Nestable,
}

/// One node of each level, merged with those of the other levels.
struct LevelMerge<'r, 'a> {
    reader: &'r Slog2Reader<'a>,
    lists: NodeLists,
    /// By level from the root: the node that begins next, and those behind it.
    levels: Vec<(Option<DirEntry>, NodeDirectoryEntries<'a>)>,
    streams: Vec<ListStream<'a>>,
    /// Streams at their end, whose places are used again.
    free: Vec<usize>,
    heads: BinaryHeap<Reverse<ListHead>>,
}

struct ListStream<'a> {
    at_hand: AtHand<'a>,
    rest: PendingDrawables<'a>,
}

/// The next drawable of a list.
enum AtHand<'a> {
    Plain(PlainDrawable<'a>),
    /// The primitives of a composite.
    Composite(Vec<Primitive<'a>>),
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
    /// Of the nodes of each level those that overlap a window.
    fn new(
        reader: &'r Slog2Reader<'a>,
        lists: NodeLists,
        window: TimeBBox,
    ) -> Result<Self, Slog2Error> {
        let mut merge = LevelMerge {
            reader,
            lists,
            levels: Vec::new(),
            streams: Vec::new(),
            free: Vec::new(),
            heads: BinaryHeap::new(),
        };
        for level in reader.directory().levels(reader.children())? {
            let level = match window == TimeBBox::EVER {
                true => level,
                false => level.overlapping(window),
            };
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

    /// Gives all drawables to `put` in order.
    ///
    /// # Errors
    /// The errors of `put`; the file is damaged.
    fn for_each<E: From<Slog2Error>>(
        mut self,
        mut put: impl FnMut(&PlainDrawable<'a>) -> Result<(), E>,
    ) -> Result<(), E> {
        // What comes next is kept apart from the other heads: mostly, what comes after it is of the same list.
        let mut next = self.heads.pop();
        while let Some(Reverse(head)) = next {
            let key = match head.what {
                StreamKind::Node(level) => self.begin_node(level)?,
                StreamKind::Drawable(nth) => self.run(nth, &mut put)?,
            };
            let what = head.what;
            let after = key.map(|key| Reverse(ListHead { key, what }));
            next = match (after, self.heads.peek_mut()) {
                // The greater one of a heap of reversed heads comes first.
                (Some(after), Some(mut top)) if *top > after => {
                    Some(std::mem::replace(&mut *top, after))
                }
                (None, Some(top)) => Some(PeekMut::pop(top)),
                (after, _) => after,
            };
        }
        Ok(())
    }

    /// Gives drawables of a stream as long as they come before all other heads, and says the key of the next.
    fn run<E: From<Slog2Error>>(
        &mut self,
        nth: usize,
        put: &mut impl FnMut(&PlainDrawable<'a>) -> Result<(), E>,
    ) -> Result<Option<Key>, E> {
        let what = StreamKind::Drawable(nth);
        let limit = self.heads.peek().map(|limit| limit.0);
        loop {
            let ListStream { at_hand, rest } = &mut self.streams[nth];
            let primitives = match at_hand {
                AtHand::Plain(plain) => {
                    put(plain)?;
                    None
                }
                AtHand::Composite(primitives) => Some(std::mem::take(primitives)),
            };
            let key = match rest.advance()? {
                Some((key, next)) => {
                    *at_hand = next;
                    Some(key)
                }
                None => {
                    self.free.push(nth);
                    None
                }
            };
            if let Some(primitives) = primitives {
                self.begin(PendingDrawables::of_composite(primitives))?;
                return Ok(key);
            }
            match (key, limit) {
                (None, _) => return Ok(None),
                (Some(key), Some(limit)) if limit < (ListHead { key, what }) => {
                    return Ok(Some(key));
                }
                _ => {}
            }
        }
    }

    /// Begins the lists of the next node of a level, and says the key of the one after it.
    fn begin_node(&mut self, level: usize) -> Result<Option<Key>, Slog2Error> {
        let (next, behind) = &mut self.levels[level];
        let node = std::mem::replace(next, behind.next());
        let key = next.map(Key::before);
        let Some(node) = node else {
            return Ok(key);
        };
        let nestless = PendingDrawables::nestless(self.reader, node)?;
        let mut skipped = nestless.clone();
        if self.lists != NodeLists::Nestable {
            self.begin(nestless)?;
        }
        if self.lists != NodeLists::Nestless {
            skipped.skip()?;
            if let Some(nestable) = skipped.behind()? {
                self.begin(nestable)?;
            }
        }
        Ok(key)
    }

    /// Adds a list to those that are merged.
    fn begin(&mut self, mut rest: PendingDrawables<'a>) -> Result<(), Slog2Error> {
        let Some((key, at_hand)) = rest.advance()? else {
            return Ok(());
        };
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
