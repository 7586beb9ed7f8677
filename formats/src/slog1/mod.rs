//! SLOG-1 (version 0.9), the log of Jumpshot-3: intervals in frames of a fixed size, each of which can be drawn without
//! any other, because records that reach into a frame are repeated in it.
//!
//! * [`Reader`] finds tables, frames and statistics of a file in memory; of a frame, [`Frame::records`] gives the four
//!   sectors.
//! * [`print()`] gives the text of `slog_print`.
//!
//! Section numbers in this module are those of the format description the project works from (`slog1.md`).

mod cursor;
mod error;
mod print;
mod profile;
mod read;
mod record;
mod statistics;
mod types;

pub use error::{Error, ErrorKind};
pub use print::print;
pub use read::{Directories, Directory, Entries, Frame, Frames, Reader, Records, Sector};
pub use record::{
    ARROW, ARROW_VARIABLE, Arguments, Groups, Record, STATE, STATE_VARIABLE, Task, Words, is_arrow,
    is_variable,
};
pub use statistics::{Set, Statistics};
pub use types::{
    Bebits, Definition, Display, Entry, FRAME_HEADER_SIZE, HEADER_SIZE, Header, Key, Thread,
};
