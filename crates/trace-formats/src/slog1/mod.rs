//! SLOG-1 (version 0.9), the log of Jumpshot-3: intervals in frames of a fixed size, each of which can be drawn without
//! any other, because records that reach into a frame are repeated in it.
//!
//! * [`Slog1Reader`] finds tables, frames and statistics of a file in memory; of a frame, [`Slog1Frame::records`] gives the four
//!   sectors.
//! * [`Slog1Writer`] makes files as the original library does, byte for byte.
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
pub use error::{Slog1Error, Slog1ErrorKind};
pub use from_clog1::{
    BACKWARD, FORWARD, Slog1Conversion, Slog1FromClog1Error, Slog1Options, from_clog1,
};
pub use key::{Bebits, RecordKey};
pub use print::print;
pub use read::{
    Directories, FrameDirectory, FrameDirectoryEntries, Sector, SectorRecords, Slog1Frame,
    Slog1Frames, Slog1Reader,
};
pub use record::{
    ARROW, ARROW_VARIABLE, ArgumentGroups, Arguments, STATE, STATE_VARIABLE, Slog1Record, TaskId,
    WordArray, is_arrow, is_variable,
};
pub use sink::Slog1Sink;
pub use source::{Slog1Source, is_cut};
pub use statistics::{Slog1Statistics, StatisticsSet};
pub use types::{
    DirectoryEntry, Display, FRAME_HEADER_SIZE, HEADER_SIZE, RecordDefinition, Slog1Header,
    Slog1Thread,
};
pub use write::{FileLayout, FileTables, RecordKind, Slog1Writer, TimeOrder, WrittenCounts};
