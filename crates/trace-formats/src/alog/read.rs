//! Reads ALOG files that are in memory (or mapped), as upshot and nupshot do (`spec/alog.md` section 1).

use super::error::{AlogError, AlogErrorKind};
use super::event::{AlogEvent, etype};

/// An ALOG file.
#[derive(Clone, Copy, Debug)]
pub struct AlogReader<'a> {
    file: &'a [u8],
}

impl<'a> AlogReader<'a> {
    /// A file, given all its bytes.
    pub fn new(file: &'a [u8]) -> Self {
        AlogReader { file }
    }

    /// The lines in the order of the file.
    ///
    /// Of a damaged file all lines before the damage come, then one error, then nothing.
    pub fn lines(&self) -> AlogLines<'a> {
        AlogLines {
            file: self.file,
            at: 0,
            number: 0,
            announced: None,
            end: None,
            processes: 0,
            events: 0,
            last: 0.0,
            done: false,
        }
    }
}

/// Lines that are looked at to recognise a file.
const LOOK: usize = 16;

/// True if these bytes begin with lines of an ALOG file, one of which is a header's: other logs have lines of numbers,
/// too (PICL).
pub fn recognises(file: &[u8]) -> bool {
    let mut headers = 0;
    for line in AlogReader::new(file).lines().take(LOOK) {
        match line.map(|line| line.content) {
            Ok(LineContent::Event(event)) => headers += u64::from(event.is_header()),
            Ok(LineContent::Comment(_)) => {}
            Err(error) => return headers > 0 && !matches!(error.kind, AlogErrorKind::Line { .. }),
        }
    }
    headers > 0
}

/// A line and its place.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AlogLine<'a> {
    /// Line number, from 1.
    pub number: u64,
    /// Byte offset of the line in the file.
    pub offset: u64,
    /// Content of the line.
    pub content: LineContent<'a>,
}

/// Content of a line.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum LineContent<'a> {
    /// An event or a line that describes the file.
    Event(AlogEvent<'a>),
    /// A blank line or one that begins with `#`.
    Comment(&'a [u8]),
}

/// Iterator over the lines of a file; see [`AlogReader::lines`].
#[derive(Clone, Debug)]
pub struct AlogLines<'a> {
    file: &'a [u8],
    at: usize,
    number: u64,
    /// The number in the `-2` line.
    announced: Option<i64>,
    /// The time in the `-7` line, in microseconds.
    end: Option<f64>,
    /// The number in the `-3` line.
    processes: i64,
    events: u64,
    /// The time of the last event, in microseconds.
    last: f64,
    done: bool,
}

impl<'a> AlogLines<'a> {
    fn read(&mut self, bytes: &'a [u8]) -> Result<AlogLine<'a>, AlogError> {
        let offset = self.at as u64;
        self.number += 1;
        let Some(length) = bytes.iter().position(|&byte| byte == b'\n') else {
            let kind = AlogErrorKind::CutLine { line: self.number };
            return Err(AlogError::new(offset, kind));
        };
        let line = &bytes[..length];
        self.at += length + 1;
        let content = match line.trim_ascii_start().first() {
            None | Some(b'#') => LineContent::Comment(line),
            Some(_) => {
                let event = AlogEvent::parse(line).map_err(|(expected, at)| {
                    let kind = AlogErrorKind::Line {
                        line: self.number,
                        expected,
                        found: shown(&line[at..]),
                    };
                    AlogError::new(offset + at as u64, kind)
                })?;
                match event.etype {
                    _ if !event.is_header() => {
                        self.events += 1;
                        self.last = event.time.micros();
                    }
                    etype::EVENTS => self.announced = Some(event.data.into()),
                    etype::PROCESSES => self.processes = event.data.into(),
                    etype::END => self.end = Some(event.time.micros()),
                    _ => {}
                }
                LineContent::Event(event)
            }
        };
        Ok(AlogLine {
            number: self.number,
            offset,
            content,
        })
    }

    /// Whether events are missing. Some files in use have a wrong number: their last event has the time of the `-7` line,
    /// and more are missing than each process may have had at that time.
    fn is_cut(&self, announced: i64) -> bool {
        let missing = announced.saturating_sub_unsigned(self.events);
        let is_whole = self.end == Some(self.last) && self.events > 0;
        missing > 0 && !(is_whole && missing >= self.processes.saturating_mul(2).max(4))
    }

    /// Error of a file of which all lines are sound.
    fn missing(&self) -> Option<AlogError> {
        let kind = match self.announced {
            Some(announced) if self.is_cut(announced) => AlogErrorKind::MissingEvents {
                announced,
                found: self.events,
            },
            None if self.events == 0 => AlogErrorKind::NoEvents,
            _ => return None,
        };
        Some(AlogError::new(self.at as u64, kind))
    }
}

impl<'a> Iterator for AlogLines<'a> {
    type Item = Result<AlogLine<'a>, AlogError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.done {
            return None;
        }
        let rest = self.file.get(self.at..).filter(|rest| !rest.is_empty());
        let result = match rest {
            Some(rest) => self.read(rest),
            None => {
                self.done = true;
                return self.missing().map(Err);
            }
        };
        self.done |= result.is_err();
        Some(result)
    }
}

/// A part of a line for a message.
pub(super) fn shown(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes.get(..40).unwrap_or(bytes)).into_owned()
}
