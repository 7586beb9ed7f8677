//! Reads ALOG files that are in memory (or mapped), as upshot and nupshot do (section 1).

use super::error::{Error, ErrorKind};
use super::event::{Event, etype};

/// An ALOG file.
#[derive(Clone, Copy, Debug)]
pub struct Reader<'a> {
    file: &'a [u8],
}

impl<'a> Reader<'a> {
    /// A file, given all its bytes.
    pub fn new(file: &'a [u8]) -> Self {
        Reader { file }
    }

    /// The lines in the order of the file.
    ///
    /// Of a damaged file all lines before the damage come, then one error, then nothing.
    pub fn lines(&self) -> Lines<'a> {
        Lines {
            file: self.file,
            at: 0,
            number: 0,
            announced: None,
            events: 0,
            done: false,
        }
    }
}

/// Lines that are looked at to recognise a file.
const LOOK: usize = 16;

/// True if these bytes begin with lines of an ALOG file.
pub fn recognises(file: &[u8]) -> bool {
    let mut events = 0;
    for line in Reader::new(file).lines().take(LOOK) {
        match line.map(|line| line.content) {
            Ok(Content::Event(_)) => events += 1,
            Ok(Content::Comment(_)) => {}
            Err(error) => return events > 0 && !matches!(error.kind, ErrorKind::Line { .. }),
        }
    }
    events > 0
}

/// A line and its place.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Line<'a> {
    /// Its number, from 1.
    pub number: u64,
    /// Where it begins, in bytes from the start of the file.
    pub offset: u64,
    /// What it says.
    pub content: Content<'a>,
}

/// What a line says.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Content<'a> {
    /// An event or a line that describes the file.
    Event(Event<'a>),
    /// A blank line or one that begins with `#`.
    Comment(&'a [u8]),
}

/// Iterator over the lines of a file; see [`Reader::lines`].
#[derive(Clone, Debug)]
pub struct Lines<'a> {
    file: &'a [u8],
    at: usize,
    number: u64,
    /// The number in the `-2` line.
    announced: Option<i64>,
    events: u64,
    done: bool,
}

impl<'a> Lines<'a> {
    fn read(&mut self, bytes: &'a [u8]) -> Result<Line<'a>, Error> {
        let offset = self.at as u64;
        self.number += 1;
        let Some(length) = bytes.iter().position(|&byte| byte == b'\n') else {
            let kind = ErrorKind::CutLine { line: self.number };
            return Err(Error::new(offset, kind));
        };
        let line = &bytes[..length];
        self.at += length + 1;
        let content = match line.trim_ascii_start().first() {
            None | Some(b'#') => Content::Comment(line),
            Some(_) => {
                let event = Event::parse(line).map_err(|(expected, at)| {
                    let kind = ErrorKind::Line {
                        line: self.number,
                        expected,
                        found: shown(&line[at..]),
                    };
                    Error::new(offset + at as u64, kind)
                })?;
                if !event.is_header() {
                    self.events += 1;
                } else if event.etype == etype::EVENTS {
                    self.announced = Some(event.data.into());
                }
                Content::Event(event)
            }
        };
        Ok(Line {
            number: self.number,
            offset,
            content,
        })
    }

    /// What is wrong with a file of which all lines are well.
    fn missing(&self) -> Option<Error> {
        let kind = match self.announced {
            Some(announced) if i128::from(announced) > i128::from(self.events) => {
                ErrorKind::MissingEvents {
                    announced,
                    found: self.events,
                }
            }
            None if self.events == 0 => ErrorKind::NoEvents,
            _ => return None,
        };
        Some(Error::new(self.at as u64, kind))
    }
}

impl<'a> Iterator for Lines<'a> {
    type Item = Result<Line<'a>, Error>;

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
