//! Errors of DUMPI texts.

use super::super::write::DumpiWriteError;
use crate::ConversionError;
use std::fmt;

/// Why no file was made of a text.
pub type FromTextError = ConversionError<TextError, DumpiWriteError>;

/// A place in a text that is not what dumpi2ascii writes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextError {
    /// Line, from 1.
    pub line: u64,
    /// Byte offset from the start of the text.
    pub offset: u64,
    /// Text that was expected there.
    pub expected: Expected,
    /// Text that was found instead, cut to 40 characters.
    pub found: String,
    /// Whether the text ended there: the rest of it may be missing.
    pub at_end: bool,
}

/// Text that was expected at a place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Expected {
    /// Exactly this text.
    Text(String),
    /// A number that fits its field.
    Number,
    /// The name of a function that a record can be of.
    Function,
    /// The first line of a record or a line of one of the other sections.
    Line,
    /// A time as ctime writes it.
    Date,
    /// The end of the string that begins there.
    EndOfString,
    /// A datatype number not far behind the one before.
    Datatype,
}

impl fmt::Display for TextError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {} (byte {}): expected ", self.line, self.offset)?;
        match &self.expected {
            Expected::Text(text) => write!(f, "{text:?}")?,
            Expected::Number => write!(f, "a number that fits the field")?,
            Expected::Function => write!(f, "the name of a function")?,
            Expected::Line => write!(f, "a call or a line of another section")?,
            Expected::Date => write!(f, "a time as in \"Fri Nov 20 05:32:58 2026\"")?,
            Expected::EndOfString => write!(f, "the end of the string")?,
            Expected::Datatype => write!(f, "a datatype number in order")?,
        }
        if self.at_end {
            write!(f, ", found the end of the text")
        } else {
            write!(f, ", found {:?}", self.found)
        }
    }
}

impl std::error::Error for TextError {}

impl From<TextError> for FromTextError {
    fn from(error: TextError) -> Self {
        FromTextError::Input(error)
    }
}

impl From<DumpiWriteError> for FromTextError {
    fn from(error: DumpiWriteError) -> Self {
        FromTextError::Output(error)
    }
}
