//! The picture of a window: cells at any scale, and states, events and arrows one by one where they are few.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;
use trace_formats::slog2::{TimeBBox, Topology};

use crate::base::columns::Columns;
use crate::base::error::Refusal;
use crate::base::parallel::both;
use crate::picture::cells::{Cells, Mode};
use crate::picture::wire::{Header, Writer, flag, section};
use crate::search::hits::Hit;
use crate::search::plan::Plan;
use crate::timelines::layout::Layout;
use crate::trace::reference::Reference;
use crate::trace::scan::{Preview, Reach, Take, scan_both};
use crate::trace::states::{State, States, sweep};
use crate::trace::{Item, Trace};

/// What is asked of a picture.
#[derive(Clone, Debug)]
pub struct Question<'l> {
    /// What is searched for: hits are counted by cell.
    pub hits: Option<Arc<Plan>>,
    /// All hits, for a picture that is not made of drawables.
    pub places: Option<Arc<Vec<Hit>>>,
    /// The window; of some length.
    pub window: TimeBBox,
    /// Columns.
    pub width: usize,
    /// The rows of the page.
    pub layout: &'l Layout,
    /// Which of them.
    pub rows: Range<usize>,
    /// By kind whether it is left out.
    pub hidden: Vec<bool>,
    /// Colour of cells.
    pub mode: Mode,
    /// Which arrows.
    pub arrows: Arrows,
    /// States, events and arrows are given one by one if they are not more than this.
    pub most: usize,
    /// A number that comes back.
    pub seq: u32,
}

/// Which arrows are given.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Arrows {
    /// None.
    #[default]
    None,
    /// Those that take longest.
    Worst,
    /// All, or bundles of those that go the same way.
    All,
    /// This one.
    One(Reference),
    /// Those that begin or end on a line of this lane in this time.
    Of {
        /// Number of the lane.
        lane: u32,
        /// Seconds.
        from: f64,
        /// Seconds.
        to: f64,
    },
}

/// An event.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Event {
    /// Seconds.
    pub time: f64,
    /// Row.
    pub row: u32,
    /// Kind.
    pub kind: u32,
}

/// An arrow between two rows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Arrow {
    /// When it begins, in seconds.
    pub from: f64,
    /// When it ends, which may be before.
    pub to: f64,
    /// Row where it begins.
    pub row_from: u32,
    /// Row where it ends.
    pub row_to: u32,
    /// Kind.
    pub kind: u32,
    /// Bytes of the message.
    pub bytes: u64,
}

/// Arrows above which those with the longest flight are given only.
const WORST: usize = 200;
/// Arrows above which bundles are given.
const MOST_ARROWS: usize = 3000;
/// States and previews from which on it is worth it that two threads share the rows.
const MANY: usize = 1 << 16;
/// Bundles, and parts of the window that have bundles of their own.
const MOST_BUNDLES: usize = 400;
const BUNDLE_PARTS: u32 = 8;
/// Arrows that are held while the longest are looked for, and bundles.
const MOST_HELD: usize = 1 << 20;

/// What there is on some rows in a window.
#[derive(Debug, Default)]
pub struct Found {
    /// States, by who found them.
    pub states: Vec<Vec<State>>,
    /// States that were not read.
    pub previews: Vec<Preview>,
    /// Events.
    pub events: Vec<Event>,
    /// Arrows.
    pub arrows: Vec<Arrow>,
    /// Hits of the search: row and time.
    pub hits: Vec<(u32, f64)>,
    /// Arrows of which there was no room.
    pub cut_arrows: u64,
    /// All of these.
    pub drawables: u64,
    /// Whether nothing is missing.
    pub exact: bool,
}

struct Taker<'q, 'l, 't, 'a> {
    question: &'q Question<'l>,
    trace: &'t Trace<'a>,
    states: Vec<State>,
    found: Found,
}

impl<'a> Take<'a> for Taker<'_, '_, '_, 'a> {
    #[inline]
    fn item(&mut self, item: Item<'a>) {
        let question = self.question;
        if question.hidden.get(item.kind as usize) == Some(&true) {
            return;
        }
        let row = question.layout.row(item.line);
        let is_in =
            |row: Option<u32>| row.is_some_and(|row| question.rows.contains(&(row as usize)));
        if let (Some(plan), Some(row), true) = (&question.hits, row, is_in(row))
            && inside(item.start, question.window)
            && plan.fits(self.trace, &item)
        {
            self.found.hits.push((row, item.start));
        }
        match item.topology {
            Topology::State if is_in(row) && takes_part(&item, question.window) => {
                self.found.drawables += 1;
                self.states.push(State {
                    start: item.start,
                    end: item.end,
                    line: item.line,
                    kind: item.kind,
                });
            }
            Topology::Event if is_in(row) => {
                self.found.drawables += 1;
                if let Some(row) = row {
                    self.found.events.push(Event {
                        time: item.start,
                        row,
                        kind: item.kind,
                    });
                }
            }
            Topology::Arrow => {
                let row_to = question.layout.row(item.to_line);
                if is_in(row) || is_in(row_to) {
                    self.found.drawables += 1;
                    self.arrow(&item, row, row_to);
                }
            }
            _ => {}
        }
    }

    fn preview(&mut self, preview: Preview) {
        let row = self.question.layout.row(preview.line);
        if row.is_some_and(|row| self.question.rows.contains(&(row as usize))) {
            let mut preview = preview;
            self.found.drawables += preview.count;
            preview
                .shares
                .retain(|share| self.question.hidden.get(share.0 as usize) != Some(&true));
            self.found.previews.push(preview);
        }
    }
}

impl Taker<'_, '_, '_, '_> {
    fn arrow(&mut self, item: &Item<'_>, row: Option<u32>, row_to: Option<u32>) {
        let is_at = |line: u32, time: f64, lane: u32, from: f64, to: f64| {
            self.trace.lines()[line as usize].lane == lane && from <= time && time <= to
        };
        let is_wanted = match self.question.arrows {
            Arrows::None => false,
            Arrows::Worst | Arrows::All => true,
            Arrows::One(reference) => reference.names(self.trace, item),
            Arrows::Of { lane, from, to } => {
                is_at(item.line, item.start, lane, from, to)
                    || is_at(item.to_line, item.end, lane, from, to)
            }
        };
        let (Some(row_from), Some(row_to)) = (row, row_to) else {
            return;
        };
        if !is_wanted {
            return;
        }
        if self.found.arrows.len() >= MOST_HELD {
            self.found.cut_arrows += 1;
            return;
        }
        let kind = &self.trace.kinds()[item.kind as usize];
        let message = trace_model::message(&kind.category, item.info);
        self.found.arrows.push(Arrow {
            from: item.start,
            to: item.end,
            row_from,
            row_to,
            kind: item.kind,
            bytes: message.map_or(0, |m| u64::try_from(m.size).unwrap_or(0)),
        });
    }
}

/// Whether a state has some of its time in a window, or none at all and lies there.
fn takes_part(item: &Item<'_>, window: TimeBBox) -> bool {
    if item.start == item.end {
        return window.earliest <= item.start && item.end <= window.latest;
    }
    item.start < window.latest && window.earliest < item.end
}

/// Reads what a picture shows.
///
/// # Errors
/// The file is damaged.
pub fn find(
    trace: &Trace<'_>,
    question: &Question<'_>,
    reach: Reach<'_>,
) -> Result<Found, Refusal> {
    let (takers, scanned) = scan_both(trace, reach, || Taker {
        question,
        trace,
        states: Vec::new(),
        found: Found::default(),
    })?;
    let mut all = Found {
        exact: scanned.exact,
        ..Found::default()
    };
    for Taker { states, found, .. } in takers {
        all.states.push(states);
        all.previews.extend(found.previews);
        all.events.extend(found.events);
        all.arrows.extend(found.arrows);
        all.hits.extend(found.hits);
        all.cut_arrows += found.cut_arrows;
        all.drawables += found.drawables;
    }
    let too_many = all.arrows.len().saturating_sub(MOST_HELD);
    all.cut_arrows += too_many as u64;
    all.arrows.truncate(MOST_HELD);
    Ok(all)
}

/// Makes the frame of what was found. `flags` is added to what follows from that.
pub fn frame(trace: &Trace<'_>, question: &Question<'_>, found: Found, flags: u32) -> Vec<u8> {
    let Question {
        window,
        width,
        layout,
        ref rows,
        mode,
        ..
    } = *question;
    let columns = Columns::new(window, width as u32);
    let is_real = found.exact && found.drawables <= question.most as u64;
    let drawn = |rows: Range<usize>| {
        let unit_of = |line: u32| layout.unit(line);
        let units = layout.units(rows.clone());
        let states = States::new(&found.states, trace.kinds(), units, unit_of);
        let previews = &found.previews;
        let cells = Cells::new(layout, rows, &columns, width, mode, &states, previews);
        (cells, states)
    };
    let count: usize = found.states.iter().map(Vec::len).sum();
    let (mut cells, states) = if is_real || count + found.previews.len() < MANY {
        drawn(rows.clone())
    } else {
        let middle = rows.start + rows.len() / 2;
        let upper = || drawn(rows.start..middle);
        let ((mut cells, _), below) = both(upper, || drawn(middle..rows.end).0);
        cells.extend(below);
        (cells, States::default())
    };
    let times = found.events.iter().filter(|e| inside(e.time, window));
    cells.count_events(&columns, times.map(|event| (event.row, event.time)));
    cells.count_hits(&columns, found.hits.into_iter());
    let mut flags = flags
        | if found.exact {
            flag::EXACT
        } else {
            flag::COARSE
        };
    let mut writer = Writer::default();
    write_cells(&mut writer, &cells, trace.kinds().len() <= 254);
    if is_real {
        flags |= flag::STATES;
        let units = layout.units(rows.clone());
        write_states(&mut writer, &states, units, layout, window);
        write_events(&mut writer, &found.events, window);
    }
    if found.cut_arrows > 0 {
        flags |= flag::ARROWS_CUT;
    }
    let arrows = found.arrows.len() as u64 + found.cut_arrows;
    flags |= write_arrows(&mut writer, question, found.arrows);
    writer.finish(&Header {
        kind: 1,
        columns: width as u32,
        rows: rows.len() as u32,
        flags,
        seq: question.seq,
        first_row: rows.start as u32,
        window: [window.earliest, window.latest],
        drawables: found.drawables,
        arrows,
    })
}

fn inside(time: f64, window: TimeBBox) -> bool {
    window.earliest <= time && time <= window.latest
}

/// Writes the planes of cells.
pub fn write_cells(writer: &mut Writer, cells: &Cells, are_few: bool) {
    writer.kinds(section::CATEGORY, &cells.category, are_few);
    writer.bytes(section::BUSY, &cells.busy);
    for (id, plane) in [
        (section::SPREAD, &cells.spread),
        (section::EVENTS, &cells.events),
        (section::HITS, &cells.hits),
    ] {
        if !plane.is_empty() {
            writer.bytes(id, plane);
        }
    }
    if !cells.share.is_empty() {
        let [.., share] = section::STACK;
        for (ids, (kinds, shares)) in section::STACK.chunks(2).zip(&cells.others) {
            writer.kinds(ids[0], kinds, are_few);
            writer.bytes(ids[1], shares);
        }
        writer.bytes(share, &cells.share);
    }
}

fn write_states(
    writer: &mut Writer,
    states: &States,
    units: Range<u32>,
    layout: &Layout,
    window: TimeBBox,
) {
    // Far outside of the window nothing is seen, and f32 would not tell pixels apart any more.
    let margin = window.duration();
    let (least, most) = (window.earliest - margin, window.latest + margin);
    let (mut starts, mut durations) = (Vec::<f32>::new(), Vec::<f32>::new());
    let (mut rows, mut kinds, mut depths) = (Vec::new(), Vec::new(), Vec::new());
    let mut running = Vec::new();
    for unit in units {
        let of_unit = states.of(unit);
        for state in of_unit {
            let (start, end) = (state.start.max(least), state.end.min(most));
            starts.push((start - window.earliest) as f32);
            durations.push((end - start) as f32);
            rows.push(
                layout
                    .row(state.line)
                    .unwrap_or(crate::timelines::layout::NO_ROW),
            );
            kinds.push(state.kind as u16);
        }
        let depth = |_, depth: usize| depths.push(depth.min(usize::from(u16::MAX)) as u16);
        sweep(of_unit, &mut running, |_, _, _| {}, depth);
    }
    let [start, duration, row, kind, depth] = section::STATES;
    writer.section(start, starts.into_iter());
    writer.section(duration, durations.into_iter());
    writer.section(row, rows.into_iter());
    writer.section(kind, kinds.into_iter());
    writer.section(depth, depths.into_iter());
}

fn write_events(writer: &mut Writer, events: &[Event], window: TimeBBox) {
    let [time, row, kind] = section::POINTS;
    writer.section(
        time,
        events.iter().map(|e| (e.time - window.earliest) as f32),
    );
    writer.section(row, events.iter().map(|e| e.row));
    writer.section(kind, events.iter().map(|e| e.kind as u16));
}

/// Backward in time.
const BACKWARD: u16 = 1;
/// Stands for several.
const BUNDLE: u16 = 2;

fn write_arrows(writer: &mut Writer, question: &Question<'_>, mut arrows: Vec<Arrow>) -> u32 {
    let mut flags = 0;
    let flight = |arrow: &Arrow| (arrow.to - arrow.from).abs();
    let longest_first = |a: &Arrow, b: &Arrow| flight(b).total_cmp(&flight(a));
    let mut bundles = Vec::new();
    if question.arrows == Arrows::All && arrows.len() > MOST_ARROWS {
        bundles = bundled(question, &arrows);
        flags |= flag::ARROWS_CUT;
    } else if question.arrows == Arrows::Worst && arrows.len() > WORST {
        arrows.sort_by(longest_first);
        arrows.truncate(WORST);
        flags |= flag::ARROWS_CUT;
    } else if arrows.len() > MOST_ARROWS {
        arrows.sort_by(longest_first);
        arrows.truncate(MOST_ARROWS);
        flags |= flag::ARROWS_CUT;
    }
    let arrows = if bundles.is_empty() {
        arrows
    } else {
        Vec::new()
    };
    let is_bundle = !bundles.is_empty();
    if !is_bundle {
        bundles = arrows.into_iter().map(|arrow| (arrow, 1)).collect();
    }
    if bundles.is_empty() {
        return flags;
    }
    let all = || bundles.iter();
    let offset = |time: f64| (time - question.window.earliest) as f32;
    let flags_of = |arrow: &Arrow, count: u32| {
        u16::from(arrow.to < arrow.from) * BACKWARD + u16::from(count > 1) * BUNDLE
    };
    let [from, to, row_from, row_to, kind, flag, count, bytes] = section::ARROWS;
    writer.section(from, all().map(|(a, _)| offset(a.from)));
    writer.section(to, all().map(|(a, _)| offset(a.to)));
    writer.section(row_from, all().map(|(a, _)| a.row_from));
    writer.section(row_to, all().map(|(a, _)| a.row_to));
    writer.section(kind, all().map(|(a, _)| a.kind as u16));
    writer.section(flag, all().map(|(a, count)| flags_of(a, *count)));
    if is_bundle {
        writer.section(count, all().map(|(_, count)| *count));
        writer.section(bytes, all().map(|(a, _)| a.bytes as f32));
    }
    flags
}

/// Arrows that go the same way at about the same time.
#[derive(Clone, Copy, Default)]
struct Bundle {
    /// Sums of their times after the begin of the window, and of their rows.
    times: [f64; 2],
    rows: [u64; 2],
    bytes: u64,
    count: u32,
}

impl Bundle {
    fn add(&mut self, other: &Bundle) {
        for end in 0..2 {
            self.times[end] += other.times[end];
            self.rows[end] += other.rows[end];
        }
        self.bytes = self.bytes.saturating_add(other.bytes);
        self.count = self.count.saturating_add(other.count);
    }
}

/// Arrows as bundles: those of the same kind from the same rows to the same rows in the same part of the window, with as many
/// neighbouring rows together as it takes until they are few. Bundles begin and end at the average times and rows.
fn bundled(question: &Question<'_>, arrows: &[Arrow]) -> Vec<(Arrow, u32)> {
    let window = question.window;
    let pinned = question.layout.pinned as u32;
    let together = |row: u32, power: u32| match row.checked_sub(pinned) {
        Some(below) => pinned + (below >> power),
        None => row,
    };
    type Key = (u32, [u32; 2], u32);
    let mut bundles: BTreeMap<Key, Bundle> = BTreeMap::new();
    for arrow in arrows {
        let middle = (arrow.from + arrow.to) / 2.0 - window.earliest;
        let part = (middle / window.duration()).clamp(0.0, 1.0) * f64::from(BUNDLE_PARTS);
        let key = (part as u32, [arrow.row_from, arrow.row_to], arrow.kind);
        bundles.entry(key).or_default().add(&Bundle {
            times: [arrow.from, arrow.to].map(|time| time - window.earliest),
            rows: [arrow.row_from, arrow.row_to].map(u64::from),
            bytes: arrow.bytes,
            count: 1,
        });
    }
    for power in 1..u32::BITS {
        if bundles.len() <= MOST_BUNDLES {
            break;
        }
        let mut fewer: BTreeMap<Key, Bundle> = BTreeMap::new();
        for ((part, _, kind), bundle) in &bundles {
            let rows = bundle.rows.map(|sum| {
                let row = sum / u64::from(bundle.count.max(1));
                together(row as u32, power)
            });
            // What stays among neighbours would only cover them.
            if rows[0] != rows[1] {
                fewer.entry((*part, rows, *kind)).or_default().add(bundle);
            }
        }
        if fewer.is_empty() {
            break;
        }
        bundles = fewer;
    }
    let mut bundles: Vec<(Arrow, u32)> = bundles
        .into_iter()
        .map(|((_, _, kind), bundle)| {
            let count = bundle.count.max(1);
            let [from, to] = bundle
                .times
                .map(|sum| window.earliest + sum / f64::from(count));
            let [row_from, row_to] = bundle.rows.map(|sum| (sum / u64::from(count)) as u32);
            let arrow = Arrow {
                from,
                to,
                row_from,
                row_to,
                kind,
                bytes: bundle.bytes,
            };
            (arrow, count)
        })
        .collect();
    bundles
        .sort_by_key(|(arrow, count)| (std::cmp::Reverse(arrow.bytes), std::cmp::Reverse(*count)));
    bundles.truncate(MOST_BUNDLES);
    bundles
}
