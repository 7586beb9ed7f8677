//! An archive as a source of drawables.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::path::{Path, PathBuf};

use trace_model::{Definitions, Drawable, InfoWriter, Losses, Stop, Topology, Vertex};

use super::super::error::Otf2Error;
use super::archive::{LocationEvents, ReadArchive};
use super::calls::{BegunCalls, LocationState, RegionVisit};
use super::categories::{Categories, MESSAGE, RegionCategory};
use super::comm_names::NamingEvents;
use super::comms::Comms;
use super::definitions::{GlobalDefinitions, Location};
use super::event::{Event, EventKind, MessageEnd};
use super::files::{self, NamedFiles};
use super::messages::{Channel, End, MatchedMessage, Messages};
use super::places::{LocationPlace, Places};
use super::requests::RequestNumbers;
use super::survey::{MetricUse, Survey, metric_use};
use super::values::{Value, value};

/// Name by which mpitrace says that it has written an archive.
const OWN_CREATOR: &str = "mpitrace";

/// An OTF2 archive. In memory are its definitions; while it is read, a buffer of the library for each location, and the calls and messages that
/// are not complete.
#[derive(Debug)]
pub struct Otf2Source {
    anchor: PathBuf,
    source: GlobalDefinitions,
    places: Places,
    comms: Comms,
    categories: Categories,
    comm_names: NamingEvents,
    definitions: Definitions,
    /// Time of the first event, ticks.
    first: u64,
    /// Time zero, ticks.
    zero: u64,
    is_own: bool,
}

impl Otf2Source {
    /// Opens the archive with this anchor file. All events are read once, for categories and lines.
    ///
    /// # Errors
    /// The OTF2 library is missing, or the archive is damaged: which file of it, where, and how.
    pub fn open(anchor: impl AsRef<Path>) -> Result<Self, Otf2Error> {
        let anchor = anchor.as_ref();
        Otf2Source::opened(anchor).map_err(|error| error.in_file(anchor))
    }

    fn opened(anchor: &Path) -> Result<Self, Otf2Error> {
        let archive = ReadArchive::open(anchor)?;
        let is_own = archive.creator() == OWN_CREATOR;
        let source = archive.definitions()?;
        let mut places = Places::new(&source, is_own);
        let mut comms = Comms::new(&source, &places, is_own);
        let locations: Vec<Location> = (places.locations.iter())
            .map(|place| place.definition)
            .collect();
        archive.open_locations(&locations)?;
        let survey = Survey::new(&archive, &source, &places, &comms, is_own)?;
        let mut definitions = Definitions::default();
        for &(thread, comm) in &survey.comms_on {
            comms.add_line(thread, comm, &mut places.lines);
        }
        definitions.lines = std::mem::take(&mut places.lines);
        if let Some(program) = survey.program {
            definitions.program = source.text(program).to_owned();
        }
        let categories = Categories::new(&source, &survey, is_own, &mut definitions);
        // Archives of mpitrace have the calls that give the names.
        let comm_names = match is_own {
            true => NamingEvents::default(),
            false => NamingEvents::new(&source, &comms, &mut definitions),
        };
        // The times of mpitrace are those of the trace before; others count from the start of the program.
        let first = survey.first.unwrap_or(0);
        let zero = if is_own { 0 } else { source.offset.min(first) };
        Ok(Otf2Source {
            anchor: anchor.to_path_buf(),
            source,
            places,
            comms,
            categories,
            comm_names,
            definitions,
            first,
            zero,
            is_own,
        })
    }

    /// Seconds since time zero.
    fn seconds(&self, ticks: u64) -> f64 {
        let resolution = self.source.resolution.max(1);
        ticks.saturating_sub(self.zero) as f64 / resolution as f64
    }

    fn stop(&self, error: Otf2Error) -> Stop {
        error.in_file(&self.anchor).into()
    }
}

impl trace_model::Source for Otf2Source {
    fn definitions(&self) -> &Definitions {
        &self.definitions
    }

    fn for_each(
        &self,
        put: &mut dyn FnMut(&Drawable<'_>) -> Result<(), Stop>,
    ) -> Result<Losses, Stop> {
        let stop = |error| self.stop(error);
        let archive = ReadArchive::open(&self.anchor).map_err(stop)?;
        let locations: Vec<Location> = (self.places.locations.iter())
            .map(|place| place.definition)
            .collect();
        archive.open_locations(&locations).map_err(stop)?;
        self.comm_names.draw(self.seconds(self.first), put)?;
        let mut walk = Walk::new(self, put);
        // All locations go on together, so that few messages are under way at a time.
        let mut heap = BinaryHeap::new();
        let mut readers: Vec<LocationReader<'_>> = Vec::new();
        for place in &self.places.locations {
            let Some(mut events) = archive.events(&place.definition).map_err(stop)? else {
                continue;
            };
            if let Some(next) = events.next().map_err(stop)? {
                heap.push(Reverse((next.time, readers.len())));
                readers.push(LocationReader {
                    place,
                    events,
                    next: Some(next),
                    state: LocationState::new(place.line, place.rank),
                });
            }
        }
        while let Some(Reverse((_, at))) = heap.pop() {
            let Some(reader) = readers.get_mut(at) else {
                continue;
            };
            let Some(event) = reader.next.take() else {
                continue;
            };
            walk.take(&mut reader.state, reader.place, event)?;
            reader.next = reader.events.next().map_err(stop)?;
            if let Some(next) = &reader.next {
                heap.push(Reverse((next.time, at)));
            }
        }
        for reader in &readers {
            let what = "call or region without an end";
            walk.losses.add(what, reader.state.open());
            walk.losses
                .add("end of a region without a start", reader.state.surplus_ends);
        }
        walk.finish()
    }
}

/// A location that is being read.
struct LocationReader<'a> {
    place: &'a LocationPlace,
    events: LocationEvents<'a>,
    next: Option<Event>,
    state: LocationState,
}

/// A walk over all events of an archive in order of time.
struct Walk<'a> {
    source: &'a Otf2Source,
    put: &'a mut dyn FnMut(&Drawable<'_>) -> Result<(), Stop>,
    messages: Messages,
    requests: RequestNumbers,
    begun: BegunCalls,
    named: NamedFiles,
    info: InfoWriter,
    losses: Losses,
}

impl<'a> Walk<'a> {
    fn new(
        source: &'a Otf2Source,
        put: &'a mut dyn FnMut(&Drawable<'_>) -> Result<(), Stop>,
    ) -> Walk<'a> {
        Walk {
            source,
            put,
            messages: Messages::default(),
            requests: RequestNumbers::new(&source.source, source.is_own),
            begun: BegunCalls::default(),
            named: NamedFiles::default(),
            info: InfoWriter::default(),
            losses: Losses::default(),
        }
    }

    fn take(
        &mut self,
        state: &mut LocationState,
        place: &LocationPlace,
        event: Event,
    ) -> Result<(), Stop> {
        let time = state.time(&event);
        let rank = place.rank;
        match event.kind {
            EventKind::Enter { region, attributes } => state.enter(region, time, attributes),
            EventKind::Leave { region, attributes } => {
                if let Some(mut visit) = state.leave(region, time) {
                    visit.take_attributes(&attributes, self.source.is_own);
                    visit.take_comm(&self.source.comms);
                    let name = self.source.source.region_name(region);
                    if let Some(visit) = self.begun.keep(visit, name) {
                        self.draw_state(&visit)?;
                    }
                }
            }
            EventKind::Metric { metric, values } => {
                self.metric(state, place, time, metric, &values)?
            }
            EventKind::Program { .. } => {}
            EventKind::Unknown => self
                .losses
                .add("event that the OTF2 library does not know", 1),
            kind => {
                match kind {
                    EventKind::Send(end, _) => {
                        if let Some(receiver) = self.partner(rank, &end) {
                            self.messages.send(
                                channel(&end, rank, receiver),
                                End {
                                    time,
                                    line: self.source.comms.line(place.line, end.comm),
                                    bytes: end.bytes,
                                },
                            );
                        }
                    }
                    EventKind::ReceiveRequest(request) => self.messages.post(rank, request),
                    EventKind::Cancelled(request) => self.messages.cancel(rank, request),
                    EventKind::Receive(end, request) => match self.partner(rank, &end) {
                        Some(sender) => {
                            let channel = channel(&end, sender, rank);
                            let line = self.source.comms.line(place.line, end.comm);
                            let bytes = end.bytes;
                            self.messages
                                .receive(channel, End { time, line, bytes }, request);
                        }
                        None => {
                            if let Some(request) = request {
                                self.messages.cancel(rank, request);
                            }
                        }
                    },
                    _ => {}
                }
                if let EventKind::IoComplete { id, .. } = kind
                    && let Some(visit) = self.begun.complete_access(rank, id, time)
                {
                    self.draw_state(&visit)?;
                }
                let source = self.source;
                let complete = state.take(&kind, &source.source, &source.comms, &mut self.requests);
                if let Some((request, facts)) = complete
                    && let Some(visit) = self.begun.complete(rank, request, &facts)
                {
                    self.draw_state(&visit)?;
                }
                self.draw_arrows()?;
            }
        }
        Ok(())
    }

    /// Rank in MPI_COMM_WORLD of the other end of a message.
    fn partner(&mut self, own: i32, end: &MessageEnd) -> Option<i32> {
        let partner = self.source.comms.world_rank(end.comm, own, end.partner);
        if partner.is_none() {
            let what = "end of a message whose other end is on no rank of its communicator";
            self.losses.add(what, 1);
        }
        partner
    }

    /// Takes the values of a metric.
    fn metric(
        &mut self,
        state: &mut LocationState,
        place: &LocationPlace,
        time: u64,
        metric: u32,
        values: &[(u8, u64)],
    ) -> Result<(), Stop> {
        let source = self.source;
        let members = source.source.members_of(metric).iter().zip(values);
        for (&member, &(kind, bits)) in members {
            match metric_use(&source.source, member, &place.definition, source.is_own) {
                MetricUse::OfCalls => state.accumulate(member, bits as i64),
                MetricUse::Nothing => {}
                MetricUse::Events => {
                    let (Some(&(category, is_real)), Some(definition)) = (
                        source.categories.metrics.get(&member),
                        source.source.metric_members.get(&member),
                    ) else {
                        continue;
                    };
                    let value = value(&source.source, kind, bits);
                    self.info.clear();
                    match (is_real, &value) {
                        (false, Value::Integer(number)) => _ = self.info.long(*number),
                        (false, _) => _ = self.info.long(definition.scaled(&value) as i64),
                        (true, _) => _ = self.info.real(definition.scaled(&value)),
                    }
                    let vertices = [Vertex {
                        time: source.seconds(time),
                        line: place.line,
                    }];
                    (self.put)(&Drawable {
                        topology: Topology::Event,
                        category,
                        info: self.info.bytes(),
                        vertices: &vertices,
                    })?;
                }
            }
        }
        Ok(())
    }

    fn draw_state(&mut self, visit: &RegionVisit) -> Result<(), Stop> {
        let source = self.source;
        let Some(category) = source.categories.of(visit) else {
            return Ok(());
        };
        if category.is_operation {
            self.name_file(category, visit)?;
        }
        category.write(&source.source, visit, &mut self.info);
        let line = match visit.facts.comm {
            Some(comm) => source.comms.line(visit.thread, comm),
            None => visit.thread,
        };
        let vertices = [visit.start, visit.end].map(|ticks| Vertex {
            time: source.seconds(ticks),
            line,
        });
        let corners = if category.topology == Topology::Event {
            1
        } else {
            2
        };
        (self.put)(&Drawable {
            topology: category.topology,
            category: category.index,
            info: self.info.bytes(),
            vertices: &vertices[..corners],
        })
    }

    /// Names the file of an operation, at the first one that is about it.
    fn name_file(&mut self, category: &RegionCategory, visit: &RegionVisit) -> Result<(), Stop> {
        let source = &self.source.source;
        let (Some(file), Some(number)) =
            (self.source.categories.file, category.file(source, visit))
        else {
            return Ok(());
        };
        if !self.named.is_new(number) {
            return Ok(());
        }
        let path = files::path(source, visit).as_bytes();
        let number = i32::try_from(number).unwrap_or(-1);
        self.info
            .clear()
            .int(number)
            .text(b"data")
            .text(path)
            .long(0)
            .long(0);
        let vertices = [Vertex {
            time: self.source.seconds(visit.start),
            line: visit.thread,
        }];
        (self.put)(&Drawable {
            topology: Topology::Event,
            category: file,
            info: self.info.bytes(),
            vertices: &vertices,
        })
    }

    fn draw_arrows(&mut self) -> Result<(), Stop> {
        for arrow in std::mem::take(&mut self.messages.arrows) {
            self.draw_arrow(&arrow)?;
        }
        Ok(())
    }

    fn draw_arrow(&mut self, arrow: &MatchedMessage) -> Result<(), Stop> {
        let messages = self.source.definitions.categories.first();
        let (tag, bytes) = (arrow.tag as i32, arrow.send.bytes);
        let info = messages.map_or(&[][..], |messages| {
            self.info.message(messages, tag, bytes).bytes()
        });
        let vertices = [arrow.send, arrow.receive].map(|end| Vertex {
            time: self.source.seconds(end.time),
            line: end.line,
        });
        (self.put)(&Drawable {
            topology: Topology::Arrow,
            category: MESSAGE,
            info,
            vertices: &vertices,
        })
    }

    /// Draws what is left, and says what could not be drawn.
    fn finish(mut self) -> Result<Losses, Stop> {
        let left: Vec<RegionVisit> = self.begun.left().collect();
        for visit in &left {
            self.draw_state(visit)?;
        }
        self.messages.finish();
        self.draw_arrows()?;
        self.messages.losses(&mut self.losses);
        Ok(self.losses)
    }
}

/// What both ends of a message share.
fn channel(end: &MessageEnd, sender: i32, receiver: i32) -> Channel {
    Channel {
        comm: end.comm,
        sender,
        receiver,
        tag: end.tag,
    }
}
