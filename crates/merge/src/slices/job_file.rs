//! The file in which one of several jobs leaves its part of a merge, and what all of them say together.
//!
//! Little-endian: magic, identity of the run and its plan (u64), number of the part and of all parts (u32 each), offset of the
//! index (u64). Entries follow, then the index: for each entry its kind and number, offset and length, and the checksum of its bytes (u64 each). The
//! checksum of the index ends the file (u64). A part has its name only when it is complete.

use std::collections::BTreeMap;
use std::fmt;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use trace_formats::slog2::PendingFile;
use trace_model::PartNumber;
use trace_model::hash::Wide;

/// What a part begins with; the last byte is the version of the layout.
const MAGIC: [u8; 8] = *b"LTRPART\x02";
/// Bytes in front of the first entry.
const HEAD_BYTES: usize = 32;
/// Bytes of an entry of the index.
const INDEX_ENTRY_BYTES: usize = 40;
/// Bytes of a checksum.
const CHECKSUM_BYTES: usize = 8;

/// What an entry of a part is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum EntryKind {
    /// A window that is built; the number is the window's.
    Window = 1,
    /// Drawables of nodes above the windows, as they came in a round; the number is the round's.
    Crossing = 2,
    /// What is known of the records of a job beyond its windows.
    Tables = 3,
    /// What the caller keeps in the part.
    Note = 4,
}

/// A part that is being written, by several threads.
#[derive(Debug)]
pub struct JobFileWriter {
    file: PendingFile,
    state: Mutex<WriterState>,
}

#[derive(Debug, Default)]
struct WriterState {
    end: u64,
    index: Vec<[u64; 5]>,
    failure: Option<String>,
}

impl JobFileWriter {
    /// Begins the part that is to be called `path`.
    ///
    /// # Errors
    /// In words, with the name of the file.
    pub fn create(path: &Path) -> Result<JobFileWriter, String> {
        let file = PendingFile::create_regular(path);
        Ok(JobFileWriter {
            file: file.map_err(|e| format!("{}: {e}", path.display()))?,
            state: Mutex::new(WriterState {
                end: HEAD_BYTES as u64,
                ..WriterState::default()
            }),
        })
    }

    /// Adds an entry. What cannot be written is told at the end.
    pub(super) fn add(&self, kind: EntryKind, number: u64, bytes: &[u8]) {
        let checksum = checksum(bytes);
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if state.failure.is_some() {
            return;
        }
        let at = state.end;
        state.end += bytes.len() as u64;
        let entry = [kind as u64, number, at, bytes.len() as u64, checksum];
        state.index.push(entry);
        drop(state);
        if let Err(error) = self.file.file().write_all_at(bytes, at) {
            let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
            state.failure = Some(self.said(&error));
        }
    }

    /// Adds what the caller keeps in the part, for [`JobFiles::notes`].
    pub fn note(&self, bytes: &[u8]) {
        self.add(EntryKind::Note, 0, bytes);
    }

    /// Completes the part and gives it its name. Gives its bytes.
    ///
    /// # Errors
    /// In words, with the name of the file, if anything could not be written.
    pub fn finish(mut self, identity: u64, part: PartNumber) -> Result<u64, String> {
        let state = std::mem::take(&mut self.state);
        let state = state.into_inner().unwrap_or_else(PoisonError::into_inner);
        if let Some(failure) = state.failure {
            return Err(failure);
        }
        let words = state.index.iter().flatten();
        let mut index: Vec<u8> = words.flat_map(|word| word.to_le_bytes()).collect();
        let mut head = MAGIC.to_vec();
        head.extend_from_slice(&identity.to_le_bytes());
        head.extend_from_slice(&part.nth().to_le_bytes());
        head.extend_from_slice(&part.of().to_le_bytes());
        head.extend_from_slice(&state.end.to_le_bytes());
        let checksum = checksum(&index);
        index.extend_from_slice(&checksum.to_le_bytes());
        let file = self.file.file();
        let written = file.write_all_at(&index, state.end);
        let written = written.and_then(|()| file.write_all_at(&head, 0));
        let named = written.and_then(|()| self.file.complete());
        named.map_err(|e| self.said(&e))?;
        Ok(state.end + index.len() as u64)
    }

    fn said(&self, error: &std::io::Error) -> String {
        format!("{}: {error}", self.file.path().display())
    }
}

/// Why parts do not make a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum JobFileError {
    /// The file is not a part, or one of another version.
    NotAPart(PathBuf),
    /// The file ends before its index, or its bytes are not those that were written.
    Damaged(PathBuf, PartNumber),
    /// The part is of other block files, or was made with other options.
    Foreign(PathBuf, PartNumber),
    /// A part of another number of parts than the first one.
    OtherNumber(PathBuf, PartNumber, PathBuf, PartNumber),
    /// Two files are the same part.
    Twice(PathBuf, PartNumber, PathBuf),
}

impl JobFileError {
    /// The part that has to be made again, if it is one.
    pub fn part(&self) -> Option<PartNumber> {
        match self {
            JobFileError::Damaged(_, part) | JobFileError::Foreign(_, part) => Some(*part),
            _ => None,
        }
    }
}

impl fmt::Display for JobFileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            JobFileError::NotAPart(path) => {
                let path = path.display();
                write!(f, "{path}: not a part that this mpitrace makes")
            }
            JobFileError::Damaged(path, part) => {
                write!(f, "{}: part {part} is damaged", path.display())
            }
            JobFileError::Foreign(path, part) => write!(
                f,
                "{}: part {part} was made of other block files, or with other options",
                path.display()
            ),
            JobFileError::OtherNumber(path, part, first, of) => write!(
                f,
                "{}: part {part}, but {} is part {of}: expected parts of one number of jobs; remove those that are not wanted",
                path.display(),
                first.display()
            ),
            JobFileError::Twice(path, part, first) => write!(
                f,
                "{}: part {part}, which {} is, too",
                path.display(),
                first.display()
            ),
        }
    }
}

impl std::error::Error for JobFileError {}

/// An entry, and its part.
type PartEntry<'b> = (&'b [u8], PartNumber);

/// All parts of a merge, opened.
#[derive(Debug, Default)]
pub struct JobFiles<'b> {
    parts: BTreeMap<PartNumber, &'b Path>,
    entries: BTreeMap<(EntryKind, u64), Vec<PartEntry<'b>>>,
}

impl<'b> JobFiles<'b> {
    /// Adds a part of the merge with this identity.
    ///
    /// # Errors
    /// If it is none, or does not belong to those that were added before.
    pub fn add(
        &mut self,
        path: &'b Path,
        bytes: &'b [u8],
        identity: u64,
    ) -> Result<PartNumber, JobFileError> {
        let not_a_part = || JobFileError::NotAPart(path.to_owned());
        let head: &[u8; HEAD_BYTES] = bytes.first_chunk().ok_or_else(not_a_part)?;
        if head[..8] != MAGIC {
            return Err(not_a_part());
        }
        let [_, found, numbers, index_at] = words(head);
        let part = PartNumber::new(numbers as u32, (numbers >> 32) as u32);
        let part = part.ok_or_else(not_a_part)?;
        let first = self.parts.first_key_value();
        if let Some((&other, first)) = first.filter(|(other, _)| other.of() != part.of()) {
            let (path, first) = (path.to_owned(), first.to_path_buf());
            return Err(JobFileError::OtherNumber(path, part, first, other));
        }
        if let Some(first) = self.parts.get(&part) {
            let first = first.to_path_buf();
            return Err(JobFileError::Twice(path.to_owned(), part, first));
        }
        if found != identity {
            return Err(JobFileError::Foreign(path.to_owned(), part));
        }
        let damaged = || JobFileError::Damaged(path.to_owned(), part);
        let index = usize::try_from(index_at)
            .ok()
            .and_then(|at| bytes.get(at..)?.split_last_chunk::<CHECKSUM_BYTES>());
        let (index, expected) = index.ok_or_else(damaged)?;
        if checksum(index) != u64::from_le_bytes(*expected) {
            return Err(damaged());
        }
        for entry in index.as_chunks::<INDEX_ENTRY_BYTES>().0 {
            let [kind, number, at, length, expected] = words(entry);
            let kind = match kind {
                1 => EntryKind::Window,
                2 => EntryKind::Crossing,
                3 => EntryKind::Tables,
                4 => EntryKind::Note,
                _ => return Err(damaged()),
            };
            let end = at.checked_add(length).filter(|&end| end <= index_at);
            let range = end.and_then(|end| bytes.get(at as usize..end as usize));
            let range = range.filter(|bytes| checksum(bytes) == expected);
            let entries = self.entries.entry((kind, number)).or_default();
            entries.push((range.ok_or_else(damaged)?, part));
        }
        self.parts.insert(part, path);
        Ok(part)
    }

    /// The parts that are there, in order.
    pub(super) fn numbers(&self) -> impl Iterator<Item = PartNumber> {
        self.parts.keys().copied()
    }

    /// The parts that are missing; none if none was added.
    pub fn missing(&self) -> impl Iterator<Item = PartNumber> {
        let of = self.numbers().next().map_or(0, PartNumber::of);
        let all = (1..=of).filter_map(move |nth| PartNumber::new(nth, of));
        all.filter(|part| !self.parts.contains_key(part))
    }

    /// What callers have kept in the parts, in their order.
    pub fn notes(&self) -> impl Iterator<Item = (PartNumber, &'b [u8])> {
        let mut notes: Vec<_> = self.entries(EntryKind::Note, 0).collect();
        notes.sort_by_key(|&(_, part)| part);
        notes.into_iter().map(|(bytes, part)| (part, bytes))
    }

    /// The entries of a kind and number, each with its part.
    pub(super) fn entries(
        &self,
        kind: EntryKind,
        number: u64,
    ) -> impl Iterator<Item = PartEntry<'b>> + '_ {
        self.entries
            .get(&(kind, number))
            .into_iter()
            .flatten()
            .copied()
    }

    /// The error of a part whose entry is not as it should be.
    pub(super) fn damaged(&self, part: PartNumber) -> JobFileError {
        let path = self.parts.get(&part).copied().unwrap_or(Path::new(""));
        JobFileError::Damaged(path.to_owned(), part)
    }
}

/// The little-endian words in some bytes.
fn words<const BYTES: usize, const WORDS: usize>(bytes: &[u8; BYTES]) -> [u64; WORDS] {
    let mut words = [0; WORDS];
    for (word, bytes) in words.iter_mut().zip(bytes.as_chunks().0) {
        *word = u64::from_le_bytes(*bytes);
    }
    words
}

/// A number that stands for some bytes. It resists chance, not people.
fn checksum(bytes: &[u8]) -> u64 {
    Wide::new().bytes(bytes).finish().0[0]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_changed_byte_of_a_part_is_taken() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("x.part-1-of-2");
        let part = PartNumber::new(1, 2).expect("a part");
        let writer = JobFileWriter::create(&path).expect("a file");
        writer.add(EntryKind::Window, 0, b"nodes and blocks");
        writer.add(EntryKind::Tables, 0, b"odd");
        writer.note(&[]);
        writer.finish(77, part).expect("room");
        let whole = std::fs::read(&path).expect("the part");
        let opened = |bytes: &[u8]| {
            let mut parts = JobFiles::default();
            parts.add(&path, bytes, 77)
        };
        assert_eq!(opened(&whole), Ok(part));
        for at in 0..whole.len() {
            for change in [1, 0x80, 0xFF] {
                let mut bytes = whole.clone();
                bytes[at] ^= change;
                let found = opened(&bytes);
                assert_ne!(found, Ok(part), "byte {at} changed by {change:#x}");
            }
            assert!(opened(&whole[..at]).is_err(), "cut at {at}");
        }
    }
}
