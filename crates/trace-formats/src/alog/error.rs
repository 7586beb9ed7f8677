//! Errors of ALOG files.

use std::fmt;
use std::io;
use trace_model::fault::Fault;
use trace_model::fault_kind;

/// An error in an ALOG file: what was expected, at which byte and line, of which file.
pub type AlogError = Fault<AlogErrorKind>;

/// The kinds of [`AlogError`]. Lines count from 1.
#[derive(Debug)]
#[non_exhaustive]
pub enum AlogErrorKind {
    /// A line does not begin with six numbers.
    Line {
        /// Line number, from 1.
        line: u64,
        /// Which of the numbers is missing, wrong or too large.
        expected: &'static str,
        /// The text found, cut to 40 bytes.
        found: String,
    },
    /// The last line has no line feed: the file was cut off within it.
    CutLine {
        /// Line number, from 1.
        line: u64,
    },
    /// A state is defined without a name.
    NoStateName {
        /// The number of the line.
        line: u64,
        /// The text found, cut to 40 bytes.
        found: String,
    },
    /// The file ended before as many events as its `-2` line announces.
    MissingEvents {
        /// Number that the header announces.
        announced: i64,
        /// Number that the file holds.
        found: u64,
    },
    /// The file holds neither an event nor a line that says how many there are.
    NoEvents,
    /// Reading or writing failed.
    Io(io::Error),
}

impl fmt::Display for AlogErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            AlogErrorKind::Line {
                line,
                expected,
                found,
            } => write!(
                f,
                "line {line}: {expected} expected, found {found:?}; a line is: type process task data cycle timestamp [string]"
            ),
            AlogErrorKind::CutLine { line } => {
                write!(
                    f,
                    "line {line}: the file ends in the middle of it, expected a line feed"
                )
            }
            AlogErrorKind::NoStateName { line, found } => write!(
                f,
                "line {line}: a state (-13) without a name, expected \"COLOR[:BITMAP] NAME\", found {found:?}"
            ),
            AlogErrorKind::MissingEvents { announced, found } => write!(
                f,
                "the file ends after {found} events, its -2 line announces {announced}"
            ),
            AlogErrorKind::NoEvents => write!(
                f,
                "the file ends without an event and without a -2 line that says how many there are"
            ),
            AlogErrorKind::Io(error) => write!(f, "{error}"),
        }
    }
}

fault_kind!(AlogErrorKind, whole_file: AlogErrorKind::Io(_));
