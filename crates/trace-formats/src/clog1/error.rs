//! Errors of CLOG-1 files.

use super::record::{MAX_RANK, MAX_TIME};
use std::fmt;
use std::io;
use trace_model::fault::{Fault, ends_in};
use trace_model::fault_kind;

/// An error in a CLOG-1 file: what was expected, at which byte, of which file.
pub type Clog1Error = Fault<Clog1ErrorKind>;

/// The kinds of [`Clog1Error`].
#[derive(Debug)]
#[non_exhaustive]
pub enum Clog1ErrorKind {
    /// The bytes are not those of a CLOG-1 file, neither big- nor little-endian: no record header stands there.
    NotClog1,
    /// The file ends in the middle of something.
    Truncated {
        /// The expected item, according to the format.
        what: &'static str,
        /// Bytes it takes.
        expected: usize,
        /// Bytes that are left.
        found: usize,
    },
    /// A record says that it has another length than its type has, in units of 8 bytes; for an unknown type, than any.
    Length {
        /// Record type as found in the file.
        rectype: i32,
        /// The length of the type; the least one if it is unknown.
        expected: i32,
        /// The length in the record.
        found: i32,
    },
    /// A record would pass the end of its block.
    BlockOverrun {
        /// Size of the record in bytes.
        size: usize,
        /// Bytes left in the block.
        left: usize,
    },
    /// The blocks ended without an ENDLOG record.
    NoEndLog,
    /// A record is larger than a block can hold.
    TooLarge {
        /// Size of the record in bytes.
        size: usize,
        /// Size of a block in bytes.
        block_size: usize,
    },
    /// Writing: a record in the first block with a time or a rank by which no reader would know the file.
    Implausible {
        /// Time of the record, seconds.
        time: f64,
        /// Rank of the record.
        rank: i32,
    },
    /// Reading or writing failed.
    Io(io::Error),
}

impl fmt::Display for Clog1ErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Clog1ErrorKind::NotClog1 => write!(
                f,
                "not a CLOG-1 file: expected a record header with a type from -2 to 8 and its length"
            ),
            Clog1ErrorKind::Truncated {
                what,
                expected,
                found,
            } => ends_in(f, what, expected, found),
            Clog1ErrorKind::Length {
                rectype,
                expected,
                found,
            } => write!(
                f,
                "a record of type {rectype} says that it is {found} times 8 bytes long, expected {expected}"
            ),
            Clog1ErrorKind::BlockOverrun { size, left } => write!(
                f,
                "a record of {size} bytes where {left} bytes of the block are left"
            ),
            Clog1ErrorKind::NoEndLog => write!(f, "the blocks end without an ENDLOG record"),
            Clog1ErrorKind::TooLarge { size, block_size } => write!(
                f,
                "a record of {size} bytes does not fit in a block of {block_size} bytes"
            ),
            Clog1ErrorKind::Implausible { time, rank } => write!(
                f,
                "a record of rank {rank} at {time} s; CLOG-1 files are known by ranks from 0 to {} and times up to {MAX_TIME} s",
                MAX_RANK - 1
            ),
            Clog1ErrorKind::Io(error) => write!(f, "{error}"),
        }
    }
}

fault_kind!(Clog1ErrorKind, whole_file: Clog1ErrorKind::Io(_) | Clog1ErrorKind::Implausible { .. });
