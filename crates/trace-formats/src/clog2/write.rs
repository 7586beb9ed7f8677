//! Writes CLOG2 files, streaming: one block in memory, whatever the size of the log.

use super::bytes::Endian;
use super::codec::{self, BARE_SIZE, CARGO_RECORD_SIZE, MSG_SIZE, peek_size, peek_time};
use super::comm::CommTable;
use super::error::{Clog2Error, Clog2ErrorKind};
use super::preamble::{PREAMBLE_SIZE, Preamble};
use super::record::{
    CARGO_SIZE, Clog2Body, Clog2Msg, Clog2Record, Clog2RecordHeader, ENDLOG_TIME, HEADER_SIZE,
};
use std::io::{self, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use trace_model::PendingFile;

/// Bytes kept free in each block for its ENDBLOCK record (`spec/clog2.md` section 3).
const RESERVE: usize = HEADER_SIZE;

/// Layout in which a [`Clog2Writer`] writes a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Clog2Layout {
    /// Files as MPE's merge writes them: big-endian and finalized. Blocks are closed where MPE closes them; ENDBLOCK and ENDLOG
    /// records are the writer's own, and those given to it are left out.
    #[default]
    Merged,
    /// Files as clog2_join writes them: like merged ones, but ENDBLOCK repeats the header of the record behind it, and what follows
    /// it is what stood there in the block before.
    Joined,
    /// Files as the preamble says and the records come: in its byte order, finalized or not, blocks closed by the ENDBLOCK and
    /// ENDLOG records that are given. For copies of any file, and for the local files of ranks.
    AsGiven,
}

/// Writes a file record by record. In the usual [`Clog2Layout`], the same records give the same bytes as in MPE's merge.
#[derive(Debug)]
pub struct Clog2Writer<W: Write + Seek> {
    out: W,
    layout: Clog2Layout,
    endian: Endian,
    /// The bytes of the block, and those of earlier blocks behind them.
    block: Vec<u8>,
    /// Bytes of this block.
    used: usize,
    block_size: usize,
    /// Offset of the next block, from the start of the file.
    offset: u64,
    /// Path of the output, if it has one.
    path: Option<PathBuf>,
    /// Function that gives a complete file its name.
    complete: fn(&mut W) -> io::Result<()>,
}

impl Clog2Writer<PendingFile> {
    /// Starts a file at `path`, which gets this name in [`Clog2Writer::finish`]: see [`PendingFile`].
    pub fn create(path: impl AsRef<Path>, preamble: &Preamble) -> Result<Self, Clog2Error> {
        let path = path.as_ref();
        let file =
            PendingFile::create(path).map_err(|error| Clog2Error::io(0, error).in_file(path))?;
        let name = Some(path.to_path_buf());
        Clog2Writer::start(file, preamble, name, PendingFile::complete)
    }
}

impl<W: Write + Seek> Clog2Writer<W> {
    /// Starts a file in `out`, at its position 0.
    pub fn new(out: W, preamble: &Preamble) -> Result<Self, Clog2Error> {
        Clog2Writer::start(out, preamble, None, |_| Ok(()))
    }

    pub(super) fn start(
        out: W,
        preamble: &Preamble,
        path: Option<PathBuf>,
        complete: fn(&mut W) -> io::Result<()>,
    ) -> Result<Self, Clog2Error> {
        let mut writer = Clog2Writer {
            out,
            layout: Clog2Layout::Merged,
            endian: Endian::Big,
            block: Vec::new(),
            used: 0,
            block_size: preamble.block_size as usize,
            offset: PREAMBLE_SIZE as u64,
            path,
            complete,
        };
        writer.put(0, &finalized(preamble, 0).encode())?;
        Ok(writer)
    }

    /// Changes the layout of this writer; to be called before anything is written. `preamble` is the one of the start.
    #[must_use]
    pub fn with_layout(mut self, layout: Clog2Layout, preamble: &Preamble) -> Self {
        self.layout = layout;
        if layout == Clog2Layout::AsGiven {
            self.endian = preamble.endian;
        }
        self
    }

    /// Appends a record.
    #[inline]
    pub fn write(&mut self, record: &Clog2Record) -> Result<(), Clog2Error> {
        self.write_padded(record, [0; 4])
    }

    /// Appends an event with or without data: [`Clog2Writer::write`] of such a record, without making one.
    ///
    /// # Errors
    /// When the output could not be written.
    #[inline]
    pub fn write_event(
        &mut self,
        header: &Clog2RecordHeader,
        etype: i32,
        cargo: Option<&[u8; CARGO_SIZE]>,
    ) -> Result<(), Clog2Error> {
        if self.endian != Endian::Big {
            let body = cargo.map_or(Clog2Body::Bare { etype }, |bytes| Clog2Body::Cargo {
                etype,
                bytes: *bytes,
            });
            return self.write(&Clog2Record {
                header: *header,
                body,
            });
        }
        let size = cargo.map_or(BARE_SIZE, |_| CARGO_RECORD_SIZE);
        self.make_room(size, header)?;
        codec::encode_event(self.room(size), header, etype, cargo);
        Ok(())
    }

    /// Appends one end of a message: [`Clog2Writer::write`] of such a record, without making one.
    ///
    /// # Errors
    /// When the output could not be written.
    #[inline]
    pub fn write_message(
        &mut self,
        header: &Clog2RecordHeader,
        message: &Clog2Msg,
    ) -> Result<(), Clog2Error> {
        if self.endian != Endian::Big {
            return self.write(&Clog2Record {
                header: *header,
                body: Clog2Body::Msg(*message),
            });
        }
        self.make_room(MSG_SIZE, header)?;
        codec::encode_message(self.room(MSG_SIZE), header, message);
        Ok(())
    }

    /// Appends a record with these bytes in its pad field, which nobody reads; see [`Clog2Record::pad`].
    #[inline]
    pub fn write_padded(&mut self, record: &Clog2Record, pad: [u8; 4]) -> Result<(), Clog2Error> {
        if matches!(record.body, Clog2Body::EndBlock | Clog2Body::EndLog) {
            return match self.layout {
                Clog2Layout::AsGiven => self.close_block(record),
                Clog2Layout::Merged | Clog2Layout::Joined => Ok(()),
            };
        }
        let size = record.size();
        self.make_room(size, &record.header)?;
        let endian = self.endian;
        record.encode_as(endian, pad, self.room(size));
        Ok(())
    }

    /// Appends the ENDBLOCK or ENDLOG record that closes a block of a file that is written as given, and what stood behind
    /// it up to the end of the block, which has no meaning. In other layouts the writer closes blocks itself.
    pub fn write_end(&mut self, record: &Clog2Record, behind: &[u8]) -> Result<(), Clog2Error> {
        if self.layout != Clog2Layout::AsGiven {
            return Ok(());
        }
        self.put_end(record)?;
        let left = self.block_size - self.used;
        let behind = &behind[..left.min(behind.len())];
        self.room(behind.len()).copy_from_slice(behind);
        self.write_block()
    }

    /// Appends the records that stand one behind the other in `bytes`, in big-endian order as [`Clog2Record::encode`] leaves
    /// them; cheaper than decoding and writing each. For merged files only.
    ///
    /// The error's offset counts from the start of `bytes` if these are at fault, else from the start of the file.
    pub fn write_encoded(&mut self, bytes: &[u8]) -> Result<(), Clog2Error> {
        let mut at = 0;
        while let Some(rest) = bytes.get(at..).filter(|rest| !rest.is_empty()) {
            let size = peek_size(rest);
            if size == 0 {
                // Decoding it again says what is wrong.
                return Err(match Clog2Record::decode(rest, Endian::Big) {
                    Err(error) => error.moved(at as u64),
                    Ok(_) => Clog2Error::new(at as u64, Clog2ErrorKind::NoEndLog),
                });
            }
            if size > HEADER_SIZE {
                let time = peek_time(rest);
                let header = Clog2RecordHeader {
                    time,
                    ..Clog2RecordHeader::default()
                };
                self.make_room(size, &header)?;
                self.room(size).copy_from_slice(&rest[..size]);
            }
            at += size;
        }
        Ok(())
    }

    /// Closes the log: ENDLOG, the communicator table, and the preamble once more with the counts that are known now.
    ///
    /// `preamble` may differ from the one at the start in everything but the block size; its `comm_table_offset` is set
    /// here, and unless the layout is as given, its `endian` and `is_finalized`.
    pub fn finish(mut self, comm_table: &CommTable, preamble: &Preamble) -> Result<W, Clog2Error> {
        if self.layout != Clog2Layout::AsGiven {
            self.close_block(&end_record(Clog2RecordHeader::default(), Clog2Body::EndLog))?;
        } else if self.used > 0 {
            // A block that nobody closed.
            self.write_block()?;
        }
        let offset = self.offset;
        self.put(offset, &comm_table.encode_as(self.endian))?;
        let preamble = Preamble {
            block_size: self.block_size as u32,
            comm_table_offset: offset,
            ..match self.layout {
                Clog2Layout::AsGiven => preamble.clone(),
                Clog2Layout::Merged | Clog2Layout::Joined => finalized(preamble, offset),
            }
        };
        let written = self
            .out
            .seek(SeekFrom::Start(0))
            .and_then(|_| self.out.write_all(&preamble.encode()))
            .and_then(|()| self.out.flush())
            .and_then(|()| (self.complete)(&mut self.out));
        match written {
            Ok(()) => Ok(self.out),
            Err(error) => Err(self.named(Clog2Error::io(0, error))),
        }
    }

    /// Closes the block that has been begun, if there is one, and gives the output without ending the log: others write what is
    /// behind it. `next` is the header of the record that comes there.
    ///
    /// # Errors
    /// When the output could not be written.
    pub fn into_blocks(mut self, next: &Clog2RecordHeader) -> Result<W, Clog2Error> {
        if self.used > 0 {
            self.close_block(&end_record(*next, Clog2Body::EndBlock))?;
        }
        Ok(self.out)
    }

    /// Takes the next `size` bytes of the block, which are there.
    #[inline]
    fn room(&mut self, size: usize) -> &mut [u8] {
        let start = self.used;
        self.used += size;
        if self.block.len() < self.used {
            self.block.resize(self.used, 0);
        }
        &mut self.block[start..self.used]
    }

    /// Closes the block if a record of this size does not fit: MPE's rule, strictly less.
    #[inline]
    fn make_room(&mut self, size: usize, next: &Clog2RecordHeader) -> Result<(), Clog2Error> {
        let reserve = if self.layout == Clog2Layout::AsGiven {
            // The other rule may have been at work, but a record must fit.
            0
        } else {
            RESERVE + 1
        };
        if self.used + size + reserve <= self.block_size {
            return Ok(());
        }
        self.make_room_in_next(size, reserve, next)
    }

    #[cold]
    fn make_room_in_next(
        &mut self,
        size: usize,
        reserve: usize,
        next: &Clog2RecordHeader,
    ) -> Result<(), Clog2Error> {
        if self.layout == Clog2Layout::AsGiven || size + reserve > self.block_size {
            return Err(self.too_large(size));
        }
        self.close_block(&end_record(*next, Clog2Body::EndBlock))
    }

    fn too_large(&self, size: usize) -> Clog2Error {
        let block_size = self.block_size;
        let kind = Clog2ErrorKind::TooLarge { size, block_size };
        self.named(Clog2Error::new(self.offset, kind))
    }

    fn close_block(&mut self, end: &Clog2Record) -> Result<(), Clog2Error> {
        let mut end = *end;
        match (self.layout, &end.body) {
            (Clog2Layout::AsGiven, _) => {}
            (_, Clog2Body::EndLog) => end.header.time = ENDLOG_TIME,
            (Clog2Layout::Merged, _) => {
                let time = end.header.time;
                end.header = Clog2RecordHeader {
                    time,
                    ..Clog2RecordHeader::default()
                };
            }
            (Clog2Layout::Joined, _) => {}
        }
        self.put_end(&end)?;
        self.write_block()
    }

    fn put_end(&mut self, end: &Clog2Record) -> Result<(), Clog2Error> {
        if self.used + HEADER_SIZE > self.block_size {
            return Err(self.too_large(HEADER_SIZE));
        }
        let endian = self.endian;
        end.encode_as(endian, [0; 4], self.room(HEADER_SIZE));
        Ok(())
    }

    /// Writes the block, filled up with zeros or with what stood there before, and starts the next.
    fn write_block(&mut self) -> Result<(), Clog2Error> {
        let block = std::mem::take(&mut self.block);
        let filled = match self.layout {
            Clog2Layout::Joined => block.len(),
            Clog2Layout::Merged | Clog2Layout::AsGiven => self.used,
        };
        let mut result = self.put(self.offset, &block[..filled]);
        // Piece by piece, since a block may be of a gigabyte.
        let mut left = self.block_size - filled;
        while left > 0 && result.is_ok() {
            const ZEROS: [u8; 4096] = [0; 4096];
            let piece = left.min(ZEROS.len());
            result = self.put(self.offset, &ZEROS[..piece]);
            left -= piece;
        }
        self.block = block;
        self.used = 0;
        self.offset += self.block_size as u64;
        result
    }

    fn put(&mut self, offset: u64, bytes: &[u8]) -> Result<(), Clog2Error> {
        match self.out.write_all(bytes) {
            Ok(()) => Ok(()),
            Err(error) => Err(self.named(Clog2Error::io(offset, error))),
        }
    }

    fn named(&self, error: Clog2Error) -> Clog2Error {
        match &self.path {
            Some(path) => error.in_file(path),
            None => error,
        }
    }
}

/// Preamble of a merged file, whatever file the caller's preamble came from.
fn finalized(preamble: &Preamble, comm_table_offset: u64) -> Preamble {
    Preamble {
        endian: Endian::Big,
        is_finalized: true,
        comm_table_offset,
        ..preamble.clone()
    }
}

fn end_record(header: Clog2RecordHeader, body: Clog2Body) -> Clog2Record {
    Clog2Record { header, body }
}
