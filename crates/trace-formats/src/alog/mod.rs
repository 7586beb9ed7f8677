//! ALOG, the text log of p4, upshot, nupshot and MPE-1: a line of six numbers and perhaps a text for each event.
//!
//! * [`AlogReader`] walks the lines of a file in memory; [`AlogEvent::write`] writes a line, with the bytes that were read.
//! * [`check`] goes through a whole file and says what is wrong with it.
//! * [`AlogSource`] gives the drawables of a file, `AlogSink` makes a file of drawables.
//! * [`mod@from_clog1`] makes of a CLOG-1 file what MPE's `clog2alog` makes of it.
//!
//! ```
//! use trace_formats::alog::{LineContent, AlogReader};
//!
//! let file = b"-2 0 0 1 0 0\n-101 0 0 1 0 326954 99 12\n";
//! let mut copy = Vec::new();
//! for line in AlogReader::new(file).lines() {
//!     if let LineContent::Event(event) = line?.content {
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

pub use error::{AlogError, AlogErrorKind};
pub use event::{AlogEvent, Timestamp, etype};
pub use from_clog1::{AlogFromClog1Error, from_clog1};
pub(crate) use header::seconds;
pub use header::{AlogHeader, AlogStateDef, check};
pub use read::{AlogLine, AlogLines, AlogReader, LineContent, recognises};
pub use sink::{AlogOptions, AlogSink};
pub use source::AlogSource;
