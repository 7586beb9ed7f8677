//! Writes CLOG-1 files, streaming: one block in memory, whatever the size of the log.

use super::error::{Clog1Error, Clog1ErrorKind};
use super::layout::Clog1Layout;
use super::read::RawRecord;
use super::record::{Clog1Body, Clog1Record, Clog1RecordHeader, ENDLOG_TIME, HEADER_SIZE};
use std::io::Write;

/// A block is closed when fewer bytes than this, or just as many, are left (`spec/clog1.md` section 4).
const RESERVE: usize = 160;

/// Writes a file record by record.
///
/// Blocks are closed where MPE closes them, so the same records give the same bytes. What is without meaning between
/// the blocks is zero.
#[derive(Debug)]
pub struct Clog1Writer<W: Write> {
    out: W,
    layout: Clog1Layout,
    block: Vec<u8>,
    /// Offset of the block, from the start of the file.
    offset: u64,
    /// Time of the last record.
    time: f64,
    /// Whether ENDLOG was the last record.
    is_ended: bool,
}

impl<W: Write> Clog1Writer<W> {
    /// Starts a file.
    pub fn new(out: W, layout: Clog1Layout) -> Self {
        Clog1Writer {
            out,
            layout,
            block: Vec::with_capacity(layout.block_size),
            offset: 0,
            time: 0.0,
            is_ended: false,
        }
    }

    /// Appends a record. ENDBLOCK and ENDLOG are the writer's own; those given to it are left out.
    ///
    /// # Errors
    /// When the block could not be written, or if it cannot hold the record.
    pub fn write(&mut self, record: &Clog1Record) -> Result<(), Clog1Error> {
        if record.is_end() {
            return Ok(());
        }
        self.append(record, HEADER_SIZE)?;
        if self.block.len() + RESERVE >= self.layout.block_size {
            self.end_block()?;
        }
        Ok(())
    }

    /// Appends a record as it was read: its ENDBLOCK and ENDLOG records alone end the blocks, and what is behind them
    /// comes along.
    ///
    /// # Errors
    /// As [`Clog1Writer::write`].
    pub fn write_raw(&mut self, raw: &RawRecord<'_>) -> Result<(), Clog1Error> {
        self.append(&raw.record, 0)?;
        if raw.record.is_end() {
            self.close_block(raw.rest)?;
        }
        Ok(())
    }

    /// Closes the log.
    ///
    /// # Errors
    /// When the last block could not be written.
    pub fn finish(mut self) -> Result<W, Clog1Error> {
        if !self.is_ended {
            self.append(&end_record(ENDLOG_TIME, Clog1Body::EndLog), 0)?;
            self.close_block(&[])?;
        }
        self.out
            .flush()
            .map_err(|error| Clog1Error::io(self.offset, error))?;
        Ok(self.out)
    }

    /// Puts a record into the block, or into the next one if that many bytes would not be left behind it.
    fn append(&mut self, record: &Clog1Record, reserve: usize) -> Result<(), Clog1Error> {
        let size = record.size() + reserve;
        if self.block.len() + size > self.layout.block_size {
            if size > self.layout.block_size {
                return Err(self.too_large(record));
            }
            self.end_block()?;
        }
        record.encode(self.layout, &mut self.block);
        self.time = record.header.time;
        self.is_ended = record.body == Clog1Body::EndLog;
        Ok(())
    }

    fn end_block(&mut self) -> Result<(), Clog1Error> {
        let end = end_record(self.time, Clog1Body::EndBlock);
        if self.block.len() + end.size() > self.layout.block_size {
            return Err(self.too_large(&end));
        }
        end.encode(self.layout, &mut self.block);
        self.close_block(&[])
    }

    fn too_large(&self, record: &Clog1Record) -> Clog1Error {
        let kind = Clog1ErrorKind::TooLarge {
            size: record.size(),
            block_size: self.layout.block_size,
        };
        Clog1Error::new(self.offset + self.block.len() as u64, kind)
    }

    /// Writes the block, its end filled with `rest` and zeros.
    fn close_block(&mut self, rest: &[u8]) -> Result<(), Clog1Error> {
        self.block.extend_from_slice(rest);
        self.block.resize(self.layout.block_size, 0);
        self.out
            .write_all(&self.block)
            .map_err(|error| Clog1Error::io(self.offset, error))?;
        self.offset += self.block.len() as u64;
        self.block.clear();
        Ok(())
    }
}

fn end_record(time: f64, body: Clog1Body) -> Clog1Record {
    let header = Clog1RecordHeader {
        time,
        ..Clog1RecordHeader::default()
    };
    Clog1Record { header, body }
}
