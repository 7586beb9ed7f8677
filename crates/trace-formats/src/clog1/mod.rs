//! CLOG version 1, the event log of MPE-1 (MPICH 1.1 to 1.2.7): big-endian records in blocks of 65536 bytes, merged in
//! order of time, without magic number or preamble.
//!
//! * [`Clog1Reader`] walks files in memory, [`Clog1Writer`] streams one; with [`Clog1Writer::write_raw`] also what is without meaning
//!   is kept, so that a copy has the same bytes.
//! * Files of MPICH 1.1.2 and older have blocks of 1024 bytes, and of the very oldest the records differ: [`Clog1Layout`].
//! * [`Clog1Source`] gives the drawables of a file, [`Clog1Sink`] makes a file of drawables.
//! * [`mod@print`] gives the text of the original `clog_print`. That of `clog2alog` is [`crate::alog::from_clog1`];
//!   [`mod@from_alog`] is its inverse.
//!
//! ```
//! use trace_formats::clog1::{Clog1Body, Clog1Layout, RawEvent, Clog1Reader, Clog1Record, Clog1RecordHeader, Clog1Writer};
//!
//! let mut writer = Clog1Writer::new(Vec::new(), Clog1Layout::default());
//! writer.write(&Clog1Record {
//!     header: Clog1RecordHeader { time: 0.5, rank: 3, pad: [0; 4] },
//!     body: Clog1Body::Raw(RawEvent { etype: 11, data: 1, ..RawEvent::default() }),
//! })?;
//! let bytes = writer.finish()?;
//! assert_eq!(bytes.len(), 65536);
//!
//! let first = Clog1Reader::new(&bytes)?.records().next().unwrap()?;
//! assert_eq!((first.header.time, first.header.rank), (0.5, 3));
//! # Ok::<(), trace_formats::clog1::Clog1Error>(())
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

pub use error::{Clog1Error, Clog1ErrorKind};
pub use from_alog::{FromAlogError, from_alog};
pub use layout::{Clog1Layout, recognises};
pub use read::{Clog1Reader, RawClog1Records, RawRecord};
pub use record::{
    Clog1Body, Clog1Comm, Clog1EventDef, Clog1Msg, Clog1Record, Clog1RecordHeader, Clog1StateDef,
    Coll, ENDLOG_TIME, HEADER_SIZE, MAX_RECORD_SIZE, PadBytes, RawEvent, SrcLoc, comm_etype,
    rectype,
};
pub use sink::Clog1Sink;
pub use source::Clog1Source;
pub use write::Clog1Writer;
