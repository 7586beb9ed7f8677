//! Errors of CLOG2 files.

use std::fmt;
use std::io;

use trace_model::fault::{Fault, ends_in};
use trace_model::fault_kind;

/// An error in a CLOG2 file: what was expected, at which byte, of which file.
pub type Clog2Error = Fault<Clog2ErrorKind>;

/// The kinds of [`Clog2Error`].
#[derive(Debug)]
#[non_exhaustive]
pub enum Clog2ErrorKind {
    /// The data end in the middle of something.
    Truncated {
        /// The expected item, according to the format.
        what: &'static str,
        /// Bytes it takes.
        expected: u64,
        /// Bytes that are left.
        found: u64,
    },
    /// The file does not begin with `CLOG-02.44`.
    Version {
        /// The string that stands in its place, cut to 32 characters.
        found: String,
    },
    /// A field of the preamble has no usable value.
    Preamble {
        /// Title of the field, with its `=`.
        field: &'static str,
        /// Value that was expected.
        expected: &'static str,
        /// The text found, cut to 32 characters.
        found: String,
    },
    /// A record has a type outside 0 … 11.
    RecordType(i32),
    /// A record would pass the end of its block.
    BlockOverrun {
        /// Size of the record in bytes.
        size: usize,
        /// Bytes left in the block.
        left: usize,
    },
    /// The blocks ended without an ENDLOG record.
    NoEndLog,
    /// The file has no communicator table (its offset in the preamble is 0), as after a crash.
    NoCommTable,
    /// A communicator table entry has a kind outside −1 … 3.
    CommKind(i32),
    /// The file is little-endian, which the Java tools refuse.
    LittleEndian,
    /// A record is larger than a block can hold.
    TooLarge {
        /// Size of the record in bytes.
        size: usize,
        /// Size of a block in bytes.
        block_size: usize,
    },
    /// Reading or writing failed.
    Io(io::Error),
}

impl fmt::Display for Clog2ErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Clog2ErrorKind::Truncated {
                what,
                expected,
                found,
            } => ends_in(f, what, expected, found),
            Clog2ErrorKind::Version { found } => write!(
                f,
                "not a CLOG2 file: version {found:?}, expected \"CLOG-02.44\""
            ),
            Clog2ErrorKind::Preamble {
                field,
                expected,
                found,
            } => {
                write!(
                    f,
                    "preamble field {field}: expected {expected}, found {found:?}"
                )
            }
            Clog2ErrorKind::RecordType(found) => write!(f, "record type {found}, expected 0 to 11"),
            Clog2ErrorKind::BlockOverrun { size, left } => {
                write!(
                    f,
                    "a record of {size} bytes where {left} bytes of the block are left"
                )
            }
            Clog2ErrorKind::NoEndLog => write!(f, "the blocks end without an ENDLOG record"),
            Clog2ErrorKind::NoCommTable => write!(
                f,
                "commtable_fptr is 0: the file was not finished and has no communicator table"
            ),
            Clog2ErrorKind::CommKind(found) => {
                write!(f, "communicator kind {found}, expected -1 to 3")
            }
            Clog2ErrorKind::LittleEndian => {
                write!(f, "the file is little-endian, expected a merged file")
            }
            Clog2ErrorKind::TooLarge { size, block_size } => {
                write!(
                    f,
                    "a record of {size} bytes does not fit in a block of {block_size} bytes"
                )
            }
            Clog2ErrorKind::Io(error) => write!(f, "{error}"),
        }
    }
}

fault_kind!(Clog2ErrorKind);
