//! ALOG, the text log of p4, upshot, nupshot and MPE-1: a line of six numbers and perhaps a text for each event.
//!
//! * [`Reader`] walks the lines of a file in memory; [`Event::write`] writes a line, with the bytes that were read.
//! * [`check`] goes through a whole file and says what is wrong with it.
//! * [`Source`] gives the drawables of a file, `Sink` makes a file of drawables.
//! * [`mod@from_clog1`] makes of a CLOG-1 file what MPE's `clog2alog` makes of it.
//!
//! ```
//! use trace_formats::alog::{Content, Reader};
//!
//! let file = b"-2 0 0 1 0 0\n-101 0 0 1 0 326954 99 12\n";
//! let mut copy = Vec::new();
//! for line in Reader::new(file).lines() {
//!     if let Content::Event(event) = line?.content {
//!         event.write(&mut copy)?;
//!     }
//! }
//! assert_eq!(copy, file);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Section numbers in this module are those of the format description the project works from (`alog.md`).

mod error;
mod event;
mod from_clog1;
mod header;
mod read;
mod sink;
mod source;

pub use error::{Error, ErrorKind};
pub use event::{Event, Timestamp, etype};
pub use from_clog1::{FromClog1Error, from_clog1};
pub(crate) use header::seconds;
pub use header::{Header, StateDef, check};
pub use read::{Content, Line, Lines, Reader, recognises};
pub use sink::{Options, Sink};
pub use source::Source;
