//! CLOG version 1, the event log of MPE-1 (MPICH 1.1 to 1.2.7): big-endian records in blocks of 65536 bytes, merged in
//! order of time, without magic number or preamble.
//!
//! * [`Reader`] walks files in memory, [`Writer`] streams one; with [`Writer::write_raw`] also what is without meaning
//!   is kept, so that a copy has the same bytes.
//! * Files of MPICH 1.1.2 and older have blocks of 1024 bytes, and of the very oldest the records differ: [`Layout`].
//! * [`Source`] gives the drawables of a file, [`Sink`] makes a file of drawables.
//! * [`mod@print`] gives the text of the original `clog_print`. That of `clog2alog` is [`crate::alog::from_clog1`];
//!   [`mod@from_alog`] is its inverse.
//!
//! ```
//! use trace_formats::clog1::{Body, Layout, RawEvent, Reader, Record, RecordHeader, Writer};
//!
//! let mut writer = Writer::new(Vec::new(), Layout::default());
//! writer.write(&Record {
//!     header: RecordHeader { time: 0.5, rank: 3, pad: [0; 4] },
//!     body: Body::Raw(RawEvent { etype: 11, data: 1, ..RawEvent::default() }),
//! })?;
//! let bytes = writer.finish()?;
//! assert_eq!(bytes.len(), 65536);
//!
//! let first = Reader::new(&bytes)?.records().next().unwrap()?;
//! assert_eq!((first.header.time, first.header.rank), (0.5, 3));
//! # Ok::<(), trace_formats::clog1::Error>(())
//! ```
//!
//! Section numbers in this module are those of the format description the project works from (`clog1.md`).

mod codec;
mod error;
mod from_alog;
mod header;
mod layout;
pub mod print;
mod read;
mod record;
mod sink;
mod source;
mod write;

pub use error::{Error, ErrorKind};
pub use from_alog::{FromAlogError, from_alog};
pub use layout::{Layout, recognises};
pub use read::{RawRecord, RawRecords, Reader};
pub use record::{
    Body, Coll, Comm, ENDLOG_TIME, EventDef, HEADER_SIZE, MAX_RECORD_SIZE, Msg, PadBytes, RawEvent,
    Record, RecordHeader, SrcLoc, StateDef, comm_etype, rectype,
};
pub use sink::Sink;
pub use source::Source;
pub use write::Writer;
