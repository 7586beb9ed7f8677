//! ALOG to CLOG-1, event by event: what `clog2alog` makes of the result is the ALOG file again, if that is one of MPE's.

use super::error::Clog1Error;
use super::layout::Clog1Layout;
use super::record::{
    Clog1Body, Clog1EventDef, Clog1Record, Clog1RecordHeader, Clog1StateDef, ENDLOG_TIME, RawEvent,
};
use super::write::Clog1Writer;
use crate::ConversionError;
use crate::alog::{self, AlogHeader, AlogReader, LineContent};
use crate::clog2::FixedText;
use std::io::Write;
use trace_model::Losses;

/// Number of the first state: MPE's for the user's.
const FIRST_STATE: i32 = 200;

/// Error of [`from_alog`], in the input or the output.
pub type FromAlogError = ConversionError<alog::AlogError, Clog1Error>;

/// Writes the events of an ALOG file as RAW records, behind its definitions of events and states. Gives `out` back, and
/// says what was lost.
pub fn from_alog<W: Write>(alog: &AlogReader<'_>, out: W) -> Result<(W, Losses), FromAlogError> {
    let mut header = AlogHeader::default();
    let mut span: Option<(f64, f64)> = None;
    for line in alog.lines().map_while(Result::ok) {
        // The error is reported below, when all records before it have been written.
        let _ = header.take(&line);
        if let LineContent::Event(event) = line.content
            && !event.is_header()
        {
            let (start, end) = span.unwrap_or((f64::INFINITY, f64::NEG_INFINITY));
            let micros = header.micros(&event);
            span = Some((start.min(micros), end.max(micros)));
        }
    }
    let (start, end) = span.unwrap_or_default();
    let mut log = ReadLog {
        writer: Clog1Writer::new(out, Clog1Layout::default()),
        // The times of a log lie between 0 and that of ENDLOG; by that it is recognised.
        origin: if start < 0.0 || end >= 1e6 * ENDLOG_TIME {
            start
        } else {
            0.0
        },
        losses: Losses::default(),
    };
    log.define(&header, start)?;
    let mut checked = AlogHeader::default();
    for line in alog.lines() {
        let line = line.map_err(FromAlogError::Input)?;
        checked.take(&line).map_err(FromAlogError::Input)?;
        let LineContent::Event(event) = line.content else {
            continue;
        };
        if event.is_header() {
            continue;
        }
        log.losses
            .add("thread of an event", u64::from(event.task != 0));
        let body = Clog1Body::Raw(RawEvent {
            etype: event.etype,
            data: event.data,
            srcloc: 0,
            pad: [0; 4],
            text: log.text(event.text()),
        });
        let micros = header.micros(&event);
        log.write(micros, event.process, body)?;
    }
    log.losses.add(
        "time of the log's beginning, which is set to 0",
        u64::from(log.origin != 0.0),
    );
    let creator = !matches!(header.creator.as_slice(), b"" | b"Me");
    log.losses.add("creator of the log", u64::from(creator));
    let formats = header
        .formats
        .iter()
        .filter(|(_, format)| !format.is_empty());
    log.losses
        .add("printf format of an event", formats.count() as u64);
    log.losses.add(
        "look of messages by their tag",
        header.messages.len() as u64,
    );
    log.losses
        .add("name of a process", header.processes.len() as u64);
    let ReadLog { writer, losses, .. } = log;
    let out = writer.finish().map_err(FromAlogError::Output)?;
    Ok((out, losses))
}

struct ReadLog<W: Write> {
    writer: Clog1Writer<W>,
    /// Microseconds that are taken off all times.
    origin: f64,
    losses: Losses,
}

impl<W: Write> ReadLog<W> {
    fn define(&mut self, header: &AlogHeader, micros: f64) -> Result<(), FromAlogError> {
        for (etype, name) in &header.events {
            let name = self.text(name);
            let body = Clog1Body::EventDef(Clog1EventDef {
                etype: *etype,
                pad: [0; 4],
                name,
            });
            self.write(micros, 0, body)?;
        }
        for (nth, state) in header.states.iter().enumerate() {
            let body = Clog1Body::StateDef(Clog1StateDef {
                state_id: FIRST_STATE.saturating_add(i32::try_from(nth).unwrap_or(i32::MAX)),
                start_etype: state.start,
                end_etype: state.end,
                pad: [0; 4],
                color: self.text(&state.look()),
                name: self.text(&state.name),
            });
            self.write(micros, 0, body)?;
        }
        Ok(())
    }

    fn write(&mut self, micros: f64, rank: i32, body: Clog1Body) -> Result<(), FromAlogError> {
        let header = Clog1RecordHeader {
            time: alog::seconds(micros - self.origin),
            rank,
            pad: [0; 4],
        };
        let written = self.writer.write(&Clog1Record { header, body });
        written.map_err(FromAlogError::Output)
    }

    /// A text in its field, cut where it does not fit.
    fn text<const N: usize>(&mut self, text: &[u8]) -> FixedText<N> {
        let mut field = [0; N];
        let room = N.saturating_sub(1);
        self.losses
            .add("text cut to 15 bytes", u64::from(text.len() > room));
        for (to, &byte) in field[..room].iter_mut().zip(text) {
            *to = if byte == 0 { b' ' } else { byte };
        }
        FixedText::from_bytes(field)
    }
}
