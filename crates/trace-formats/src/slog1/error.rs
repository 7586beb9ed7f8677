//! Errors of SLOG-1 files.

use super::key::RecordKey;
use std::fmt;
use std::io;
use trace_model::fault::{Fault, ends_in};
use trace_model::fault_kind;

/// An error in an SLOG-1 file: what was expected, at which byte, of which file.
pub type Slog1Error = Fault<Slog1ErrorKind>;

/// The kinds of [`Slog1Error`].
#[derive(Debug)]
#[non_exhaustive]
pub enum Slog1ErrorKind {
    /// The data end in the middle of something.
    Truncated {
        /// The expected item, according to the format.
        what: &'static str,
        /// Bytes it takes.
        expected: u64,
        /// Bytes that are left.
        found: u64,
    },
    /// The file does not begin as one of version 0.9 does.
    NotSlog1,
    /// The header has no place for a part of the file: its pointer is 0, as in a file that was not finished.
    NoPart(&'static str),
    /// A frame has less than the 32 bytes that its header takes.
    FrameSize(u32),
    /// The bits that tell the pieces of an interval are none of 0 to 3.
    Bebits(u8),
    /// A field of the display profile that is a number in decimal is none, or one that cannot be.
    Number {
        /// Name of the field.
        field: &'static str,
        /// Text that was found.
        found: String,
    },
    /// A record type outside 0 to 255.
    RecordType(u16),
    /// The size a record states is not what its parts take.
    RecordSize {
        /// Bytes its parts take.
        expected: usize,
        /// Bytes it states.
        found: usize,
    },
    /// A record is of a kind that the record definitions do not have.
    Undefined(RecordKey),
    /// The records of a sector do not take the bytes that the frame header states.
    SectorSize {
        /// Bytes stated.
        expected: u64,
        /// Bytes that its records take.
        found: u64,
    },
    /// The sectors of a frame take more than a frame has.
    FrameOverrun {
        /// Bytes of header and sectors.
        needed: u64,
        /// Bytes of a frame.
        size: u32,
    },
    /// A directory uses more entries than it has.
    DirectoryCount {
        /// Entries used.
        used: u32,
        /// Entries it has.
        entries: u32,
    },
    /// A directory or a frame begins before the end of the one before it.
    Backward {
        /// Name of the part that is wrong.
        what: &'static str,
        /// The smallest offset that could be.
        expected: u64,
    },
    /// The statistics are missing: the file was not finished, or it has no records.
    NoStatistics,
    /// Sets of the statistics differ in their number of bins.
    Bins {
        /// Bins of all sets.
        expected: u32,
        /// Bins of this one.
        found: u32,
    },
    /// Parts of the file lie in one another.
    Overlap,
    /// Writing: a frame cannot hold what belongs in it, or not even one record.
    FrameFull {
        /// Bytes needed.
        needed: u64,
        /// Bytes of a frame.
        size: u32,
    },
    /// Writing: more frames than the directory has entries.
    DirectoryFull(u32),
    /// Writing: the records do not come in the order of time that was announced.
    Order {
        /// Start of the frame, seconds.
        start: f64,
        /// End that it would have, seconds.
        end: f64,
    },
    /// Writing: a record for which no room was reserved, although others had it reserved.
    NotReserved(RecordKey),
    /// Writing: two definitions with one key.
    Duplicate(RecordKey),
    /// Writing: more categories than record types.
    Types(usize),
    /// Writing: a label of an argument of more than 33 bytes.
    LabelLength(String),
    /// Reading or writing failed.
    Io(io::Error),
}

impl fmt::Display for Slog1ErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Slog1ErrorKind::Truncated {
                what,
                expected,
                found,
            } => ends_in(f, what, expected, found),
            Slog1ErrorKind::NotSlog1 => {
                write!(f, "not an SLOG-1 file: expected version 0.9 and its header")
            }
            Slog1ErrorKind::NoPart(part) => write!(
                f,
                "the header has no place of the {part}: the file was not finished"
            ),
            Slog1ErrorKind::FrameSize(size) => {
                write!(f, "frames of {size} bytes, expected at least 32")
            }
            Slog1ErrorKind::Bebits(found) => write!(f, "bebits {found}, expected 0 to 3"),
            Slog1ErrorKind::Number { field, found } => {
                write!(
                    f,
                    "{field} of the display profile: expected a number, found {found:?}"
                )
            }
            Slog1ErrorKind::RecordType(found) => {
                write!(f, "record type {found}, expected 0 to 255")
            }
            Slog1ErrorKind::RecordSize { expected, found } => write!(
                f,
                "a record that states {found} bytes, its parts take {expected}"
            ),
            Slog1ErrorKind::Undefined(key) => {
                write!(f, "a record of {key}, of which there is no definition")
            }
            Slog1ErrorKind::SectorSize { expected, found } => write!(
                f,
                "a sector of {expected} bytes whose records take {found} bytes"
            ),
            Slog1ErrorKind::FrameOverrun { needed, size } => {
                write!(f, "a frame of {size} bytes whose parts take {needed} bytes")
            }
            Slog1ErrorKind::DirectoryCount { used, entries } => write!(
                f,
                "a frame directory of {entries} entries that uses {used} of them"
            ),
            Slog1ErrorKind::Backward { what, expected } => write!(
                f,
                "a {what} begins before the end of the one before it, expected byte {expected} or later"
            ),
            Slog1ErrorKind::NoStatistics => write!(f, "the preview statistics are missing"),
            Slog1ErrorKind::Bins { expected, found } => {
                write!(
                    f,
                    "a set of {found} bins in statistics of {expected} bins each"
                )
            }
            Slog1ErrorKind::Overlap => write!(f, "parts of the file lie in one another"),
            Slog1ErrorKind::FrameFull { needed, size } => write!(
                f,
                "a frame of {size} bytes would have to hold {needed} bytes: frames must be larger"
            ),
            Slog1ErrorKind::DirectoryFull(entries) => write!(
                f,
                "the frame directory has {entries} entries, more frames are needed"
            ),
            Slog1ErrorKind::Order { start, end } => write!(
                f,
                "records out of order: a frame that begins at {start} s would end at {end} s"
            ),
            Slog1ErrorKind::NotReserved(key) => {
                write!(f, "a record of {key}, for which no room was reserved")
            }
            Slog1ErrorKind::Duplicate(key) => write!(f, "two definitions of {key}"),
            Slog1ErrorKind::Types(categories) => write!(
                f,
                "{categories} categories; an SLOG-1 file has 65535 types of records, and two are needed for each category of arrows"
            ),
            Slog1ErrorKind::LabelLength(label) => {
                write!(f, "argument label {label:?} is longer than 33 bytes")
            }
            Slog1ErrorKind::Io(error) => write!(f, "{error}"),
        }
    }
}

fault_kind!(
    Slog1ErrorKind,
    whole_file: Slog1ErrorKind::NoStatistics
        | Slog1ErrorKind::Types(_)
        | Slog1ErrorKind::DirectoryFull(_)
        | Slog1ErrorKind::Order { .. }
        | Slog1ErrorKind::NotReserved(_)
        | Slog1ErrorKind::Duplicate(_)
        | Slog1ErrorKind::LabelLength(_)
);
