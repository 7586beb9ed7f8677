//! Makes a CLOG-1 file of drawables from any source (`spec/clog1.md` section 9).

use super::error::{Clog1Error, Clog1ErrorKind};
use super::layout::{Clog1Layout, LARGE_BLOCK};
use super::record::{
    Clog1Body, Clog1Comm, Clog1EventDef, Clog1Record, Clog1RecordHeader, Clog1StateDef,
    ENDLOG_TIME, HEADER_SIZE, MAX_RANK, MAX_TIME, RawEvent, comm_etype,
};
use super::write::Clog1Writer;
use crate::clog2::FixedText;
use crate::mpe1::{Emitter, Mpe1Event};
use std::io::Write;
use std::path::{Path, PathBuf};
use trace_model::PendingFile;
use trace_model::{Complete, Definitions, Drawable, DrawableOrder, Losses, Stop};

/// The handle of MPI_COMM_WORLD: that of MPICH-1.
const WORLD: i32 = 91;
/// Bytes of a text.
const LONGEST: usize = 15;
/// Number of the first state: MPE's for the user's.
const FIRST_STATE: i32 = 200;

/// A CLOG-1 file in the making. Wants drawables by start time.
///
/// States are pairs of events, numbered as MPE numbers them; messages are events -101 and -102. The definitions come
/// first.
pub struct Clog1Sink<W: Write> {
    emitter: Emitter,
    log: RecordLog<W>,
    complete: Complete<W>,
}

impl Clog1Sink<PendingFile> {
    /// Starts the file at `path`, which gets its name when it is complete.
    ///
    /// # Errors
    /// When it cannot be created.
    pub fn create(path: impl AsRef<Path>, definitions: &Definitions) -> Result<Self, Clog1Error> {
        let path = path.as_ref().to_path_buf();
        let pending = PendingFile::create(&path);
        let pending = pending.map_err(|error| Clog1Error::io(0, error).in_file(&path))?;
        let named = path.clone();
        let mut sink = Clog1Sink::new(pending, definitions, |pending| {
            let done = pending.persist();
            Ok(done.map_err(|error| Clog1Error::io(0, error).in_file(named))?)
        });
        sink.log.path = path;
        Ok(sink)
    }
}

impl<W: Write> Clog1Sink<W> {
    /// Starts a file at the beginning of `out`. `complete` gets it when everything is written.
    pub fn new(
        out: W,
        definitions: &Definitions,
        complete: impl FnOnce(W) -> Result<(), Stop> + 'static,
    ) -> Self {
        let mut emitter = Emitter::new(definitions, may_keep, LONGEST);
        let losses = &mut emitter.book.losses;
        let count = |is_lost: fn(&&trace_model::Line) -> bool| {
            definitions.lines.iter().filter(is_lost).count() as u64
        };
        losses.add("thread of a line", count(|line| line.thread != 0));
        losses.add("host of a line", count(|line| line.host.is_some()));
        losses.add("name of a line", count(|line| line.name.is_some()));
        losses.add(
            "name of the program",
            u64::from(!definitions.program.is_empty()),
        );
        let comms = definitions.lines.iter().map(|line| {
            let comm = if line.comm == 0 { WORLD } else { line.comm };
            (emitter.book.place(line.id).0, comm)
        });
        let mut comms: Vec<(i32, i32)> = comms.collect();
        comms.sort_unstable_by_key(|&(rank, comm)| (comm != WORLD, comm, rank));
        comms.dedup();
        Clog1Sink {
            log: RecordLog {
                writer: Clog1Writer::new(out, Clog1Layout::default()),
                comms,
                origin: None,
                shifted: false,
                cut: 0,
                path: PathBuf::new(),
                first_block: LARGE_BLOCK / HEADER_SIZE,
            },
            emitter,
            complete: Box::new(complete),
        }
    }

    fn add(&mut self, drawable: &Drawable<'_>) -> Result<(), Stop> {
        let first = drawable
            .vertices
            .iter()
            .map(|vertex| vertex.time)
            .fold(f64::INFINITY, f64::min);
        if self.log.origin.is_none() && first.is_finite() {
            self.log.begin(first, &self.emitter)?;
        }
        let log = &mut self.log;
        self.emitter.push(drawable, &mut |event| log.put(event))
    }

    fn close(self) -> Result<Losses, Stop> {
        let Clog1Sink {
            emitter,
            mut log,
            complete,
        } = self;
        if log.origin.is_none() {
            log.begin(0.0, &emitter)?;
        }
        let book = emitter.finish(&mut |event| log.put(event))?;
        let mut losses = book.losses;
        losses.add("text cut to 15 bytes", log.cut);
        losses.add(
            "time of the log's beginning, which is set to 0",
            u64::from(log.shifted),
        );
        complete(log.writer.finish()?)?;
        Ok(losses)
    }
}

/// Whether clogTOslog2 takes these two for one state: it knows the pairs from 1 and from 500, others once they are
/// defined.
fn may_keep(start: i32, end: i32) -> bool {
    let is_known = |etype: i32| (1..=360).contains(&etype) || (500..=559).contains(&etype);
    if start == end {
        return start % 2 == 0 && (500..=559).contains(&start);
    }
    match (is_known(start), is_known(end)) {
        (true, true) => end == start + 1 && (start % 2 == 1) == (start < 500),
        (known, _) => !known && !is_known(end),
    }
}

impl<W: Write> trace_model::Sink for Clog1Sink<W> {
    fn order(&self) -> DrawableOrder {
        DrawableOrder::Start
    }

    fn put(&mut self, drawable: &Drawable<'_>) -> Result<(), Stop> {
        self.add(drawable)
    }

    fn finish(self: Box<Self>) -> Result<Losses, Stop> {
        (*self).close()
    }
}

/// The records.
struct RecordLog<W: Write> {
    writer: Clog1Writer<W>,
    /// Ranks and handles of the communicators they are in.
    comms: Vec<(i32, i32)>,
    /// Origin of times, which is subtracted from all; set with the first.
    origin: Option<f64>,
    shifted: bool,
    cut: u64,
    /// Path of the file; empty where the sink has none.
    path: PathBuf,
    /// Records to come that may still be in the first block, by which readers know the format.
    first_block: usize,
}

impl<W: Write> RecordLog<W> {
    /// Writes communicators and definitions, at the time of the first event.
    fn begin(&mut self, first: f64, emitter: &Emitter) -> Result<(), Stop> {
        // The times of a log lie between 0 and that of ENDLOG; by that it is recognised.
        self.shifted = !(0.0..ENDLOG_TIME).contains(&first);
        self.origin = Some(if self.shifted { first } else { 0.0 });
        let time = first;
        for (rank, comm) in std::mem::take(&mut self.comms) {
            let is_world = comm == WORLD;
            let body = Clog1Body::Comm(Clog1Comm {
                etype: if is_world {
                    comm_etype::INIT
                } else {
                    comm_etype::CREATE
                },
                parent: if is_world { -1 } else { WORLD },
                comm,
                srcloc: 0,
            });
            self.write(time, rank, body)?;
        }
        for event in &emitter.book.events {
            let name = self.text(&event.name);
            let body = Clog1Body::EventDef(Clog1EventDef {
                etype: event.etype,
                pad: [0; 4],
                name,
            });
            self.write(time, 0, body)?;
        }
        for (nth, state) in emitter.book.states.iter().enumerate() {
            // MPE's own name is better than one that is cut.
            let name = match state.short_name {
                Some(short) if state.name.len() > LONGEST => short.as_bytes(),
                _ => &state.name,
            };
            let name = self.text(name);
            let body = Clog1Body::StateDef(Clog1StateDef {
                state_id: FIRST_STATE.saturating_add(nth as i32),
                start_etype: state.start,
                end_etype: state.end,
                pad: [0; 4],
                color: self.text(state.look.as_bytes()),
                name,
            });
            self.write(time, 0, body)?;
        }
        Ok(())
    }

    fn put(&mut self, event: &Mpe1Event<'_>) -> Result<(), Stop> {
        let body = Clog1Body::Raw(RawEvent {
            etype: event.etype,
            data: event.data,
            srcloc: 0,
            pad: [0; 4],
            text: self.text(event.text),
        });
        self.write(event.time, event.rank, body)
    }

    fn write(&mut self, time: f64, rank: i32, body: Clog1Body) -> Result<(), Stop> {
        let time = time - self.origin.unwrap_or(0.0);
        if self.first_block > 0 {
            self.first_block -= 1;
            if !(0..MAX_RANK).contains(&rank) || time > MAX_TIME {
                let error = Clog1Error::new(0, Clog1ErrorKind::Implausible { time, rank });
                return Err(match self.path.as_os_str().is_empty() {
                    true => error.into(),
                    false => error.in_file(&self.path).into(),
                });
            }
        }
        let header = Clog1RecordHeader {
            time,
            rank,
            pad: [0; 4],
        };
        Ok(self.writer.write(&Clog1Record { header, body })?)
    }

    /// A text in its field, cut where it does not fit.
    fn text<const N: usize>(&mut self, text: &[u8]) -> FixedText<N> {
        let mut field = [0; N];
        let room = N.saturating_sub(1);
        if text.len() > room {
            self.cut += 1;
        }
        for (to, &byte) in field[..room].iter_mut().zip(text) {
            *to = if matches!(byte, b'\n' | b'\r' | 0) {
                b' '
            } else {
                byte
            };
        }
        FixedText::from_bytes(field)
    }
}
