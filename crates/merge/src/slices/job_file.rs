//! The file in which one of several jobs leaves its part of a merge, and what all of them say together.
//!
//! Little-endian: magic, identity of the run and its plan (u64), number of the part and of all parts (u32 each), offset of the
//! index (u64). Entries follow, then the index: for each entry its kind and number (u64 each), offset and length (u64 each). A part has
//! its name only when it is complete.

use std::collections::BTreeMap;
use std::fmt;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::{Mutex, PoisonError};
use trace_formats::slog2::PendingFile;

/// What a part begins with; the last byte is the version of the layout.
const MAGIC: [u8; 8] = *b"LTRPART\x01";
/// Bytes in front of the first entry.
const HEAD_BYTES: usize = 32;
/// Bytes of an entry of the index.
const INDEX_ENTRY_BYTES: usize = 32;

/// One of several jobs that make a file together: the `nth`, from 1 on, `of` so many.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Job {
    /// Number of the job, from 1 on.
    pub nth: u32,
    /// Number of all jobs.
    pub of: u32,
}

impl Job {
    /// The share of this job of `count` things in a row.
    pub fn share(self, count: u64) -> std::ops::Range<u64> {
        let border = |nth: u32| {
            let border = u128::from(count) * u128::from(nth) / u128::from(self.of.max(1));
            border as u64
        };
        border(self.nth.saturating_sub(1))..border(self.nth)
    }
}

impl fmt::Display for Job {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.nth, self.of)
    }
}

impl FromStr for Job {
    type Err = String;

    /// `3/8` is the third of eight.
    fn from_str(text: &str) -> Result<Job, String> {
        let numbers = text.split_once('/').and_then(|(nth, of)| {
            let (nth, of) = (nth.parse().ok()?, of.parse().ok()?);
            Some(Job { nth, of })
        });
        let job = numbers.filter(|job| (1..=job.of).contains(&job.nth));
        job.ok_or_else(|| "expected I/N with I from 1 to N, as 3/8".to_owned())
    }
}

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
    index: Vec<[u64; 4]>,
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
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if state.failure.is_some() {
            return;
        }
        let at = state.end;
        state.end += bytes.len() as u64;
        let entry = [kind as u64, number, at, bytes.len() as u64];
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
    pub fn finish(mut self, identity: u64, job: Job) -> Result<u64, String> {
        let state = std::mem::take(&mut self.state);
        let state = state.into_inner().unwrap_or_else(PoisonError::into_inner);
        if let Some(failure) = state.failure {
            return Err(failure);
        }
        let words = state.index.iter().flatten();
        let index: Vec<u8> = words.flat_map(|word| word.to_le_bytes()).collect();
        let mut head = MAGIC.to_vec();
        head.extend_from_slice(&identity.to_le_bytes());
        head.extend_from_slice(&job.nth.to_le_bytes());
        head.extend_from_slice(&job.of.to_le_bytes());
        head.extend_from_slice(&state.end.to_le_bytes());
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
    /// The file ends before its index, or an entry is not as it should be.
    Damaged(PathBuf, Job),
    /// The part is of other block files, or was made with other options.
    Foreign(PathBuf, Job),
    /// A part of another number of parts than the first one.
    OtherNumber(PathBuf, Job, PathBuf, Job),
    /// Two files are the same part.
    Twice(PathBuf, Job, PathBuf),
}

impl JobFileError {
    /// The job that has to be run again, if it is one.
    pub fn job(&self) -> Option<Job> {
        match self {
            JobFileError::Damaged(_, job) | JobFileError::Foreign(_, job) => Some(*job),
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
            JobFileError::Damaged(path, job) => {
                write!(f, "{}: part {job} is damaged", path.display())
            }
            JobFileError::Foreign(path, job) => write!(
                f,
                "{}: part {job} was made of other block files, or with other options",
                path.display()
            ),
            JobFileError::OtherNumber(path, job, first, of) => write!(
                f,
                "{}: part {job}, but {} is part {of}: expected parts of one number of jobs; remove those that are not wanted",
                path.display(),
                first.display()
            ),
            JobFileError::Twice(path, job, first) => write!(
                f,
                "{}: part {job}, which {} is, too",
                path.display(),
                first.display()
            ),
        }
    }
}

impl std::error::Error for JobFileError {}

/// An entry, and the number of its part.
type PartEntry<'b> = (&'b [u8], u32);

/// All parts of a merge, opened.
#[derive(Debug, Default)]
pub struct JobFiles<'b> {
    parts: BTreeMap<u32, (&'b Path, Job)>,
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
    ) -> Result<Job, JobFileError> {
        let not_a_part = || JobFileError::NotAPart(path.to_owned());
        let head: &[u8; HEAD_BYTES] = bytes.first_chunk().ok_or_else(not_a_part)?;
        if head[..8] != MAGIC {
            return Err(not_a_part());
        }
        let [_, found, numbers, index_at] = words(head);
        let job = Job {
            nth: numbers as u32,
            of: (numbers >> 32) as u32,
        };
        if !(1..=job.of).contains(&job.nth) {
            return Err(not_a_part());
        }
        if let Some((first, other)) = self.parts.values().next().filter(|one| one.1.of != job.of) {
            let first = first.to_path_buf();
            return Err(JobFileError::OtherNumber(
                path.to_owned(),
                job,
                first,
                *other,
            ));
        }
        if let Some((first, _)) = self.parts.get(&job.nth) {
            let first = first.to_path_buf();
            return Err(JobFileError::Twice(path.to_owned(), job, first));
        }
        if found != identity {
            return Err(JobFileError::Foreign(path.to_owned(), job));
        }
        let damaged = || JobFileError::Damaged(path.to_owned(), job);
        let index = usize::try_from(index_at)
            .ok()
            .and_then(|at| bytes.get(at..));
        let (index, rest) = index.ok_or_else(damaged)?.as_chunks::<INDEX_ENTRY_BYTES>();
        if !rest.is_empty() {
            return Err(damaged());
        }
        for entry in index {
            let [kind, number, at, length] = words(entry);
            let kind = match kind {
                1 => EntryKind::Window,
                2 => EntryKind::Crossing,
                3 => EntryKind::Tables,
                4 => EntryKind::Note,
                _ => return Err(damaged()),
            };
            let end = at.checked_add(length).filter(|&end| end <= index_at);
            let range = end.and_then(|end| bytes.get(at as usize..end as usize));
            let entries = self.entries.entry((kind, number)).or_default();
            entries.push((range.ok_or_else(damaged)?, job.nth));
        }
        self.parts.insert(job.nth, (path, job));
        Ok(job)
    }

    /// The jobs whose parts are there, in order.
    pub fn jobs(&self) -> Vec<Job> {
        self.parts.values().map(|&(_, job)| job).collect()
    }

    /// The parts that are missing; none if none was added.
    pub fn missing(&self) -> Vec<Job> {
        let of = self.parts.values().next().map_or(0, |(_, job)| job.of);
        let missing = (1..=of).filter(|nth| !self.parts.contains_key(nth));
        missing.map(|nth| Job { nth, of }).collect()
    }

    /// What callers have kept in the parts, in the order of the jobs.
    pub fn notes(&self) -> impl Iterator<Item = (Job, &'b [u8])> {
        let mut notes: Vec<_> = self.entries(EntryKind::Note, 0).collect();
        notes.sort_by_key(|&(_, nth)| nth);
        let of = |nth| self.parts.get(&nth).map(|&(_, job)| job);
        let notes = notes.into_iter();
        notes.filter_map(move |(bytes, nth)| Some((of(nth)?, bytes)))
    }

    /// The entries of a kind and number, each with the number of its part.
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
    pub(super) fn damaged(&self, nth: u32) -> JobFileError {
        let nowhere = (Path::new(""), Job { nth, of: nth });
        let (path, job) = self.parts.get(&nth).copied().unwrap_or(nowhere);
        JobFileError::Damaged(path.to_owned(), job)
    }
}

/// The words of 32 bytes.
fn words(bytes: &[u8; 32]) -> [u64; 4] {
    let mut words = [0; 4];
    for (word, bytes) in words.iter_mut().zip(bytes.as_chunks().0) {
        *word = u64::from_le_bytes(*bytes);
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_all_and_nothing_twice() {
        for (count, of) in [(0, 3), (2, 5), (10, 3), (1 << 40, 7)] {
            let mut end = 0;
            for nth in 1..=of {
                let share = Job { nth, of }.share(count);
                assert_eq!(share.start, end);
                end = share.end;
            }
            assert_eq!(end, count);
        }
    }

    #[test]
    fn jobs_are_said_as_one_of_so_many() {
        assert_eq!("3/8".parse(), Ok(Job { nth: 3, of: 8 }));
        for wrong in ["", "3", "0/8", "9/8", "1/0", "a/b", "1/2/3", "-1/2"] {
            wrong.parse::<Job>().expect_err(wrong);
        }
    }
}
