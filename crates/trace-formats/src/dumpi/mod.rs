//! DUMPI: one binary file per rank with every MPI call, its times and its arguments, as SST-DUMPI writes it for
//! replay in simulators; and a small text file per run that names the others.
//!
//! * [`read`] opens a `.bin` and gives its records, borrowed from the bytes,
//! * [`mod@write`] makes one, record by record,
//! * [`mod@print`] shows one as the text of `dumpi2ascii`, [`from_text`] makes one of such a text,
//! * [`DumpiSource`] gives the files of a run as drawables,
//! * [`meta`] reads and writes the `.meta` file and knows the file names of a run,
//! * [`functions`] is the table of all function ids and their fields; [`types`] and [`value`] are what records hold.
//!
//! Layout and quirks follow the format of version 13.0.0; older versions are read. "Spec" in these pages is the
//! project's specification of that format.
//!
//! ```
//! use trace_formats::dumpi::functions::by_name;
//! use trace_formats::dumpi::read::DumpiReader;
//! use trace_formats::dumpi::types::{Mask, ClockOffsets, ClockSpan, DumpiTrailer};
//! use trace_formats::dumpi::value::FieldValue;
//! use trace_formats::dumpi::write::{RecordHead, LIBDUMPI, DumpiWriter};
//!
//! let mut writer = DumpiWriter::new(Vec::new(), ClockOffsets { cpu: 0, wall: 100 })?;
//! let head = RecordHead { mask: Mask::DEFAULT, thread: 0, cpu: ClockSpan::default(), wall: ClockSpan::from_ns(100_000_000_007, 100_000_000_009) };
//! let mut call = writer.call(82, &head, &[]); // MPI_Comm_rank
//! call.handle(2).int(5);
//! call.end()?;
//! let (bytes, _index) = writer.finish(&DumpiTrailer::default(), LIBDUMPI)?;
//!
//! let reader = DumpiReader::open(&bytes)?;
//! for record in reader.records() {
//!     let record = record?;
//!     assert_eq!(record.function.name, by_name("MPI_Comm_rank").unwrap().name);
//!     assert_eq!(record.wall.stop.nsec, 9);
//!     assert_eq!(record.args().map(|(_, arg)| arg).collect::<Vec<_>>(), [FieldValue::Int(2), FieldValue::Int(5)]);
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod call;
pub mod clock;
pub mod communicators;
pub mod completed;
mod cursor;
mod dialect;
mod encode;
pub mod error;
mod file;
pub mod from_text;
pub mod functions;
pub mod ids;
pub mod matching_order;
pub mod meta;
pub mod names;
mod notation;
pub mod print;
pub mod read;
mod schema;
mod source;
mod stream;
mod table;
mod text;
mod time;
pub mod types;
pub mod value;
pub mod write;

pub use error::{DumpiError, DumpiErrorKind};
pub use source::DumpiSource;
pub use stream::DumpiRecords;

/// The bytes that begin a file, and as a u64 its index.
pub const MAGIC: [u8; 8] = [0xFF, 0xAA, 0xDD, b'D', b'U', b'M', b'P', b'I'];

/// First bytes of the footer.
const FOOTER_MARK: u64 = 0x0000_0000_F007_FEE7;
