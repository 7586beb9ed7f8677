//! Makes a CLOG2 file of drawables from any source: states as pairs of events, arrows as messages, described in front of
//! everything else, so that every reader knows each event when it comes.

use std::collections::{HashMap, VecDeque};
use std::io::{BufWriter, Seek, Write};
use std::path::Path;

use super::comm::{Clog2CommKind, CommTable};
use super::error::Clog2Error;
use super::gid::Gid;
use super::numbering::{CategoryNumbering, DescribedCategory, NumberedPlace};
use super::preamble::Preamble;
use super::record::{
    CARGO_SIZE, Clog2Body, Clog2CommEvent, Clog2Msg, Clog2Record, Clog2RecordHeader, comm_etype,
    msg_etype,
};
use super::write::Clog2Writer;
use trace_model::PendingFile;
use trace_model::{
    Definitions, Drawable, DrawableOrder, DrawablePoint, Losses, PointKind, Points, Stop, message,
};

/// Options of a [`Clog2Sink`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SinkOptions {
    /// Bytes of a block, at least 192.
    pub block_size: u32,
}

impl Default for SinkOptions {
    fn default() -> Self {
        SinkOptions { block_size: 65536 }
    }
}

/// A CLOG2 file in the making. Wants drawables by start time.
#[derive(Debug)]
pub struct Clog2Sink<W: Write + Seek> {
    points: Points,
    events: Events<W>,
    begun: bool,
}

impl Clog2Sink<BufWriter<PendingFile>> {
    /// Starts the file at `path`, which gets its name when it is complete.
    ///
    /// # Errors
    /// When it cannot be created.
    pub fn create(
        path: impl AsRef<Path>,
        definitions: &Definitions,
        options: SinkOptions,
    ) -> Result<Self, Clog2Error> {
        let path = path.as_ref();
        let pending = PendingFile::create(path).map_err(|e| Clog2Error::io(0, e).in_file(path))?;
        let out = BufWriter::with_capacity(1 << 18, pending);
        let complete = |out: &mut BufWriter<PendingFile>| {
            out.flush()?;
            out.get_mut().complete()
        };
        Clog2Sink::start(definitions, options, |preamble| {
            Clog2Writer::start(out, preamble, Some(path.to_path_buf()), complete)
        })
    }
}

impl<W: Write + Seek> Clog2Sink<W> {
    /// Starts a file in `out`, at its position 0.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn new(
        out: W,
        definitions: &Definitions,
        options: SinkOptions,
    ) -> Result<Self, Clog2Error> {
        Clog2Sink::start(definitions, options, |preamble| {
            Clog2Writer::new(out, preamble)
        })
    }

    fn start(
        definitions: &Definitions,
        options: SinkOptions,
        open: impl FnOnce(&Preamble) -> Result<Clog2Writer<W>, Clog2Error>,
    ) -> Result<Self, Clog2Error> {
        let mut losses = Losses::default();
        let numbering = CategoryNumbering::new(definitions, &mut losses);
        let preamble = Preamble {
            block_size: options.block_size.max(192),
            ..numbering.preamble()
        };
        let writer = open(&preamble)?;
        Ok(Clog2Sink {
            points: Points::default(),
            events: Events {
                writer,
                preamble,
                numbering,
                losses,
                open_states: HashMap::new(),
                open_messages: HashMap::new(),
            },
            begun: false,
        })
    }

    /// Takes the next drawable.
    ///
    /// # Errors
    /// When the file could not be written.
    pub fn add(&mut self, drawable: &Drawable<'_>) -> Result<(), Stop> {
        if !self.begun {
            self.begun = true;
            let times = drawable.vertices.iter().map(|vertex| vertex.time);
            self.events.open(times.fold(0.0, f64::min))?;
        }
        let events = &mut self.events;
        self.points
            .push(drawable, &mut |point| Ok(events.put(point)?))
    }

    /// Writes the rest of the file and completes it; gives the output back, and what the format could not hold.
    ///
    /// # Errors
    /// When it could not be written.
    pub fn close(mut self) -> Result<(W, Losses), Stop> {
        if !self.begun {
            self.events.open(0.0)?;
        }
        let mut events = self.events;
        self.points.finish(&mut |point| Ok(events.put(point)?))?;
        let table = events.comm_table();
        let out = events.writer.finish(&table, &events.preamble)?;
        Ok((out, events.losses))
    }
}

impl<W: Write + Seek> trace_model::Sink for Clog2Sink<W> {
    fn order(&self) -> DrawableOrder {
        DrawableOrder::Start
    }

    fn put(&mut self, drawable: &Drawable<'_>) -> Result<(), Stop> {
        self.add(drawable)
    }

    fn finish(self: Box<Self>) -> Result<Losses, Stop> {
        self.close().map(|(_, losses)| losses)
    }
}

/// Properties that a reader finds in both ends of a message: tag, and communicator and rank of either side.
type MessageRoute = (i32, (i32, i32), (i32, i32));

/// Writes points in time as records.
#[derive(Debug)]
struct Events<W: Write + Seek> {
    writer: Clog2Writer<W>,
    preamble: Preamble,
    numbering: CategoryNumbering,
    losses: Losses,
    /// Numbers of the open drawables, by category and line: readers take the oldest for the next end.
    open_states: HashMap<(i32, i32), VecDeque<u64>>,
    /// Numbers of messages of which one end was written, and whether that end is the send.
    open_messages: HashMap<MessageRoute, (bool, VecDeque<u64>)>,
}

impl<W: Write + Seek> Events<W> {
    /// Communicators and definitions.
    fn open(&mut self, time: f64) -> Result<(), Clog2Error> {
        let mut records = Vec::new();
        for member in self.numbering.members() {
            let event = Clog2CommEvent {
                etype: if member.comm == 0 {
                    comm_etype::WORLD_CREATE
                } else {
                    comm_etype::INTRA_CREATE
                },
                icomm: member.comm,
                rank: member.rank,
                wrank: member.world_rank,
                gid: gid(member.comm),
            };
            records.push((member.world_rank, Clog2Body::Comm(event)));
        }
        records.extend(self.numbering.definitions().map(|body| (0, body)));
        for (rank, body) in records {
            let header = Clog2RecordHeader {
                time,
                icomm: 0,
                rank,
                thread: 0,
            };
            self.writer.write(&Clog2Record { header, body })?;
        }
        Ok(())
    }

    fn put(&mut self, point: &DrawablePoint) -> Result<(), Clog2Error> {
        // Both ends of a drawable come here, but it is one that is lost.
        let is_first = matches!(
            point.what,
            PointKind::Enter | PointKind::Send | PointKind::At
        );
        let Some(described) = self.numbering.category(point.category) else {
            let what = "drawable of an undescribed category";
            self.losses.add(what, is_first.into());
            return Ok(());
        };
        let places = [point.line, point.partner].map(|line| self.numbering.place(line));
        let [Some(place), Some(partner)] = places else {
            let what = "drawable on an undescribed line";
            self.losses.add(what, is_first.into());
            return Ok(());
        };
        let body = match (described, point.what) {
            (DescribedCategory::State(start, _), PointKind::Enter) => {
                self.enter(point);
                Clog2Body::Bare { etype: start }
            }
            (DescribedCategory::State(_, end), PointKind::Leave) => {
                self.leave(point);
                self.event(end, &point.info)
            }
            (DescribedCategory::Event(etype), PointKind::At) => self.event(etype, &point.info),
            (DescribedCategory::Message, PointKind::Send | PointKind::Receive) => {
                self.message(point, place, partner)
            }
            _ => {
                let what = "drawable that its category does not allow";
                self.losses.add(what, is_first.into());
                return Ok(());
            }
        };
        let header = Clog2RecordHeader {
            time: point.time,
            icomm: place.comm,
            rank: place.rank,
            thread: place.thread,
        };
        self.writer.write(&Clog2Record { header, body })
    }

    fn enter(&mut self, point: &DrawablePoint) {
        let open = self.open_states.entry((point.category, point.line));
        open.or_default().push_back(point.drawable);
    }

    fn leave(&mut self, point: &DrawablePoint) {
        let Some(open) = self.open_states.get_mut(&(point.category, point.line)) else {
            return;
        };
        if open.front() == Some(&point.drawable) {
            open.pop_front();
        } else {
            let what = "state that overlaps one of its own category on its line, ends exchanged";
            self.losses.add(what, 1);
            // As readers do.
            open.pop_front();
        }
    }

    fn event(&mut self, etype: i32, info: &[u8]) -> Clog2Body {
        if info.is_empty() {
            return Clog2Body::Bare { etype };
        }
        let mut bytes = [0; CARGO_SIZE];
        let kept = info.len().min(CARGO_SIZE);
        bytes[..kept].copy_from_slice(&info[..kept]);
        if info.len() > CARGO_SIZE {
            self.losses.add("info above 32 bytes, cut", 1);
        }
        Clog2Body::Cargo { etype, bytes }
    }

    fn message(
        &mut self,
        point: &DrawablePoint,
        place: NumberedPlace,
        partner: NumberedPlace,
    ) -> Clog2Body {
        let is_send = point.what == PointKind::Send;
        let category = self.numbering.arrow(point.category);
        let found = category.and_then(|category| message(category, &point.info));
        let found = found.unwrap_or_default();
        let size = i32::try_from(found.size).unwrap_or(i32::MAX);
        let ends = [place, partner].map(|place| (place.comm, place.rank));
        let (from, to) = if is_send {
            (ends[0], ends[1])
        } else {
            (ends[1], ends[0])
        };
        if is_send && i64::from(size) != found.size {
            self.losses.add("size of a message above 2 GiB", 1);
        }
        let route = (found.tag, from, to);
        let (waiting_send, waiting) = self.open_messages.entry(route).or_default();
        if waiting.is_empty() || *waiting_send == is_send {
            *waiting_send = is_send;
            waiting.push_back(point.drawable);
        } else {
            // Readers take the oldest one that waits.
            if waiting.pop_front() != Some(point.drawable) {
                let what = "message that overtakes one of its own tag, ends exchanged";
                self.losses.add(what, 1);
            }
            if is_send {
                self.losses
                    .add("size of a message that arrives before it is sent", 1);
            }
            if waiting.is_empty() {
                self.open_messages.remove(&route);
            }
        }
        Clog2Body::Msg(Clog2Msg {
            etype: if is_send {
                msg_etype::SEND
            } else {
                msg_etype::RECV
            },
            icomm: partner.comm,
            rank: partner.rank,
            tag: found.tag,
            size,
        })
    }

    /// Communicators by their numbers; those of which nothing is drawn are there for the numbers of the others.
    fn comm_table(&self) -> CommTable {
        let mut table = CommTable::default();
        for (comm, is_used) in (0..).zip(self.numbering.comms()) {
            let kind = if is_used {
                Clog2CommKind::Intra
            } else {
                Clog2CommKind::Unknown
            };
            table.push_new(gid(comm), kind);
        }
        table
    }
}

/// A GID that tells where it comes from.
fn gid(comm: i32) -> Gid {
    Gid::new(comm, 0.0, b"mpitrace")
}
