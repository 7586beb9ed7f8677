//! Layout of a picture: timelines with their bands, texts, arrows, events, ticks, legend and notes, in pixels.

use std::collections::HashSet;
use trace_formats::slog2::TimeBBox;

use super::named::{self, NamedTimeline};
use crate::base::color::{Rgb, Theme};
use crate::base::{text, units};
use crate::drawing::arrows::{self, is_trigger};
use crate::drawing::axis::TimeAxis;
use crate::drawing::band::{BandPainter, BandSpan, NestingBand, SpanFill, depths};
use crate::drawing::content::{DrawnArrow, DrawnState, WindowContent};
use crate::drawing::legend::Legend;
use crate::drawing::notes;
use crate::drawing::placed::{BandStrip, PictureTimeline};
use crate::drawing::rare_columns::show_rare;
use crate::drawing::scale::PixelScale;
use crate::drawing::text_sizes::{SMALL, TEXT, TITLE};
use crate::drawing::waits::{self, TimelineWait};

/// Style of a picture.
#[derive(Clone, Debug)]
pub struct PictureStyle {
    /// Pixels.
    pub width: u32,
    /// Pixels; as many as the timelines take if not said.
    pub height: Option<u32>,
    /// Light or dark.
    pub theme: Theme,
    /// Title above the picture, such as the name of the file.
    pub title: String,
    /// Waits that are hatched.
    pub waits: Vec<TimelineWait>,
}

impl Default for PictureStyle {
    fn default() -> Self {
        PictureStyle {
            width: 1600,
            height: None,
            theme: Theme::Light,
            title: String::new(),
            waits: Vec::new(),
        }
    }
}

impl PictureStyle {
    /// The least size that has room for all parts.
    pub const MIN_SIZE: (u32, u32) = (400, 200);
    /// The largest.
    pub const MAX_SIZE: (u32, u32) = (20_000, 20_000);

    /// Whether a picture can have this size; a height that is not given is as large as needed.
    pub fn allows(width: u32, height: Option<u32>) -> bool {
        let (least, most) = (PictureStyle::MIN_SIZE, PictureStyle::MAX_SIZE);
        (least.0..=most.0).contains(&width)
            && height.is_none_or(|height| (least.1..=most.1).contains(&height))
    }
}

const MARGIN: f64 = 16.0;
/// Upper edge of the first timeline.
const TOP: f64 = 84.0;
/// Pixels from the last entry of the legend to the line that tells how many are missing.
pub(super) const MORE: f64 = 15.0;
/// Pixels of letters below their base line.
const DESCENT: f64 = 5.0;
/// Pixels of one line of the legend or of the notes.
const LINE: f64 = 17.0;
/// Pixels of all timelines together if no height was asked for: as many as a screen has.
const SCREEN: f64 = 960.0;
/// Height of a timeline without nesting: as it is if there is room, and the least that can be seen.
const TIMELINE: (u32, u32) = (24, 3);
/// Bands that a timeline has at most.
const MAX_BANDS: u32 = 8;
/// Events that are drawn.
const MAX_EVENTS: usize = 5000;

/// A picture, in pixels from its left upper corner.
#[derive(Clone, Debug)]
pub struct PictureLayout<'c> {
    /// Content that the picture shows.
    pub content: &'c WindowContent,
    /// Light or dark.
    pub theme: Theme,
    /// Width of the picture in pixels.
    pub width: f64,
    /// Height of the picture in pixels.
    pub height: f64,
    /// The title, and what is said about the window.
    pub titles: [String; 2],
    /// The part that shows the window: left, top, width and height.
    pub plot: [f64; 4],
    /// The timelines, from above.
    pub timelines: Vec<PictureTimeline>,
    /// Areas of waits: left, top, width and height.
    pub waits: Vec<[f64; 4]>,
    /// Texts in states.
    pub labels: Vec<StateLabel>,
    /// Arrows.
    pub arrows: Vec<PictureArrow>,
    /// Events.
    pub markers: Vec<EventMarker>,
    /// Ticks of the time axis.
    pub axis: TimeAxis,
    /// Notes below the timelines about what the picture does not show exactly.
    pub notes: Vec<String>,
    /// Meaning of the colours.
    pub legend: Legend,
    /// Positions of the legend's entries: left and base line of each that is shown, and the width of a column.
    pub places: (Vec<(f64, f64)>, f64),
}

/// A text in a state.
#[derive(Clone, Debug, PartialEq)]
pub struct StateLabel {
    /// Left end, pixels.
    pub x: f64,
    /// Base line of the text in pixels.
    pub y: f64,
    /// Size of the font in pixels.
    pub size: f64,
    /// Colour of the text.
    pub color: Rgb,
    /// Colour of the state, which the text stands on where that is hatched.
    pub ground: Rgb,
    /// Text of the label.
    pub text: String,
}

/// An arrow that is drawn.
#[derive(Clone, Debug, PartialEq)]
pub struct PictureArrow {
    /// Start of the arrow, pixels.
    pub from: (f64, f64),
    /// Head of the arrow, pixels.
    pub to: (f64, f64),
    /// Colour of the arrow.
    pub color: Rgb,
    /// Width of the line in pixels.
    pub width: f64,
    /// Whether it says less than others.
    pub is_dashed: bool,
}

/// An event that is drawn.
#[derive(Clone, Debug, PartialEq)]
pub struct EventMarker {
    /// Middle of the marker in pixels, from the left.
    pub x: f64,
    /// Middle of the marker in pixels, from the top.
    pub y: f64,
    /// Colour of the marker.
    pub color: Rgb,
}

impl<'c> PictureLayout<'c> {
    /// Lays out a picture.
    pub fn new(content: &'c WindowContent, look: &PictureStyle) -> Self {
        let theme = look.theme;
        let clamped = |size: u32, least: u32, most: u32| f64::from(size.clamp(least, most));
        let width = clamped(
            look.width,
            PictureStyle::MIN_SIZE.0,
            PictureStyle::MAX_SIZE.0,
        );
        let height = look
            .height
            .map(|h| clamped(h, PictureStyle::MIN_SIZE.1, PictureStyle::MAX_SIZE.1));

        let axis_room = (width - 2.0 * MARGIN) / 110.0;
        let axis = TimeAxis::new(content.window, axis_room.max(2.0) as usize);
        let left = (MARGIN + gutter(content, &axis, width)).ceil();
        let columns = (width - left - MARGIN - 4.0).floor();
        let scale = PixelScale::new(content.window, columns as u32);

        let legend = Legend::new(content);
        let (per_column, column, shown) = legend_shape(&legend, width, height);
        let legend_height = if shown == 0 {
            0.0
        } else {
            LINE * (per_column as f64 + 1.5)
        };

        let depths = depths(&content.states);
        // Three lines of notes are the most there can be.
        let below = legend_height + LINE * 3.0 + MARGIN;
        let room = height.map_or(SCREEN, |height| (height - TOP - below).max(36.0));
        let groups = groups(content.timelines(), room);
        let mut painter = BandPainter::new(content, &depths, scale, MAX_BANDS);
        let bands = groups.iter().map(|group| painter.paint(group.clone()));
        let mut bands: Vec<Vec<NestingBand>> = bands.collect();
        let has_rare = show_rare(content, columns as u32, &groups, &mut bands);
        let largest = if height.is_some() {
            2 * TIMELINE.0
        } else {
            TIMELINE.0
        };
        let timelines = place_timelines(content.timelines(), groups, bands, room, largest);
        let bottom = timelines
            .last()
            .map_or(TOP + 36.0, |timeline| timeline.y + timeline.height);

        let placed = PlacedTimelines {
            content,
            depths: &depths,
            timelines: &timelines,
            scale,
            left,
        };
        let (arrows, note) = placed.arrows(theme);
        let labels = placed.labels(theme);
        let (markers, more) = placed.markers(theme);
        let waits = waits::areas(&look.waits, &timelines, scale, left);
        let mut notes = notes::on(content, &timelines, has_rare);
        notes.extend((!waits.is_empty()).then(|| "hatched: waiting".to_owned()));
        notes.extend(note);
        notes.extend(more);

        let notes = notes::joined(notes, width - 2.0 * MARGIN);
        let legend_top = bottom + 10.0 + LINE * notes.len() as f64 + LINE;
        let below_legend = height.map_or(f64::INFINITY, |height| height - legend_top);
        let (per_column, shown) = fitting(legend.entries.len(), per_column, shown, below_legend);
        let places = (0..shown).map(|nth| {
            let (across, down) = (nth / per_column, nth % per_column);
            let x = MARGIN + across as f64 * column;
            (x, legend_top + LINE * (down as f64 + 1.0))
        });
        let places = (places.collect(), column);
        let natural = bottom + 10.0 + LINE * notes.len() as f64 + legend_height + MARGIN;
        PictureLayout {
            content,
            theme,
            width,
            height: height.unwrap_or(natural.ceil()),
            titles: titles(content, look, width),
            plot: [left, TOP, columns, bottom - TOP],
            waits,
            labels,
            arrows,
            markers,
            axis,
            notes,
            legend,
            places,
            timelines,
        }
    }

    /// Horizontal position of a time, pixels.
    pub fn x(&self, time: f64) -> f64 {
        let scale = PixelScale::new(self.content.window, self.plot[2] as u32);
        self.plot[0] + scale.at(time)
    }
}

/// Pixels for names of timelines.
fn gutter(content: &WindowContent, axis: &TimeAxis, width: f64) -> f64 {
    let names = content
        .timelines()
        .iter()
        .map(|timeline| text::width(&timeline.name, TEXT));
    let widest = names.fold(0.0, f64::max);
    // Several timelines that are drawn as one have two names.
    let several = if content.timelines().len() > 100 {
        1.7
    } else {
        1.0
    };
    let origin = axis
        .origin
        .as_ref()
        .map_or(0.0, |(_, from)| text::width(from, SMALL) + 30.0);
    (widest * several).max(origin).max(30.0).min(width * 0.25) + 10.0
}

/// Entries per column of the legend, the width of a column, and how many entries are shown.
fn legend_shape(legend: &Legend, width: f64, height: Option<f64>) -> (usize, f64, usize) {
    let widths = legend.entries.iter().map(|entry| {
        let name = text::width(&entry.name, TEXT).min(260.0);
        name + text::width(&entry.count, TEXT).max(40.0) + 130.0
    });
    let room = width - 2.0 * MARGIN;
    let column = widths.fold(200.0, f64::max).min(room);
    let across = ((room / column) as usize).max(1);
    let most = height.map_or(12, |height| ((height * 0.3 / LINE) as usize).max(2));
    let shown = legend.entries.len().min(across * most);
    (shown.div_ceil(across).max(1), column, shown)
}

/// Entries per column of a legend and how many are shown, so that its last line stands within `room` pixels: that of the last entry, or that which
/// tells how many are missing. One line of entries is always shown.
fn fitting(all: usize, per_column: usize, shown: usize, room: f64) -> (usize, usize) {
    let across = shown.div_ceil(per_column.max(1));
    let lowest = |per_column: usize, shown: usize| {
        let missing = if shown < all { MORE } else { 0.0 };
        LINE * per_column as f64 + missing + DESCENT
    };
    let (mut per_column, mut shown) = (per_column, shown);
    while per_column > 1 && lowest(per_column, shown) > room {
        per_column -= 1;
        shown = shown.min(across * per_column);
    }
    (per_column, shown)
}

/// Groups of timelines that are drawn as one, where there is no room for all.
fn groups(timelines: &[NamedTimeline], room: f64) -> Vec<std::ops::Range<u32>> {
    let capacity = (room / f64::from(TIMELINE.1)).max(1.0) as usize;
    let all = named::count(timelines);
    let mut size = all.div_ceil(capacity).max(1);
    loop {
        let mut groups: Vec<std::ops::Range<u32>> = Vec::new();
        let mut timelines_of_last = 0;
        let mut next = 0;
        for timeline in timelines.chunk_by(|a, b| a.number == b.number) {
            let first = next;
            next += timeline.len() as u32;
            match groups.last_mut() {
                Some(last)
                    if timelines_of_last < size
                        && timelines[last.start as usize].layer == timeline[0].layer =>
                {
                    last.end = next;
                    timelines_of_last += 1;
                }
                _ => {
                    groups.push(first..next);
                    timelines_of_last = 1;
                }
            }
        }
        // Layers may end in the middle of a group.
        if groups.len() <= capacity || size >= all {
            return groups;
        }
        size += 1;
    }
}

/// Heights for a height of a timeline without nesting: step between bands, gap between timelines, gap between layers.
fn steps(unit: u32) -> (f64, f64, f64) {
    let step = (f64::from(unit) * 0.8).round().min(15.0);
    let gap = match unit {
        0..=3 => 0.0,
        4..=5 => 1.0,
        6..=11 => 2.0,
        _ => 4.0,
    };
    (step, gap, if unit < 6 { gap } else { gap + 8.0 })
}

fn place_timelines(
    timelines: &[NamedTimeline],
    groups: Vec<std::ops::Range<u32>>,
    bands: Vec<Vec<NestingBand>>,
    room: f64,
    largest: u32,
) -> Vec<PictureTimeline> {
    let layer = |group: &std::ops::Range<u32>| timelines[group.start as usize].layer;
    let borders = groups
        .windows(2)
        .filter(|pair| layer(&pair[0]) != layer(&pair[1]))
        .count();
    let total = |unit: u32, nested: bool| {
        let (step, gap, border) = steps(unit);
        let deep = bands
            .iter()
            .map(|bands| bands.len().saturating_sub(1) as f64);
        let deep = if nested { deep.sum::<f64>() } else { 0.0 };
        let count = groups.len() as f64;
        count * (f64::from(unit) + gap) + deep * step + borders as f64 * (border - gap)
    };
    // Nested states are drawn over each other where there is no room for them below each other.
    let choices = [true, false].into_iter().flat_map(|nested| {
        let units = (TIMELINE.1..=largest).rev();
        units
            .filter(move |&unit| !nested || unit >= 5)
            .map(move |unit| (unit, nested))
    });
    let fits = |&(unit, nested): &(u32, bool)| total(unit, nested) <= room;
    let (unit, nested) = choices
        .into_iter()
        .find(fits)
        .unwrap_or((TIMELINE.1, false));
    let (step, gap, border) = steps(unit);
    let mut y = TOP;
    let mut named_until = f64::NEG_INFINITY;
    let mut before = None;
    let mut placed = Vec::with_capacity(groups.len());
    for (group, bands) in groups.into_iter().zip(bands) {
        if before.is_some_and(|before| before != layer(&group)) {
            y += border - gap;
        }
        before = Some(layer(&group));
        let step = if nested { step } else { 0.0 };
        let deep = bands.len().saturating_sub(1) as f64;
        let height = f64::from(unit) + deep * step;
        let middle = y + height / 2.0;
        let is_named = middle - 6.5 >= named_until;
        if is_named {
            named_until = middle + 6.5;
        }
        let strips = bands.into_iter().enumerate().map(|(depth, band)| {
            let depth = depth as f64;
            let height = (height - depth * step - depth.min(height / 2.0 - 1.0)).max(2.0);
            let free = if nested { step } else { height };
            BandStrip {
                y: y + depth * step,
                height,
                free,
                band,
            }
        });
        placed.push(PictureTimeline {
            name: if is_named {
                group_name(timelines, &group)
            } else {
                String::new()
            },
            y,
            height,
            strips: strips.collect(),
            timelines: group,
        });
        y += height + gap;
    }
    placed
}

/// `rank 3`, `rank 0–39`, `rank 0 AIO 1 – rank 2`.
fn group_name(timelines: &[NamedTimeline], group: &std::ops::Range<u32>) -> String {
    let shown = &timelines[group.start as usize..group.end as usize];
    let first = &shown[0].name;
    let last = &shown[shown.len() - 1].name;
    if named::count(shown) == 1 {
        return first.clone();
    }
    let split = |name: &str| {
        let (head, number) = name.rsplit_once(' ')?;
        number.parse::<u64>().ok()?;
        Some((head.to_owned(), number.to_owned()))
    };
    match (split(first), split(last)) {
        (Some((a, from)), Some((b, to))) if a == b => format!("{a} {from}–{to}"),
        _ => format!("{first} – {last}"),
    }
}

fn titles(content: &WindowContent, look: &PictureStyle, width: f64) -> [String; 2] {
    let TimeBBox { earliest, latest } = content.window;
    let span = latest - earliest;
    let decimals = (3.0 - span.log10().floor()).clamp(0.0, 9.0) as usize;
    let timelines = named::count(content.timelines());
    let total = content.timelines.total();
    let timelines = match timelines == total {
        true => text::count(timelines as u64),
        false => format!(
            "{} of {}",
            text::count(timelines as u64),
            text::count(total as u64)
        ),
    };
    let plural = if total == 1 { "" } else { "s" };
    let what = format!(
        "{earliest:.decimals$} s – {latest:.decimals$} s ({}), {timelines} timeline{plural}",
        units::duration(span)
    );
    let room = width - 2.0 * MARGIN;
    let title = text::fitted(&text::visible(&look.title), TITLE * 1.15, room);
    [title, text::fitted(&what, TEXT, room)]
}

/// Timelines that have their places.
struct PlacedTimelines<'p> {
    content: &'p WindowContent,
    depths: &'p [u32],
    timelines: &'p [PictureTimeline],
    scale: PixelScale,
    left: f64,
}

impl PlacedTimelines<'_> {
    fn timeline(&self, timeline: u32) -> Option<&PictureTimeline> {
        PictureTimeline::that_shows(self.timelines, timeline)
    }

    /// The height at which an arrow begins or ends: at the outermost or innermost state that begins there, else in the
    /// middle of the timeline.
    fn anchor(&self, (timeline, time): (u32, f64), innermost: bool) -> f64 {
        let Some(placed) = self.timeline(timeline) else {
            return TOP;
        };
        let middle = placed.y + placed.height / 2.0;
        let states = &self.content.states;
        let tolerance = 2e-10 + time.abs() * 1e-15;
        let first =
            states.partition_point(|s| (s.timeline, s.start) < (timeline, time - tolerance));
        let begins = |s: &&DrawnState| s.timeline == timeline && s.start <= time + tolerance;
        let count = states[first..].iter().take_while(begins).count();
        let depths = self.depths[first..first + count].iter();
        let depth = if innermost {
            depths.max()
        } else {
            depths.min()
        };
        let strip = depth.and_then(|&depth| {
            let last = placed.strips.len().checked_sub(1)?;
            placed.strips.get((depth as usize).min(last))
        });
        strip.map_or(middle, |strip| strip.y + strip.free.min(strip.height) / 2.0)
    }

    fn ends(&self, arrow: &DrawnArrow) -> [(f64, f64); 2] {
        let x = |time| self.left + self.scale.at(time);
        [
            (x(arrow.from.1), self.anchor(arrow.from, false)),
            (x(arrow.to.1), self.anchor(arrow.to, true)),
        ]
    }

    fn arrows(&self, theme: Theme) -> (Vec<PictureArrow>, Option<String>) {
        let content = self.content;
        let coarse = |x: f64| (x / 3.0).floor() as i64;
        let shown = arrows::shown(content, |arrow| {
            let [from, to] = self.ends(arrow);
            [coarse(from.0), from.1 as i64, coarse(to.0), to.1 as i64]
        });
        let drawn = shown.bundles.iter().map(|bundle| {
            let arrow = &content.arrows[bundle.arrow];
            let [from, to] = self.ends(arrow);
            let is_dashed = is_trigger(&content.kinds[arrow.kind as usize]);
            let color = content.kinds[arrow.kind as usize].color;
            let more = (bundle.count as f64).log2() * 0.4;
            PictureArrow {
                from,
                to,
                color: theme.line(color),
                width: if is_dashed {
                    0.9
                } else {
                    (1.3 + more).min(5.0)
                },
                is_dashed,
            }
        });
        (drawn.collect(), shown.note)
    }

    fn markers(&self, theme: Theme) -> (Vec<EventMarker>, Option<String>) {
        let content = self.content;
        let mut seen = HashSet::new();
        let mut markers = Vec::new();
        let mut more = 0;
        for event in &content.events {
            let Some(timeline) = self.timeline(event.timeline) else {
                continue;
            };
            let Some((at, _)) = self.scale.stretch(event.time, event.time) else {
                continue;
            };
            let x = self.left + at;
            if !seen.insert((x as i64, timeline.timelines.start, event.kind)) {
                continue;
            }
            if markers.len() == MAX_EVENTS {
                more += 1;
                continue;
            }
            let color = content.kinds[event.kind as usize].color;
            let y = timeline.y + (timeline.height / 2.0).min(2.0);
            markers.push(EventMarker {
                x,
                y,
                color: theme.line(color),
            });
        }
        let note = (more > 0).then(|| format!("{} events not drawn", text::count(more)));
        (markers, note)
    }

    fn labels(&self, theme: Theme) -> Vec<StateLabel> {
        let mut labels = Vec::new();
        for timeline in self.timelines {
            for (depth, strip) in timeline.strips.iter().enumerate() {
                let below = timeline.strips.get(depth + 1);
                for span in &strip.band.spans {
                    labels.extend(self.label(theme, strip, span, below));
                }
            }
        }
        labels
    }

    fn label(
        &self,
        theme: Theme,
        strip: &BandStrip,
        span: &BandSpan,
        below: Option<&BandStrip>,
    ) -> Option<StateLabel> {
        let SpanFill::DrawnState(nth) = span.fill else {
            return None;
        };
        let room = f64::from(span.to - span.from) - 8.0;
        if room < 16.0 {
            return None;
        }
        let from = below.map_or(0, |b| {
            b.band.spans.partition_point(|inner| inner.to <= span.from)
        });
        let inner = below.and_then(|below| below.band.spans.get(from));
        // Nested states may leave room beside them; a text that does not meet them is in the middle.
        let covered = inner.is_some_and(|inner| inner.from < span.to);
        let free = if covered { strip.free } else { strip.height };
        let size = match free {
            high if high >= 14.0 => TEXT,
            middle if middle >= 12.0 => SMALL,
            low if low >= 10.5 => 9.0,
            _ => return None,
        };
        let state = &self.content.states[nth];
        let kind = &self.content.kinds[state.kind as usize];
        let text = self.words(state, &kind.name, size, room)?;
        Some(StateLabel {
            x: self.left + f64::from(span.from) + 4.0,
            // Capitals are 0.73 of the size high.
            y: (strip.y + free / 2.0 + size * 0.365).round(),
            size,
            color: theme.fill(kind.color).ink(),
            ground: theme.fill(kind.color),
            text,
        })
    }

    /// The name and as much of the info as fits, or else the end of the name, or the beginning of that.
    fn words(&self, state: &DrawnState, name: &str, size: f64, room: f64) -> Option<String> {
        if text::width(name, size) > room {
            let short = name.strip_prefix("MPI_").unwrap_or(name);
            return Some(text::fitted(short, size, room)).filter(|text| !text.is_empty());
        }
        let mut text = name.to_owned();
        for (nth, pair) in self.content.info(state).iter().enumerate() {
            let pair = if nth == 0 {
                format!("  {}", pair.trim_start())
            } else {
                pair.clone()
            };
            let longer = format!("{text}{pair}");
            if text::width(&longer, size) > room {
                break;
            }
            text = longer;
        }
        Some(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_line_of_the_legend_is_within_the_picture() {
        // Three columns of four, with room for all, for three lines, for one and for less.
        assert_eq!(fitting(12, 4, 12, f64::INFINITY), (4, 12));
        assert_eq!(fitting(12, 4, 12, 4.0 * LINE + DESCENT), (4, 12));
        assert_eq!(fitting(20, 4, 12, 4.0 * LINE + DESCENT), (3, 9));
        assert_eq!(fitting(20, 4, 12, LINE), (1, 3));
        assert_eq!(fitting(0, 1, 0, 1.0), (1, 0));
    }
}
