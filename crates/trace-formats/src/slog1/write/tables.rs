//! Encoding of the tables before the frames (`spec/slog1.md` sections 3 to 5).

use super::super::profile;
use super::super::types::{
    DEFINITION_SIZE, DIRECTORY_HEADER_SIZE, DirectoryEntry, ENTRY_SIZE, HEADER_SIZE, Slog1Header,
};
use super::layout::{FileLayout, FileTables, RecordKind, TimeOrder};

/// Header, tables with room for more entries, and a directory without frames.
pub(super) fn beginning(tables: &FileTables, layout: &FileLayout) -> (Slog1Header, Vec<u8>) {
    let mut out = vec![0; HEADER_SIZE];
    let preview = out.len() as u64;
    out.extend_from_slice(&(tables.preview.len() as u32).to_be_bytes());
    out.extend_from_slice(&tables.preview);
    let threads = out.len() as u64;
    out.extend_from_slice(&(tables.threads.len() as u32).to_be_bytes());
    for thread in &tables.threads {
        thread.encode(&mut out);
    }
    let (profile_bytes, definition_bytes) = kinds(&tables.kinds);
    let profile = out.len() as u64;
    out.extend_from_slice(&profile_bytes);
    for _ in 0..layout.spare_entries {
        profile::encode_spare(&mut out);
    }
    let definitions = out.len() as u64;
    out.extend_from_slice(&definition_bytes);
    let spare = layout.spare_entries as usize * DEFINITION_SIZE;
    out.resize(out.len() + spare, 0);
    let directory = out.len() as u64;
    out.extend_from_slice(&[0; DIRECTORY_HEADER_SIZE]);
    for _ in 0..layout.frames_per_directory {
        DirectoryEntry::UNUSED.encode(&mut out);
    }
    let by_start = layout.order == TimeOrder::Start;
    let header = Slog1Header {
        version: (0, 9),
        frame_size: layout.frame_size,
        frame_reserved: layout.frame_reserved,
        frames_per_directory: layout.frames_per_directory,
        by_start,
        by_end: !by_start,
        has_reservations: false,
        statistics: 0,
        preview,
        profile,
        threads,
        definitions,
        directory,
    };
    (header, out)
}

/// The display profile and the record definitions.
pub(super) fn kinds(kinds: &[RecordKind]) -> (Vec<u8>, Vec<u8>) {
    let count = (kinds.len() as u32).to_be_bytes();
    let (mut profile, mut definitions) = (count.to_vec(), count.to_vec());
    for kind in kinds {
        kind.display.encode(&mut profile);
        kind.definition().encode(&mut definitions);
    }
    (profile, definitions)
}

/// A directory without neighbours up to the last entry that is used.
pub(super) fn directory(entries: &[DirectoryEntry]) -> Vec<u8> {
    let mut out = vec![0; 16];
    out.reserve(4 + entries.len() * ENTRY_SIZE);
    out.extend_from_slice(&(entries.len() as u32).to_be_bytes());
    for entry in entries {
        entry.encode(&mut out);
    }
    out
}
