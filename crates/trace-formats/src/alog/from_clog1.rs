//! CLOG-1 to ALOG, byte for byte as MPE's `clog2alog` (`spec/alog.md` section 4).

use super::error::{AlogError, AlogErrorKind};
use crate::ConversionError;
use crate::clog1::{Clog1Body, Clog1Reader, Clog1Record, ENDLOG_TIME};
use std::collections::BTreeSet;
use std::io::{self, Write};
use trace_model::Losses;

/// Error of [`from_clog1`], in the input or the output.
pub type AlogFromClog1Error = ConversionError<crate::clog1::Clog1Error, AlogError>;

/// Writes the ALOG file that `clog2alog` makes of a CLOG-1 file.
///
/// That tool keeps events and definitions; messages and collectives in records of their own lose all but their number,
/// communicators and places in the source are left out. Says how much of what.
pub fn from_clog1(
    clog: &Clog1Reader<'_>,
    out: &mut impl Write,
) -> Result<Losses, AlogFromClog1Error> {
    let mut summary = HeaderValues::default();
    let mut clock = OutputClock::default();
    for record in clog.records().map_while(Result::ok) {
        summary.take(&record, &mut clock);
    }
    let written = |result: io::Result<()>| {
        result.map_err(|error| {
            AlogFromClog1Error::Output(AlogError::new(0, AlogErrorKind::Io(error)))
        })
    };
    written(summary.write(out))?;
    let mut clock = OutputClock::default();
    let mut losses = Losses::default();
    for record in clog.records() {
        let record = record.map_err(AlogFromClog1Error::Input)?;
        written(line(&record, &mut clock, out))?;
        match record.body {
            Clog1Body::Msg(_) => losses.add("partner, tag and size of a message record", 1),
            Clog1Body::Coll(_) => losses.add("root and size of a collective record", 1),
            Clog1Body::Comm(_) => losses.add("record of a communicator", 1),
            Clog1Body::SrcLoc(_) => losses.add("place in the source", 1),
            Clog1Body::Shift(_) => losses.add("shift of a clock", 1),
            Clog1Body::Undefined | Clog1Body::Other { .. } => {
                losses.add("record of no known type", 1)
            }
            _ => {}
        }
    }
    Ok(losses)
}

/// The times of the output: microseconds since the first event.
#[derive(Debug, Default)]
struct OutputClock {
    first: Option<u64>,
}

impl OutputClock {
    /// The time of a record that becomes a line. Cut off first, shifted afterwards, unsigned with wrap-around: so the
    /// tool does it.
    fn time(&mut self, record: &Clog1Record) -> u64 {
        let seconds = record.header.time;
        let micros = if seconds == ENDLOG_TIME {
            0
        } else {
            truncated(1e6 * seconds).wrapping_sub(self.first.unwrap_or(0))
        };
        if self.first.is_none() {
            self.first = Some(micros);
            return 0;
        }
        micros
    }
}

/// The C cast to `unsigned long`: negative numbers wrap around.
fn truncated(micros: f64) -> u64 {
    if micros < 0.0 {
        (micros as i64) as u64
    } else {
        micros as u64
    }
}

/// Values for the header of the ALOG file.
#[derive(Debug, Default)]
struct HeaderValues {
    events: u64,
    processes: BTreeSet<i32>,
    etypes: BTreeSet<i32>,
    last: u64,
    event_defs: Vec<u8>,
    state_defs: Vec<u8>,
}

impl HeaderValues {
    fn take(&mut self, record: &Clog1Record, clock: &mut OutputClock) {
        let etype = match &record.body {
            Clog1Body::Raw(raw) => raw.etype,
            Clog1Body::Msg(msg) => msg.etype,
            Clog1Body::Coll(coll) => coll.etype,
            Clog1Body::EventDef(def) => {
                let head = format!("-9 0 0 {} 0 0 ", def.etype);
                self.event_defs.extend_from_slice(head.as_bytes());
                self.event_defs.extend_from_slice(def.name.as_bytes());
                self.event_defs.push(b'\n');
                return;
            }
            Clog1Body::StateDef(def) => {
                let head = format!("-13 0 {} {} 0 0 ", def.start_etype, def.end_etype);
                self.state_defs.extend_from_slice(head.as_bytes());
                self.state_defs.extend_from_slice(def.color.as_bytes());
                self.state_defs.push(b' ');
                self.state_defs.extend_from_slice(def.name.as_bytes());
                self.state_defs.push(b'\n');
                return;
            }
            _ => return,
        };
        self.events += 1;
        self.processes.insert(record.header.rank);
        self.etypes.insert(etype);
        self.last = clock.time(record);
    }

    fn write(&self, out: &mut impl Write) -> io::Result<()> {
        writeln!(out, "-1 0 0 0 0 0 Me")?;
        writeln!(out, "-2 0 0 {} 0 0", self.events)?;
        writeln!(out, "-3 0 0 {} 0 0", self.processes.len())?;
        writeln!(out, "-4 0 0 1 0 0")?;
        writeln!(out, "-5 0 0 {} 0 0", self.etypes.len())?;
        writeln!(out, "-6 0 0 0 0 0")?;
        writeln!(out, "-7 0 0 0 0 {}", self.last)?;
        writeln!(out, "-8 0 0 1 0 0")?;
        writeln!(out, "-11 0 0 0 0 0")?;
        out.write_all(&self.event_defs)?;
        out.write_all(&self.state_defs)
    }
}

fn line(record: &Clog1Record, clock: &mut OutputClock, out: &mut impl Write) -> io::Result<()> {
    let rank = record.header.rank;
    match &record.body {
        Clog1Body::Raw(raw) => {
            let time = clock.time(record);
            write!(out, "{} {rank} 0 {} 0 {time} ", raw.etype, raw.data)?;
            out.write_all(raw.text.as_bytes())?;
            out.write_all(b"\n")
        }
        Clog1Body::Msg(crate::clog1::Clog1Msg { etype, .. })
        | Clog1Body::Coll(crate::clog1::Coll { etype, .. }) => {
            writeln!(out, "{etype} {rank} 0 0 0 {}", clock.time(record))
        }
        _ => Ok(()),
    }
}
