//! Reads CLOG2 files that are in memory (or mapped): any block size, both byte orders, merged and local.
//!
//! Nothing here panics or allocates more than the file itself warrants, whatever the bytes are.

use super::bytes::Endian;
use super::codec::{peek_rectype, peek_size};
use super::comm::CommTable;
use super::error::{Clog2Error, Clog2ErrorKind};
use super::preamble::{PREAMBLE_SIZE, Preamble};
use super::record::{Clog2Body, Clog2Record, HEADER_SIZE, rectype};

/// A CLOG2 file.
#[derive(Clone, Debug)]
pub struct Clog2Reader<'a> {
    file: &'a [u8],
    preamble: Preamble,
}

impl<'a> Clog2Reader<'a> {
    /// Reads the preamble of a file, given all its bytes.
    pub fn new(file: &'a [u8]) -> Result<Self, Clog2Error> {
        Ok(Clog2Reader {
            file,
            preamble: Preamble::decode(file)?,
        })
    }

    /// True if these bytes begin as a CLOG2 file of any version does.
    pub fn recognises(file: &[u8]) -> bool {
        file.starts_with(b"CLOG-02.")
    }

    /// The preamble.
    pub fn preamble(&self) -> &Preamble {
        &self.preamble
    }

    /// The communicator table at the end of the file.
    ///
    /// A file that was not finished has none ([`Clog2ErrorKind::NoCommTable`]); its records can be read all the same.
    pub fn comm_table(&self) -> Result<CommTable, Clog2Error> {
        let offset = self.preamble.comm_table_offset;
        if offset == 0 {
            return Err(Clog2Error::new(0, Clog2ErrorKind::NoCommTable));
        }
        let table = usize::try_from(offset)
            .ok()
            .and_then(|at| self.file.get(at..))
            .unwrap_or_default();
        if table.is_empty() {
            let kind = Clog2ErrorKind::Truncated {
                what: "communicator table count",
                expected: 4,
                found: 0,
            };
            return Err(Clog2Error::new(offset, kind));
        }
        CommTable::decode(table, self.preamble.endian).map_err(|error| error.moved(offset))
    }

    /// The records in the order of the file, without ENDBLOCK and ENDLOG.
    ///
    /// Of a damaged file all records before the damage come, then one error, then nothing.
    pub fn records(&self) -> Clog2Records<'a> {
        Clog2Records {
            raw: self.raw_records(),
        }
    }

    /// The bytes of the file.
    pub fn bytes(&self) -> &'a [u8] {
        self.file
    }

    /// The records of a big-endian file as they are encoded, up to ENDLOG and with it.
    ///
    /// Of a damaged file all records before the damage come, then one error, then nothing.
    pub fn encoded_records(&self) -> EncodedRecords<'a> {
        EncodedRecords {
            raw: self.raw_records(),
        }
    }

    /// The communicator table that the COMM records call for, in place of one that is missing. Damage is passed over.
    pub fn comm_table_of_records(&self) -> CommTable {
        let mut events = Vec::new();
        let mut known = std::collections::HashSet::new();
        for record in self.blocks().flatten().flatten() {
            if let Clog2Body::Comm(event) = record.1.body
                && known.insert((event.icomm, event.gid))
            {
                events.push(event);
            }
        }
        CommTable::of_records(events.iter())
    }

    /// The records of each block, ENDBLOCK and ENDLOG included, so that damage in one does not hide the next.
    pub(super) fn blocks(&self) -> impl Iterator<Item = RawClog2Records<'a>> + use<'a> {
        let all = self.raw_records();
        let step = all.block_size.max(HEADER_SIZE);
        let starts = (all.at..all.blocks.len()).step_by(step);
        starts.map(move |at| RawClog2Records {
            at,
            block_end: at.saturating_add(step),
            only_one: true,
            ..all.clone()
        })
    }

    /// The records in the order of the file, ENDBLOCK and ENDLOG included, each with its byte offset.
    pub fn raw_records(&self) -> RawClog2Records<'a> {
        // The table ends the blocks; without one (or with an offset behind a cut-off end) the file's end does.
        let end = match usize::try_from(self.preamble.comm_table_offset) {
            Ok(offset) if offset >= PREAMBLE_SIZE && offset <= self.file.len() => offset,
            _ => self.file.len(),
        };
        RawClog2Records {
            blocks: self.file.get(..end).unwrap_or_default(),
            block_size: self.preamble.block_size as usize,
            endian: self.preamble.endian,
            at: PREAMBLE_SIZE,
            block_end: PREAMBLE_SIZE.saturating_add(self.preamble.block_size as usize),
            only_one: false,
            done: false,
        }
    }
}

/// Iterator over the records of a file; see [`Clog2Reader::records`].
#[derive(Clone, Debug)]
pub struct Clog2Records<'a> {
    raw: RawClog2Records<'a>,
}

impl Iterator for Clog2Records<'_> {
    type Item = Result<Clog2Record, Clog2Error>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        loop {
            match self.raw.next()? {
                Ok((
                    _,
                    Clog2Record {
                        body: Clog2Body::EndBlock | Clog2Body::EndLog,
                        ..
                    },
                )) => {}
                Ok((_, record)) => return Some(Ok(record)),
                Err(error) => return Some(Err(error)),
            }
        }
    }
}

/// Iterator over the records of a file and their offsets; see [`Clog2Reader::raw_records`].
#[derive(Clone, Debug)]
pub struct RawClog2Records<'a> {
    /// The file up to the end of its blocks.
    blocks: &'a [u8],
    block_size: usize,
    endian: super::Endian,
    at: usize,
    block_end: usize,
    /// Whether to end with the block.
    only_one: bool,
    done: bool,
}

impl RawClog2Records<'_> {
    /// End of the block that is being read, or of the file if it is cut off before.
    pub(super) fn block_end(&self) -> usize {
        self.block_end.min(self.blocks.len())
    }

    fn read(&mut self) -> Result<(u64, Clog2Record), Clog2Error> {
        let offset = self.at as u64;
        if self.at >= self.blocks.len() {
            return Err(Clog2Error::new(offset, Clog2ErrorKind::NoEndLog));
        }
        let end = self.block_end.min(self.blocks.len());
        let record = match Clog2Record::decode(&self.blocks[self.at..end], self.endian) {
            Ok(record) => record,
            // Too few bytes before the end of a whole block is not a short file but a wrong record.
            Err(Clog2Error {
                kind: Clog2ErrorKind::Truncated { expected, .. },
                ..
            }) if end == self.block_end => {
                let kind = Clog2ErrorKind::BlockOverrun {
                    size: expected as usize,
                    left: end.saturating_sub(self.at),
                };
                return Err(Clog2Error::new(offset, kind));
            }
            Err(error) => return Err(error.moved(offset)),
        };
        match record.body {
            Clog2Body::EndLog => self.done = true,
            Clog2Body::EndBlock if self.only_one => self.done = true,
            Clog2Body::EndBlock => {
                self.at = self.block_end;
                self.block_end = self.block_end.saturating_add(self.block_size);
            }
            _ => self.at += record.size(),
        }
        Ok((offset, record))
    }
}

impl Iterator for RawClog2Records<'_> {
    type Item = Result<(u64, Clog2Record), Clog2Error>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        if self.done {
            return None;
        }
        let result = self.read();
        self.done |= result.is_err();
        Some(result)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = if self.done {
            0
        } else {
            self.blocks.len().saturating_sub(self.at)
        };
        (0, Some(left / HEADER_SIZE + 1))
    }
}

/// Iterator over the encoded records of a big-endian file; see [`Clog2Reader::encoded_records`].
#[derive(Clone, Debug)]
pub struct EncodedRecords<'a> {
    raw: RawClog2Records<'a>,
}

impl<'a> Iterator for EncodedRecords<'a> {
    type Item = Result<&'a [u8], Clog2Error>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        let raw = &mut self.raw;
        if raw.done {
            return None;
        }
        let end = raw.block_end.min(raw.blocks.len());
        let rest = raw.blocks.get(raw.at..end).unwrap_or_default();
        let size = peek_size(rest);
        let rectype = peek_rectype(rest);
        if size == 0
            || raw.endian != Endian::Big
            || rectype == rectype::ENDBLOCK
            || rectype == rectype::ENDLOG
        {
            // The other iterator knows what to do at the end of a block, and what is wrong.
            return Some(raw.next()?.map(|_| rest.get(..size).unwrap_or_default()));
        }
        raw.at += size;
        Some(Ok(&rest[..size]))
    }
}
