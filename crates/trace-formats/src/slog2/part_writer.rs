//! Writes the parts of an SLOG2 file one after the other: nodes, tables, and the header last.

use std::io::{Seek, SeekFrom, Write};

use super::encode;
use super::error::{Slog2Error, Slog2ErrorKind};
use super::types::{FileBlockPtr, Slog2Header};

/// The output of an SLOG2 file that is being written. It counts bytes, and notes the size of the largest part.
#[derive(Debug)]
pub(super) struct PartWriter<W> {
    out: W,
    /// Bytes written.
    position: u64,
    /// Bytes of the largest part.
    largest: usize,
}

impl<W: Write + Seek> PartWriter<W> {
    /// Starts a file at the beginning of `out`, which should be empty. `header` holds the room of the header, which
    /// [`PartWriter::finish`] writes.
    pub(super) fn new(out: W, header: &[u8]) -> Result<Self, Slog2Error> {
        let mut writer = PartWriter {
            out,
            position: 0,
            largest: 0,
        };
        writer.write(header)?;
        Ok(writer)
    }

    /// Number of bytes written so far, the offset of the next part.
    pub(super) fn position(&self) -> u64 {
        self.position
    }

    /// A pointer to the next part, which has `size` bytes.
    ///
    /// # Errors
    /// [`Slog2ErrorKind::TooLarge`] if the size does not fit in 31 bits.
    pub(super) fn next_pointer(
        &self,
        what: &'static str,
        size: usize,
    ) -> Result<FileBlockPtr, Slog2Error> {
        pointer(what, self.position, size)
    }

    /// Writes a part, and gives the pointer to it.
    pub(super) fn part(
        &mut self,
        what: &'static str,
        bytes: &[u8],
    ) -> Result<FileBlockPtr, Slog2Error> {
        let ptr = self.next_pointer(what, bytes.len())?;
        self.write(bytes)?;
        self.largest = self.largest.max(bytes.len());
        Ok(ptr)
    }

    /// Writes bytes that are no part and to which no pointer leads.
    pub(super) fn write(&mut self, bytes: &[u8]) -> Result<(), Slog2Error> {
        self.out
            .write_all(bytes)
            .map_err(|error| Slog2Error::io(self.position, error))?;
        self.position += bytes.len() as u64;
        Ok(())
    }

    /// Writes the header, with the size of the largest part, and gives the output and the header.
    pub(super) fn finish(
        mut self,
        mut header: Slog2Header,
    ) -> Result<(W, Slog2Header), Slog2Error> {
        // No part is larger than an i32 can tell, or it would not have been written.
        header.max_buffer_size = self.largest as i32;
        let mut write = || {
            self.out.seek(SeekFrom::Start(0))?;
            self.out.write_all(&encode::header(&header))?;
            self.out.flush()
        };
        write().map_err(|error| Slog2Error::io(0, error))?;
        Ok((self.out, header))
    }
}

/// A pointer to a part of `size` bytes at this offset.
///
/// # Errors
/// [`Slog2ErrorKind::TooLarge`] if the size does not fit in 31 bits.
pub(super) fn pointer(
    what: &'static str,
    offset: u64,
    size: usize,
) -> Result<FileBlockPtr, Slog2Error> {
    match i32::try_from(size) {
        Ok(size) => Ok(FileBlockPtr {
            offset: offset as i64,
            size,
        }),
        Err(_) => {
            let size = size as u64;
            let kind = Slog2ErrorKind::TooLarge { what, size };
            Err(Slog2Error::new(offset, kind))
        }
    }
}
