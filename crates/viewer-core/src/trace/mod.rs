//! A trace as the viewer sees it: its kinds of drawables, its lines, and numbers for both that leave no gaps.
//!
//! Everything that answers questions about a trace counts kinds and lines by these numbers, so that tables can be arrays.
//! What a file's drawables name without the file defining it is found in the root, whose previews stand for all of them.

use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use trace_formats::slog2::{
    Category, Color, Depth, NodeDrawable, NodeShadow, PREVIEW_ARROW, PREVIEW_EVENT, PREVIEW_STATE,
    PlainDrawable, Primitive, Slog2Error, Slog2Layout, Slog2Reader, TimeBBox, Topology, Visit,
};
use trace_model::{Actor, Definitions, InfoValue, Line, NumberMap, info_values, lane_of, message};

use crate::base::color::Rgb;
use crate::base::text::visible;
use crate::base::window::{EMPTY, with_length};
use class::{ActivityClass, ClassFinder};
use class_colors::ThemeColors;
use info::{callid, is_bytes, is_callid};
use line_subject::subject_of;
use names::TraceNames;

pub mod class;
pub mod class_colors;
pub(crate) mod collective;
pub(crate) mod info;
pub(crate) mod line_subject;
pub mod names;
pub(crate) mod nearby;
pub mod reference;
pub mod scan;
pub mod states;
pub mod waits;

/// Most kinds that are kept apart: cells name them by 16 bits, and the last three are for categories without a definition.
const MAX_KINDS: usize = 65_000;
/// Most lines without a definition that are kept apart.
const MAX_UNDEFINED_LINES: usize = 1 << 14;

/// A kind of drawables: a category of the file, or one of three for what has none.
#[derive(Clone, Debug)]
pub struct DrawableKind {
    /// Definition of the category.
    pub category: Category,
    /// Name of the kind, safe to show.
    pub name: String,
    /// Activity that it stands for.
    pub class: ActivityClass,
    /// Colours by class.
    pub colors: ThemeColors,
    /// Drawables of it in the whole file, if the file tells.
    pub count: Option<u64>,
    /// Position of the CallID among the info values.
    pub callid: Option<usize>,
    /// Position of the number of bytes of a message or an access among the info values.
    pub bytes: Option<usize>,
}

impl DrawableKind {
    /// Colour of the category.
    pub fn color(&self) -> Rgb {
        self.category.color.into()
    }

    /// Whether drawables of it are calls of MPI-IO that say which call they are.
    pub(crate) fn is_file_call(&self) -> bool {
        self.class == ActivityClass::Io
            && self.category.topology == Topology::State
            && self.callid.is_some()
    }

    /// The CallID, given the values of a drawable of this kind.
    pub(crate) fn callid_of(&self, info: &[u8]) -> Option<u64> {
        let (key, value) = info_values(&self.category, info).nth(self.callid?)?;
        callid(&key.to_str(), value)
    }

    /// Bytes of a message or an access, given the values of a drawable of this kind.
    pub(crate) fn bytes_of(&self, info: &[u8]) -> Option<u64> {
        if self.category.topology == Topology::Arrow
            && let Some(message) = message(&self.category, info)
        {
            return u64::try_from(message.size).ok();
        }
        match info_values(&self.category, info).nth(self.bytes?)? {
            (_, InfoValue::Integer(bytes)) => u64::try_from(bytes).ok(),
            _ => None,
        }
    }
}

/// A timeline of the file.
#[derive(Clone, Debug)]
pub struct TraceLine {
    /// Definition of the line; drawables name it by [`Line::id`].
    pub line: Line,
    /// Whether the file defines it.
    pub is_defined: bool,
    /// Number of the lane, from 0. Lines that differ only in their communicator share a lane: a thread does one thing at a time, so states nest
    /// across them. Lanes are numbered from 0.
    pub lane: u32,
}

/// An open trace.
#[derive(Clone, Debug)]
pub struct OpenTrace<'a> {
    reader: Slog2Reader<'a>,
    bounds: TimeBBox,
    kinds: Vec<DrawableKind>,
    /// Topology of each kind, side by side: it is looked up for each drawable.
    topologies: Vec<Topology>,
    kind_of: NumberMap<u32>,
    /// Kinds of events, states and arrows without a category, if there are such.
    undefined: Option<u32>,
    lines: Vec<TraceLine>,
    line_of: NumberMap<u32>,
    given_names: Option<TraceNames>,
}

/// A drawable as the viewer has it: kind and lines by number, times in order.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TraceItem<'a> {
    /// Number of the kind.
    pub kind: u32,
    /// Topology: state, event or arrow.
    pub topology: Topology,
    /// Line of the first vertex.
    pub line: u32,
    /// Line of the last one.
    pub to_line: u32,
    /// Seconds; of an arrow the time of the send, which may be behind that of the receive.
    pub start: f64,
    /// Seconds.
    pub end: f64,
    /// Values, laid out as the category says.
    pub info: &'a [u8],
}

impl<'a> OpenTrace<'a> {
    /// Index of the made-up categories of drawables whose category the trace does not define.
    pub const UNDEFINED_INDEX: i32 = i32::MAX;

    /// Opens a trace: definitions and root are read.
    ///
    /// # Errors
    /// The file is no SLOG2 file or is damaged.
    pub fn new(file: &'a [u8]) -> Result<Self, Slog2Error> {
        OpenTrace::of(Slog2Reader::new(file)?)
    }

    /// Opens a trace whose file is already read.
    ///
    /// # Errors
    /// The root of the tree is damaged.
    pub fn of(reader: Slog2Reader<'a>) -> Result<Self, Slog2Error> {
        let classes = ClassFinder::new();
        let has_counts = reader.layout() == Slog2Layout::V206;
        let mut kinds: Vec<DrawableKind> = Vec::new();
        let mut numbers: HashMap<i32, u32> = HashMap::new();
        for category in reader.categories().iter().filter(|c| c.index >= 0) {
            if kinds.len() < MAX_KINDS && !numbers.contains_key(&category.index) {
                numbers.insert(category.index, kinds.len() as u32);
                kinds.push(DrawableKind {
                    name: name_of_kind(category),
                    class: classes.of(category),
                    colors: ThemeColors::default(),
                    callid: (category.info_keys.iter())
                        .position(|key| std::str::from_utf8(&key.0).is_ok_and(is_callid)),
                    bytes: (category.info_keys.iter().zip(&category.info_types))
                        .position(|(key, kind)| b"hdl".contains(kind) && is_bytes(&key.to_str())),
                    count: has_counts.then(|| u64::try_from(category.summary.count).unwrap_or(0)),
                    category: category.clone(),
                });
            }
        }
        let mut lines = reader.lines();
        let mut named = RootNames::default();
        if let Some(root) = reader.root() {
            reader.visit_window(root.bounds, Depth::Lowest(root.id.depth), &mut named)?;
        }
        let undefined = named.categories.iter().any(|c| !numbers.contains_key(c));
        let undefined = undefined.then(|| {
            kinds.extend(UNDEFINED.map(undefined_kind));
            kinds.len() as u32 - UNDEFINED.len() as u32
        });
        color_by_class(&mut kinds);
        let defined: Vec<i32> = lines.keys().copied().collect();
        for &line in &named.lines {
            if lines.len() < defined.len() + MAX_UNDEFINED_LINES {
                lines.entry(line).or_insert_with(|| Line {
                    name: Some(format!("line {line}")),
                    ..Line::of_thread(line, line, 0)
                });
            }
        }
        let mut lanes = BTreeMap::new();
        let lines: Vec<TraceLine> = lines
            .into_iter()
            .map(|(id, line)| {
                let next = lanes.len() as u32;
                TraceLine {
                    is_defined: defined.binary_search(&id).is_ok(),
                    lane: *lanes.entry(subject_of(&line)).or_insert(next),
                    line,
                }
            })
            .collect();
        let line_of = (0u32..).zip(&lines).map(|(nth, l)| (l.line.id, nth));
        let bounds = reader.root().map_or(EMPTY, |root| root.bounds);
        Ok(OpenTrace {
            bounds: with_length(bounds),
            kind_of: numbers.into_iter().collect(),
            line_of: line_of.collect(),
            undefined,
            topologies: kinds.iter().map(|kind| kind.category.topology).collect(),
            kinds,
            lines,
            reader,
            given_names: None,
        })
    }

    /// The trace with the names that the whole tells of which it is a part; without them, it is looked through for those that it tells itself.
    #[must_use]
    pub fn with_names(self, given_names: Option<TraceNames>) -> Self {
        OpenTrace {
            given_names,
            ..self
        }
    }

    /// The names that the trace was given.
    pub fn given_names(&self) -> Option<&TraceNames> {
        self.given_names.as_ref()
    }

    /// The file.
    pub fn reader(&self) -> &Slog2Reader<'a> {
        &self.reader
    }

    /// From the first start to the last end; never without length.
    pub fn bounds(&self) -> TimeBBox {
        self.bounds
    }

    /// The kinds, by number.
    pub fn kinds(&self) -> &[DrawableKind] {
        &self.kinds
    }

    /// Topology of drawables of a kind.
    #[inline]
    pub fn topology(&self, kind: u32) -> Topology {
        self.topologies[kind as usize]
    }

    /// The lines, by number; ascending by id.
    pub fn lines(&self) -> &[TraceLine] {
        &self.lines
    }

    /// Categories and lines, the lines by id.
    pub fn definitions(&self) -> Definitions {
        let kinds = self.kinds.iter();
        Definitions {
            categories: kinds.map(|kind| kind.category.clone()).collect(),
            lines: self.lines.iter().map(|line| line.line.clone()).collect(),
            ..Definitions::default()
        }
    }

    /// Number of lanes.
    pub fn lanes(&self) -> usize {
        let last = self.lines.iter().map(|line| line.lane).max();
        last.map_or(0, |lane| lane as usize + 1)
    }

    /// By lane that of the thread of a rank which it belongs to: its own, or for transfers beside a thread that of the thread. `None` for servers
    /// and devices.
    pub fn rank_threads(&self) -> Vec<Option<u32>> {
        let place = |line: &TraceLine| {
            let lane = lane_of(&line.line);
            let is_rank = matches!(lane.actor, Actor::Rank(_));
            is_rank.then_some(((line.line.rank, lane.thread), lane.lane))
        };
        let mut own = HashMap::new();
        for line in &self.lines {
            if let Some((thread, 0)) = place(line) {
                own.entry(thread).or_insert(line.lane);
            }
        }
        let mut threads = vec![None; self.lanes()];
        for line in &self.lines {
            if let Some((thread, beside)) = place(line) {
                let of_thread = match beside {
                    0 => line.lane,
                    _ => *own.entry(thread).or_insert(line.lane),
                };
                threads[line.lane as usize] = Some(of_thread);
            }
        }
        threads
    }

    /// The number of the line of this id.
    #[inline]
    pub fn line(&self, id: i32) -> Option<u32> {
        self.line_of.get(id).copied()
    }

    /// The number of the kind of the category of this index.
    #[inline]
    pub fn kind(&self, category: i32) -> Option<u32> {
        self.kind_of.get(category).copied()
    }

    /// The number of the kind of what is of this category, which may not be defined.
    pub fn kind_or_undefined(&self, category: i32, topology: Topology) -> Option<u32> {
        let known = self.kind(category);
        known.or_else(|| Some(self.undefined? + topology.number().unsigned_abs()))
    }

    /// Drawables of the whole file, if it tells.
    pub fn drawables(&self) -> Option<u64> {
        let counts = self.kinds.iter().map(|kind| kind.count);
        counts.sum::<Option<u64>>()
    }

    /// A primitive in these terms. `None` for what can be placed nowhere: times that are no numbers, lines and categories
    /// that neither definitions nor root name.
    pub fn item(&self, primitive: &Primitive<'a>) -> Option<TraceItem<'a>> {
        self.locate(&PlainDrawable::of(primitive))
    }

    /// A drawable found by a [`trace_formats::slog2::NodeScan`], in these terms. `None` as for [`OpenTrace::item`].
    #[inline]
    pub fn locate(&self, plain: &PlainDrawable<'a>) -> Option<TraceItem<'a>> {
        let PlainDrawable {
            category,
            info,
            first,
            last,
            vertices,
        } = *plain;
        let known = self.kind(category);
        let topology = match (vertices, known.map(|kind| self.topology(kind))) {
            (1, _) => Topology::Event,
            (_, Some(defined @ (Topology::State | Topology::Arrow))) => defined,
            _ if first.line == last.line => Topology::State,
            _ => Topology::Arrow,
        };
        if !(first.time.is_finite() && last.time.is_finite()) {
            return None;
        }
        let line = self.line(first.line)?;
        let (to_line, [start, end]) = match topology {
            Topology::Arrow => (self.line(last.line)?, [first.time, last.time]),
            _ if first.time <= last.time => (line, [first.time, last.time]),
            _ => (line, [last.time, first.time]),
        };
        Some(TraceItem {
            kind: match known {
                Some(kind) => kind,
                None => self.kind_or_undefined(category, topology)?,
            },
            topology,
            line,
            to_line,
            start,
            end,
            info,
        })
    }
}

/// Topology of a drawable, as answers name it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub enum TopologyName {
    /// A point in time.
    Event,
    /// A stretch of time on one line.
    State,
    /// From one line and time to another.
    Arrow,
}

impl From<Topology> for TopologyName {
    fn from(topology: Topology) -> Self {
        match topology {
            Topology::Event => TopologyName::Event,
            Topology::State => TopologyName::State,
            Topology::Arrow => TopologyName::Arrow,
        }
    }
}

impl std::fmt::Display for TopologyName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            TopologyName::Event => "event",
            TopologyName::State => "state",
            TopologyName::Arrow => "arrow",
        })
    }
}

/// In the order of the numbers of topologies.
const UNDEFINED: [(Topology, &str); 3] = [
    (Topology::Event, "undefined event"),
    (Topology::State, "undefined state"),
    (Topology::Arrow, "undefined arrow"),
];

/// The name of a category, safe to show.
pub(crate) fn name_of_kind(category: &Category) -> String {
    match category.name.is_empty() {
        true => format!("category {}", category.index),
        false => visible(&category.name.to_str()),
    }
}

/// Gives kinds their colours by class, which the names of all of them decide.
fn color_by_class(kinds: &mut [DrawableKind]) {
    let named: Vec<_> = kinds
        .iter()
        .map(|kind| (kind.name.as_str(), kind.class))
        .collect();
    let colors = class_colors::by_class(&named);
    kinds
        .iter_mut()
        .zip(colors)
        .for_each(|(kind, colors)| kind.colors = colors);
}

fn undefined_kind((topology, name): (Topology, &str)) -> DrawableKind {
    DrawableKind {
        category: Category::new(
            OpenTrace::UNDEFINED_INDEX,
            name.into(),
            topology,
            Color::PINK,
        ),
        name: name.to_owned(),
        class: ActivityClass::Other,
        colors: ThemeColors::default(),
        count: None,
        callid: None,
        bytes: None,
    }
}

/// The categories and lines that the root's drawables and previews name.
#[derive(Default)]
struct RootNames {
    categories: BTreeSet<i32>,
    lines: BTreeSet<i32>,
    last: [Option<i32>; 2],
}

impl RootNames {
    /// Bounds what a damaged file can make of this.
    const MAX_NAMES: usize = 1 << 20;

    fn line(&mut self, line: i32) {
        if self.last[0] != Some(line) && self.lines.len() < Self::MAX_NAMES {
            self.last[0] = Some(line);
            self.lines.insert(line);
        }
    }

    fn category(&mut self, category: i32) {
        if self.last[1] != Some(category) && self.categories.len() < Self::MAX_NAMES {
            self.last[1] = Some(category);
            self.categories.insert(category);
        }
    }

    fn primitive(&mut self, primitive: &Primitive<'_>) {
        self.category(primitive.category);
        self.line(primitive.first().line);
        self.line(primitive.last().line);
    }
}

impl<'a> Visit<'a> for RootNames {
    fn drawable(&mut self, drawable: NodeDrawable<'a>) {
        let primitives = drawable.primitives().iter();
        primitives.for_each(|primitive| self.primitive(primitive));
    }

    fn shadow(&mut self, shadow: NodeShadow<'a>) {
        let previews = [PREVIEW_EVENT, PREVIEW_ARROW, PREVIEW_STATE];
        if previews.contains(&shadow.primitive.category) {
            self.line(shadow.primitive.first().line);
            self.line(shadow.primitive.last().line);
            shadow
                .weights()
                .for_each(|weight| self.category(weight.category));
        }
    }
}
