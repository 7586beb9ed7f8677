//! Input of a writer before the first record: the layout of the file, and its tables.

use super::super::key::RecordKey;
use super::super::types::{Display, RecordDefinition, Slog1Thread};

/// Order of the records in time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimeOrder {
    /// By increasing start time: one pass, and the statistics stay empty.
    Start,
    /// By increasing end time: two passes.
    End,
}

/// Layout of a file: sizes of its directories and frames, and order of its records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileLayout {
    /// Bytes of a frame.
    pub frame_size: u32,
    /// Bytes of each frame that the first pass leaves free for copies of records of later frames.
    pub frame_reserved: u32,
    /// Maximum number of frames per directory.
    pub frames_per_directory: u32,
    /// Order of the records in time.
    pub order: TimeOrder,
    /// Bins of the statistics, 1 to 512; other numbers count as the nearest of these.
    pub bins: u32,
    /// Entries for which the tables have room beyond those that are known at the start.
    pub spare_entries: u32,
}

impl Default for FileLayout {
    /// Frames as `clog2slog` makes them, and the library's directory.
    fn default() -> Self {
        FileLayout {
            frame_size: 65536,
            frame_reserved: 0,
            frames_per_directory: 128,
            order: TimeOrder::End,
            bins: 512,
            spare_entries: 0,
        }
    }
}

/// A kind of record: what it looks like and what it carries. It has as many arguments as they have names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordKind {
    /// Entry in the display profile.
    pub display: Display,
    /// Associations of each record.
    pub associations: u16,
}

impl RecordKind {
    /// Type of the records.
    pub fn key(&self) -> RecordKey {
        self.display.key
    }

    pub(in super::super) fn definition(&self) -> RecordDefinition {
        let arguments = self.display.arguments.as_ref().map_or(0, Vec::len);
        RecordDefinition {
            key: self.display.key,
            associations: self.associations,
            arguments: arguments as u16,
        }
    }
}

/// Tables before the frames of a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileTables {
    /// A text.
    pub preview: Vec<u8>,
    /// The threads.
    pub threads: Vec<Slog1Thread>,
    /// The kinds of records. Those that no record is of are left out of the file, unless there is no record at all.
    pub kinds: Vec<RecordKind>,
}
