//! Writes merged CLOG2 files, streaming: one block in memory, whatever the size of the log.

use super::codec::{peek_size, peek_time};
use super::comm::CommTable;
use super::error::{Error, ErrorKind};
use super::preamble::{PREAMBLE_SIZE, Preamble};
use super::record::{Body, ENDLOG_TIME, Endian, HEADER_SIZE, Record, RecordHeader};
use crate::PendingFile;
use std::io::{self, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// Bytes kept free in each block for its ENDBLOCK record (section 3).
const RESERVE: usize = HEADER_SIZE;

/// Writes a merged file record by record.
///
/// Blocks are closed where MPE closes them, so the same records give the same bytes. ENDBLOCK and ENDLOG records are the
/// writer's own; those given to it are left out.
#[derive(Debug)]
pub struct Writer<W: Write + Seek> {
    out: W,
    block: Vec<u8>,
    block_size: usize,
    /// Where the next block goes, from the start of the file.
    offset: u64,
    /// Its name, if it has one.
    path: Option<PathBuf>,
    /// What gives a complete file its name.
    complete: fn(&mut W) -> io::Result<()>,
}

impl Writer<PendingFile> {
    /// Starts a file at `path`, which gets this name in [`Writer::finish`]: see [`PendingFile`].
    pub fn create(path: impl AsRef<Path>, preamble: &Preamble) -> Result<Self, Error> {
        let path = path.as_ref();
        let file = PendingFile::create(path).map_err(|error| Error::io(0, error).in_file(path))?;
        Writer::start(
            file,
            preamble,
            Some(path.to_path_buf()),
            PendingFile::complete,
        )
    }
}

impl<W: Write + Seek> Writer<W> {
    /// Starts a file in `out`, at its position 0.
    pub fn new(out: W, preamble: &Preamble) -> Result<Self, Error> {
        Writer::start(out, preamble, None, |_| Ok(()))
    }

    fn start(
        out: W,
        preamble: &Preamble,
        path: Option<PathBuf>,
        complete: fn(&mut W) -> io::Result<()>,
    ) -> Result<Self, Error> {
        let block_size = preamble.block_size as usize;
        let mut writer = Writer {
            out,
            block: Vec::with_capacity(block_size),
            block_size,
            offset: PREAMBLE_SIZE as u64,
            path,
            complete,
        };
        writer.put(0, &finalized(preamble, 0).encode())?;
        Ok(writer)
    }

    /// Appends a record.
    pub fn write(&mut self, record: &Record) -> Result<(), Error> {
        if matches!(record.body, Body::EndBlock | Body::EndLog) {
            return Ok(());
        }
        self.make_room(record.size(), record.header.time)?;
        let used = self.block.len();
        self.block.resize(used + record.size(), 0);
        record.encode(&mut self.block[used..]);
        Ok(())
    }

    /// Appends the records that stand one behind the other in `bytes`, in big-endian order as [`Record::encode`] leaves
    /// them; cheaper than decoding and writing each.
    ///
    /// The error's offset counts from the start of `bytes` if these are at fault, else from the start of the file.
    pub fn write_encoded(&mut self, bytes: &[u8]) -> Result<(), Error> {
        let mut at = 0;
        while let Some(rest) = bytes.get(at..).filter(|rest| !rest.is_empty()) {
            let size = peek_size(rest);
            if size == 0 {
                // Decoding it again says what is wrong.
                return Err(match Record::decode(rest, Endian::Big) {
                    Err(error) => error.moved(at as u64),
                    Ok(_) => Error::new(at as u64, ErrorKind::NoEndLog),
                });
            }
            if size > HEADER_SIZE {
                self.make_room(size, peek_time(rest))?;
                self.block.extend_from_slice(&rest[..size]);
            }
            at += size;
        }
        Ok(())
    }

    /// Closes the log: ENDLOG, the communicator table, and the preamble once more with the counts that are known now.
    ///
    /// `preamble` may differ from the one at the start in everything but the block size; its `endian`, `is_finalized`
    /// and `comm_table_offset` are set here.
    pub fn finish(mut self, comm_table: &CommTable, preamble: &Preamble) -> Result<W, Error> {
        let record = end_record(ENDLOG_TIME, Body::EndLog);
        self.close_block(&record)?;
        let offset = self.offset;
        self.put(offset, &comm_table.encode())?;
        let preamble = Preamble {
            block_size: self.block_size as u32,
            ..finalized(preamble, offset)
        };
        let written = self
            .out
            .seek(SeekFrom::Start(0))
            .and_then(|_| self.out.write_all(&preamble.encode()))
            .and_then(|()| self.out.flush())
            .and_then(|()| (self.complete)(&mut self.out));
        match written {
            Ok(()) => Ok(self.out),
            Err(error) => Err(self.named(Error::io(0, error))),
        }
    }

    /// Closes the block if a record of this size and time does not fit: MPE's rule, strictly less.
    fn make_room(&mut self, size: usize, time: f64) -> Result<(), Error> {
        if self.block.len() + size + RESERVE < self.block_size {
            return Ok(());
        }
        if size + RESERVE >= self.block_size {
            let kind = ErrorKind::TooLarge {
                size,
                block_size: self.block_size,
            };
            return Err(self.named(Error::new(self.offset, kind)));
        }
        self.close_block(&end_record(time, Body::EndBlock))
    }

    fn close_block(&mut self, end: &Record) -> Result<(), Error> {
        let used = self.block.len();
        self.block.resize(self.block_size, 0);
        if end.encode(self.block.get_mut(used..).unwrap_or_default()) == 0 {
            let kind = ErrorKind::TooLarge {
                size: HEADER_SIZE,
                block_size: self.block_size,
            };
            return Err(self.named(Error::new(self.offset, kind)));
        }
        let block = std::mem::take(&mut self.block);
        let result = self.put(self.offset, &block);
        self.block = block;
        self.block.clear();
        self.offset += self.block_size as u64;
        result
    }

    fn put(&mut self, offset: u64, bytes: &[u8]) -> Result<(), Error> {
        match self.out.write_all(bytes) {
            Ok(()) => Ok(()),
            Err(error) => Err(self.named(Error::io(offset, error))),
        }
    }

    fn named(&self, error: Error) -> Error {
        match &self.path {
            Some(path) => error.in_file(path),
            None => error,
        }
    }
}

/// What a merged file says about itself, whatever the caller's preamble came from.
fn finalized(preamble: &Preamble, comm_table_offset: u64) -> Preamble {
    Preamble {
        endian: Endian::Big,
        is_finalized: true,
        comm_table_offset,
        ..preamble.clone()
    }
}

fn end_record(time: f64, body: Body) -> Record {
    Record {
        header: RecordHeader {
            time,
            ..RecordHeader::default()
        },
        body,
    }
}
