//! Content of a window: states, arrows, events and previews on the timelines of a picture, small enough that millions of
//! them can be held.

use std::collections::{HashMap, HashSet};
use trace_formats::slog2::{
    Category, Depth, NodeDrawable, NodeShadow, PREVIEW_ARROW, PREVIEW_EVENT, PREVIEW_STATE,
    Primitive, Reading, Slog2Error, Slog2Reader, TimeBBox, Topology, Vertex, Visit,
};
use trace_model::info_values;

use super::named::{NamedTimeline, NamedTimelines};
use crate::base::color::{Rgb, Theme};
use crate::base::text::visible;
use crate::base::window::with_length;
use crate::trace::class::ClassFinder;
use crate::trace::class_colors;
use crate::trace::info::value_after_key;
use crate::trace::name_of_kind;
use trace_model::glob::matches_ignoring_case;

/// Choice of the colours that categories have in a picture.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CategoryColors {
    /// Colours that the file gives its categories.
    #[default]
    File,
    /// Colours of the page, by class of calls, on this theme: the name decides, and colour-blind eyes tell classes apart.
    Class(Theme),
}

/// Options of reading the content of a window.
#[derive(Clone, Debug)]
pub struct ContentRequest {
    /// Names of categories, in which `*` stands for any text; none for all.
    pub categories: Vec<String>,
    /// Indices of categories that are left out, whatever their names.
    pub hidden: Vec<i32>,
    /// Whether drawables of categories that the trace does not define are left out.
    pub hides_undefined: bool,
    /// Bytes of the tree to read at most, which decides how deep previews are replaced by what they stand for.
    pub bytes: u64,
    /// Pixels of the whole picture's width: states that will be too narrow for a text come without their info.
    pub width: u32,
    /// Colours of the categories.
    pub colors: CategoryColors,
}

impl Default for ContentRequest {
    fn default() -> Self {
        ContentRequest {
            categories: Vec::new(),
            hidden: Vec::new(),
            hides_undefined: false,
            bytes: 32 << 20,
            width: 1600,
            colors: CategoryColors::File,
        }
    }
}

/// A category of the trace.
#[derive(Clone, Debug)]
pub struct DrawnKind {
    /// Definition of the category; made up for an index that the trace does not define.
    pub category: Category,
    /// Name of the category, safe to show.
    pub name: String,
    /// Colour of the category, before it is toned to be seen.
    pub color: Rgb,
}

/// A state.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DrawnState {
    /// Position of its timeline.
    pub timeline: u32,
    /// Position of its kind.
    pub kind: u32,
    /// Seconds.
    pub start: f64,
    /// Seconds.
    pub end: f64,
    /// Place and length of its info in the content's, if it is wide enough to be shown.
    info: Option<(usize, u16)>,
}

/// An arrow between two timelines of the picture.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DrawnArrow {
    /// Position of its kind.
    pub kind: u32,
    /// Timeline and time of its beginning.
    pub from: (u32, f64),
    /// Timeline and time of its head, which may be earlier if clocks were apart.
    pub to: (u32, f64),
}

/// An event.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DrawnEvent {
    /// Position of its timeline.
    pub timeline: u32,
    /// Position of its kind.
    pub kind: u32,
    /// Seconds.
    pub time: f64,
}

/// States of a timeline that were not read one by one.
#[derive(Clone, Debug, PartialEq)]
pub struct DrawnPreview {
    /// Position of the timeline.
    pub timeline: u32,
    /// Seconds.
    pub start: f64,
    /// Seconds.
    pub end: f64,
    /// Share of the time of each kind, without nested states; the sum is at most 1.
    pub shares: Vec<(u32, f64)>,
}

impl CategoryColors {
    /// The colours of all categories of a trace.
    fn of(self, categories: &[&Category]) -> Vec<Rgb> {
        let CategoryColors::Class(theme) = self else {
            return categories.iter().map(|c| c.color.into()).collect();
        };
        let finder = ClassFinder::new();
        let named = |c: &&Category| (name_of_kind(c), finder.of(c));
        let named: Vec<_> = categories.iter().map(named).collect();
        let named: Vec<_> = named
            .iter()
            .map(|(name, class)| (name.as_str(), *class))
            .collect();
        let colors = class_colors::by_class(&named);
        colors.into_iter().map(|colors| colors.on(theme)).collect()
    }
}

/// Number and time of the drawables of a kind in the window, on the timelines of the picture.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct KindTotal {
    /// Drawables.
    pub count: u64,
    /// Seconds of the window that they take, added up.
    pub seconds: f64,
    /// Whether some were counted from previews, of which only a part may lie in the window.
    pub is_estimate: bool,
}

/// Drawables and totals of a window, ready to be drawn.
#[derive(Clone, Debug)]
pub struct WindowContent {
    /// The window; never without length.
    pub window: TimeBBox,
    /// The timelines.
    pub timelines: NamedTimelines,
    /// The categories.
    pub kinds: Vec<DrawnKind>,
    /// Totals by kind.
    pub totals: Vec<KindTotal>,
    /// States by timeline, then by start, longer ones first.
    pub states: Vec<DrawnState>,
    /// Arrows in the order of the file.
    pub arrows: Vec<DrawnArrow>,
    /// Arrows that have only one end on a timeline of the picture.
    pub leaving: u64,
    /// Arrows of which only previews were read.
    pub previewed_arrows: u64,
    /// Events in the order of the file.
    pub events: Vec<DrawnEvent>,
    /// Previews by timeline, then by start.
    pub previews: Vec<DrawnPreview>,
    /// Amount of data read.
    pub reading: Reading,
    infos: Vec<u8>,
}

/// Pixels that a state must have for its info to be kept.
const MIN_INFO_PIXELS: f64 = 40.0;
/// Bytes of infos kept at most.
const MAX_INFO_BYTES: usize = 16 << 20;
/// Most indices of categories without a definition that are kept apart.
const MAX_UNKNOWN: usize = 1 << 10;

impl WindowContent {
    /// Reads what overlaps a window.
    ///
    /// # Errors
    /// The file is damaged.
    pub fn read(
        reader: &Slog2Reader<'_>,
        timelines: NamedTimelines,
        window: TimeBBox,
        wanted: &ContentRequest,
    ) -> Result<WindowContent, Slog2Error> {
        let mut content = WindowContent::empty(timelines, window);
        let mut kind_of = HashMap::new();
        let categories = reader.categories().iter().filter(|c| c.index >= 0);
        let categories: Vec<&Category> = categories.collect();
        let colors = wanted.colors.of(&categories);
        let hidden: HashSet<i32> = wanted.hidden.iter().copied().collect();
        for (category, color) in categories.into_iter().zip(colors) {
            let name = category.name.to_str();
            let patterns = &wanted.categories;
            let is_named =
                patterns.is_empty() || patterns.iter().any(|p| matches_ignoring_case(p, &name));
            let takes = is_named && !hidden.contains(&category.index);
            let kind = takes.then(|| content.add_kind(category.clone(), color));
            kind_of.entry(category.index).or_insert(kind);
        }
        let pixels = f64::from(wanted.width.max(1));
        let mut taker = ContentReader {
            least_for_info: content.window.duration() / pixels * MIN_INFO_PIXELS,
            takes_unknown: wanted.categories.is_empty() && !wanted.hides_undefined,
            content,
            kind_of,
        };
        let bounds = taker.content.window;
        let reading = reader.visit_window(bounds, Depth::Bytes(wanted.bytes), &mut taker)?;
        let mut content = taker.content;
        content.reading = reading;
        content.sort();
        Ok(content)
    }

    fn empty(timelines: NamedTimelines, window: TimeBBox) -> Self {
        WindowContent {
            window: with_length(window),
            timelines,
            kinds: Vec::new(),
            totals: Vec::new(),
            states: Vec::new(),
            arrows: Vec::new(),
            leaving: 0,
            previewed_arrows: 0,
            events: Vec::new(),
            previews: Vec::new(),
            reading: Reading::default(),
            infos: Vec::new(),
        }
    }

    fn add_kind(&mut self, category: Category, color: Rgb) -> u32 {
        let name = name_of_kind(&category);
        self.kinds.push(DrawnKind {
            category,
            name,
            color,
        });
        self.totals.push(KindTotal::default());
        self.kinds.len() as u32 - 1
    }

    fn sort(&mut self) {
        let end_first = |a: f64, b: f64| b.total_cmp(&a);
        self.states.sort_by(|a, b| {
            let start = a.start.total_cmp(&b.start);
            let order = a.timeline.cmp(&b.timeline).then(start);
            // A call comes before the operation in it that takes just as long: its category is older.
            order
                .then(end_first(a.end, b.end))
                .then(a.kind.cmp(&b.kind))
        });
        self.previews.sort_by(|a, b| {
            let order = a
                .timeline
                .cmp(&b.timeline)
                .then(a.start.total_cmp(&b.start));
            order.then(end_first(a.end, b.end))
        });
    }

    /// Gives the category of this index another name and colour than the trace does, as far as they are given.
    pub fn set_look(&mut self, index: i32, name: Option<&str>, color: Option<Rgb>) {
        for kind in &mut self.kinds {
            if kind.category.index == index {
                kind.name = name.map_or_else(|| kind.name.clone(), visible);
                kind.color = color.unwrap_or(kind.color);
            }
        }
    }

    /// The timelines of the picture.
    pub fn timelines(&self) -> &[NamedTimeline] {
        self.timelines.timelines()
    }

    /// Keys and values of the info of a state, such as `CallID=0x5`; nothing of one that is too narrow for a text.
    pub fn info(&self, state: &DrawnState) -> Vec<String> {
        let kind = self.kinds.get(state.kind as usize);
        let info = state
            .info
            .and_then(|(at, length)| self.infos.get(at..at + usize::from(length)));
        let (Some(kind), Some(info)) = (kind, info) else {
            return Vec::new();
        };
        let pairs = info_values(&kind.category, info);
        pairs
            .map(|(key, value)| format!("{}{}", visible(&key.to_str()), value_after_key(value)))
            .collect()
    }
}

/// Takes what the reader finds.
struct ContentReader {
    content: WindowContent,
    /// By index of a category its position; of one that is not wanted, none.
    kind_of: HashMap<i32, Option<u32>>,
    takes_unknown: bool,
    least_for_info: f64,
}

impl ContentReader {
    fn kind(&mut self, index: i32, topology: Topology) -> Option<u32> {
        if let Some(&kind) = self.kind_of.get(&index) {
            return kind;
        }
        let kind = (self.takes_unknown && self.kind_of.len() < MAX_UNKNOWN).then(|| {
            let pink = trace_formats::slog2::Color::PINK;
            let unknown = Category::new(index, "".into(), topology, pink);
            self.content.add_kind(unknown, pink.into())
        });
        self.kind_of.insert(index, kind);
        kind
    }

    fn primitive(&mut self, primitive: &Primitive<'_>) {
        let (first, last) = (primitive.first(), primitive.last());
        let known = self.kind_of.get(&primitive.category).copied().flatten();
        let known = known.map(|kind| self.content.kinds[kind as usize].category.topology);
        let topology = match (primitive.vertices().len(), known) {
            (1, _) => Topology::Event,
            (_, Some(known @ (Topology::State | Topology::Arrow))) => known,
            _ if first.line == last.line => Topology::State,
            _ => Topology::Arrow,
        };
        let Some(kind) = self.kind(primitive.category, topology) else {
            return;
        };
        match topology {
            Topology::Event => self.event(kind, first),
            Topology::State => self.state(kind, first, last, primitive.info),
            Topology::Arrow => self.arrow(kind, first, last),
        }
    }

    fn state(&mut self, kind: u32, first: Vertex, last: Vertex, info: &[u8]) {
        let content = &mut self.content;
        let Some(timeline) = content.timelines.of_line(first.line) else {
            return;
        };
        let (start, end) = (first.time.min(last.time), first.time.max(last.time));
        let window = content.window;
        let inside = end.min(window.latest) - start.max(window.earliest);
        let is_wide = inside >= self.least_for_info && !info.is_empty();
        let at = content.infos.len();
        let length = u16::try_from(info.len()).ok();
        let length = length.filter(|_| is_wide && at + info.len() <= MAX_INFO_BYTES);
        if length.is_some() {
            content.infos.extend_from_slice(info);
        }
        let total = &mut content.totals[kind as usize];
        total.count += 1;
        total.seconds += inside.max(0.0);
        content.states.push(DrawnState {
            timeline,
            kind,
            start,
            end,
            info: length.map(|length| (at, length)),
        });
    }

    fn arrow(&mut self, kind: u32, first: Vertex, last: Vertex) {
        let content = &mut self.content;
        let ends = [first, last].map(|end| Some((content.timelines.of_line(end.line)?, end.time)));
        let (from, to) = match ends {
            [Some(from), Some(to)] => (from, to),
            [None, None] => return,
            _ => {
                content.leaving += 1;
                return;
            }
        };
        if !(from.1.is_finite() && to.1.is_finite()) {
            return;
        }
        let total = &mut content.totals[kind as usize];
        total.count += 1;
        total.seconds += (to.1 - from.1).abs();
        content.arrows.push(DrawnArrow { kind, from, to });
    }

    fn event(&mut self, kind: u32, at: Vertex) {
        let content = &mut self.content;
        if let Some(timeline) = content.timelines.of_line(at.line) {
            let time = at.time;
            content.totals[kind as usize].count += 1;
            content.events.push(DrawnEvent {
                timeline,
                kind,
                time,
            });
        }
    }
}

impl<'a> Visit<'a> for ContentReader {
    fn drawable(&mut self, drawable: NodeDrawable<'a>) {
        let primitives = drawable.primitives().iter();
        primitives.for_each(|primitive| self.primitive(primitive));
    }

    fn shadow(&mut self, shadow: NodeShadow<'a>) {
        let topology = match shadow.primitive.category {
            PREVIEW_EVENT => Topology::Event,
            PREVIEW_ARROW => Topology::Arrow,
            PREVIEW_STATE => Topology::State,
            _ => return,
        };
        let [first, last] = [shadow.primitive.first(), shadow.primitive.last()];
        let timelines = [first, last].map(|end| self.content.timelines.of_line(end.line));
        let [Some(timeline), Some(_)] = timelines else {
            return;
        };
        let TimeBBox { earliest, latest } = shadow.bounds;
        let window = self.content.window;
        let inside = (latest.min(window.latest) - earliest.max(window.earliest)).max(0.0);
        let length = latest - earliest;
        let part = if length > 0.0 { inside / length } else { 1.0 };
        if !part.is_finite() {
            return;
        }
        let mut shares = Vec::new();
        for weight in shadow.weights() {
            let Some(kind) = self.kind(weight.category, topology) else {
                continue;
            };
            let ratio = |ratio: f32| {
                let ratio = f64::from(ratio);
                if ratio.is_finite() {
                    ratio.max(0.0)
                } else {
                    0.0
                }
            };
            let count = weight.ratios.count.max(0) as f64 * part;
            let total = &mut self.content.totals[kind as usize];
            total.count += count.round() as u64;
            total.is_estimate |= part < 1.0;
            match topology {
                Topology::Event => {}
                Topology::Arrow => self.content.previewed_arrows += count.round() as u64,
                Topology::State => {
                    total.seconds += ratio(weight.ratios.inclusive) * inside;
                    shares.push((kind, ratio(weight.ratios.exclusive)));
                }
            }
        }
        if topology == Topology::State && !shares.is_empty() {
            let sum: f64 = shares.iter().map(|(_, share)| share).sum();
            if sum > 1.0 {
                shares.iter_mut().for_each(|(_, share)| *share /= sum);
            }
            shares.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
            self.content.previews.push(DrawnPreview {
                timeline,
                start: earliest,
                end: latest,
                shares,
            });
        }
    }
}
