//! Reads SLOG-1 files that are in memory (or mapped).
//!
//! Nothing here panics or allocates more than the file itself warrants, whatever the bytes are.

use super::cursor::Slog1Cursor;
use super::error::{Slog1Error, Slog1ErrorKind};
use super::key::RecordKey;
use super::record::Slog1Record;
use super::statistics::Slog1Statistics;
use super::types::{
    DEFINITION_SIZE, DIRECTORY_HEADER_SIZE, DirectoryEntry, Display, ENTRY_SIZE, FRAME_HEADER_SIZE,
    HEADER_SIZE, RecordDefinition, Slog1Header, Slog1Thread, THREAD_SIZE,
};
use std::collections::HashMap;

/// An SLOG-1 file.
#[derive(Clone, Debug)]
pub struct Slog1Reader<'a> {
    file: &'a [u8],
    header: Slog1Header,
    definitions: HashMap<RecordKey, RecordDefinition>,
}

impl<'a> Slog1Reader<'a> {
    /// Reads header and record definitions of a file, given all its bytes.
    pub fn new(file: &'a [u8]) -> Result<Self, Slog1Error> {
        let header = Slog1Header::decode(file)?;
        if !begins_as_one(file) {
            return Err(Slog1Error::new(0, Slog1ErrorKind::NotSlog1));
        }
        if (header.frame_size as usize) < FRAME_HEADER_SIZE {
            return Err(Slog1Error::new(
                8,
                Slog1ErrorKind::FrameSize(header.frame_size),
            ));
        }
        let mut reader = Slog1Reader {
            file,
            header,
            definitions: HashMap::new(),
        };
        let mut definitions = HashMap::new();
        for definition in reader.definitions()? {
            let definition = definition?;
            // Of two with one key the original finds the first.
            definitions.entry(definition.key).or_insert(definition);
        }
        reader.definitions = definitions;
        Ok(reader)
    }

    /// True if these bytes begin as an SLOG-1 file does.
    pub fn recognises(file: &[u8]) -> bool {
        begins_as_one(file)
    }

    /// The header.
    pub fn header(&self) -> &Slog1Header {
        &self.header
    }

    /// All bytes of the file.
    pub fn bytes(&self) -> &'a [u8] {
        self.file
    }

    fn part(
        &self,
        pointer: u64,
        at: u64,
        what: &'static str,
    ) -> Result<Slog1Cursor<'a>, Slog1Error> {
        if pointer == 0 {
            return Err(Slog1Error::new(at, Slog1ErrorKind::NoPart(what)));
        }
        Ok(Slog1Cursor::new(self.file, pointer, what))
    }

    /// The preview, a text.
    pub fn preview(&self) -> Result<&'a [u8], Slog1Error> {
        let mut from = self.part(self.header.preview, 34, "preview")?;
        let size = from.u32()?;
        from.take(size as usize)
    }

    /// The thread table.
    pub fn threads(
        &self,
    ) -> Result<impl Iterator<Item = Result<Slog1Thread, Slog1Error>> + use<'a>, Slog1Error> {
        let mut from = self.part(self.header.threads, 50, "thread table")?;
        let count = from.u32()?;
        from.need(u64::from(count) * THREAD_SIZE as u64)?;
        Ok((0..count).map(move |_| Slog1Thread::decode(&mut from)))
    }

    /// The display profile, up to the first entry that is damaged.
    pub fn profile(
        &self,
    ) -> Result<impl Iterator<Item = Result<Display, Slog1Error>> + use<'a>, Slog1Error> {
        let mut from = self.part(self.header.profile, 42, "display profile")?;
        let mut left = from.u32()?;
        Ok(std::iter::from_fn(move || {
            left = left.checked_sub(1)?;
            let entry = Display::decode(&mut from);
            if entry.is_err() {
                left = 0;
            }
            Some(entry)
        }))
    }

    /// The record definitions.
    pub fn definitions(
        &self,
    ) -> Result<impl Iterator<Item = Result<RecordDefinition, Slog1Error>> + use<'a>, Slog1Error>
    {
        let mut from = self.part(self.header.definitions, 58, "record definition table")?;
        let count = from.u32()?;
        from.need(u64::from(count) * DEFINITION_SIZE as u64)?;
        Ok((0..count).map(move |_| RecordDefinition::decode(&mut from)))
    }

    /// The definition of records of this key.
    pub fn definition(&self, key: RecordKey) -> Option<RecordDefinition> {
        self.definitions.get(&key).copied()
    }

    /// The frame directories, one after the other; after an error none come.
    pub fn directories(&self) -> Directories<'a> {
        Directories {
            file: self.file,
            header: self.header,
            next: Some(self.header.directory),
            least: 0,
        }
    }

    /// The frames in order of time; after an error none come.
    pub fn frames(&self) -> Slog1Frames<'a, '_> {
        Slog1Frames {
            reader: self,
            directories: self.directories(),
            entries: FrameDirectoryEntries::default(),
            index: 0,
            least: 0,
        }
    }

    /// The frame of a directory entry, the `index`th of the file.
    ///
    /// Of a frame that the file ends in, the records that are there can be read.
    pub fn frame(
        &self,
        index: u64,
        entry: DirectoryEntry,
    ) -> Result<Slog1Frame<'a, '_>, Slog1Error> {
        let size = self.header.frame_size;
        let mut from = Slog1Cursor::new(self.file, entry.offset, "frame");
        from.need(FRAME_HEADER_SIZE as u64)?;
        let mut sizes = [(0, 0); 4];
        for sector in &mut sizes {
            *sector = (from.u32()?, from.u32()?);
        }
        let used = sizes.iter().map(|&(bytes, _)| u64::from(bytes));
        let needed = FRAME_HEADER_SIZE as u64 + used.sum::<u64>();
        if needed > u64::from(size) {
            return Err(Slog1Error::new(
                entry.offset,
                Slog1ErrorKind::FrameOverrun { needed, size },
            ));
        }
        Ok(Slog1Frame {
            reader: self,
            index,
            entry,
            sizes,
            records: from,
        })
    }

    /// The preview statistics.
    ///
    /// # Errors
    /// [`Slog1ErrorKind::NoStatistics`] if there are no sets or no bins.
    pub fn statistics(&self) -> Result<Slog1Statistics<'a>, Slog1Error> {
        let from = self.part(self.header.statistics, 26, "preview statistics")?;
        Slog1Statistics::decode(from)?
            .ok_or_else(|| Slog1Error::new(self.header.statistics, Slog1ErrorKind::NoStatistics))
    }
}

fn begins_as_one(file: &[u8]) -> bool {
    file.len() >= HEADER_SIZE && file.starts_with(&[0, 0, 0, 0, 0, 0, 0, 9])
}

/// A frame directory.
#[derive(Clone, Debug)]
pub struct FrameDirectory<'a> {
    /// Byte offset of the directory in the file.
    pub offset: u64,
    /// The directory before it, 0 for none.
    pub previous: u64,
    /// The directory behind it, 0 for none.
    pub next: u64,
    /// Number of used entries.
    pub used: u32,
    entries: Slog1Cursor<'a>,
}

impl<'a> FrameDirectory<'a> {
    fn decode(file: &'a [u8], offset: u64, header: &Slog1Header) -> Result<Self, Slog1Error> {
        let mut from = Slog1Cursor::new(file, offset, "frame directory");
        let (previous, next, used) = (from.u64()?, from.u64()?, from.u32()?);
        let entries = header.frames_per_directory;
        if used > entries {
            return Err(Slog1Error::new(
                offset,
                Slog1ErrorKind::DirectoryCount { used, entries },
            ));
        }
        from.need(u64::from(used) * ENTRY_SIZE as u64)?;
        Ok(FrameDirectory {
            offset,
            previous,
            next,
            used,
            entries: from,
        })
    }

    /// The entries that are used.
    pub fn entries(&self) -> FrameDirectoryEntries<'a> {
        FrameDirectoryEntries {
            from: Some(self.entries),
            left: self.used,
        }
    }
}

/// Iterator over the entries of a directory.
#[derive(Clone, Debug, Default)]
pub struct FrameDirectoryEntries<'a> {
    from: Option<Slog1Cursor<'a>>,
    left: u32,
}

impl Iterator for FrameDirectoryEntries<'_> {
    type Item = DirectoryEntry;

    fn next(&mut self) -> Option<DirectoryEntry> {
        self.left = self.left.checked_sub(1)?;
        self.from
            .as_mut()
            .and_then(|from| DirectoryEntry::decode(from).ok())
    }
}

/// Iterator over the directories of a file; see [`Slog1Reader::directories`].
#[derive(Clone, Debug)]
pub struct Directories<'a> {
    file: &'a [u8],
    header: Slog1Header,
    next: Option<u64>,
    /// Least offset of the next one. A chain that could go back could go on for ever.
    least: u64,
}

impl<'a> Iterator for Directories<'a> {
    type Item = Result<FrameDirectory<'a>, Slog1Error>;

    fn next(&mut self) -> Option<Self::Item> {
        let offset = self.next.take()?;
        if offset == 0 {
            let part = Slog1ErrorKind::NoPart("frame directory");
            return Some(Err(Slog1Error::new(66, part)));
        }
        if offset < self.least {
            let (what, expected) = ("frame directory", self.least);
            let kind = Slog1ErrorKind::Backward { what, expected };
            return Some(Err(Slog1Error::new(offset, kind)));
        }
        let directory = FrameDirectory::decode(self.file, offset, &self.header);
        if let Ok(directory) = &directory {
            self.next = Some(directory.next).filter(|&next| next != 0);
            let size = DIRECTORY_HEADER_SIZE as u64
                + u64::from(self.header.frames_per_directory) * ENTRY_SIZE as u64;
            self.least = offset.saturating_add(size);
        }
        Some(directory)
    }
}

/// Iterator over the frames of a file; see [`Slog1Reader::frames`].
#[derive(Clone, Debug)]
pub struct Slog1Frames<'a, 'r> {
    reader: &'r Slog1Reader<'a>,
    directories: Directories<'a>,
    entries: FrameDirectoryEntries<'a>,
    index: u64,
    /// Least offset of the next frame. A frame that many entries share would be read very often.
    least: u64,
}

impl<'a, 'r> Slog1Frames<'a, 'r> {
    fn stop<T>(&mut self, error: Slog1Error) -> Option<Result<T, Slog1Error>> {
        self.directories.next = None;
        self.entries = FrameDirectoryEntries::default();
        Some(Err(error))
    }
}

impl<'a, 'r> Iterator for Slog1Frames<'a, 'r> {
    type Item = Result<Slog1Frame<'a, 'r>, Slog1Error>;

    fn next(&mut self) -> Option<Self::Item> {
        let entry = loop {
            if let Some(entry) = self.entries.next() {
                break entry;
            }
            match self.directories.next()? {
                Ok(directory) => self.entries = directory.entries(),
                Err(error) => return self.stop(error),
            }
        };
        if entry.offset < self.least {
            let (what, expected) = ("frame", self.least);
            let kind = Slog1ErrorKind::Backward { what, expected };
            return self.stop(Slog1Error::new(entry.offset, kind));
        }
        let size = u64::from(self.reader.header.frame_size);
        self.least = entry.offset.saturating_add(size);
        let index = self.index;
        self.index += 1;
        match self.reader.frame(index, entry) {
            Ok(frame) => Some(Ok(frame)),
            Err(error) => self.stop(error),
        }
    }
}

/// The parts of a frame (`spec/slog1.md` section 6).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sector {
    /// Begin and end in the frame.
    Current,
    /// Begin before it and end in it.
    Incoming,
    /// Begin before it and end behind it.
    Passing,
    /// Begin in it and end behind it.
    Outgoing,
}

impl Sector {
    /// The sectors in the order of the file.
    pub const ALL: [Sector; 4] = [
        Sector::Current,
        Sector::Incoming,
        Sector::Passing,
        Sector::Outgoing,
    ];
}

/// A frame: the records of a stretch of time.
#[derive(Clone, Debug)]
pub struct Slog1Frame<'a, 'r> {
    reader: &'r Slog1Reader<'a>,
    /// 0, 1, 2 … in the order of the directories.
    pub index: u64,
    /// Directory entry: position of the frame in the file and in time.
    pub entry: DirectoryEntry,
    /// Bytes and number of records of each sector, in the order of the file.
    sizes: [(u32, u32); 4],
    records: Slog1Cursor<'a>,
}

impl<'a, 'r> Slog1Frame<'a, 'r> {
    /// Number of records in a sector.
    pub fn count(&self, sector: Sector) -> u32 {
        self.sizes[sector as usize].1
    }

    /// The records of a sector; after an error none come.
    pub fn records(&self, sector: Sector) -> SectorRecords<'a, 'r> {
        let before = &self.sizes[..sector as usize];
        let before: u64 = before.iter().map(|&(bytes, _)| u64::from(bytes)).sum();
        let (bytes, count) = self.sizes[sector as usize];
        let at = self.records.offset() + before;
        let mut from = Slog1Cursor::new(self.reader.file, at, "record");
        let is_cut = from.need(bytes.into()).is_err();
        if !is_cut {
            let whole = from.take(bytes as usize).unwrap_or_default();
            from = Slog1Cursor::over(whole, at, "record");
        }
        SectorRecords {
            reader: self.reader,
            from,
            bytes,
            left: Some(count),
            is_cut,
            start: at,
        }
    }

    /// The four numbers of bytes and records that the frame begins with.
    pub(super) fn encode_header(&self, out: &mut Vec<u8>) {
        for (bytes, count) in self.sizes {
            out.extend_from_slice(&bytes.to_be_bytes());
            out.extend_from_slice(&count.to_be_bytes());
        }
    }
}

/// Iterator over the records of a sector; see [`Slog1Frame::records`].
#[derive(Clone, Debug)]
pub struct SectorRecords<'a, 'r> {
    reader: &'r Slog1Reader<'a>,
    from: Slog1Cursor<'a>,
    bytes: u32,
    left: Option<u32>,
    is_cut: bool,
    start: u64,
}

impl<'a> SectorRecords<'a, '_> {
    fn step(&mut self) -> Option<Result<Slog1Record<'a>, Slog1Error>> {
        let Some(left) = self.left?.checked_sub(1) else {
            self.left = None;
            let found = self.from.offset() - self.start;
            let expected = u64::from(self.bytes);
            let kind = Slog1ErrorKind::SectorSize { expected, found };
            return (found != expected).then(|| Err(Slog1Error::new(self.start, kind)));
        };
        self.left = Some(left);
        match Slog1Record::decode(&mut self.from, |key| self.reader.definition(key)) {
            // Too few bytes of a whole sector is not a short file but a wrong record.
            Err(Slog1Error {
                kind: Slog1ErrorKind::Truncated { expected, .. },
                offset,
                ..
            }) if !self.is_cut => Some(Err(Slog1Error::new(
                offset,
                Slog1ErrorKind::SectorSize {
                    expected: u64::from(self.bytes),
                    found: offset - self.start + expected,
                },
            ))),
            result => Some(result),
        }
    }
}

impl<'a> Iterator for SectorRecords<'a, '_> {
    type Item = Result<Slog1Record<'a>, Slog1Error>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        let result = self.step();
        if let Some(Err(_)) = result {
            self.left = None;
        }
        result
    }
}
