//! Reading a `.bin` file that is in memory or mapped: the index, the sections behind the stream, and what can be
//! saved of a file without an index.
//!
//! Nothing here panics or allocates more than the file's own size, whatever the bytes.

use super::cursor::DumpiCursor;
use super::dialect::StreamDialect;
use super::error::{DumpiError, DumpiErrorKind};
use super::stream::DumpiRecords;
use super::types::{
    AddressLabel, ClockOffsets, DumpiFooter, DumpiHeader, DumpiTrailer, Keyval,
    MESSAGES_INCOMPLETE, MESSAGES_KEY, SectionIndex, Version,
};
use super::{FOOTER_MARK, MAGIC};

/// An opened file.
#[derive(Clone, Debug)]
pub struct DumpiReader<'a> {
    bytes: &'a [u8],
    index: SectionIndex,
    header: Option<DumpiHeader>,
    offsets: ClockOffsets,
    /// The stream cannot go beyond this.
    limit: usize,
    complete: bool,
}

impl<'a> DumpiReader<'a> {
    /// Opens a complete file: finds its index, of whatever version, and reads its header.
    pub fn open(bytes: &'a [u8]) -> Result<Self, DumpiError> {
        check_magic(bytes)?;
        let (index, end) = find_index(bytes)?;
        for (section, target) in named(&index) {
            if target != 0 && (target < MAGIC.len() as u64 || target > end as u64) {
                return Err(DumpiError::new(
                    end as u64,
                    DumpiErrorKind::Outside { section, target },
                ));
            }
        }
        if index.body == 0 {
            return Err(DumpiError::new(
                end as u64,
                DumpiErrorKind::Missing("stream of calls"),
            ));
        }
        let limit = named(&index)
            .into_iter()
            .map(|(_, at)| at)
            .filter(|at| *at > index.body)
            .min();
        let limit = limit.map_or(end, |at| at as usize);
        let offsets = read_offsets(bytes, index.body as usize)?;
        let header = match index.header {
            0 => None,
            at => Some(read_header(&mut DumpiCursor::at(bytes, at as usize))?),
        };
        Ok(Self {
            bytes,
            index,
            header,
            offsets,
            limit,
            complete: true,
        })
    }

    /// Opens a file that was never completed: the stream begins behind the magic and goes as far as there are
    /// sound records. [`DumpiReader::records`] then ends with an error that names the place where they stop, unless the
    /// stream has its end mark; in that case the sections that follow it are found as well, as far as they are whole.
    pub fn salvage(bytes: &'a [u8]) -> Result<Self, DumpiError> {
        check_magic(bytes)?;
        let body = MAGIC.len();
        let index = SectionIndex {
            body: body as u64,
            ..SectionIndex::default()
        };
        let offsets = read_offsets(bytes, body)?;
        let mut reader = Self {
            bytes,
            index,
            header: None,
            offsets,
            limit: bytes.len(),
            complete: false,
        };
        let mut records = reader.records();
        if records.by_ref().all(|r| r.is_ok()) {
            reader.find_sections(records.offset());
        }
        Ok(reader)
    }

    /// Looks for the sections in the order of the reference library.
    fn find_sections(&mut self, from: usize) {
        let mut c = DumpiCursor::at(self.bytes, from);
        let Ok(header) = read_header(&mut c) else {
            return;
        };
        self.index.header = from as u64;
        self.header = Some(header);
        self.limit = from;
        let mut at = c.pos() as u64;
        if read_footer(&mut c).is_err() {
            return;
        }
        self.index.footer = at;
        at = c.pos() as u64;
        if read_pairs(&mut c).is_err() {
            return;
        }
        self.index.keyvals = at;
        at = c.pos() as u64;
        if read_labels(&mut c).is_err() {
            return;
        }
        self.index.perf_labels = at;
        at = c.pos() as u64;
        if read_sizes(&mut c).is_err() {
            return;
        }
        self.index.type_sizes = at;
        at = c.pos() as u64;
        if read_addresses(&mut c).is_ok() {
            self.index.address_labels = at;
        }
    }

    /// Offsets of the sections.
    pub fn index(&self) -> &SectionIndex {
        &self.index
    }

    /// Whether the file has an index, that is, was completed by its writer.
    pub fn is_complete(&self) -> bool {
        self.complete
    }

    /// The header; `None` if the file has none.
    pub fn header(&self) -> Option<&DumpiHeader> {
        self.header.as_ref()
    }

    /// Version of the library that wrote the file; the current one if it does not tell. A version above
    /// [`Version::CURRENT`] deserves a warning.
    pub fn version(&self) -> Version {
        self.header.as_ref().map_or(Version::CURRENT, |h| h.version)
    }

    /// Seconds that are to be added to the times in the stream, per clock.
    pub fn offsets(&self) -> ClockOffsets {
        self.offsets
    }

    /// The calls, in the order of completion.
    pub fn records(&self) -> DumpiRecords<'a> {
        let stream = self.bytes.get(..self.limit).unwrap_or(self.bytes);
        DumpiRecords::new(
            stream,
            self.index.body as usize,
            self.offsets,
            StreamDialect::of(self.version()),
            self.complete,
        )
    }

    /// The call counts; `None` if the file has no such section, like the following.
    pub fn footer(&self) -> Result<Option<DumpiFooter>, DumpiError> {
        self.section(self.index.footer, read_footer)
    }

    /// The free pairs of strings.
    pub fn keyvals(&self) -> Result<Option<Vec<Keyval>>, DumpiError> {
        self.section(self.index.keyvals, read_pairs)
    }

    /// Whether the file has this pair of strings.
    pub fn has_pair(&self, key: &[u8], value: &[u8]) -> bool {
        let pairs = self.keyvals().ok().flatten().unwrap_or_default();
        pairs
            .iter()
            .any(|pair| pair.key == key && pair.value == value)
    }

    /// Whether the file says that calls are missing which messages hang on.
    pub fn lacks_messages(&self) -> bool {
        self.has_pair(MESSAGES_KEY, MESSAGES_INCOMPLETE)
    }

    /// The names of the performance counters.
    pub fn perf_labels(&self) -> Result<Option<Vec<Vec<u8>>>, DumpiError> {
        self.section(self.index.perf_labels, read_labels)
    }

    /// The size in bytes of each datatype number.
    pub fn type_sizes(&self) -> Result<Option<Vec<i32>>, DumpiError> {
        self.section(self.index.type_sizes, read_sizes)
    }

    /// The names of function addresses and annotations.
    pub fn address_labels(&self) -> Result<Option<Vec<AddressLabel>>, DumpiError> {
        self.section(self.index.address_labels, read_addresses)
    }

    /// Everything behind the stream, absent sections empty.
    pub fn trailer(&self) -> Result<DumpiTrailer, DumpiError> {
        Ok(DumpiTrailer {
            header: self.header.clone().unwrap_or_default(),
            footer: self.footer()?.unwrap_or_default(),
            keyvals: self.keyvals()?.unwrap_or_default(),
            perf_labels: self.perf_labels()?.unwrap_or_default(),
            type_sizes: self.type_sizes()?.unwrap_or_default(),
            address_labels: self.address_labels()?.unwrap_or_default(),
        })
    }

    fn section<T>(
        &self,
        at: u64,
        read: fn(&mut DumpiCursor<'a>) -> Result<T, DumpiError>,
    ) -> Result<Option<T>, DumpiError> {
        match at {
            0 => Ok(None),
            at => read(&mut DumpiCursor::at(self.bytes, at as usize)).map(Some),
        }
    }
}

fn check_magic(bytes: &[u8]) -> Result<(), DumpiError> {
    if bytes.starts_with(&MAGIC) {
        Ok(())
    } else {
        Err(DumpiError::new(0, DumpiErrorKind::NoMagic))
    }
}

/// The index and its own offset. Newer versions added words behind the magic: 8 since 0.6.6, before that 7, 6 and 5
/// (`spec/dumpi.md` section 10).
fn find_index(bytes: &[u8]) -> Result<(SectionIndex, usize), DumpiError> {
    for words in [8usize, 7, 6, 5] {
        let Some(start) = bytes.len().checked_sub(8 * words) else {
            continue;
        };
        let mut c = DumpiCursor::at(bytes, start);
        if start < MAGIC.len() || c.u64() != Some(u64::from_be_bytes(MAGIC)) {
            continue;
        }
        let mut word = |since: usize| {
            if words >= since {
                c.u64().unwrap_or(0)
            } else {
                0
            }
        };
        let index = SectionIndex {
            type_sizes: word(8),
            address_labels: word(7),
            perf_labels: word(6),
            header: word(5),
            body: word(5),
            footer: word(5),
            keyvals: word(5),
        };
        // The beginning of a newer index, cut off by a word or more, looks like an older one with its words moved.
        if words < 8 && index.body != MAGIC.len() as u64 {
            continue;
        }
        return Ok((index, start));
    }
    Err(DumpiError::new(bytes.len() as u64, DumpiErrorKind::NoIndex))
}

fn named(index: &SectionIndex) -> [(&'static str, u64); 7] {
    [
        ("datatype sizes", index.type_sizes),
        ("address labels", index.address_labels),
        ("counter labels", index.perf_labels),
        ("header", index.header),
        ("stream of calls", index.body),
        ("footer", index.footer),
        ("keyval record", index.keyvals),
    ]
}

fn read_offsets(bytes: &[u8], at: usize) -> Result<ClockOffsets, DumpiError> {
    let mut c = DumpiCursor::at(bytes, at);
    match (c.i32(), c.i32()) {
        (Some(cpu), Some(wall)) => Ok(ClockOffsets { cpu, wall }),
        _ => Err(DumpiError::new(
            at as u64,
            DumpiErrorKind::Short("time offsets"),
        )),
    }
}

/// Turns a section that ends too early into an error at the place where that showed.
fn whole<'a, T>(
    c: &mut DumpiCursor<'a>,
    name: &'static str,
    read: impl FnOnce(&mut DumpiCursor<'a>) -> Option<T>,
) -> Result<T, DumpiError> {
    read(c).ok_or_else(|| DumpiError::new(c.pos() as u64, DumpiErrorKind::Short(name)))
}

fn read_header(c: &mut DumpiCursor<'_>) -> Result<DumpiHeader, DumpiError> {
    whole(c, "header", |c| {
        let version = Version::new(c.u8()?, c.u8()?, c.u8()?);
        let starttime = c.u64()?;
        let hostname = c.short_string()?.to_vec();
        let username = c.short_string()?.to_vec();
        let mesh_coords = ints(c)?;
        let mesh_sizes = if version < Version::new(0, 5, 0) {
            Vec::new()
        } else if mesh_coords.is_empty() {
            // Written as a second zero word, but readers do not rely on it.
            let mut ahead = *c;
            if ahead.u32() == Some(0) {
                *c = ahead;
            }
            Vec::new()
        } else {
            ints(c)?
        };
        Some(DumpiHeader {
            version,
            starttime,
            hostname,
            username,
            mesh_coords,
            mesh_sizes,
        })
    })
}

fn read_footer(c: &mut DumpiCursor<'_>) -> Result<DumpiFooter, DumpiError> {
    let at = c.pos();
    let mark = whole(c, "footer", DumpiCursor::u64)?;
    if mark != FOOTER_MARK {
        return Err(DumpiError::new(at as u64, DumpiErrorKind::NoFooter(mark)));
    }
    whole(c, "footer", |c| {
        let mut footer = DumpiFooter::default();
        for count in footer.called.iter_mut().chain(footer.ignored.iter_mut()) {
            *count = c.u32()?;
        }
        Some(footer)
    })
}

fn read_pairs(c: &mut DumpiCursor<'_>) -> Result<Vec<Keyval>, DumpiError> {
    whole(c, "keyval record", |c| {
        list(c, |c| {
            let key = c.short_string()?.to_vec();
            Some(Keyval {
                key,
                value: c.short_string()?.to_vec(),
            })
        })
    })
}

fn read_labels(c: &mut DumpiCursor<'_>) -> Result<Vec<Vec<u8>>, DumpiError> {
    whole(c, "counter labels", |c| {
        list(c, |c| Some(c.short_string()?.to_vec()))
    })
}

fn read_sizes(c: &mut DumpiCursor<'_>) -> Result<Vec<i32>, DumpiError> {
    whole(c, "datatype sizes", ints)
}

fn read_addresses(c: &mut DumpiCursor<'_>) -> Result<Vec<AddressLabel>, DumpiError> {
    whole(c, "address labels", |c| {
        list(c, |c| {
            Some(AddressLabel {
                key: c.u64()?,
                label: c.short_string()?.to_vec(),
            })
        })
    })
}

fn ints(c: &mut DumpiCursor<'_>) -> Option<Vec<i32>> {
    Some(
        c.counted(4)?
            .as_chunks::<4>()
            .0
            .iter()
            .map(|b| i32::from_be_bytes(*b))
            .collect(),
    )
}

/// A u32 count and that many elements. Memory grows with what is really there, not with the count.
fn list<'a, T>(
    c: &mut DumpiCursor<'a>,
    element: impl Fn(&mut DumpiCursor<'a>) -> Option<T>,
) -> Option<Vec<T>> {
    let count = c.u32()?;
    let mut items = Vec::new();
    for _ in 0..count {
        items.push(element(c)?);
    }
    Some(items)
}
