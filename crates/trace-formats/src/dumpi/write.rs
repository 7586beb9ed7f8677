//! Writing a `.bin` file: records one by one, then the sections behind the stream.
//!
//! [`DumpiWriter`] writes to anything, [`FileWriter`] to a file that gets its name when it is complete. A record is made
//! of its head and its arguments in stream order:
//!
//! ```
//! # use trace_formats::dumpi::types::{Mask, ClockOffsets, ClockSpan};
//! # use trace_formats::dumpi::value::DumpiStatus;
//! # use trace_formats::dumpi::write::{RecordHead, DumpiWriter};
//! # let mut writer = DumpiWriter::new(Vec::new(), ClockOffsets::default())?;
//! let head = RecordHead { mask: Mask::DEFAULT, thread: 0, cpu: ClockSpan::default(), wall: ClockSpan::from_ns(10, 20) };
//! let mut call = writer.call(18, &head, &[]); // MPI_Waitall: count, requests, statuses
//! call.int(2).ints([7, 8]).statuses([DumpiStatus::default(); 2]);
//! call.end()?;
//! # Ok::<(), trace_formats::dumpi::write::DumpiWriteError>(())
//! ```
//!
//! Records have no length of their own, so one that does not fit the function table would make the rest of the file
//! unreadable. [`RecordBuilder::end`] therefore measures what was written, and takes a record that does not fit back out.

use std::fmt;
use std::io::{self, Write};
use std::path::PathBuf;

use super::encode::{put_count, put_ints};
use super::functions::END_OF_STREAM;
use super::types::{
    ClockOffsets, ClockSpan, DumpiFooter, DumpiHeader, DumpiTrailer, Keyval, Mask, SectionIndex,
};
use super::{FOOTER_MARK, MAGIC};

pub use super::call::RecordBuilder;
pub use super::file::FileWriter;

/// Buffered bytes that are passed on at the end of a record.
pub(super) const FLUSH_BYTES: usize = 1 << 18;

/// Mask, thread and times of a record. Times that the mask does not name are not written.
#[derive(Clone, Copy, Debug)]
pub struct RecordHead {
    /// Optional parts of the record.
    pub mask: Mask,
    /// Number of the calling thread.
    pub thread: u16,
    /// Cpu times.
    pub cpu: ClockSpan,
    /// Wall times.
    pub wall: ClockSpan,
}

/// A section behind the stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileSection {
    /// Version, start time, host, user, mesh.
    Header,
    /// Call counts.
    Footer,
    /// Free pairs of strings. Named in the index only if there are any, as the reference does.
    Keyvals,
    /// Names of the performance counters.
    PerfLabels,
    /// Size of each datatype.
    TypeSizes,
    /// Names of function addresses and annotations.
    AddressLabels,
}

/// Order of the sections in files of the reference library, and of the recorder.
pub const LIBDUMPI: &[FileSection] = {
    use FileSection::*;
    &[
        Header,
        Footer,
        Keyvals,
        PerfLabels,
        TypeSizes,
        AddressLabels,
    ]
};
/// Order of the sections in files made by dumpi2dumpi.
pub const DUMPI2DUMPI: &[FileSection] = {
    use FileSection::*;
    &[
        Header,
        TypeSizes,
        AddressLabels,
        PerfLabels,
        Footer,
        Keyvals,
    ]
};
/// Order of the sections in files made by ascii2dumpi; the sizes are there twice, the counter labels never.
pub const ASCII2DUMPI: &[FileSection] = {
    use FileSection::*;
    &[Header, Footer, Keyvals, TypeSizes, TypeSizes, AddressLabels]
};

/// Why something was not written.
#[derive(Debug)]
pub enum DumpiWriteError {
    /// The output failed.
    Io(io::Error),
    /// The file could not be made or renamed.
    File {
        /// Path of the file.
        path: PathBuf,
        /// Error of the operating system.
        error: io::Error,
    },
    /// A function id that cannot stand in a stream.
    UnknownFunction(u16),
    /// The arguments do not fit the function table; the record was left out.
    Misfit {
        /// The function.
        function: &'static str,
        /// Bytes of arguments written.
        written: usize,
        /// Bytes the table asks for, given the counts among the arguments; `None` if more than were written.
        needed: Option<usize>,
    },
    /// A name in a trailing section is longer than its 16-bit length can tell.
    TooLong {
        /// Name of the text or list that is too long.
        what: &'static str,
        /// Length in bytes.
        len: usize,
    },
}

impl fmt::Display for DumpiWriteError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io(e) => e.fmt(f),
            Self::File { path, error } => write!(f, "{}: {error}", path.display()),
            Self::UnknownFunction(id) => write!(f, "no DUMPI record can have the function id {id}"),
            Self::Misfit {
                function,
                written,
                needed: Some(needed),
            } => {
                write!(
                    f,
                    "{function}: {written} bytes of arguments instead of {needed}"
                )
            }
            Self::Misfit {
                function,
                written,
                needed: None,
            } => {
                write!(f, "{function}: {written} bytes of arguments are too few")
            }
            Self::TooLong { what, len } => write!(f, "{what} of {len} bytes, 65535 are possible"),
        }
    }
}

impl std::error::Error for DumpiWriteError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Io(error) | Self::File { error, .. } => Some(error),
            _ => None,
        }
    }
}

impl From<io::Error> for DumpiWriteError {
    fn from(e: io::Error) -> Self {
        Self::Io(e)
    }
}

/// Writes one file. Output goes out in large pieces, so `W` needs no buffer of its own.
#[derive(Debug)]
pub struct DumpiWriter<W: Write> {
    out: W,
    pub(super) buf: Vec<u8>,
    /// Bytes already passed on to `out`.
    flushed: u64,
    pub(super) offsets: ClockOffsets,
}

impl<W: Write> DumpiWriter<W> {
    /// Begins a file. `offsets` are the seconds that the times of the stream count from; no time may be earlier, nor
    /// 65536 s later.
    pub fn new(out: W, offsets: ClockOffsets) -> Result<Self, DumpiWriteError> {
        let mut buf = Vec::with_capacity(FLUSH_BYTES + FLUSH_BYTES / 4);
        buf.extend_from_slice(&MAGIC);
        buf.extend_from_slice(&offsets.cpu.to_be_bytes());
        buf.extend_from_slice(&offsets.wall.to_be_bytes());
        Ok(Self {
            out,
            buf,
            flushed: 0,
            offsets,
        })
    }

    /// Bytes of the file so far.
    pub fn len(&self) -> u64 {
        self.flushed + self.buf.len() as u64
    }

    /// Whether nothing was written; never so, since a file begins with its magic.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Ends the stream, writes the sections in the order of `layout` and the index, and gives the output back.
    pub fn finish(
        mut self,
        trailer: &DumpiTrailer,
        layout: &[FileSection],
    ) -> Result<(W, SectionIndex), DumpiWriteError> {
        self.buf.extend_from_slice(&END_OF_STREAM.to_be_bytes());
        let mut index = SectionIndex {
            body: MAGIC.len() as u64,
            ..SectionIndex::default()
        };
        for section in layout {
            let at = self.len();
            let b = &mut self.buf;
            match section {
                FileSection::Header => {
                    index.header = at;
                    put_header(b, &trailer.header)?;
                }
                FileSection::Footer => {
                    index.footer = at;
                    put_footer(b, &trailer.footer);
                }
                FileSection::Keyvals => {
                    if !trailer.keyvals.is_empty() {
                        index.keyvals = at;
                    }
                    put_count(b, trailer.keyvals.len());
                    for Keyval { key, value } in &trailer.keyvals {
                        put_short(b, key, "key")?;
                        put_short(b, value, "value of a key")?;
                    }
                }
                FileSection::PerfLabels => {
                    index.perf_labels = at;
                    put_count(b, trailer.perf_labels.len());
                    for label in &trailer.perf_labels {
                        put_short(b, label, "counter label")?;
                    }
                }
                FileSection::TypeSizes => {
                    index.type_sizes = at;
                    put_ints(b, &trailer.type_sizes);
                }
                FileSection::AddressLabels => {
                    index.address_labels = at;
                    put_count(b, trailer.address_labels.len());
                    for label in &trailer.address_labels {
                        b.extend_from_slice(&label.key.to_be_bytes());
                        put_short(b, &label.label, "address label")?;
                    }
                }
            }
        }
        let magic = u64::from_be_bytes(MAGIC);
        let SectionIndex {
            type_sizes,
            address_labels,
            perf_labels,
            header,
            body,
            footer,
            keyvals,
        } = index;
        for word in [
            magic,
            type_sizes,
            address_labels,
            perf_labels,
            header,
            body,
            footer,
            keyvals,
        ] {
            self.buf.extend_from_slice(&word.to_be_bytes());
        }
        self.pass_on()?;
        self.out.flush()?;
        Ok((self.out, index))
    }

    pub(super) fn pass_on(&mut self) -> io::Result<()> {
        self.out.write_all(&self.buf)?;
        self.flushed += self.buf.len() as u64;
        self.buf.clear();
        Ok(())
    }
}

fn put_header(b: &mut Vec<u8>, header: &DumpiHeader) -> Result<(), DumpiWriteError> {
    let v = header.version;
    b.extend_from_slice(&[v.major, v.minor, v.patch]);
    b.extend_from_slice(&header.starttime.to_be_bytes());
    put_short(b, &header.hostname, "host name")?;
    put_short(b, &header.username, "user name")?;
    put_ints(b, &header.mesh_coords);
    put_ints(b, &header.mesh_sizes);
    Ok(())
}

fn put_footer(b: &mut Vec<u8>, footer: &DumpiFooter) {
    b.extend_from_slice(&FOOTER_MARK.to_be_bytes());
    for count in footer.called.iter().chain(footer.ignored.iter()) {
        b.extend_from_slice(&count.to_be_bytes());
    }
}

fn put_short(b: &mut Vec<u8>, text: &[u8], what: &'static str) -> Result<(), DumpiWriteError> {
    let len = u16::try_from(text.len()).map_err(|_| DumpiWriteError::TooLong {
        what,
        len: text.len(),
    })?;
    b.extend_from_slice(&len.to_be_bytes());
    b.extend_from_slice(text);
    Ok(())
}
