//! CLOG-1 to SLOG-1 as `clog2slog` does it, byte for byte (`spec/slog1.md` section 9).

use super::error::{Slog1Error, Slog1ErrorKind};
use super::key::RecordKey;
use super::record::{ARROW, Arguments, STATE, Slog1Record, TaskId, WordArray};
use super::types::{Display, FRAME_HEADER_SIZE, Slog1Thread};
use super::write::{FileLayout, FileTables, RecordKind, Slog1Writer, TimeOrder, WrittenCounts};
use crate::clog1::{self, Clog1Body, Clog1Reader, Clog1StateDef, RawEvent};
use std::collections::{HashMap, VecDeque};
use std::fmt;
use std::io::{self, Read, Seek, Write};
use trace_model::{Losses, Text};

/// Type of arrows of messages whose send was logged before their receive.
pub const FORWARD: u16 = 10001;
/// Type of arrows of messages whose receive was logged before their send.
pub const BACKWARD: u16 = 10002;

/// Event of a send, and of a receive.
const SEND: i32 = -101;
const RECEIVE: i32 = -102;
/// Event of a constant of the MPI in use.
const CONSTANT: i32 = -201;
/// The partner of a message to nobody.
const PROC_NULL: i32 = -1;
/// Entries that the tables have to spare.
const SPARE_ENTRIES: u32 = 40;
/// Bytes of an arrow, from which the number of frames is estimated.
const ARROW_SIZE: u64 = 41;

/// Sizes of the file to make. A size that is not given is chosen, and enlarged if it does not suffice.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Slog1Options {
    /// Bytes of a frame, 64 KiB if not given: `-f=KiB` of `clog2slog`.
    pub frame_size: Option<u32>,
    /// Entries of the frame directory: `-d=N` of `clog2slog`.
    pub frames_per_directory: Option<u32>,
}

/// Result of converting a CLOG-1 file.
#[derive(Debug)]
pub struct Slog1Conversion {
    /// Counts of what was written.
    pub written: WrittenCounts,
    /// Counts of what was left out. The original makes no file if a state ends that had not started; here it is counted.
    pub losses: Losses,
    /// Error at which the input ends early; the output was made of the records before it.
    pub cut: Option<clog1::Clog1Error>,
}

/// Error of [`from_clog1`].
#[derive(Debug)]
pub enum Slog1FromClog1Error {
    /// The input is damaged.
    Clog1(clog1::Clog1Error),
    /// Events are part of two states.
    Events(Clog1StateDef),
    /// The output could not be written, or cannot hold what is in the input.
    Slog1(Slog1Error),
}

impl fmt::Display for Slog1FromClog1Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Slog1FromClog1Error::Clog1(error) => error.fmt(f),
            Slog1FromClog1Error::Events(state) => write!(
                f,
                "state {} (events {} and {}): one of its events is that of another state",
                String::from_utf8_lossy(state.name.as_bytes()),
                state.start_etype,
                state.end_etype
            ),
            Slog1FromClog1Error::Slog1(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for Slog1FromClog1Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Slog1FromClog1Error::Clog1(error) => Some(error),
            Slog1FromClog1Error::Events(_) => None,
            Slog1FromClog1Error::Slog1(error) => Some(error),
        }
    }
}

impl From<Slog1Error> for Slog1FromClog1Error {
    fn from(error: Slog1Error) -> Self {
        Slog1FromClog1Error::Slog1(error)
    }
}

/// Makes the SLOG-1 file that `clog2slog` makes of a CLOG-1 file.
///
/// `create` makes the output; it is called again if the frames turn out to be too small or too few and their size or
/// number was not given.
pub fn from_clog1<W: Read + Write + Seek>(
    clog: &Clog1Reader<'_>,
    create: impl Fn() -> io::Result<W>,
    options: &Slog1Options,
) -> Result<(W, Slog1Conversion), Slog1FromClog1Error> {
    let found = Clog1Survey::of(clog)?;
    let mut frame_size = options.frame_size.unwrap_or(65536);
    let mut factor = 1;
    loop {
        let room = u64::from(frame_size)
            .saturating_sub(FRAME_HEADER_SIZE as u64)
            .max(1);
        let estimate = found.events * ARROW_SIZE / room + 1;
        let frames = estimate.saturating_mul(factor);
        let layout = FileLayout {
            frame_size,
            frame_reserved: 0,
            frames_per_directory: match options.frames_per_directory {
                Some(number) if number > 0 => number,
                _ => u32::try_from(frames).unwrap_or(u32::MAX),
            },
            order: TimeOrder::End,
            bins: 512,
            spare_entries: SPARE_ENTRIES,
        };
        let out = create().map_err(|error| Slog1Error::io(0, error))?;
        match found.convert(clog, out, &layout) {
            Err(Slog1FromClog1Error::Slog1(error)) => match error.kind {
                Slog1ErrorKind::FrameFull { .. }
                    if options.frame_size.is_none() && frame_size < 1 << 30 =>
                {
                    frame_size *= 2;
                }
                Slog1ErrorKind::DirectoryFull(_)
                    if options
                        .frames_per_directory
                        .is_none_or(|number| number == 0)
                        && frames < u64::from(u32::MAX) =>
                {
                    factor *= 2;
                }
                _ => return Err(error.into()),
            },
            result => return result,
        }
    }
}

/// Findings of the first look at a file.
#[derive(Debug, Default)]
struct Clog1Survey {
    states: Vec<Clog1StateDef>,
    /// Index of the state that an event starts, and that it ends.
    starts: HashMap<i32, usize>,
    ends: HashMap<i32, usize>,
    events: u64,
    last_rank: i32,
}

impl Clog1Survey {
    fn of(clog: &Clog1Reader<'_>) -> Result<Self, Slog1FromClog1Error> {
        let mut found = Clog1Survey::default();
        for record in clog.records() {
            match record {
                Ok(record) => match record.body {
                    Clog1Body::Raw(_) => found.events += 1,
                    Clog1Body::Comm(_) => found.last_rank = found.last_rank.max(record.header.rank),
                    Clog1Body::StateDef(state) => found.define(state)?,
                    _ => {}
                },
                Err(error) if is_cut(&error) => break,
                Err(error) => return Err(Slog1FromClog1Error::Clog1(error)),
            }
        }
        Ok(found)
    }

    fn define(&mut self, state: Clog1StateDef) -> Result<(), Slog1FromClog1Error> {
        let start = self.starts.get(&state.start_etype).copied();
        let end = self.ends.get(&state.end_etype).copied();
        match (start, end) {
            (None, None) => {
                let nth = self.states.len();
                self.starts.insert(state.start_etype, nth);
                self.ends.insert(state.end_etype, nth);
                self.states.push(state);
            }
            (Some(nth), Some(other)) if nth == other => self.states[nth] = state,
            _ => return Err(Slog1FromClog1Error::Events(state)),
        }
        Ok(())
    }

    fn tables(&self) -> FileTables {
        let kind = |intvltype, class: &str, label: &[u8], color: &[u8]| RecordKind {
            display: Display {
                key: RecordKey::whole(intvltype),
                class: class.into(),
                label: Text(label.to_vec()),
                color: Text(color.to_vec()),
                arguments: None,
            },
            associations: 0,
        };
        let states = self.states.iter().enumerate().map(|(nth, state)| {
            let (label, color) = (state.name.as_bytes(), state.color.as_bytes());
            kind(state_type(nth), "state", label, color)
        });
        let mut kinds: Vec<RecordKind> = states.collect();
        kinds.push(kind(FORWARD, "message", b"forward arrow", b"white"));
        kinds.push(kind(BACKWARD, "message", b"backward arrow", b"grey"));
        // Nodes are numbers of 16 bits.
        let last = self.last_rank.clamp(0, u16::MAX.into()) as u16;
        let threads = (0..=last).map(|rank| Slog1Thread {
            node: rank,
            application: rank.into(),
            ..Slog1Thread::default()
        });
        FileTables {
            preview: Vec::new(),
            threads: threads.collect(),
            kinds,
        }
    }

    fn convert<W: Read + Write + Seek>(
        &self,
        clog: &Clog1Reader<'_>,
        out: W,
        layout: &FileLayout,
    ) -> Result<(W, Slog1Conversion), Slog1FromClog1Error> {
        let mut matching = MessageMatching {
            found: self,
            writer: Slog1Writer::new(out, &self.tables(), layout)?,
            states: HashMap::new(),
            messages: HashMap::new(),
            losses: Losses::default(),
        };
        let mut cut = None;
        for record in clog.records() {
            match record {
                Ok(record) => match &record.body {
                    Clog1Body::Raw(raw) => {
                        matching.event(record.header.time, record.header.rank, raw)?;
                    }
                    Clog1Body::StateDef(_) => {}
                    body => matching.losses.add(lost(body), 1),
                },
                Err(error) if is_cut(&error) => cut = Some(error),
                Err(error) => return Err(Slog1FromClog1Error::Clog1(error)),
            }
        }
        let open = |lengths: &mut dyn Iterator<Item = usize>| lengths.sum::<usize>() as u64;
        let open_states = open(&mut matching.states.values().map(Vec::len));
        let open_messages = open(&mut matching.messages.values().map(VecDeque::len));
        let mut losses = matching.losses;
        losses.add("start of a state without its end", open_states);
        losses.add("message without a send or without a receive", open_messages);
        let (out, written) = matching.writer.finish()?;
        let conversion = Slog1Conversion {
            written,
            losses,
            cut,
        };
        Ok((out, conversion))
    }
}

/// Names the loss of a record that is neither event nor description of a state.
fn lost(body: &Clog1Body) -> &'static str {
    match body {
        Clog1Body::EventDef(_) => "description of an event",
        Clog1Body::Comm(_) => "record of a communicator",
        Clog1Body::SrcLoc(_) => "place in the source",
        Clog1Body::Shift(_) => "shift of a clock",
        Clog1Body::Msg(_) | Clog1Body::Coll(_) => "message or collective in a record of its own",
        _ => "record of no known type",
    }
}

/// Whether a file just ends too early.
fn is_cut(error: &clog1::Clog1Error) -> bool {
    matches!(
        error.kind,
        clog1::Clog1ErrorKind::NoEndLog | clog1::Clog1ErrorKind::Truncated { .. }
    )
}

fn state_type(nth: usize) -> u16 {
    (nth + 1) as u16
}

/// One end of a message that waits for the other: its rank, the other's rank, and which end it is.
type WaitingEnd = (i32, i32, i32);

/// Puts starts and ends together.
struct MessageMatching<'s, W> {
    found: &'s Clog1Survey,
    writer: Slog1Writer<W>,
    /// By state and rank the times of starts.
    states: HashMap<(usize, i32), Vec<f64>>,
    messages: HashMap<WaitingEnd, VecDeque<f64>>,
    losses: Losses,
}

impl<W: Read + Write + Seek> MessageMatching<'_, W> {
    fn event(&mut self, time: f64, rank: i32, raw: &RawEvent) -> Result<(), Slog1Error> {
        if let Some(&state) = self.found.starts.get(&raw.etype) {
            self.states.entry((state, rank)).or_default().push(time);
            return self
                .writer
                .announce(STATE, RecordKey::whole(state_type(state)));
        }
        if matches!(raw.etype, SEND | RECEIVE) {
            return self.message(time, rank, raw);
        }
        let Some(&state) = self.found.ends.get(&raw.etype) else {
            let what = match raw.etype {
                CONSTANT => "constant of MPI",
                _ => "event outside of states",
            };
            self.losses.add(what, 1);
            return Ok(());
        };
        let start = self.states.get_mut(&(state, rank)).and_then(Vec::pop);
        let Some(start) = start else {
            self.losses.add("end of a state without its start", 1);
            return Ok(());
        };
        let kind = (STATE, state_type(state));
        self.put(kind, (start, time), rank, None)
    }

    fn message(&mut self, time: f64, rank: i32, raw: &RawEvent) -> Result<(), Slog1Error> {
        if raw.data == PROC_NULL {
            self.losses.add("message to or from nobody", 1);
            return Ok(());
        }
        let partner = raw.data;
        let other = if raw.etype == SEND { RECEIVE } else { SEND };
        let waiting = self.messages.get_mut(&(partner, rank, other));
        // Tags are not looked at: the oldest counts.
        let Some(start) = waiting.and_then(VecDeque::pop_front) else {
            let line = self.messages.entry((rank, partner, raw.etype));
            line.or_default().push_back(time);
            return self
                .writer
                .announce(ARROW, RecordKey::whole(arrow_type(other)));
        };
        self.losses.add("tag and size of a message", 1);
        let kind = (ARROW, arrow_type(raw.etype));
        self.put(kind, (start, time), partner, Some(rank))
    }

    fn put(
        &mut self,
        (rectype, intvltype): (u16, u16),
        (start, end): (f64, f64),
        origin: i32,
        destination: Option<i32>,
    ) -> Result<(), Slog1Error> {
        let task = |rank: i32| TaskId {
            node: rank as u16,
            ..TaskId::default()
        };
        self.writer.write(&Slog1Record {
            rectype,
            key: RecordKey::whole(intvltype),
            start,
            duration: end - start,
            origin: task(origin),
            destination: destination.map(task),
            address: 0,
            associations: WordArray::default(),
            arguments: Arguments::Fixed(WordArray::default()),
        })
    }
}

/// Type of the arrow of a message whose later end is this one.
fn arrow_type(later: i32) -> u16 {
    if later == RECEIVE { FORWARD } else { BACKWARD }
}
