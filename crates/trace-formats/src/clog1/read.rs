//! Reads CLOG-1 files that are in memory (or mapped).
//!
//! Nothing here panics or allocates more than the file itself warrants, whatever the bytes are.

use super::error::{Clog1Error, Clog1ErrorKind};
use super::layout::Clog1Layout;
use super::record::{Clog1Body, Clog1Record, HEADER_SIZE};

/// A CLOG-1 file.
#[derive(Clone, Copy, Debug)]
pub struct Clog1Reader<'a> {
    file: &'a [u8],
    layout: Clog1Layout,
}

impl<'a> Clog1Reader<'a> {
    /// Finds out how a file is laid out, given all its bytes.
    ///
    /// # Errors
    /// If it is no CLOG-1 file.
    pub fn new(file: &'a [u8]) -> Result<Self, Clog1Error> {
        Ok(Clog1Reader {
            file,
            layout: Clog1Layout::detect(file)?,
        })
    }

    /// A file whose layout is known.
    pub fn with_layout(file: &'a [u8], layout: Clog1Layout) -> Self {
        Clog1Reader { file, layout }
    }

    /// Layout of the file's records.
    pub fn layout(&self) -> Clog1Layout {
        self.layout
    }

    /// The records in the order of the file, without ENDBLOCK and ENDLOG.
    ///
    /// Of a damaged file all records before the damage come, then one error, then nothing.
    pub fn records(&self) -> impl Iterator<Item = Result<Clog1Record, Clog1Error>> + use<'a> {
        self.raw_records().filter_map(|found| match found {
            Ok(raw) if raw.record.is_end() => None,
            Ok(raw) => Some(Ok(raw.record)),
            Err(error) => Some(Err(error)),
        })
    }

    /// The records in the order of the file, ENDBLOCK and ENDLOG included, with all that is needed to write the same
    /// bytes again.
    pub fn raw_records(&self) -> RawClog1Records<'a> {
        RawClog1Records {
            file: self.file,
            layout: self.layout,
            at: 0,
            block_end: self.layout.block_size,
            is_ended: false,
            done: false,
        }
    }
}

/// A record and its surroundings.
#[derive(Clone, Debug, PartialEq)]
pub struct RawRecord<'a> {
    /// Byte offset of the record in the file.
    pub offset: u64,
    /// The record.
    pub record: Clog1Record,
    /// The rest of the block behind an ENDBLOCK or ENDLOG record, which is without meaning.
    pub rest: &'a [u8],
}

/// Iterator over the records of a file; see [`Clog1Reader::raw_records`].
#[derive(Clone, Debug)]
pub struct RawClog1Records<'a> {
    file: &'a [u8],
    layout: Clog1Layout,
    at: usize,
    block_end: usize,
    /// Whether the block before was the last one of a log.
    is_ended: bool,
    done: bool,
}

impl<'a> RawClog1Records<'a> {
    fn read(&mut self) -> Result<RawRecord<'a>, Clog1Error> {
        if self.at >= self.file.len() {
            return Err(Clog1Error::new(
                self.file.len() as u64,
                Clog1ErrorKind::NoEndLog,
            ));
        }
        let offset = self.at as u64;
        let end = self.block_end.min(self.file.len());
        let block = self.file.get(self.at..end).unwrap_or_default();
        let record = match Clog1Record::decode(block, self.layout) {
            Ok(record) => record,
            // Too few bytes before the end of a whole block is not a short file but a wrong record.
            Err(error) if end == self.block_end => {
                let kind = match error.kind {
                    Clog1ErrorKind::Truncated { expected, .. } => Clog1ErrorKind::BlockOverrun {
                        size: expected,
                        left: block.len(),
                    },
                    kind => kind,
                };
                return Err(Clog1Error::new(offset + error.offset, kind));
            }
            Err(error) => return Err(error.moved(offset)),
        };
        if !record.is_end() {
            self.at += record.size();
            self.is_ended = false;
            return Ok(RawRecord {
                offset,
                record,
                rest: &[],
            });
        }
        self.is_ended = record.body == Clog1Body::EndLog;
        self.at = self.block_end;
        self.block_end = self.block_end.saturating_add(self.layout.block_size);
        Ok(RawRecord {
            offset,
            record,
            rest: block.get(HEADER_SIZE..).unwrap_or_default(),
        })
    }
}

impl<'a> Iterator for RawClog1Records<'a> {
    type Item = Result<RawRecord<'a>, Clog1Error>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.done {
            return None;
        }
        if self.is_ended && self.at >= self.file.len() {
            self.done = true;
            let block = self.layout.block_size;
            let missing = self.at - self.file.len();
            if missing == 0 {
                return None;
            }
            let kind = Clog1ErrorKind::Truncated {
                what: "block",
                expected: block,
                found: block.saturating_sub(missing),
            };
            return Some(Err(Clog1Error::new(self.file.len() as u64, kind)));
        }
        let result = self.read();
        self.done |= result.is_err();
        Some(result)
    }
}
