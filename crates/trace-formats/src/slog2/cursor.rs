//! Takes big-endian values from a part of a file, one after the other.

use super::error::{Slog2Error, Slog2ErrorKind};
use super::types::{FileBlockPtr, TreeNodeId};
use trace_model::{Text, TimeBBox};

/// A place in a part of a file. Every error names the byte offset in the whole file.
#[derive(Clone, Debug)]
pub(super) struct Slog2Cursor<'a> {
    part: &'a [u8],
    at: usize,
    /// Offset of the part in the file.
    base: u64,
}

impl<'a> Slog2Cursor<'a> {
    pub(super) fn new(part: &'a [u8], base: u64) -> Self {
        Slog2Cursor { part, at: 0, base }
    }

    /// Offset in the file of the next byte.
    pub(super) fn offset(&self) -> u64 {
        self.base + self.at as u64
    }

    pub(super) fn left(&self) -> usize {
        self.part.len() - self.at
    }

    /// The bytes that are left.
    #[inline]
    pub(super) fn rest(&self) -> &'a [u8] {
        &self.part[self.at..]
    }

    /// Goes on behind so many of them, at most all.
    #[inline]
    pub(super) fn skip(&mut self, count: usize) {
        self.at += count.min(self.part.len() - self.at);
    }

    pub(super) fn error(&self, kind: Slog2ErrorKind) -> Slog2Error {
        Slog2Error::new(self.offset(), kind)
    }

    #[inline]
    pub(super) fn bytes(
        &mut self,
        count: usize,
        what: &'static str,
    ) -> Result<&'a [u8], Slog2Error> {
        let rest = &self.part[self.at..];
        let Some(bytes) = rest.get(..count) else {
            return Err(self.error(Slog2ErrorKind::Truncated {
                what,
                expected: count as u64,
                found: rest.len() as u64,
            }));
        };
        self.at += count;
        Ok(bytes)
    }

    #[inline]
    fn array<const N: usize>(&mut self, what: &'static str) -> Result<[u8; N], Slog2Error> {
        let mut array = [0; N];
        array.copy_from_slice(self.bytes(N, what)?);
        Ok(array)
    }

    pub(super) fn u8(&mut self, what: &'static str) -> Result<u8, Slog2Error> {
        Ok(self.array::<1>(what)?[0])
    }

    pub(super) fn i16(&mut self, what: &'static str) -> Result<i16, Slog2Error> {
        self.array(what).map(i16::from_be_bytes)
    }

    pub(super) fn i32(&mut self, what: &'static str) -> Result<i32, Slog2Error> {
        self.array(what).map(i32::from_be_bytes)
    }

    pub(super) fn i64(&mut self, what: &'static str) -> Result<i64, Slog2Error> {
        self.array(what).map(i64::from_be_bytes)
    }

    pub(super) fn f32(&mut self, what: &'static str) -> Result<f32, Slog2Error> {
        self.array(what).map(f32::from_be_bytes)
    }

    pub(super) fn f64(&mut self, what: &'static str) -> Result<f64, Slog2Error> {
        self.array(what).map(f64::from_be_bytes)
    }

    /// A count of items that take `least` bytes each at least: never more than what is left can hold, so it is safe to
    /// reserve memory for that many.
    pub(super) fn count(&mut self, least: usize, what: &'static str) -> Result<usize, Slog2Error> {
        let found = self.i32(what)?;
        self.check_count(found, least, what)
    }

    /// Reads a count of 16 bits, and checks that the file has room for as many elements of at least `least` bytes.
    pub(super) fn short_count(
        &mut self,
        least: usize,
        what: &'static str,
    ) -> Result<usize, Slog2Error> {
        let found = self.i16(what)?;
        self.check_count(found.into(), least, what)
    }

    fn check_count(
        &self,
        found: i32,
        least: usize,
        what: &'static str,
    ) -> Result<usize, Slog2Error> {
        let Ok(count) = usize::try_from(found) else {
            return Err(self.error(Slog2ErrorKind::Count { what, found }));
        };
        if count > self.left() / least {
            return Err(self.error(Slog2ErrorKind::Truncated {
                what,
                expected: count as u64 * least as u64,
                found: self.left() as u64,
            }));
        }
        Ok(count)
    }

    /// A string's or an info's bytes; a length below 0 reads as 0, as in the original.
    pub(super) fn short_bytes(&mut self, what: &'static str) -> Result<&'a [u8], Slog2Error> {
        let length = self.i16(what)?;
        self.bytes(usize::try_from(length).unwrap_or(0), what)
    }

    pub(super) fn text(&mut self, what: &'static str) -> Result<Text, Slog2Error> {
        Ok(Text(self.short_bytes(what)?.to_vec()))
    }

    pub(super) fn file_block_ptr(
        &mut self,
        what: &'static str,
    ) -> Result<FileBlockPtr, Slog2Error> {
        Ok(FileBlockPtr {
            offset: self.i64(what)?,
            size: self.i32(what)?,
        })
    }

    pub(super) fn time_bbox(&mut self, what: &'static str) -> Result<TimeBBox, Slog2Error> {
        Ok(TimeBBox {
            earliest: self.f64(what)?,
            latest: self.f64(what)?,
        })
    }

    pub(super) fn node_id(&mut self, what: &'static str) -> Result<TreeNodeId, Slog2Error> {
        Ok(TreeNodeId {
            depth: self.i16(what)?,
            xpos: self.i32(what)?,
        })
    }

    /// Checks that nothing is left.
    pub(super) fn finish(&self, what: &'static str) -> Result<(), Slog2Error> {
        match self.left() {
            0 => Ok(()),
            left => {
                let left = left as u64;
                Err(self.error(Slog2ErrorKind::TrailingBytes { what, left }))
            }
        }
    }
}
