//! Walks over big-endian numbers in a part of a file.

use super::error::{Slog1Error, Slog1ErrorKind};

/// A place in a file, and what is being read there.
#[derive(Clone, Copy, Debug)]
pub(super) struct Slog1Cursor<'a> {
    rest: &'a [u8],
    offset: u64,
    what: &'static str,
}

impl<'a> Slog1Cursor<'a> {
    /// Reads `file` from this offset on; behind its end nothing is left.
    pub(super) fn new(file: &'a [u8], offset: u64, what: &'static str) -> Self {
        let rest = usize::try_from(offset).ok().and_then(|at| file.get(at..));
        Slog1Cursor {
            rest: rest.unwrap_or_default(),
            offset,
            what,
        }
    }

    /// Reads these bytes, which stand at this offset of a file.
    pub(super) fn over(rest: &'a [u8], offset: u64, what: &'static str) -> Self {
        Slog1Cursor { rest, offset, what }
    }

    /// Offset of the next byte, from the start of the file.
    pub(super) fn offset(&self) -> u64 {
        self.offset
    }

    pub(super) fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    /// Fails unless there are this many bytes.
    pub(super) fn need(&self, expected: u64) -> Result<(), Slog1Error> {
        let found = self.rest.len() as u64;
        if found >= expected {
            return Ok(());
        }
        let what = self.what;
        let kind = Slog1ErrorKind::Truncated {
            what,
            expected,
            found,
        };
        Err(Slog1Error::new(self.offset, kind))
    }

    /// The next `size` bytes.
    pub(super) fn take(&mut self, size: usize) -> Result<&'a [u8], Slog1Error> {
        self.need(size as u64)?;
        let (part, rest) = self.rest.split_at(size);
        self.rest = rest;
        self.offset += size as u64;
        Ok(part)
    }

    /// All bytes that are left.
    pub(super) fn rest(self) -> &'a [u8] {
        self.rest
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], Slog1Error> {
        let bytes = self.take(N)?;
        Ok(bytes.first_chunk().copied().unwrap_or([0; N]))
    }

    pub(super) fn u8(&mut self) -> Result<u8, Slog1Error> {
        self.array().map(|[byte]| byte)
    }

    pub(super) fn u16(&mut self) -> Result<u16, Slog1Error> {
        self.array().map(u16::from_be_bytes)
    }

    pub(super) fn u32(&mut self) -> Result<u32, Slog1Error> {
        self.array().map(u32::from_be_bytes)
    }

    pub(super) fn u64(&mut self) -> Result<u64, Slog1Error> {
        self.array().map(u64::from_be_bytes)
    }

    pub(super) fn f64(&mut self) -> Result<f64, Slog1Error> {
        self.array().map(f64::from_be_bytes)
    }
}
