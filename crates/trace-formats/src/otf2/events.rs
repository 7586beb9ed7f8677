//! From points in time to the events of locations.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use trace_model::hash::Map;
use trace_model::{
    CommNames, Definitions, Drawable, DrawablePoint, Losses, PartNumber, PointKind, Vertex,
};

use super::archive::Archive;
use super::category_entry::{CategoryEntry, Meaning};
use super::comms::Comms;
use super::definition_writer::RegionDefinition;
use super::error::Otf2Error;
use super::event::{Attribute, AttributeValue, CollectiveEnd, Event};
use super::files::FileTable;
use super::functions::{RegionCall, WindowCall};
use super::info::AttributeTable;
use super::metrics::MetricTable;
use super::numbers::{TIMELINE_COMM, value_type};
use super::one_sided::OneSidedTable;
use super::part;
use super::places::{LinePlace, Places};
use super::requests::RequestTable;
use super::strings::StringTable;
use super::window_event::WindowEvent;
use super::windows::WindowTable;
use crate::track_event::{Nesting, StartTimes, obstacle};

/// Most locations beside that of a thread.
const MAX_OVERLAPS: usize = 64;

/// A state that has begun and not ended.
#[derive(Clone, Copy, Debug)]
pub(super) struct OpenState {
    /// Position of its location.
    pub location: usize,
    pub is_momentary: bool,
}

/// A region that a location is in.
#[derive(Debug)]
pub(super) struct OpenRegion {
    /// Number of the drawable.
    pub drawable: u64,
    /// Requests with which the call begins sends whose messages have not come yet.
    pub sends: VecDeque<u32>,
    /// Requests that the call completes.
    pub completes: Vec<u32>,
    /// Requests that the call completes and that stand for receives whose messages have not come yet.
    pub receives: VecDeque<u32>,
    /// Reference of the communicator, where the call opens a file.
    pub opens_on: Option<u32>,
    /// Sums of performance counters when the region began, by metric.
    pub sums: Vec<(u32, u64)>,
    pub at_end: EndEvent,
}

/// Event at the end of a region.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum EndEvent {
    None,
    Collective(CollectiveEnd),
    IoIssued { handle: u32, id: u64 },
    IoComplete { handle: u32, bytes: u64, id: u64 },
    Close { handle: u32 },
    Window([Option<WindowEvent>; 2]),
}

/// A file operation that is complete at a time that is known before: time in ns, its number, position of its location, its handle and its bytes.
pub(super) type Completion = Reverse<(u64, u64, usize, u32, u64)>;

/// Makes events of points, and collects the definitions of what they refer to.
pub(super) struct EventMaker {
    pub(super) archive: Archive,
    /// The part of the archive that is written.
    pub(super) part: PartNumber,
    /// By position of a process whether its locations are in the part.
    own: Vec<bool>,
    pub(super) strings: StringTable,
    pub(super) attributes: AttributeTable,
    pub(super) regions: Vec<RegionDefinition>,
    pub(super) places: Places,
    pub(super) comms: Comms,
    pub(super) comm_names: CommNames,
    pub(super) metrics: MetricTable,
    pub(super) files: FileTable,
    pub(super) requests: RequestTable,
    /// Persistent collective operations, by process and number.
    pub(super) prepared: Map<(usize, u32), CollectiveEnd>,
    pub(super) windows: WindowTable,
    pub(super) one_sided: OneSidedTable,
    /// Split accesses that have begun, by process and handle: number and bytes.
    pub(super) split: Map<(usize, u32), (u64, u64)>,
    /// By own location of a thread the completions that are still to come.
    pub(super) completions: Map<usize, BinaryHeap<Completion>>,
    pub(super) categories: Map<i32, CategoryEntry>,
    /// By location the regions that it is in, the inner ones last.
    pub(super) inside: Vec<Vec<OpenRegion>>,
    /// By location the states that are not over, and the locations beside it.
    pub(super) nesting: Map<usize, (Nesting, Vec<usize>)>,
    open: Map<u64, OpenState>,
    times: StartTimes,
    /// Times of the first and the last event, ns.
    pub(super) span: Option<(u64, u64)>,
    attribute_list: Vec<Attribute>,
    pub(super) losses: Losses,
}

impl EventMaker {
    /// Begins this part of the archive of a trace. `create` makes it, given the number of members of the largest group.
    pub(super) fn new(
        definitions: &Definitions,
        part: PartNumber,
        create: impl FnOnce(usize) -> Result<Archive, Otf2Error>,
    ) -> Result<Self, Otf2Error> {
        let mut losses = Losses::default();
        let places = Places::new(definitions);
        let comms = Comms::new(&places, &mut losses);
        let mut archive = create(comms.largest())?;
        for location in &places.locations {
            archive.add_location(location.id);
        }
        let mut maker = EventMaker {
            inside: places.locations.iter().map(|_| Vec::new()).collect(),
            archive,
            part,
            own: part::processes(part, &places),
            places,
            comms,
            comm_names: CommNames::new(definitions),
            losses,
            strings: StringTable::new(),
            attributes: AttributeTable::default(),
            regions: Vec::new(),
            metrics: MetricTable::default(),
            files: FileTable::default(),
            requests: RequestTable::default(),
            prepared: Map::default(),
            windows: WindowTable::default(),
            one_sided: OneSidedTable::default(),
            split: Map::default(),
            completions: Map::default(),
            categories: Map::default(),
            nesting: Map::default(),
            open: Map::default(),
            times: StartTimes::default(),
            span: None,
            attribute_list: Vec::new(),
        };
        maker.add_categories(definitions);
        Ok(maker)
    }

    /// The corners of a drawable and their number, if the drawable can be taken; else it is counted.
    pub(super) fn accept(&mut self, drawable: &Drawable<'_>) -> Option<([Vertex; 2], usize)> {
        let known = self.categories.get(&drawable.category);
        let topology = known.map(|known| known.reader.category().topology);
        let has_line = |line| self.places.of_line(line).is_some();
        if let Some(obstacle) = obstacle(drawable, topology, has_line) {
            self.losses.add(obstacle, 1);
            return None;
        }
        let first = *drawable.vertices.first()?;
        Some(self.times.vertices(drawable, first, &mut self.losses))
    }

    /// Whether events of this part need a drawable: it lies on a timeline of the part, or tells of files, whoever does.
    pub(super) fn concerns_part(&self, drawable: &Drawable<'_>) -> bool {
        if self.part == PartNumber::WHOLE {
            return true;
        }
        let meaning = self.categories.get(&drawable.category);
        let meaning = meaning.map(|entry| entry.meaning);
        let mut places = (drawable.vertices.iter()).filter_map(|v| self.places.of_line(v.line));
        matches!(meaning, Some(Meaning::FileName | Meaning::FileFact))
            || places.any(|place| self.is_own(place.process))
    }

    /// Whether the locations of the process at this position are in the part.
    #[inline]
    pub(super) fn is_own(&self, process: usize) -> bool {
        self.own.get(process).copied().unwrap_or(false)
    }

    /// Notes what the points of a drawable will need. False if the archive cannot hold it.
    pub(super) fn open(&mut self, number: u64, drawable: &Drawable<'_>) -> bool {
        let (Some(first), Some(last)) = (drawable.vertices.first(), drawable.vertices.last())
        else {
            return false;
        };
        let (Some(place), Some(entry)) = (
            self.places.of_line(first.line),
            self.categories.get(&drawable.category),
        ) else {
            return false;
        };
        match entry.meaning {
            Meaning::Message | Meaning::Marker | Meaning::FileName | Meaning::FileFact => true,
            Meaning::OtherArrow => {
                self.losses.add("arrow that is no message", 1);
                false
            }
            Meaning::Region => {
                let (start, end) = (first.time.min(last.time), first.time.max(last.time));
                let Some(location) = self.row(place.location, start, end) else {
                    self.losses
                        .add("state that overlaps more than 64 others", 1);
                    return false;
                };
                let state = OpenState {
                    location,
                    is_momentary: start == end,
                };
                self.open.insert(number, state);
                true
            }
        }
    }

    /// The location for a state of a thread: its own, or one beside it where the state overlaps what is there. `None` if there are too many, since
    /// each is a file.
    fn row(&mut self, location: usize, start: f64, end: f64) -> Option<usize> {
        let (nesting, beside) = self.nesting.entry(location).or_default();
        let Some(row) = nesting.place(start, end).checked_sub(1) else {
            return Some(location);
        };
        if row >= MAX_OVERLAPS {
            return None;
        }
        let what = "state that overlaps another one, on a location beside its thread's";
        self.losses.add(what, 1);
        if let Some(&beside) = beside.get(row) {
            return Some(beside);
        }
        let added = self.places.add_beside(location, row + 1)?;
        let added = self.archive.add_location(added.id);
        beside.push(added);
        self.inside.push(Vec::new());
        Some(added)
    }

    /// Writes the events of points of one time, and empties the list.
    ///
    /// A message that arrives at the end of a call comes before that end. Where the call has no duration, the message comes before the end, too.
    pub(super) fn points(&mut self, points: &mut Vec<DrawablePoint>) -> Result<(), Otf2Error> {
        let momentary = |point: &DrawablePoint| {
            let open = self.open.get(&point.drawable);
            open.filter(|open| open.is_momentary && point.what == PointKind::Enter)
                .map(|open| open.location)
        };
        let mut momentary: Vec<usize> = points.iter().filter_map(momentary).collect();
        if !momentary.is_empty() {
            momentary.sort_unstable();
            let is_late = |point: &DrawablePoint| {
                let place = self.places.of_line(point.line);
                place.is_some_and(|place| {
                    momentary.binary_search(&place.location).is_ok()
                        && self.inside[place.location].is_empty()
                })
            };
            points.sort_by_key(|point| match point.what {
                PointKind::Receive if is_late(point) => 1,
                PointKind::Leave => match self.open.get(&point.drawable) {
                    Some(open) if open.is_momentary => 2,
                    _ => 0,
                },
                _ => 0,
            });
        }
        // What is said of files is needed at the calls that begin then.
        for point in points.iter() {
            if point.what == PointKind::At {
                self.file_fact(point);
            }
        }
        for point in points.drain(..) {
            self.point(&point)?;
        }
        Ok(())
    }

    fn point(&mut self, point: &DrawablePoint) -> Result<(), Otf2Error> {
        let Some(place) = self.places.of_line(point.line) else {
            return Ok(());
        };
        // What another part writes.
        if !self.is_own(place.process) {
            return Ok(());
        }
        let time = self.times.ns(point.time);
        let (first, last) = self.span.unwrap_or((time, time));
        let time = time.max(last);
        self.files.now = time;
        self.complete_until(place.location, time)?;
        self.span = Some((first, time));
        match point.what {
            PointKind::Enter => {
                let open = self.open.get(&point.drawable).copied();
                open.map_or(Ok(()), |open| self.enter(point, time, open.location))
            }
            PointKind::Leave => {
                let open = self.open.remove(&point.drawable);
                open.map_or(Ok(()), |open| self.leave(point, time, open.location))
            }
            PointKind::Send => self.send(point, time),
            PointKind::Receive => self.receive(point, time),
            PointKind::At => self.marker(point, time),
        }
    }

    /// Writes the start of a region with its attributes and these beside. One of them tells the communicator that its timeline is about, where no
    /// event does.
    pub(super) fn begin(
        &mut self,
        point: &DrawablePoint,
        time: u64,
        location: usize,
        beside: &[Attribute],
    ) -> Result<(), Otf2Error> {
        let Some(entry) = self.categories.get(&point.category) else {
            return Ok(());
        };
        let (list, region) = (&mut self.attribute_list, entry.region);
        let left_out = entry
            .reader
            .attributes(&point.info, &mut self.strings, list);
        let what = "text of an info, of those beyond the first 65536";
        self.losses.add(what, left_out);
        let has_details = entry.reader.has_details(&point.info);
        let what = "text of how an operation was made (details)";
        self.losses.add(what, u64::from(has_details));
        let is_told = matches!(entry.call, RegionCall::Collective(_));
        // The events of these tell the communicator of the window, which need not be that of the timeline.
        let is_of_window = matches!(
            entry.call,
            RegionCall::Window(WindowCall::Fence | WindowCall::Free)
        );
        let place = self.places.of_line(point.line);
        let comm = place.map_or(0, |place| self.comms.reference(place.comm));
        if (comm != 0 || is_of_window) && !is_told {
            let name = self.strings.id(TIMELINE_COMM);
            let attribute = self.attributes.id(name, value_type::COMM);
            list.push((attribute, AttributeValue::Comm(comm)));
        }
        list.extend(beside);
        let attributes = list.as_slice();
        let event = Event::Enter { region, attributes };
        self.archive.write(location, time, &event)
    }

    /// Writes an event without duration as a region, and the value of its metric.
    fn marker(&mut self, point: &DrawablePoint, time: u64) -> Result<(), Otf2Error> {
        let (Some(LinePlace { location, .. }), Some(entry)) = (
            self.places.of_line(point.line),
            self.categories.get(&point.category),
        ) else {
            return Ok(());
        };
        if !matches!(entry.meaning, Meaning::Marker | Meaning::FileName) {
            return Ok(());
        }
        self.begin(point, time, location, &[])?;
        let Some(entry) = self.categories.get(&point.category) else {
            return Ok(());
        };
        if let Some(&class) = entry.metrics.first()
            && let Some((value_type, bits)) = entry.reader.number(&point.info)
        {
            let event = Event::Metric {
                class,
                value_type,
                bits,
            };
            self.archive.write(location, time, &event)?;
        }
        let (region, attributes) = (entry.region, &[][..]);
        let event = Event::Leave { region, attributes };
        self.archive.write(location, time, &event)
    }
}
