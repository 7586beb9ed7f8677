//! SLOG-1 (version 0.9), the log of Jumpshot-3: intervals in frames of a fixed size, each of which can be drawn without
//! any other, because records that reach into a frame are repeated in it.
//!
//! * [`Reader`] finds tables, frames and statistics of a file in memory; of a frame, [`Frame::records`] gives the four
//!   sectors.
//! * [`Writer`] makes files as the original library does, byte for byte.
//! * [`from_clog1()`] does what `clog2slog` does, [`copy()`] reads a file and writes the same bytes.
//! * [`print()`] gives the text of `slog_print`.
//!
//! Section numbers in this module are those of the format description the project works from (`slog1.md`).

mod copy;
mod cursor;
mod error;
mod from_clog1;
mod key;
mod labels;
mod print;
mod profile;
mod read;
mod record;
mod sink;
mod source;
mod statistics;
mod types;
mod write;

pub use copy::copy;
pub use error::{Error, ErrorKind};
pub use from_clog1::{BACKWARD, Conversion, FORWARD, FromClog1Error, Options, from_clog1};
pub use key::{Bebits, RecordKey};
pub use print::print;
pub use read::{Directories, Directory, Entries, Frame, Frames, Reader, Records, Sector};
pub use record::{
    ARROW, ARROW_VARIABLE, ArgumentGroups, Arguments, Record, STATE, STATE_VARIABLE, TaskId,
    WordArray, is_arrow, is_variable,
};
pub use sink::Sink;
pub use source::{Source, is_cut};
pub use statistics::{Statistics, StatisticsSet};
pub use types::{
    Definition, DirectoryEntry, Display, FRAME_HEADER_SIZE, HEADER_SIZE, Header, Thread,
};
pub use write::{Layout, RecordKind, Tables, TimeOrder, Writer, Written};
