//! The small types of SLOG-1: keys of the tables, the header, threads, definitions, directory entries (`spec/slog1.md`
//! sections 1, 3, 4 and 5).

use super::cursor::Slog1Cursor;
use super::error::{Slog1Error, Slog1ErrorKind};
use super::key::{Bebits, RecordKey};
use trace_model::Text;

/// Bytes of the header.
pub const HEADER_SIZE: usize = 74;
/// Bytes of a frame's header.
pub const FRAME_HEADER_SIZE: usize = 32;
/// Bytes of an entry of the thread table.
pub(super) const THREAD_SIZE: usize = 18;
/// Bytes of a record definition.
pub(super) const DEFINITION_SIZE: usize = 7;
/// Bytes of a directory before its entries.
pub(super) const DIRECTORY_HEADER_SIZE: usize = 20;
/// Bytes of a directory entry.
pub(super) const ENTRY_SIZE: usize = 24;

impl RecordKey {
    pub(super) fn decode(from: &mut Slog1Cursor<'_>) -> Result<Self, Slog1Error> {
        let intvltype = from.u16()?;
        let offset = from.offset();
        let code = from.u8()?;
        let bebits = Bebits::from_code(code);
        Ok(RecordKey {
            intvltype,
            bebits: bebits.ok_or_else(|| Slog1Error::new(offset, Slog1ErrorKind::Bebits(code)))?,
        })
    }
}

/// The header of a file (`spec/slog1.md` section 3). Pointers are bytes from the start of the file, 0 where there is no
/// such part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slog1Header {
    /// Main and sub version; 0 and 9.
    pub version: (u32, u32),
    /// Bytes of a frame.
    pub frame_size: u32,
    /// Bytes of a frame that the first pass leaves free for copies from other frames.
    pub frame_reserved: u32,
    /// Entries of a frame directory.
    pub frames_per_directory: u32,
    /// Records come by increasing start time.
    pub by_start: bool,
    /// Records come by increasing end time.
    pub by_end: bool,
    /// Room was reserved for records when they began.
    pub has_reservations: bool,
    /// The preview statistics.
    pub statistics: u64,
    /// The preview.
    pub preview: u64,
    /// The display profile.
    pub profile: u64,
    /// The thread table.
    pub threads: u64,
    /// The record definitions.
    pub definitions: u64,
    /// The frame directory.
    pub directory: u64,
}

impl Slog1Header {
    pub(super) fn decode(file: &[u8]) -> Result<Self, Slog1Error> {
        let mut from = Slog1Cursor::new(file, 0, "header");
        from.need(HEADER_SIZE as u64)?;
        Ok(Slog1Header {
            version: (from.u32()?, from.u32()?),
            frame_size: from.u32()?,
            frame_reserved: from.u32()?,
            frames_per_directory: from.u32()?,
            by_start: from.u16()? == 1,
            by_end: from.u16()? == 1,
            has_reservations: from.u16()? == 1,
            statistics: from.u64()?,
            preview: from.u64()?,
            profile: from.u64()?,
            threads: from.u64()?,
            definitions: from.u64()?,
            directory: from.u64()?,
        })
    }

    pub(super) fn encode(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(HEADER_SIZE);
        for number in [
            self.version.0,
            self.version.1,
            self.frame_size,
            self.frame_reserved,
            self.frames_per_directory,
        ] {
            out.extend_from_slice(&number.to_be_bytes());
        }
        for flag in [self.by_start, self.by_end, self.has_reservations] {
            out.extend_from_slice(&u16::from(flag).to_be_bytes());
        }
        for pointer in [
            self.statistics,
            self.preview,
            self.profile,
            self.threads,
            self.definitions,
            self.directory,
        ] {
            out.extend_from_slice(&pointer.to_be_bytes());
        }
        out
    }
}

/// A thread of a process (`spec/slog1.md` section 4). Records name it by node and number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Slog1Thread {
    /// Node; of an MPI program often the rank.
    pub node: u16,
    /// Number of the thread on the node.
    pub thread: u32,
    /// Process id of the system.
    pub process_id: u32,
    /// Thread id of the system.
    pub thread_id: u32,
    /// Number of the process in the application: the rank.
    pub application: u32,
}

impl Slog1Thread {
    pub(super) fn decode(from: &mut Slog1Cursor<'_>) -> Result<Self, Slog1Error> {
        Ok(Slog1Thread {
            node: from.u16()?,
            thread: from.u32()?,
            process_id: from.u32()?,
            thread_id: from.u32()?,
            application: from.u32()?,
        })
    }

    pub(super) fn encode(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.node.to_be_bytes());
        for number in [
            self.thread,
            self.process_id,
            self.thread_id,
            self.application,
        ] {
            out.extend_from_slice(&number.to_be_bytes());
        }
    }
}

/// Look and meaning of the records of a key: an entry of the display profile (`spec/slog1.md` section 4).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Display {
    /// Key of the records that the entry is about.
    pub key: RecordKey,
    /// Class, such as `state` or `message`.
    pub class: Text,
    /// Name.
    pub label: Text,
    /// X11 name of the colour; MPE appends `:` and the name of a bitmap.
    pub color: Text,
    /// Names of the arguments, where the entry has a list of them.
    pub arguments: Option<Vec<Text>>,
}

/// Counts of the numbers that records of a key carry: an entry of the record definitions (`spec/slog1.md` section 4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecordDefinition {
    /// Key of the records that the definition is about.
    pub key: RecordKey,
    /// Associations.
    pub associations: u16,
    /// Arguments, unless the record is one with variable arguments.
    pub arguments: u16,
}

impl RecordDefinition {
    pub(super) fn decode(from: &mut Slog1Cursor<'_>) -> Result<Self, Slog1Error> {
        Ok(RecordDefinition {
            key: RecordKey::decode(from)?,
            associations: from.u16()?,
            arguments: from.u16()?,
        })
    }

    pub(super) fn encode(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.key.intvltype.to_be_bytes());
        out.push(self.key.bebits.code());
        out.extend_from_slice(&self.associations.to_be_bytes());
        out.extend_from_slice(&self.arguments.to_be_bytes());
    }
}

/// An entry of the frame directory (`spec/slog1.md` section 5).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DirectoryEntry {
    /// The frame, in bytes from the start of the file.
    pub offset: u64,
    /// Start of the frame, seconds.
    pub start: f64,
    /// End of the frame, seconds.
    pub end: f64,
}

impl DirectoryEntry {
    /// An entry that is not used.
    pub(super) const UNUSED: DirectoryEntry = DirectoryEntry {
        offset: 0,
        start: -1.0,
        end: -1.0,
    };

    pub(super) fn decode(from: &mut Slog1Cursor<'_>) -> Result<Self, Slog1Error> {
        Ok(DirectoryEntry {
            offset: from.u64()?,
            start: from.f64()?,
            end: from.f64()?,
        })
    }

    pub(super) fn encode(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.offset.to_be_bytes());
        out.extend_from_slice(&self.start.to_be_bytes());
        out.extend_from_slice(&self.end.to_be_bytes());
    }
}
