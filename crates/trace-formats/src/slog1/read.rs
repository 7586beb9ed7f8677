//! Reads SLOG-1 files that are in memory (or mapped).
//!
//! Nothing here panics or allocates more than the file itself warrants, whatever the bytes are.

use super::cursor::Cursor;
use super::error::{Error, ErrorKind};
use super::key::RecordKey;
use super::record::Record;
use super::statistics::Statistics;
use super::types::{
    DEFINITION_SIZE, DIRECTORY_HEADER_SIZE, Definition, DirectoryEntry, Display, ENTRY_SIZE,
    FRAME_HEADER_SIZE, HEADER_SIZE, Header, THREAD_SIZE, Thread,
};
use std::collections::HashMap;

/// An SLOG-1 file.
#[derive(Clone, Debug)]
pub struct Reader<'a> {
    file: &'a [u8],
    header: Header,
    definitions: HashMap<RecordKey, Definition>,
}

impl<'a> Reader<'a> {
    /// Reads header and record definitions of a file, given all its bytes.
    pub fn new(file: &'a [u8]) -> Result<Self, Error> {
        let header = Header::decode(file)?;
        if !begins_as_one(file) {
            return Err(Error::new(0, ErrorKind::NotSlog1));
        }
        if (header.frame_size as usize) < FRAME_HEADER_SIZE {
            return Err(Error::new(8, ErrorKind::FrameSize(header.frame_size)));
        }
        let mut reader = Reader {
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
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// All bytes of the file.
    pub fn bytes(&self) -> &'a [u8] {
        self.file
    }

    fn part(&self, pointer: u64, at: u64, what: &'static str) -> Result<Cursor<'a>, Error> {
        if pointer == 0 {
            return Err(Error::new(at, ErrorKind::NoPart(what)));
        }
        Ok(Cursor::new(self.file, pointer, what))
    }

    /// The preview, a text.
    pub fn preview(&self) -> Result<&'a [u8], Error> {
        let mut from = self.part(self.header.preview, 34, "preview")?;
        let size = from.u32()?;
        from.take(size as usize)
    }

    /// The thread table.
    pub fn threads(&self) -> Result<impl Iterator<Item = Result<Thread, Error>> + use<'a>, Error> {
        let mut from = self.part(self.header.threads, 50, "thread table")?;
        let count = from.u32()?;
        from.need(u64::from(count) * THREAD_SIZE as u64)?;
        Ok((0..count).map(move |_| Thread::decode(&mut from)))
    }

    /// The display profile, up to the first entry that is damaged.
    pub fn profile(&self) -> Result<impl Iterator<Item = Result<Display, Error>> + use<'a>, Error> {
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
    ) -> Result<impl Iterator<Item = Result<Definition, Error>> + use<'a>, Error> {
        let mut from = self.part(self.header.definitions, 58, "record definition table")?;
        let count = from.u32()?;
        from.need(u64::from(count) * DEFINITION_SIZE as u64)?;
        Ok((0..count).map(move |_| Definition::decode(&mut from)))
    }

    /// The definition of records of this key.
    pub fn definition(&self, key: RecordKey) -> Option<Definition> {
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
    pub fn frames(&self) -> Frames<'a, '_> {
        Frames {
            reader: self,
            directories: self.directories(),
            entries: Entries::default(),
            index: 0,
            least: 0,
        }
    }

    /// The frame of a directory entry, the `index`th of the file.
    ///
    /// Of a frame that the file ends in, the records that are there can be read.
    pub fn frame(&self, index: u64, entry: DirectoryEntry) -> Result<Frame<'a, '_>, Error> {
        let size = self.header.frame_size;
        let mut from = Cursor::new(self.file, entry.offset, "frame");
        from.need(FRAME_HEADER_SIZE as u64)?;
        let mut sizes = [(0, 0); 4];
        for sector in &mut sizes {
            *sector = (from.u32()?, from.u32()?);
        }
        let used = sizes.iter().map(|&(bytes, _)| u64::from(bytes));
        let needed = FRAME_HEADER_SIZE as u64 + used.sum::<u64>();
        if needed > u64::from(size) {
            return Err(Error::new(
                entry.offset,
                ErrorKind::FrameOverrun { needed, size },
            ));
        }
        Ok(Frame {
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
    /// [`ErrorKind::NoStatistics`] if there are no sets or no bins.
    pub fn statistics(&self) -> Result<Statistics<'a>, Error> {
        let from = self.part(self.header.statistics, 26, "preview statistics")?;
        Statistics::decode(from)?
            .ok_or_else(|| Error::new(self.header.statistics, ErrorKind::NoStatistics))
    }
}

fn begins_as_one(file: &[u8]) -> bool {
    file.len() >= HEADER_SIZE && file.starts_with(&[0, 0, 0, 0, 0, 0, 0, 9])
}

/// A frame directory.
#[derive(Clone, Debug)]
pub struct Directory<'a> {
    /// Where it is, in bytes from the start of the file.
    pub offset: u64,
    /// The directory before it, 0 for none.
    pub previous: u64,
    /// The directory behind it, 0 for none.
    pub next: u64,
    /// How many of its entries are used.
    pub used: u32,
    entries: Cursor<'a>,
}

impl<'a> Directory<'a> {
    fn decode(file: &'a [u8], offset: u64, header: &Header) -> Result<Self, Error> {
        let mut from = Cursor::new(file, offset, "frame directory");
        let (previous, next, used) = (from.u64()?, from.u64()?, from.u32()?);
        let entries = header.frames_per_directory;
        if used > entries {
            return Err(Error::new(
                offset,
                ErrorKind::DirectoryCount { used, entries },
            ));
        }
        from.need(u64::from(used) * ENTRY_SIZE as u64)?;
        Ok(Directory {
            offset,
            previous,
            next,
            used,
            entries: from,
        })
    }

    /// The entries that are used.
    pub fn entries(&self) -> Entries<'a> {
        Entries {
            from: Some(self.entries),
            left: self.used,
        }
    }
}

/// Iterator over the entries of a directory.
#[derive(Clone, Debug, Default)]
pub struct Entries<'a> {
    from: Option<Cursor<'a>>,
    left: u32,
}

impl Iterator for Entries<'_> {
    type Item = DirectoryEntry;

    fn next(&mut self) -> Option<DirectoryEntry> {
        self.left = self.left.checked_sub(1)?;
        self.from
            .as_mut()
            .and_then(|from| DirectoryEntry::decode(from).ok())
    }
}

/// Iterator over the directories of a file; see [`Reader::directories`].
#[derive(Clone, Debug)]
pub struct Directories<'a> {
    file: &'a [u8],
    header: Header,
    next: Option<u64>,
    /// Where the next one may begin. A chain that could go back could go on for ever.
    least: u64,
}

impl<'a> Iterator for Directories<'a> {
    type Item = Result<Directory<'a>, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        let offset = self.next.take()?;
        if offset == 0 {
            let part = ErrorKind::NoPart("frame directory");
            return Some(Err(Error::new(66, part)));
        }
        if offset < self.least {
            let (what, expected) = ("frame directory", self.least);
            let kind = ErrorKind::Backward { what, expected };
            return Some(Err(Error::new(offset, kind)));
        }
        let directory = Directory::decode(self.file, offset, &self.header);
        if let Ok(directory) = &directory {
            self.next = Some(directory.next).filter(|&next| next != 0);
            let size = DIRECTORY_HEADER_SIZE as u64
                + u64::from(self.header.frames_per_directory) * ENTRY_SIZE as u64;
            self.least = offset.saturating_add(size);
        }
        Some(directory)
    }
}

/// Iterator over the frames of a file; see [`Reader::frames`].
#[derive(Clone, Debug)]
pub struct Frames<'a, 'r> {
    reader: &'r Reader<'a>,
    directories: Directories<'a>,
    entries: Entries<'a>,
    index: u64,
    /// Where the next frame may begin. A frame that many entries share would be read very often.
    least: u64,
}

impl<'a, 'r> Frames<'a, 'r> {
    fn stop<T>(&mut self, error: Error) -> Option<Result<T, Error>> {
        self.directories.next = None;
        self.entries = Entries::default();
        Some(Err(error))
    }
}

impl<'a, 'r> Iterator for Frames<'a, 'r> {
    type Item = Result<Frame<'a, 'r>, Error>;

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
            let kind = ErrorKind::Backward { what, expected };
            return self.stop(Error::new(entry.offset, kind));
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
pub struct Frame<'a, 'r> {
    reader: &'r Reader<'a>,
    /// 0, 1, 2 … in the order of the directories.
    pub index: u64,
    /// Where it is, in the file and in time.
    pub entry: DirectoryEntry,
    /// Bytes and number of records of each sector, in the order of the file.
    sizes: [(u32, u32); 4],
    records: Cursor<'a>,
}

impl<'a, 'r> Frame<'a, 'r> {
    /// Number of records in a sector.
    pub fn count(&self, sector: Sector) -> u32 {
        self.sizes[sector as usize].1
    }

    /// The records of a sector; after an error none come.
    pub fn records(&self, sector: Sector) -> Records<'a, 'r> {
        let before = &self.sizes[..sector as usize];
        let before: u64 = before.iter().map(|&(bytes, _)| u64::from(bytes)).sum();
        let (bytes, count) = self.sizes[sector as usize];
        let at = self.records.offset() + before;
        let mut from = Cursor::new(self.reader.file, at, "record");
        let is_cut = from.need(bytes.into()).is_err();
        if !is_cut {
            let whole = from.take(bytes as usize).unwrap_or_default();
            from = Cursor::over(whole, at, "record");
        }
        Records {
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

/// Iterator over the records of a sector; see [`Frame::records`].
#[derive(Clone, Debug)]
pub struct Records<'a, 'r> {
    reader: &'r Reader<'a>,
    from: Cursor<'a>,
    bytes: u32,
    left: Option<u32>,
    is_cut: bool,
    start: u64,
}

impl<'a> Records<'a, '_> {
    fn step(&mut self) -> Option<Result<Record<'a>, Error>> {
        let Some(left) = self.left?.checked_sub(1) else {
            self.left = None;
            let found = self.from.offset() - self.start;
            let expected = u64::from(self.bytes);
            let kind = ErrorKind::SectorSize { expected, found };
            return (found != expected).then(|| Err(Error::new(self.start, kind)));
        };
        self.left = Some(left);
        match Record::decode(&mut self.from, |key| self.reader.definition(key)) {
            // Too few bytes of a whole sector is not a short file but a wrong record.
            Err(Error {
                kind: ErrorKind::Truncated { expected, .. },
                offset,
                ..
            }) if !self.is_cut => Some(Err(Error::new(
                offset,
                ErrorKind::SectorSize {
                    expected: u64::from(self.bytes),
                    found: offset - self.start + expected,
                },
            ))),
            result => Some(result),
        }
    }
}

impl<'a> Iterator for Records<'a, '_> {
    type Item = Result<Record<'a>, Error>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        let result = self.step();
        if let Some(Err(_)) = result {
            self.left = None;
        }
        result
    }
}
