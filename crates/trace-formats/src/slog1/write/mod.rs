//! Writes SLOG-1 files as the original library does (`spec/slog1.md` section 8): frames in a first pass, in which
//! records come by end or by start time, then, for those by end time, the copies of records in the frames they reach
//! into, and the statistics.
//!
//! Memory holds two frames, the records that reach out of the last one, and the directory.

mod layout;
mod list;
mod second;
mod tables;

use super::error::{Slog1Error, Slog1ErrorKind};
use super::key::RecordKey;
use super::record::{Slog1Record, fixed_size, is_variable};
use super::types::{DirectoryEntry, FRAME_HEADER_SIZE, Slog1Header};
pub use layout::{FileLayout, FileTables, RecordKind, TimeOrder};
use list::EncodedRecords;
use std::collections::HashMap;
use std::io::{Read, Seek, SeekFrom, Write};

/// Counts of what was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WrittenCounts {
    /// The header.
    pub header: Slog1Header,
    /// Frames.
    pub frames: u32,
    /// Records, each counted once.
    pub records: u64,
}

/// Writes a file record by record.
#[derive(Debug)]
pub struct Slog1Writer<W> {
    out: W,
    header: Slog1Header,
    kinds: Vec<RecordKind>,
    used: Vec<bool>,
    by_key: HashMap<RecordKey, usize>,
    bins: u32,
    entries: Vec<DirectoryEntry>,
    /// Records of the frame that is being filled.
    current: EncodedRecords,
    /// Records that reach into it from the frames before it.
    pending: EncodedRecords,
    /// Bytes and number of records that are announced and have not come.
    announced: Option<(u64, u64)>,
    /// The frame that was written last. What a shorter one leaves of it goes to the file, as with the library.
    buffer: Vec<u8>,
    /// Offset of the next frame, bytes.
    offset: u64,
    records: u64,
}

impl<W: Read + Write + Seek> Slog1Writer<W> {
    /// Starts a file in `out`, at its position 0.
    ///
    /// # Errors
    /// Two kinds of one key, argument labels of more than 33 bytes, and failures of `out`.
    pub fn new(out: W, tables: &FileTables, layout: &FileLayout) -> Result<Self, Slog1Error> {
        if (layout.frame_size as usize) < FRAME_HEADER_SIZE {
            return Err(Slog1Error::new(
                8,
                Slog1ErrorKind::FrameSize(layout.frame_size),
            ));
        }
        let mut by_key = HashMap::new();
        for (nth, kind) in tables.kinds.iter().enumerate() {
            kind.display.check()?;
            let key = kind.key();
            if by_key.insert(key, nth).is_some() {
                return Err(Slog1Error::new(0, Slog1ErrorKind::Duplicate(key)));
            }
        }
        let (header, beginning) = tables::beginning(tables, layout);
        let mut writer = Slog1Writer {
            out,
            header,
            kinds: tables.kinds.clone(),
            used: vec![false; tables.kinds.len()],
            by_key,
            bins: layout.bins.clamp(1, 512),
            entries: Vec::new(),
            current: EncodedRecords::default(),
            pending: EncodedRecords::default(),
            announced: None,
            buffer: Vec::new(),
            offset: beginning.len() as u64,
            records: 0,
        };
        writer.put(0, &beginning)?;
        Ok(writer)
    }

    /// Announces a record of this kind when it begins, so that room is kept for it in each frame until it comes.
    ///
    /// Once a record was announced, each one that is written must have been.
    ///
    /// # Errors
    /// If there is no such kind, or if its size is not known beforehand.
    pub fn announce(&mut self, rectype: u16, key: RecordKey) -> Result<(), Slog1Error> {
        let size = self.announced_size(rectype, key)?;
        let (bytes, count) = self.announced.get_or_insert((0, 0));
        *bytes += size;
        *count += 1;
        self.header.has_reservations = true;
        Ok(())
    }

    fn announced_size(&self, rectype: u16, key: RecordKey) -> Result<u64, Slog1Error> {
        let kind = self.by_key.get(&key).and_then(|&nth| self.kinds.get(nth));
        let Some(kind) = kind else {
            return Err(Slog1Error::new(self.offset, Slog1ErrorKind::Undefined(key)));
        };
        if rectype > 255 || is_variable(rectype) {
            return Err(Slog1Error::new(
                self.offset,
                Slog1ErrorKind::RecordType(rectype),
            ));
        }
        Ok(fixed_size(rectype, &kind.definition()) as u64)
    }

    /// Appends a record.
    ///
    /// # Errors
    /// If it does not fit its definition or a frame, if it was not announced although others were, if there are more
    /// frames than the directory can hold, and failures of the output.
    pub fn write(&mut self, record: &Slog1Record<'_>) -> Result<(), Slog1Error> {
        let kind = self.check(record)?;
        let size = record.size() as u64;
        let mut held = 0;
        if let Some((bytes, count)) = self.announced {
            if count == 0 {
                return Err(Slog1Error::new(
                    self.offset,
                    Slog1ErrorKind::NotReserved(record.key),
                ));
            }
            // The record itself is among those announced.
            held = bytes.saturating_sub(size);
        }
        let filled = FRAME_HEADER_SIZE as u64
            + u64::from(self.header.frame_reserved)
            + self.current.size()
            + self.pending.size();
        if filled + held + size > u64::from(self.header.frame_size) {
            self.close_frame(false)?;
        }
        self.current.push(|bytes| record.encode(bytes));
        if let Some(used) = self.used.get_mut(kind) {
            *used = true;
        }
        self.records += 1;
        if self.announced.is_some() {
            let size = self.announced_size(record.rectype, record.key)?;
            if let Some((bytes, count)) = &mut self.announced {
                *bytes = bytes.saturating_sub(size);
                *count -= 1;
            }
        }
        Ok(())
    }

    /// Index of the kind that a record is of, if it is as its definition says.
    fn check(&self, record: &Slog1Record<'_>) -> Result<usize, Slog1Error> {
        let Some(&nth) = self.by_key.get(&record.key) else {
            return Err(Slog1Error::new(
                self.offset,
                Slog1ErrorKind::Undefined(record.key),
            ));
        };
        let rectype = record.rectype;
        if rectype > 255 {
            return Err(Slog1Error::new(
                self.offset,
                Slog1ErrorKind::RecordType(rectype),
            ));
        }
        let definition = self.kinds[nth].definition();
        let found = record.size();
        let fixed = fixed_size(rectype, &definition);
        let least = fixed - 4 * usize::from(definition.arguments);
        let expected = if is_variable(rectype) { found } else { fixed };
        if found != expected || found < least || found > usize::from(u16::MAX) {
            let expected = fixed;
            let kind = Slog1ErrorKind::RecordSize { expected, found };
            return Err(Slog1Error::new(self.offset, kind));
        }
        Ok(nth)
    }

    /// Writes the frame that is being filled and begins the next (step 3).
    fn close_frame(&mut self, is_last: bool) -> Result<(), Slog1Error> {
        let capacity = self.header.frames_per_directory;
        let size = self.header.frame_size;
        if self.current.is_empty() {
            // Announced records, or those of earlier frames, leave no room for any.
            let needed = u64::from(size) + 1;
            let kind = Slog1ErrorKind::FrameFull { needed, size };
            return Err(Slog1Error::new(self.offset, kind));
        }
        if self.entries.len() >= capacity as usize {
            return Err(Slog1Error::new(
                self.offset,
                Slog1ErrorKind::DirectoryFull(capacity),
            ));
        }
        let start = match self.entries.last() {
            Some(entry) => entry.end,
            None => self.current.earliest(),
        };
        let end = if is_last {
            self.current.latest().max(self.pending.latest())
        } else if self.header.by_start {
            self.current.last_start()
        } else {
            self.current.last_end()
        };
        if start > end {
            return Err(Slog1Error::new(
                self.offset,
                Slog1ErrorKind::Order { start, end },
            ));
        }
        let [mut current, mut incoming, mut passing, mut outgoing] =
            [const { EncodedRecords::new() }; 4];
        for record in self.pending.iter() {
            let to = if list::end(record) <= end {
                &mut incoming
            } else {
                &mut passing
            };
            to.copy(record);
        }
        for record in self.current.iter() {
            let to = match (list::start(record) < start, list::end(record) <= end) {
                (false, true) => &mut current,
                (true, true) => &mut incoming,
                (true, false) => &mut passing,
                (false, false) => &mut outgoing,
            };
            to.copy(record);
        }
        let sectors = [&current, &incoming, &passing, &outgoing];
        list::fill(&mut self.buffer, self.offset, size, &sectors)?;
        self.buffer.resize(size as usize, 0);
        let buffer = std::mem::take(&mut self.buffer);
        self.put(self.offset, &buffer)?;
        self.buffer = buffer;
        let offset = self.offset;
        self.entries.push(DirectoryEntry { offset, start, end });
        self.offset += u64::from(size);
        self.pending = outgoing;
        self.pending.append(&passing);
        self.current.clear();
        Ok(())
    }

    /// Completes the file: tables without the entries that are not used, directory, copies of records, statistics.
    ///
    /// # Errors
    /// [`Slog1ErrorKind::FrameFull`] if a frame has no room for the copies that belong in it, and failures of the output.
    pub fn finish(mut self) -> Result<(W, WrittenCounts), Slog1Error> {
        if !self.current.is_empty() || !self.pending.is_empty() {
            self.close_frame(true)?;
        }
        self.drop_unused_kinds();
        let (profile, definitions) = tables::kinds(&self.kinds);
        self.put(self.header.profile, &profile)?;
        self.put(self.header.definitions, &definitions)?;
        self.header.statistics = self.offset;
        let statistics = self.second_pass()?;
        self.put(self.offset, &statistics)?;
        let directory = tables::directory(&self.entries);
        self.put(self.header.directory, &directory)?;
        self.put(0, &self.header.encode())?;
        let flushed = self.out.flush();
        flushed.map_err(|error| Slog1Error::io(self.offset, error))?;
        let written = WrittenCounts {
            header: self.header,
            frames: self.entries.len() as u32,
            records: self.records,
        };
        Ok((self.out, written))
    }

    /// Leaves out kinds that no record is of (step 5); the whole interval stays where one of its pieces does.
    fn drop_unused_kinds(&mut self) {
        let mut kinds: Vec<_> = self.kinds.drain(..).zip(self.used.drain(..)).collect();
        kinds.sort_by_key(|(kind, _)| kind.key());
        let mut used_type = None;
        let mut is_any_unused = false;
        for (kind, used) in &mut kinds {
            let key = kind.key();
            *used |= key == RecordKey::whole(key.intvltype) && used_type == Some(key.intvltype);
            if *used {
                used_type = Some(key.intvltype);
            }
            is_any_unused |= !*used;
        }
        if self.records > 0 && is_any_unused {
            kinds.retain(|(_, used)| *used);
            for (kind, _) in &mut kinds {
                // The library puts the strings that are left into new fields.
                kind.display = kind.display.trimmed();
            }
        }
        self.kinds = kinds.into_iter().map(|(kind, _)| kind).collect();
    }

    fn put(&mut self, offset: u64, bytes: &[u8]) -> Result<(), Slog1Error> {
        let placed = self.out.seek(SeekFrom::Start(offset));
        placed
            .and_then(|_| self.out.write_all(bytes))
            .map_err(|error| Slog1Error::io(offset, error))
    }
}
