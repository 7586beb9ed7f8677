//! Walks a text: literal parts, numbers, times.

use super::super::types::ClockTime;
use super::error::{Expected, TextError};

/// A place in a text.
#[derive(Clone, Copy, Debug)]
pub(super) struct TextScan<'t> {
    text: &'t [u8],
    at: usize,
}

impl<'t> TextScan<'t> {
    pub(super) fn new(text: &'t [u8]) -> Self {
        TextScan { text, at: 0 }
    }

    pub(super) fn is_at_end(&self) -> bool {
        self.at >= self.text.len()
    }

    pub(super) fn rest(&self) -> &'t [u8] {
        self.text.get(self.at..).unwrap_or_default()
    }

    /// The rest of the line, without its end; stays where it is.
    pub(super) fn peek_line(&self) -> &'t [u8] {
        let rest = self.rest();
        let end = rest.iter().position(|b| *b == b'\n');
        &rest[..end.unwrap_or(rest.len())]
    }

    /// The rest of the line; goes on behind its end.
    pub(super) fn line(&mut self) -> &'t [u8] {
        let line = self.peek_line();
        self.skip(line.len() + 1);
        line
    }

    pub(super) fn skip(&mut self, bytes: usize) {
        self.at = (self.at + bytes).min(self.text.len());
    }

    /// Goes behind `literal` if it stands here.
    #[inline]
    pub(super) fn eat(&mut self, literal: &str) -> bool {
        let found = self.rest().starts_with(literal.as_bytes());
        if found {
            self.at += literal.len();
        }
        found
    }

    #[inline]
    pub(super) fn expect(&mut self, literal: &str) -> Result<(), TextError> {
        if self.eat(literal) {
            return Ok(());
        }
        let mut error = self.error(Expected::Text(literal.to_owned()));
        // Only the beginning of it may be there.
        error.at_end |= literal.as_bytes().starts_with(self.rest());
        Err(error)
    }

    #[inline]
    pub(super) fn number<T: TryFrom<i128>>(&mut self) -> Result<T, TextError> {
        let rest = self.rest();
        let sign = usize::from(rest.first() == Some(&b'-'));
        let mut value: i128 = 0;
        let mut length = sign;
        // The longest number is one of 64 bits.
        for byte in rest.iter().skip(sign).take(20) {
            if !byte.is_ascii_digit() {
                break;
            }
            value = value * 10 + i128::from(byte - b'0');
            length += 1;
        }
        let value = if sign == 1 { -value } else { value };
        match T::try_from(value) {
            Ok(value) if length > sign => {
                self.at += length;
                Ok(value)
            }
            _ => {
                let mut error = self.error(Expected::Number);
                error.at_end |= length == rest.len() && length == sign;
                Err(error)
            }
        }
    }

    /// A number of which a field keeps some of the bits, as text of `%d`.
    #[inline]
    pub(super) fn int(&mut self) -> Result<i32, TextError> {
        self.number()
    }

    /// `%d.%09d`
    pub(super) fn clock(&mut self) -> Result<ClockTime, TextError> {
        let sec = self.number()?;
        self.expect(".")?;
        Ok(ClockTime {
            sec,
            nsec: self.number()?,
        })
    }

    /// Takes the text before the first `end`; goes on after the first `skipped` bytes of that.
    pub(super) fn until(&mut self, end: &[u8], skipped: usize) -> Result<&'t [u8], TextError> {
        match find(self.rest(), end) {
            Some(length) => {
                let taken = &self.rest()[..length];
                self.skip(length + skipped);
                Ok(taken)
            }
            None => {
                let mut error = self.error(Expected::EndOfString);
                error.at_end = find(self.rest(), b" entering at walltime ").is_none();
                Err(error)
            }
        }
    }

    #[cold]
    pub(super) fn error(&self, expected: Expected) -> TextError {
        let before = self.text.get(..self.at).unwrap_or(self.text);
        let line = self.peek_line();
        TextError {
            line: before.iter().filter(|b| **b == b'\n').count() as u64 + 1,
            offset: self.at as u64,
            expected,
            found: String::from_utf8_lossy(&line[..line.len().min(40)]).into_owned(),
            at_end: self.is_at_end(),
        }
    }
}

/// Place of `what` in `text`.
pub(super) fn find(text: &[u8], what: &[u8]) -> Option<usize> {
    let first = *what.first()?;
    let mut from = 0;
    while let Some(step) = text.get(from..)?.iter().position(|b| *b == first) {
        from += step;
        if text[from..].starts_with(what) {
            return Some(from);
        }
        from += 1;
    }
    None
}

/// The counter line behind the first line of a record, if there is one. `labels` gets the names.
pub(super) fn counters(
    scan: &mut TextScan<'_>,
    to: &mut Vec<(i64, i64)>,
    labels: Option<&mut Vec<Vec<u8>>>,
) -> Result<bool, TextError> {
    if !scan.eat("Perfcounters: [") {
        return Ok(false);
    }
    let mut names = Vec::new();
    loop {
        let (name, value, more) = counter(scan)?;
        names.push(name.to_vec());
        to.push((value, 0));
        if !more {
            break;
        }
    }
    // A counter without a label is shown with this one.
    if let Some(labels) = labels
        && names.iter().all(|name| name != b"(null)")
    {
        *labels = names;
    }
    Ok(true)
}

/// The counter line behind the last line of a record.
pub(super) fn exit_counters(
    scan: &mut TextScan<'_>,
    to: &mut [(i64, i64)],
) -> Result<(), TextError> {
    scan.expect("Perfcounters: [")?;
    for (_, exit) in to {
        let (_, value, more) = counter(scan)?;
        *exit = value;
        if !more {
            break;
        }
    }
    Ok(())
}

/// `NAME=123` and whether another one follows. Names may have any characters: the last `=` before the number counts.
fn counter<'t>(scan: &mut TextScan<'t>) -> Result<(&'t [u8], i64, bool), TextError> {
    let start = scan.rest();
    let line = scan.peek_line().len();
    let mut length = 0;
    loop {
        let Some(step) = start[length..line].iter().position(|b| *b == b'=') else {
            return Err(scan.error(Expected::Text("=".to_owned())));
        };
        length += step;
        let mut ahead = *scan;
        ahead.skip(length + 1);
        if let Ok(value) = ahead.number::<i64>() {
            let more = ahead.eat(", ");
            if more || ahead.eat("]\n") {
                *scan = ahead;
                return Ok((&start[..length], value, more));
            }
        }
        length += 1;
    }
}
