//! Header of a file: its lines of types -1 to -100 (`spec/alog.md` section 3).

use super::error::{AlogError, AlogErrorKind};
use super::event::{AlogEvent, etype};
use super::read::{AlogLine, AlogReader, LineContent, shown};
use crate::mpe1::MAX_DEFINITIONS;

/// Header of a file. Its lines may lie anywhere in the file; the first 65536 lines of each kind are read.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AlogHeader {
    /// Name of the creator and time of writing, as text.
    pub creator: Vec<u8>,
    /// The number of events, processes, tasks and distinct event types, where the file says it.
    pub counts: [Option<i32>; 4],
    /// The time at which the timer rolls over, in microseconds; 0 if it does not.
    pub rollover: f64,
    /// Event types and their descriptions.
    pub events: Vec<(i32, Vec<u8>)>,
    /// Event types and the printf formats of their texts.
    pub formats: Vec<(i32, Vec<u8>)>,
    /// States.
    pub states: Vec<AlogStateDef>,
    /// Tags of messages and `COLOR NAME`.
    pub messages: Vec<(i32, Vec<u8>)>,
    /// Names of processes.
    pub processes: Vec<(i32, Vec<u8>)>,
}

/// Definition of a state.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AlogStateDef {
    /// Number of its start event.
    pub start: i32,
    /// Number of its end event.
    pub end: i32,
    /// X11 colour name; empty if the reader may choose.
    pub color: Vec<u8>,
    /// Name of a stipple pattern; empty if the reader may choose, as upshot then takes `gray`.
    pub bitmap: Vec<u8>,
    /// Name.
    pub name: Vec<u8>,
}

impl AlogStateDef {
    /// The colour, and after a colon the bitmap if there is one: `COLOR[:BITMAP]`.
    pub fn look(&self) -> Vec<u8> {
        let mut look = self.color.clone();
        if !self.bitmap.is_empty() {
            look.push(b':');
            look.extend_from_slice(&self.bitmap);
        }
        look
    }

    /// Reads a `-13` line: `COLOR[:BITMAP] NAME`. `None` if there is no name.
    pub fn parse(event: &AlogEvent<'_>) -> Option<Self> {
        let text = event.text();
        let blank = text.iter().position(u8::is_ascii_whitespace)?;
        let (look, name) = text.split_at(blank);
        let (color, bitmap) = match look.iter().position(|&byte| byte == b':') {
            Some(colon) => (&look[..colon], &look[colon + 1..]),
            None => (look, &[][..]),
        };
        Some(AlogStateDef {
            start: event.task,
            end: event.data,
            color: color.to_vec(),
            bitmap: bitmap.to_vec(),
            name: name.trim_ascii().to_vec(),
        })
    }
}

impl AlogHeader {
    /// Takes a line; events are passed over.
    ///
    /// # Errors
    /// If it is a state without a name.
    pub fn take(&mut self, line: &AlogLine<'_>) -> Result<(), AlogError> {
        let LineContent::Event(event) = line.content else {
            return Ok(());
        };
        let text = || event.text().to_vec();
        match event.etype {
            etype::CREATOR => self.creator = text(),
            etype::EVENTS => self.counts[0] = Some(event.data),
            etype::PROCESSES => self.counts[1] = Some(event.data),
            etype::TASKS => self.counts[2] = Some(event.data),
            etype::TYPES => self.counts[3] = Some(event.data),
            etype::ROLLOVER => self.rollover = event.time.micros(),
            etype::EVENT_DEF => add(&mut self.events, (event.data, text())),
            etype::FORMAT_DEF => add(&mut self.formats, (event.data, text())),
            etype::MESSAGE_DEF => add(&mut self.messages, (event.data, text())),
            etype::PROCESS_NAME => add(&mut self.processes, (event.process, text())),
            etype::STATE_DEF => {
                let state = AlogStateDef::parse(&event).ok_or_else(|| {
                    let kind = AlogErrorKind::NoStateName {
                        line: line.number,
                        found: shown(event.text()),
                    };
                    AlogError::new(line.offset, kind)
                })?;
                add(&mut self.states, state);
            }
            _ => {}
        }
        Ok(())
    }

    /// Seconds of an event, by the timer's roll-overs.
    pub fn seconds(&self, event: &AlogEvent<'_>) -> f64 {
        seconds(self.micros(event))
    }

    /// Microseconds of an event, by the timer's roll-overs.
    pub(crate) fn micros(&self, event: &AlogEvent<'_>) -> f64 {
        event.time.micros() + f64::from(event.cycle) * self.rollover
    }
}

/// Adds a definition, unless there are more than any program has: a file may hold nothing else.
fn add<T>(list: &mut Vec<T>, one: T) {
    if list.len() < MAX_DEFINITIONS {
        list.push(one);
    }
}

/// Seconds of microseconds; never so few that cutting off what is behind the microseconds gives one less.
pub(crate) fn seconds(micros: f64) -> f64 {
    let seconds = micros / 1e6;
    if 1e6 * seconds < micros {
        seconds.next_up()
    } else {
        seconds
    }
}

/// Goes through a whole file and gives what it says about itself.
///
/// # Errors
/// The first thing that is wrong with it.
pub fn check(reader: &AlogReader<'_>) -> Result<AlogHeader, AlogError> {
    let mut header = AlogHeader::default();
    for line in reader.lines() {
        header.take(&line?)?;
    }
    Ok(header)
}
