//! The drawables of a window one by one, as a table: what stands behind the picture for those who cannot see it.

use serde::Serialize;
use std::cmp::Ordering;
use std::collections::BinaryHeap;
use trace_formats::slog2::Topology;
use trace_model::{Drawable, info_values};

use super::answer::Answer;
use super::viewer::Viewer;
use crate::base::error::ApiError;
use crate::base::parallel::Cancel;
use crate::base::query::ApiQuery;
use crate::base::text::visible;
use crate::base::window::takes_part;
use crate::search::call_files::CallFiles;
use crate::search::hits::SearchHit;
use crate::search::plan::{SearchPlan, has_key};
use crate::statistics::in_order::in_order;
use crate::trace::TopologyName;
use crate::trace::info::{bytes, value_after_key};
use crate::trace::nearby::refer;
use crate::trace::reference::DrawableReference;
use crate::trace::{DrawableKind, TraceItem};

/// Rows of the table that can be asked for, from the first on.
const MAX_EVENTS: usize = 200_000;

/// Rows of a table for which the file of each call of MPI-IO is looked for by itself, and which of those that are alike each row is. For longer
/// ones the trace is read for all files, and each row has the reference of the first of those that are alike.
const MAX_LOOKED_FOR: usize = 1000;

#[derive(Default, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct EventsAnswer {
    pub total: u64,
    pub exact: bool,
    #[serde(rename = "ref")]
    pub reference: Vec<String>,
    pub topology: Vec<TopologyName>,
    pub kind: Vec<u32>,
    pub name: Vec<String>,
    pub t0: Vec<f64>,
    pub t1: Vec<f64>,
    pub dur: Vec<f64>,
    pub timeline: Vec<u32>,
    /// Timeline of the end of an arrow, −1 for anything else.
    pub to_timeline: Vec<i64>,
    pub info: Vec<String>,
    /// Bytes of the message, or of what was accessed; −1 if it says none.
    pub bytes: Vec<i64>,
    /// Path of the file that it is about; empty if the trace tells none, and for calls of MPI-IO in long tables of traces that are too large to be read.
    pub file: Vec<String>,
}

#[derive(Clone, Copy, PartialEq)]
enum EventOrder {
    Start,
    Duration,
    Name,
    Timeline,
}

impl EventOrder {
    /// The order that a question names.
    fn parse(text: &str) -> Result<EventOrder, ApiError> {
        match text {
            "" | "t0" => Ok(EventOrder::Start),
            "dur" => Ok(EventOrder::Duration),
            "name" => Ok(EventOrder::Name),
            "timeline" => Ok(EventOrder::Timeline),
            _ => Err(ApiError::bad_request(
                "sort: expected t0, dur, name or timeline",
            )),
        }
    }
}

/// A row of the table.
struct EventEntry {
    /// Sort key: a time, or the number of a name.
    key: f64,
    nth: u64,
    timeline: u32,
    to_timeline: i64,
    kind: u32,
    topology: Topology,
    line: u32,
    to_line: u32,
    times: [f64; 2],
    info: Vec<u8>,
}

impl EventEntry {
    fn of(item: &TraceItem<'_>, timeline_of: &dyn Fn(u32) -> Option<u32>) -> Option<EventEntry> {
        let (from, to) = (timeline_of(item.line), timeline_of(item.to_line));
        let is_arrow = item.topology == Topology::Arrow;
        Some(EventEntry {
            key: 0.0,
            nth: 0,
            timeline: from.or(to)?,
            to_timeline: to.filter(|_| is_arrow).map_or(-1, i64::from),
            kind: item.kind,
            topology: item.topology,
            line: item.line,
            to_line: item.to_line,
            times: [item.start, item.end],
            info: Vec::new(),
        })
    }

    fn item<'i>(&self, info: &'i [u8]) -> TraceItem<'i> {
        let [start, end] = self.times;
        TraceItem {
            kind: self.kind,
            topology: self.topology,
            line: self.line,
            to_line: self.to_line,
            start,
            end,
            info,
        }
    }
}

impl Ord for EventEntry {
    fn cmp(&self, other: &Self) -> Ordering {
        self.key
            .total_cmp(&other.key)
            .then(self.nth.cmp(&other.nth))
    }
}

impl PartialOrd for EventEntry {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for EventEntry {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for EventEntry {}

impl Viewer<'_> {
    /// `events`.
    pub(crate) fn events(&self, query: &ApiQuery, cancel: Cancel<'_>) -> Result<Answer, ApiError> {
        let found = self.table(query, 100, cancel)?;
        Answer::json(&found, found.exact)
    }

    /// All drawables of a question, unless it wants only so many.
    pub(crate) fn whole_table(
        &self,
        query: &ApiQuery,
        cancel: Cancel<'_>,
    ) -> Result<EventsAnswer, ApiError> {
        let found = self.table(query, MAX_EVENTS, cancel)?;
        let is_cut = query.get("limit").is_none() && found.total > found.t0.len() as u64;
        if is_cut && query.get("offset").is_none() {
            let total = found.total;
            let message =
                format!("{total} drawables: a table has at most {MAX_EVENTS}, choose less");
            return Err(ApiError::too_large(message));
        }
        Ok(found)
    }

    /// The drawables of a question, `limit` of them if it does not say how many.
    fn table(
        &self,
        query: &ApiQuery,
        limit: usize,
        cancel: Cancel<'_>,
    ) -> Result<EventsAnswer, ApiError> {
        let trace = self.trace();
        let window = self.window(query)?;
        let layout = self.layout(query, cancel)?;
        let hidden = self.hidden(query)?;
        let (y0, y1) = (query.number("y0", 0u32)?, query.number("y1", u32::MAX)?);
        let offset: usize = query.number("offset", 0)?;
        let limit: usize = query.number("limit", limit.min(MAX_EVENTS.saturating_sub(offset)))?;
        let most = offset.saturating_add(limit);
        if most > MAX_EVENTS {
            let message =
                format!("offset={offset}&limit={limit}: expected at most {MAX_EVENTS} rows");
            return Err(ApiError::too_large(message));
        }
        let (text, down) = match query.text("sort").strip_prefix('-') {
            Some(text) => (text, true),
            None => (query.text("sort"), false),
        };
        let by = EventOrder::parse(text)?;
        let plan = match query.text("q") {
            "" => None,
            _ => Some(self.search_plan(query, &layout, cancel)?),
        };
        let budget = self.budget(window, cancel);
        let hits = match (trace.reader().bytes_in(window)? > budget.bytes, &plan) {
            (false, _) => None,
            (true, Some(plan)) => Some(self.hit_places(plan, cancel)?.ok_or_else(|| {
                ApiError::too_large("too many hits for a table, or too far apart: zoom in")
            })?),
            (true, None) => {
                let message = "too much in this window for a table: zoom in, or search";
                return Err(ApiError::too_large(message));
            }
        };
        let places = places_of_names(trace.kinds());
        let sign = if down { -1.0 } else { 1.0 };
        let timeline_of = |line: u32| {
            layout
                .timeline(line)
                .filter(|timeline| (y0..y1).contains(timeline))
        };
        // The first so many, the last of them on top.
        let heap = std::cell::RefCell::new((BinaryHeap::<EventEntry>::new(), 0_u64));
        let take = |mut entry: EventEntry, info: &[u8]| {
            let [start, end] = entry.times;
            let bounds = trace_formats::slog2::TimeBBox {
                earliest: start.min(end),
                latest: start.max(end),
            };
            if hidden[entry.kind as usize] || !takes_part(bounds, window) {
                return;
            }
            let is_hit = |plan: &SearchPlan| plan.fits(trace, &entry.item(info));
            if !plan.as_deref().is_none_or(is_hit) {
                return;
            }
            let (heap, total) = &mut *heap.borrow_mut();
            entry.nth = *total;
            *total += 1;
            entry.key = sign
                * match by {
                    EventOrder::Start => bounds.earliest,
                    EventOrder::Duration => (end - start).abs(),
                    EventOrder::Name => f64::from(places[entry.kind as usize]),
                    EventOrder::Timeline => f64::from(entry.timeline),
                };
            if heap.len() < most {
                entry.info = info.to_vec();
                heap.push(entry);
            } else if heap.peek().is_some_and(|last| entry < *last) {
                entry.info = info.to_vec();
                heap.pop();
                heap.push(entry);
            }
        };
        match hits {
            Some(hits) => {
                let mut items: Vec<TraceItem<'_>> = hits.iter().map(SearchHit::item).collect();
                items.sort_by(|a, b| a.start.total_cmp(&b.start));
                for item in items {
                    if let Some(entry) = EventEntry::of(&item, &timeline_of) {
                        take(entry, item.info);
                    }
                }
            }
            None => {
                in_order(
                    trace,
                    budget,
                    &mut || *heap.borrow_mut() = Default::default(),
                    &mut |drawable: &Drawable<'_>| {
                        if let Some(entry) = entry(self, drawable, &timeline_of) {
                            take(entry, drawable.info);
                        }
                    },
                )?;
            }
        }
        let (heap, total) = heap.into_inner();
        let mut events = EventsAnswer {
            total,
            exact: true,
            ..EventsAnswer::default()
        };
        // What cannot be told of calls is left open.
        let read = || CallFiles::read(trace, self.budget(trace.bounds(), cancel));
        let calls = (limit > MAX_LOOKED_FOR).then(|| read().unwrap_or_default());
        for entry in heap.into_sorted_vec().into_iter().skip(offset) {
            self.push(&mut events, &entry, calls.as_ref(), cancel);
        }
        Ok(events)
    }

    fn push(
        &self,
        events: &mut EventsAnswer,
        entry: &EventEntry,
        calls: Option<&CallFiles>,
        cancel: Cancel<'_>,
    ) {
        let kind = &self.trace().kinds()[entry.kind as usize];
        let [start, end] = entry.times;
        let item = entry.item(&entry.info);
        let first = || DrawableReference::of(self.trace(), &item, 0);
        let reference = match calls {
            Some(_) => first(),
            None => refer(
                self.trace(),
                self.budget(self.trace().bounds(), cancel),
                &item,
            )
            .unwrap_or_else(|_| first()),
        };
        events.reference.push(reference.to_string());
        events.topology.push(TopologyName::from(entry.topology));
        events.kind.push(entry.kind);
        events.name.push(kind.name.clone());
        events.t0.push(start);
        events.t1.push(end);
        events.dur.push(end - start);
        events.timeline.push(entry.timeline);
        events.to_timeline.push(entry.to_timeline);
        let pairs = info_values(&kind.category, &entry.info);
        let texts = pairs.map(|(key, value)| {
            let text = value_after_key(value);
            crate::base::text::visible(&format!("{}{text}", key.to_str()))
        });
        events.info.push(texts.collect());
        let mut pairs = info_values(&kind.category, &entry.info);
        let moved = pairs.find_map(|(key, value)| bytes(&key.to_str(), value));
        events.bytes.push(moved.unwrap_or(-1));
        let file = match calls {
            Some(calls) if kind.is_file_call() && !has_key(kind, "file") => {
                let id = kind.callid_of(&entry.info);
                id.and_then(|id| calls.path(id)).map(visible)
            }
            _ => self.file_of(&item, cancel),
        };
        events.file.push(file.unwrap_or_default());
    }
}

/// By kind the place of its name among all names.
fn places_of_names(kinds: &[DrawableKind]) -> Vec<u32> {
    let mut order: Vec<usize> = (0..kinds.len()).collect();
    order.sort_by_cached_key(|&kind| kinds[kind].name.to_lowercase());
    let mut places = vec![0; kinds.len()];
    for (place, kind) in (0..).zip(order) {
        places[kind] = place;
    }
    places
}

fn entry(
    viewer: &Viewer<'_>,
    drawable: &Drawable<'_>,
    timeline_of: &dyn Fn(u32) -> Option<u32>,
) -> Option<EventEntry> {
    let trace = viewer.trace();
    let (first, last) = (drawable.vertices.first()?, drawable.vertices.last()?);
    let line = trace.line(first.line)?;
    let is_arrow = drawable.topology == Topology::Arrow;
    let to_line = if is_arrow {
        trace.line(last.line)?
    } else {
        line
    };
    let [start, end] = match is_arrow || first.time <= last.time {
        true => [first.time, last.time],
        false => [last.time, first.time],
    };
    let item = TraceItem {
        kind: trace.kind_or_undefined(drawable.category, drawable.topology)?,
        topology: drawable.topology,
        line,
        to_line,
        start,
        end,
        info: drawable.info,
    };
    EventEntry::of(&item, timeline_of)
}
