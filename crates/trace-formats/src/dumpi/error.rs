//! Errors of DUMPI files.

use std::fmt;
use trace_model::{Fault, FaultKind};

/// An error in a DUMPI file: what was expected, at which byte, of which file.
pub type DumpiError = Fault<DumpiErrorKind>;

/// The kinds of [`DumpiError`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DumpiErrorKind {
    /// The eight bytes that begin every file are missing.
    NoMagic,
    /// None of the known index records ends the file: it was never completed, or cut off.
    NoIndex,
    /// The index points behind the end of the file or into its magic.
    Outside {
        /// The section the entry is for.
        section: &'static str,
        /// The offset it claims.
        target: u64,
    },
    /// The file lacks a section that is needed.
    Missing(&'static str),
    /// The data end, or another section begins, before this is complete.
    Short(&'static str),
    /// A record is longer than the bytes left.
    ShortRecord {
        /// The function of the record.
        function: &'static str,
        /// The field that is cut.
        field: &'static str,
    },
    /// A record with an id that is not in the function table.
    UnknownFunction(u16),
    /// The footer does not begin with its mark.
    NoFooter(u64),
}

impl fmt::Display for DumpiErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DumpiErrorKind::NoMagic => write!(f, "not a DUMPI file: expected FF AA DD \"DUMPI\""),
            DumpiErrorKind::NoIndex => write!(
                f,
                "no index record at the end: the trace was not completed or is cut off"
            ),
            DumpiErrorKind::Outside { section, target } => {
                write!(
                    f,
                    "the index puts the {section} at byte {target}, outside the file"
                )
            }
            DumpiErrorKind::Missing(section) => write!(f, "the index names no {section}"),
            DumpiErrorKind::Short(what) => write!(f, "the data end within the {what}"),
            DumpiErrorKind::ShortRecord { function, field } => {
                write!(
                    f,
                    "the data end within a record of {function}, field {field}"
                )
            }
            DumpiErrorKind::UnknownFunction(id) => {
                write!(f, "expected a function id of 0 to 293, found {id}")
            }
            DumpiErrorKind::NoFooter(mark) => {
                write!(f, "expected the footer mark 0xF007FEE7, found {mark:#X}")
            }
        }
    }
}

impl FaultKind for DumpiErrorKind {}
