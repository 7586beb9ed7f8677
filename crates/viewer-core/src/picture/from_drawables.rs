//! The picture of a window from its drawables: cells at any scale, and states, events and arrows one by one where they are few.

use std::ops::Range;
use trace_formats::slog2::{TimeBBox, Topology};

use super::arrows::{TimelineArrow, write_arrows};
use super::cells::PictureCells;
use super::encode::{PictureSummary, encode};
use super::frame::{FrameWriter, flag, section};
use super::halves::draw_in_halves;
use super::request::{ArrowSelection, PictureRequest};
use crate::base::columns::WindowColumns;
use crate::base::error::ApiError;
use crate::base::parallel::Cancel;
use crate::base::window::covers_time;
use crate::timelines::layout::{NO_TIMELINE, TimelineLayout};
use crate::trace::class::ActivityClass;
use crate::trace::scan::{DrawableSink, ReadBudget, StatePreview, scan_parallel};
use crate::trace::states::{StatesByUnit, TraceState, for_each_shown};
use crate::trace::{OpenTrace, TraceItem};

/// An event.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PointEvent {
    /// Seconds.
    pub time: f64,
    /// Timeline.
    pub timeline: u32,
    /// Kind.
    pub kind: u32,
}

/// States and previews from which on it is worth it that two threads share the timelines.
const MIN_PARALLEL_STATES: usize = 1 << 16;
/// Arrows that are held while the longest are looked for, and bundles.
const MAX_HELD_ARROWS: usize = 1 << 20;

/// Drawables of some timelines in a window.
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
    /// Hits of the search: timeline and time.
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
    trace: &'t OpenTrace<'a>,
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
        let timeline = request.layout.timeline(item.line);
        let is_in = |timeline: Option<u32>| {
            timeline.is_some_and(|timeline| request.timelines.contains(&(timeline as usize)))
        };
        if let (Some(plan), Some(timeline), true) = (&request.hits, timeline, is_in(timeline))
            && inside(item.start, request.window)
            && plan.fits(self.trace, &item)
        {
            self.found.hits.push((timeline, item.start));
        }
        match item.topology {
            Topology::State
                if is_in(timeline) && covers_time(request.window, item.start, item.end) =>
            {
                self.found.drawables += 1;
                self.states.push(TraceState {
                    start: item.start,
                    end: item.end,
                    line: item.line,
                    kind: item.kind,
                });
            }
            Topology::Event if is_in(timeline) => {
                self.found.drawables += 1;
                if let Some(timeline) = timeline {
                    self.found.events.push(PointEvent {
                        time: item.start,
                        timeline,
                        kind: item.kind,
                    });
                }
            }
            Topology::Arrow => {
                let timeline_to = request.layout.timeline(item.to_line);
                if is_in(timeline) || is_in(timeline_to) {
                    self.found.drawables += 1;
                    self.arrow(&item, timeline, timeline_to);
                }
            }
            _ => {}
        }
    }

    fn preview(&mut self, preview: StatePreview) {
        let timeline = self.request.layout.timeline(preview.line);
        if timeline.is_some_and(|timeline| self.request.timelines.contains(&(timeline as usize))) {
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
    fn arrow(&mut self, item: &TraceItem<'_>, timeline: Option<u32>, timeline_to: Option<u32>) {
        let is_at = |line: u32, time: f64, lane: u32, from: f64, to: f64| {
            self.trace.lines()[line as usize].lane == lane && from <= time && time <= to
        };
        let is_wanted = match self.request.arrows {
            ArrowSelection::None => false,
            ArrowSelection::Worst => {
                self.trace.kinds()[item.kind as usize].class != ActivityClass::Disk
            }
            ArrowSelection::All => true,
            ArrowSelection::One(reference) => reference.names(self.trace, item),
            ArrowSelection::Of { lane, from, to } => {
                is_at(item.line, item.start, lane, from, to)
                    || is_at(item.to_line, item.end, lane, from, to)
            }
        };
        let (Some(timeline_from), Some(timeline_to)) = (timeline, timeline_to) else {
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
            timeline_from,
            timeline_to,
            kind: item.kind,
            bytes: message.map_or(0, |m| u64::try_from(m.size).unwrap_or(0)),
        });
    }
}

/// Reads what a picture shows.
///
/// # Errors
/// The file is damaged.
pub fn find(
    trace: &OpenTrace<'_>,
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

/// Makes the frame of what was found.
pub fn frame(
    trace: &OpenTrace<'_>,
    request: &PictureRequest<'_>,
    found: WindowDrawables,
) -> Vec<u8> {
    let PictureRequest {
        window,
        width,
        layout,
        ref timelines,
        mode,
        ..
    } = *request;
    let columns = WindowColumns::new(window, width as u32);
    let is_real = found.exact && found.drawables <= request.most as u64;
    let states_of = |timelines: Range<usize>| {
        let units = layout.units(timelines);
        let unit_of = |line: u32| layout.unit(line);
        match layout.levels {
            0 => StatesByUnit::new(&found.states, trace.kinds(), units, unit_of),
            levels => StatesByUnit::by_level(&found.states, trace.kinds(), units, levels, unit_of),
        }
    };
    let cells_of = |timelines, states: &StatesByUnit| {
        PictureCells::new(
            layout,
            timelines,
            &columns,
            width,
            mode,
            states,
            &found.previews,
        )
    };
    let mut states = StatesByUnit::default();
    let mut cells = if is_real {
        states = states_of(timelines.clone());
        cells_of(timelines.clone(), &states)
    } else {
        let drawn = found.states.iter().map(Vec::len).sum::<usize>() + found.previews.len();
        // The states of a thread in full are all looked at for any of its timelines.
        let least = match layout.levels {
            0 => MIN_PARALLEL_STATES,
            _ => usize::MAX,
        };
        let work = |_| drawn.div_ceil(timelines.len().max(1));
        let draw = |timelines: Range<usize>, _: Cancel<'_>| {
            let states = states_of(timelines.clone());
            Some(cells_of(timelines, &states))
        };
        draw_in_halves(timelines.clone(), work, least, &|| false, draw).unwrap_or_default()
    };
    cells.show_rare();
    let times = found.events.iter().filter(|e| inside(e.time, window));
    cells.count_events(&columns, times.map(|event| (event.timeline, event.time)));
    cells.count_hits(&columns, found.hits.into_iter());
    encode(request, &cells, trace.kinds().len(), |writer| {
        let mut flags = match found.exact {
            true => flag::EXACT,
            false => flag::COARSE,
        };
        if is_real {
            flags |= flag::STATES;
            let units = layout.units(timelines.clone());
            if request.waits.is_some() {
                flags |= flag::WAITS;
            }
            write_states(writer, &states, units, layout, request);
            write_events(writer, &found.events, window);
        }
        if found.cut_arrows > 0 {
            flags |= flag::ARROWS_CUT;
        }
        let arrows = found.arrows.len() as u64 + found.cut_arrows;
        flags |= write_arrows(writer, request, found.arrows);
        PictureSummary {
            flags,
            drawables: found.drawables,
            arrows,
        }
    })
}

fn inside(time: f64, window: TimeBBox) -> bool {
    window.earliest <= time && time <= window.latest
}

fn write_states(
    writer: &mut FrameWriter,
    states: &StatesByUnit,
    units: Range<u32>,
    layout: &TimelineLayout,
    request: &PictureRequest<'_>,
) {
    let window = request.window;
    // Far outside of the window nothing is seen, and f32 would not tell pixels apart any more.
    let margin = window.duration();
    let (least, most) = (window.earliest - margin, window.latest + margin);
    let (mut starts, mut durations) = (Vec::<f32>::new(), Vec::<f32>::new());
    let (mut timelines, mut kinds, mut depths) = (Vec::new(), Vec::new(), Vec::new());
    let mut waits = StateWaits::default();
    let mut running = Vec::new();
    for unit in units {
        let of_unit = states.of(unit);
        for state in of_unit {
            let (start, end) = (state.start.max(least), state.end.min(most));
            for wait in request.waits.iter().flat_map(|waits| waits.of_state(state)) {
                let (from, to) = (wait.from.max(start), wait.to.min(end));
                if from < to {
                    waits.states.push(starts.len() as u32);
                    waits.begins.push((from - window.earliest) as f32);
                    waits.durations.push((to - from) as f32);
                }
            }
            starts.push((start - window.earliest) as f32);
            durations.push((end - start) as f32);
            timelines.push(match layout.levels {
                0 => layout.timeline(state.line).unwrap_or(NO_TIMELINE),
                _ => unit,
            });
            kinds.push(state.kind as u16);
        }
        let depth = |_, depth: usize| depths.push(depth.min(usize::from(u16::MAX)) as u16);
        for_each_shown(of_unit, &mut running, |_, _, _| {}, depth);
    }
    let [start, duration, timeline, kind, depth] = section::STATES;
    writer.section(start, starts.into_iter());
    writer.section(duration, durations.into_iter());
    writer.section(timeline, timelines.into_iter());
    writer.section(kind, kinds.into_iter());
    writer.section(depth, depths.into_iter());
    let [state, begin, duration] = section::WAITS;
    writer.section(state, waits.states.into_iter());
    writer.section(begin, waits.begins.into_iter());
    writer.section(duration, waits.durations.into_iter());
}

/// Waits of the states of a frame, as its columns.
#[derive(Default)]
struct StateWaits {
    states: Vec<u32>,
    begins: Vec<f32>,
    durations: Vec<f32>,
}

fn write_events(writer: &mut FrameWriter, events: &[PointEvent], window: TimeBBox) {
    let [time, timeline, kind] = section::POINTS;
    writer.section(
        time,
        events.iter().map(|e| (e.time - window.earliest) as f32),
    );
    writer.section(timeline, events.iter().map(|e| e.timeline));
    writer.section(kind, events.iter().map(|e| e.kind as u16));
}
