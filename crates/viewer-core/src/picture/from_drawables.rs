//! The picture of a window: cells at any scale, and states, events and arrows one by one where they are few.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;
use trace_formats::slog2::{TimeBBox, Topology};

use crate::base::columns::Columns;
use crate::base::error::ApiError;
use crate::base::parallel::run_parallel;
use crate::picture::cells::{Cells, ColorMode};
use crate::picture::frame::{FrameHeader, FrameWriter, arrow_flag, flag, section};
use crate::search::hits::SearchHit;
use crate::search::plan::SearchPlan;
use crate::timelines::layout::TimelineLayout;
use crate::trace::reference::DrawableReference;
use crate::trace::scan::{DrawableSink, ReadBudget, StatePreview, scan_parallel};
use crate::trace::states::{StatesByUnit, TraceState, for_each_shown};
use crate::trace::{Trace, TraceItem};

/// What is asked of a picture.
#[derive(Clone, Debug)]
pub struct PictureRequest<'l> {
    /// What is searched for: hits are counted by cell.
    pub hits: Option<Arc<SearchPlan>>,
    /// All hits, for a picture that is not made of drawables.
    pub places: Option<Arc<Vec<SearchHit>>>,
    /// The window; of some length.
    pub window: TimeBBox,
    /// Columns.
    pub width: usize,
    /// The rows of the page.
    pub layout: &'l TimelineLayout,
    /// Which of them.
    pub rows: Range<usize>,
    /// By kind whether it is left out.
    pub hidden: Vec<bool>,
    /// Colour of cells.
    pub mode: ColorMode,
    /// Which arrows.
    pub arrows: ArrowSelection,
    /// States, events and arrows are given one by one if they are not more than this.
    pub most: usize,
    /// A number that comes back.
    pub seq: u32,
}

/// Which arrows are given.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum ArrowSelection {
    /// None.
    #[default]
    None,
    /// Those that take longest.
    Worst,
    /// All, or bundles of those that go the same way.
    All,
    /// This one.
    One(DrawableReference),
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
pub struct PointEvent {
    /// Seconds.
    pub time: f64,
    /// Row.
    pub row: u32,
    /// Kind.
    pub kind: u32,
}

/// An arrow between two rows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TimelineArrow {
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
const MAX_WORST_ARROWS: usize = 200;
/// Arrows above which bundles are given.
const MAX_ARROWS: usize = 3000;
/// States and previews from which on it is worth it that two threads share the rows.
const MIN_PARALLEL_STATES: usize = 1 << 16;
/// Bundles, and parts of the window that have bundles of their own.
const MAX_BUNDLES: usize = 400;
const BUNDLE_PARTS: u32 = 8;
/// Arrows that are held while the longest are looked for, and bundles.
const MAX_HELD_ARROWS: usize = 1 << 20;

/// What there is on some rows in a window.
#[derive(Debug, Default)]
pub struct WindowDrawables {
    /// States, by who found them.
    pub states: Vec<Vec<TraceState>>,
    /// States that were not read.
    pub previews: Vec<StatePreview>,
    /// Events.
    pub events: Vec<PointEvent>,
    /// Arrows.
    pub arrows: Vec<TimelineArrow>,
    /// Hits of the search: row and time.
    pub hits: Vec<(u32, f64)>,
    /// Arrows of which there was no room.
    pub cut_arrows: u64,
    /// All of these.
    pub drawables: u64,
    /// Whether nothing is missing.
    pub exact: bool,
}

struct WindowCollector<'q, 'l, 't, 'a> {
    request: &'q PictureRequest<'l>,
    trace: &'t Trace<'a>,
    states: Vec<TraceState>,
    found: WindowDrawables,
}

impl<'a> DrawableSink<'a> for WindowCollector<'_, '_, '_, 'a> {
    #[inline]
    fn item(&mut self, item: TraceItem<'a>) {
        let request = self.request;
        if request.hidden.get(item.kind as usize) == Some(&true) {
            return;
        }
        let row = request.layout.row(item.line);
        let is_in =
            |row: Option<u32>| row.is_some_and(|row| request.rows.contains(&(row as usize)));
        if let (Some(plan), Some(row), true) = (&request.hits, row, is_in(row))
            && inside(item.start, request.window)
            && plan.fits(self.trace, &item)
        {
            self.found.hits.push((row, item.start));
        }
        match item.topology {
            Topology::State if is_in(row) && takes_part(&item, request.window) => {
                self.found.drawables += 1;
                self.states.push(TraceState {
                    start: item.start,
                    end: item.end,
                    line: item.line,
                    kind: item.kind,
                });
            }
            Topology::Event if is_in(row) => {
                self.found.drawables += 1;
                if let Some(row) = row {
                    self.found.events.push(PointEvent {
                        time: item.start,
                        row,
                        kind: item.kind,
                    });
                }
            }
            Topology::Arrow => {
                let row_to = request.layout.row(item.to_line);
                if is_in(row) || is_in(row_to) {
                    self.found.drawables += 1;
                    self.arrow(&item, row, row_to);
                }
            }
            _ => {}
        }
    }

    fn preview(&mut self, preview: StatePreview) {
        let row = self.request.layout.row(preview.line);
        if row.is_some_and(|row| self.request.rows.contains(&(row as usize))) {
            let mut preview = preview;
            self.found.drawables += preview.count;
            preview
                .shares
                .retain(|share| self.request.hidden.get(share.0 as usize) != Some(&true));
            self.found.previews.push(preview);
        }
    }
}

impl WindowCollector<'_, '_, '_, '_> {
    fn arrow(&mut self, item: &TraceItem<'_>, row: Option<u32>, row_to: Option<u32>) {
        let is_at = |line: u32, time: f64, lane: u32, from: f64, to: f64| {
            self.trace.lines()[line as usize].lane == lane && from <= time && time <= to
        };
        let is_wanted = match self.request.arrows {
            ArrowSelection::None => false,
            ArrowSelection::Worst | ArrowSelection::All => true,
            ArrowSelection::One(reference) => reference.names(self.trace, item),
            ArrowSelection::Of { lane, from, to } => {
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
        if self.found.arrows.len() >= MAX_HELD_ARROWS {
            self.found.cut_arrows += 1;
            return;
        }
        let kind = &self.trace.kinds()[item.kind as usize];
        let message = trace_model::message(&kind.category, item.info);
        self.found.arrows.push(TimelineArrow {
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
fn takes_part(item: &TraceItem<'_>, window: TimeBBox) -> bool {
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
    request: &PictureRequest<'_>,
    budget: ReadBudget<'_>,
) -> Result<WindowDrawables, ApiError> {
    let (takers, scanned) = scan_parallel(trace, budget, || WindowCollector {
        request,
        trace,
        states: Vec::new(),
        found: WindowDrawables::default(),
    })?;
    let mut all = WindowDrawables {
        exact: scanned.exact,
        ..WindowDrawables::default()
    };
    for WindowCollector { states, found, .. } in takers {
        all.states.push(states);
        all.previews.extend(found.previews);
        all.events.extend(found.events);
        all.arrows.extend(found.arrows);
        all.hits.extend(found.hits);
        all.cut_arrows += found.cut_arrows;
        all.drawables += found.drawables;
    }
    let too_many = all.arrows.len().saturating_sub(MAX_HELD_ARROWS);
    all.cut_arrows += too_many as u64;
    all.arrows.truncate(MAX_HELD_ARROWS);
    Ok(all)
}

/// Makes the frame of what was found. `flags` is added to what follows from that.
pub fn frame(
    trace: &Trace<'_>,
    request: &PictureRequest<'_>,
    found: WindowDrawables,
    flags: u32,
) -> Vec<u8> {
    let PictureRequest {
        window,
        width,
        layout,
        ref rows,
        mode,
        ..
    } = *request;
    let columns = Columns::new(window, width as u32);
    let is_real = found.exact && found.drawables <= request.most as u64;
    let drawn = |rows: Range<usize>| {
        let unit_of = |line: u32| layout.unit(line);
        let units = layout.units(rows.clone());
        let states = StatesByUnit::new(&found.states, trace.kinds(), units, unit_of);
        let previews = &found.previews;
        let cells = Cells::new(layout, rows, &columns, width, mode, &states, previews);
        (cells, states)
    };
    let count: usize = found.states.iter().map(Vec::len).sum();
    let (mut cells, states) = if is_real || count + found.previews.len() < MIN_PARALLEL_STATES {
        drawn(rows.clone())
    } else {
        let middle = rows.start + rows.len() / 2;
        let upper = || drawn(rows.start..middle);
        let ((mut cells, _), below) = run_parallel(upper, || drawn(middle..rows.end).0);
        cells.extend(below);
        (cells, StatesByUnit::default())
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
    let mut writer = FrameWriter::default();
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
    flags |= write_arrows(&mut writer, request, found.arrows);
    writer.finish(&FrameHeader {
        kind: 1,
        columns: width as u32,
        rows: rows.len() as u32,
        flags,
        seq: request.seq,
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
pub fn write_cells(writer: &mut FrameWriter, cells: &Cells, are_few: bool) {
    writer.kinds(section::CATEGORY, &cells.category, are_few);
    writer.bytes(section::BUSY, &cells.busy);
    for (id, channel) in [
        (section::DEVIATION, &cells.deviation),
        (section::EVENTS, &cells.events),
        (section::HITS, &cells.hits),
    ] {
        if !channel.is_empty() {
            writer.bytes(id, channel);
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
    writer: &mut FrameWriter,
    states: &StatesByUnit,
    units: Range<u32>,
    layout: &TimelineLayout,
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
        for_each_shown(of_unit, &mut running, |_, _, _| {}, depth);
    }
    let [start, duration, row, kind, depth] = section::STATES;
    writer.section(start, starts.into_iter());
    writer.section(duration, durations.into_iter());
    writer.section(row, rows.into_iter());
    writer.section(kind, kinds.into_iter());
    writer.section(depth, depths.into_iter());
}

fn write_events(writer: &mut FrameWriter, events: &[PointEvent], window: TimeBBox) {
    let [time, row, kind] = section::POINTS;
    writer.section(
        time,
        events.iter().map(|e| (e.time - window.earliest) as f32),
    );
    writer.section(row, events.iter().map(|e| e.row));
    writer.section(kind, events.iter().map(|e| e.kind as u16));
}

fn write_arrows(
    writer: &mut FrameWriter,
    request: &PictureRequest<'_>,
    mut arrows: Vec<TimelineArrow>,
) -> u32 {
    let mut flags = 0;
    let flight = |arrow: &TimelineArrow| (arrow.to - arrow.from).abs();
    let longest_first = |a: &TimelineArrow, b: &TimelineArrow| flight(b).total_cmp(&flight(a));
    let mut bundles = Vec::new();
    if request.arrows == ArrowSelection::All && arrows.len() > MAX_ARROWS {
        bundles = bundled(request, &arrows);
        flags |= flag::ARROWS_CUT;
    } else if request.arrows == ArrowSelection::Worst && arrows.len() > MAX_WORST_ARROWS {
        arrows.sort_by(longest_first);
        arrows.truncate(MAX_WORST_ARROWS);
        flags |= flag::ARROWS_CUT;
    } else if arrows.len() > MAX_ARROWS {
        arrows.sort_by(longest_first);
        arrows.truncate(MAX_ARROWS);
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
    let offset = |time: f64| (time - request.window.earliest) as f32;
    let flags_of = |arrow: &TimelineArrow, count: u32| {
        u16::from(arrow.to < arrow.from) * arrow_flag::BACKWARD
            + u16::from(count > 1) * arrow_flag::BUNDLE
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
struct ArrowSum {
    /// Sums of their times after the begin of the window, and of their rows.
    times: [f64; 2],
    rows: [u64; 2],
    bytes: u64,
    count: u32,
}

impl ArrowSum {
    fn add(&mut self, other: &ArrowSum) {
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
fn bundled(request: &PictureRequest<'_>, arrows: &[TimelineArrow]) -> Vec<(TimelineArrow, u32)> {
    let window = request.window;
    let pinned = request.layout.pinned as u32;
    let together = |row: u32, power: u32| match row.checked_sub(pinned) {
        Some(below) => pinned + (below >> power),
        None => row,
    };
    type Key = (u32, [u32; 2], u32);
    let mut bundles: BTreeMap<Key, ArrowSum> = BTreeMap::new();
    for arrow in arrows {
        let middle = (arrow.from + arrow.to) / 2.0 - window.earliest;
        let part = (middle / window.duration()).clamp(0.0, 1.0) * f64::from(BUNDLE_PARTS);
        let key = (part as u32, [arrow.row_from, arrow.row_to], arrow.kind);
        bundles.entry(key).or_default().add(&ArrowSum {
            times: [arrow.from, arrow.to].map(|time| time - window.earliest),
            rows: [arrow.row_from, arrow.row_to].map(u64::from),
            bytes: arrow.bytes,
            count: 1,
        });
    }
    for power in 1..u32::BITS {
        if bundles.len() <= MAX_BUNDLES {
            break;
        }
        let mut fewer: BTreeMap<Key, ArrowSum> = BTreeMap::new();
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
    let mut bundles: Vec<(TimelineArrow, u32)> = bundles
        .into_iter()
        .map(|((_, _, kind), bundle)| {
            let count = bundle.count.max(1);
            let [from, to] = bundle
                .times
                .map(|sum| window.earliest + sum / f64::from(count));
            let [row_from, row_to] = bundle.rows.map(|sum| (sum / u64::from(count)) as u32);
            let arrow = TimelineArrow {
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
    bundles.truncate(MAX_BUNDLES);
    bundles
}
