//! CLOG2 (`CLOG-02.44`), the event log of MPE2: big-endian records of start and end events, messages and communicators
//! in fixed-size blocks, in order of time.
//!
//! * [`Clog2Reader`] walks merged and local files in memory, [`Clog2Writer`] streams a merged one to disk.
//! * [`Clog2Record::encode`], [`Clog2Record::decode`], [`peek_time`] and [`peek_size`] handle single records in a buffer, which is
//!   what ranks exchange while they merge their logs.
//! * [`Clog2Source`] gives a file as drawables, [`Clog2Sink`] makes one of drawables.
//! * [`Worlds`] puts the logs of several MPI_COMM_WORLDs together, [`join()`] any files as `clog2_join` does, [`repair()`] completes a file that a crash cut off.
//! * [`mod@print`] gives the text of the original `clog2_print`, [`java`] that of the Java `clog2print`.
//!
//! ```
//! use trace_formats::clog2::{Clog2Body, Preamble, Clog2Reader, Clog2Record, Clog2RecordHeader, Clog2Writer};
//!
//! let mut file = std::io::Cursor::new(Vec::new());
//! let preamble = Preamble { block_size: 1024, ..Preamble::default() };
//! let mut writer = Clog2Writer::new(&mut file, &preamble)?;
//! writer.write(&Clog2Record {
//!     header: Clog2RecordHeader { time: 0.5, icomm: 0, rank: 0, thread: 0 },
//!     body: Clog2Body::Bare { etype: 42 },
//! })?;
//! writer.finish(&Default::default(), &preamble)?;
//!
//! let bytes = file.into_inner();
//! let reader = Clog2Reader::new(&bytes)?;
//! let first = reader.records().next().unwrap()?;
//! assert_eq!(first.body, Clog2Body::Bare { etype: 42 });
//! # Ok::<(), trace_formats::clog2::Clog2Error>(())
//! ```
//!
//! Section numbers in this module are those of the format description the project works from (`clog2.md`).

pub mod annotations;
mod bytes;
mod codec;
mod comm;
mod error;
mod gid;
pub mod java;
mod join;
mod merging;
mod numbering;
mod preamble;
pub mod print;
mod read;
mod record;
mod repair;
mod sink;
mod source;
pub mod states;
mod text;
mod worlds;
mod write;

pub use bytes::Endian;
pub use codec::{peek_rectype, peek_size, peek_time};
pub use comm::{Clog2CommKind, CommEntry, CommTable, UNKNOWN_LID};
pub use error::{Clog2Error, Clog2ErrorKind};
pub use gid::Gid;
pub use join::{Joined, join, joined_preamble};
pub use preamble::{PREAMBLE_SIZE, Preamble, VERSION};
pub use read::{Clog2Reader, Clog2Records, EncodedRecords, RawClog2Records};
pub use record::{
    CARGO_SIZE, Clog2Body, Clog2CommEvent, Clog2ConstDef, Clog2EventDef, Clog2Msg, Clog2Record,
    Clog2RecordHeader, Clog2StateDef, ENDLOG_TIME, FUNCTION_STATE_ETYPES, HEADER_SIZE,
    MAX_RECORD_SIZE, comm_etype, constdef_etype, msg_etype, rectype,
};
pub use repair::{Repair, repair};
pub use sink::{Clog2Sink, SinkOptions};
pub use source::Clog2Source;
pub use text::FixedText;
pub(crate) use text::java_text;
pub use worlds::{
    JoinedLogs, RunOrigin, Worlds, WorldsError, across_border, crossing_gid, late_messages,
    late_messages_name, remote_of, unmatched_endpoints, unmatched_endpoints_name,
};
pub use write::{Clog2Layout, Clog2Writer};
