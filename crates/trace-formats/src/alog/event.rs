//! A line: six numbers and perhaps a text (`spec/alog.md` section 1).

use std::fmt;
use std::io::{self, Write};

/// Event types that are no program's (`spec/alog.md` sections 2 and 3).
pub mod etype {
    /// Creator and date of creation.
    pub const CREATOR: i32 = -1;
    /// Number of events.
    pub const EVENTS: i32 = -2;
    /// Number of processes.
    pub const PROCESSES: i32 = -3;
    /// Number of tasks.
    pub const TASKS: i32 = -4;
    /// Number of distinct event types.
    pub const TYPES: i32 = -5;
    /// Time of the first event.
    pub const START: i32 = -6;
    /// Time of the last event.
    pub const END: i32 = -7;
    /// Number of timer cycles.
    pub const CYCLES: i32 = -8;
    /// Description of an event type.
    pub const EVENT_DEF: i32 = -9;
    /// Format of the text of an event type, as printf has it.
    pub const FORMAT_DEF: i32 = -10;
    /// The time at which the timer rolls over.
    pub const ROLLOVER: i32 = -11;
    /// Definition of a state.
    pub const STATE_DEF: i32 = -13;
    /// Definition of a message by its tag.
    pub const MESSAGE_DEF: i32 = -14;
    /// Name of a process.
    pub const PROCESS_NAME: i32 = -15;
    /// The last of the types that describe the file.
    pub const LAST_HEADER: i32 = -100;
    /// A message was sent: data is the receiver's rank, the text `TAG SIZE`.
    pub const SEND: i32 = -101;
    /// A message was received: data is the sender's rank, the text `TAG SIZE`.
    pub const RECEIVE: i32 = -102;
    /// A constant: data is its value, the text its name.
    pub const CONSTANT: i32 = -201;
}

/// A time as it stands in a file, in microseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Timestamp {
    /// The form that all writers use; also other spellings of the same number.
    Whole(u64),
    /// Time in a form that readers accept and MPE does not write: fractions, negative and very large numbers.
    Real(f64),
}

impl Timestamp {
    /// Microseconds.
    pub fn micros(self) -> f64 {
        match self {
            Timestamp::Whole(micros) => micros as f64,
            Timestamp::Real(micros) => micros,
        }
    }
}

impl Default for Timestamp {
    fn default() -> Self {
        Timestamp::Whole(0)
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Timestamp::Whole(micros) => micros.fmt(f),
            Timestamp::Real(micros) => micros.fmt(f),
        }
    }
}

/// A line.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct AlogEvent<'a> {
    /// Number of the event type; see [`etype`].
    pub etype: i32,
    /// Rank.
    pub process: i32,
    /// Thread; MPE writes 0.
    pub task: i32,
    /// A number of the program's.
    pub data: i32,
    /// Number of times that the timer had rolled over.
    pub cycle: i32,
    /// Time of the event.
    pub time: Timestamp,
    /// All that stands behind the time, the blanks before the text included: writers differ in them.
    pub rest: &'a [u8],
}

impl<'a> AlogEvent<'a> {
    /// The text without the blanks before and behind it.
    pub fn text(&self) -> &'a [u8] {
        self.rest.trim_ascii()
    }

    /// True for the lines that describe the file; the others are counted as events.
    pub fn is_header(&self) -> bool {
        (etype::LAST_HEADER..0).contains(&self.etype)
    }

    /// Reads a line without its line feed. The error says which number is wrong, and where it stands.
    pub fn parse(line: &'a [u8]) -> Result<Self, (&'static str, usize)> {
        let mut words = LineWords { line, at: 0 };
        let etype = words.int("the type, a whole number of 32 bits,")?;
        let process = words.int("the process, a whole number of 32 bits,")?;
        let task = words.int("the task, a whole number of 32 bits,")?;
        let data = words.int("the data, a whole number of 32 bits,")?;
        let cycle = words.int("the cycle, a whole number of 32 bits,")?;
        let time = words.time("the timestamp, a number,")?;
        Ok(AlogEvent {
            etype,
            process,
            task,
            data,
            cycle,
            time,
            rest: &line[words.at..],
        })
    }

    /// Writes the line with its line feed. What would end it early is replaced by a blank.
    pub fn write(&self, out: &mut impl Write) -> io::Result<()> {
        let AlogEvent {
            etype,
            process,
            task,
            data,
            cycle,
            time,
            rest,
        } = self;
        write!(out, "{etype} {process} {task} {data} {cycle} {time}")?;
        for (nth, part) in rest.split(|&byte| byte == b'\n').enumerate() {
            if nth > 0 {
                out.write_all(b" ")?;
            }
            out.write_all(part)?;
        }
        out.write_all(b"\n")
    }
}

struct LineWords<'a> {
    line: &'a [u8],
    at: usize,
}

impl<'a> LineWords<'a> {
    fn next(&mut self) -> &'a [u8] {
        let is_blank = |byte: &u8| byte.is_ascii_whitespace();
        let rest = &self.line[self.at..];
        self.at += rest.iter().take_while(|byte| is_blank(byte)).count();
        let rest = &self.line[self.at..];
        let length = rest.iter().take_while(|byte| !is_blank(byte)).count();
        self.at += length;
        &rest[..length]
    }

    fn number<T: std::str::FromStr>(
        &mut self,
        what: &'static str,
    ) -> Result<T, (&'static str, usize)> {
        let word = self.next();
        let number = std::str::from_utf8(word)
            .ok()
            .and_then(|word| word.parse().ok());
        number.ok_or((what, self.at - word.len()))
    }

    fn int(&mut self, what: &'static str) -> Result<i32, (&'static str, usize)> {
        self.number(what)
    }

    fn time(&mut self, what: &'static str) -> Result<Timestamp, (&'static str, usize)> {
        let before = self.at;
        let word = self.next();
        // A sign or more digits than 64 bits hold make it a real number.
        if word.iter().all(u8::is_ascii_digit)
            && let Some(Ok(whole)) = std::str::from_utf8(word).ok().map(str::parse)
        {
            return Ok(Timestamp::Whole(whole));
        }
        self.at = before;
        let real: f64 = self.number(what)?;
        if real.fract() == 0.0 && (0.0..u64::MAX as f64).contains(&real) {
            Ok(Timestamp::Whole(real as u64))
        } else if real.is_finite() {
            Ok(Timestamp::Real(real))
        } else {
            Err((what, self.at - word.len()))
        }
    }
}
