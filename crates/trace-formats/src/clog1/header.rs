//! Record headers out of bytes (`spec/clog1.md` section 6).

use super::record::{HEADER_SIZE, words};
use crate::clog2::Endian;

/// Numbers out of bytes.
pub(super) trait HeaderInts {
    fn get_int(&self, at: usize, endian: Endian) -> Option<i32>;
    fn get_double(&self, at: usize, endian: Endian) -> Option<f64>;
}

impl HeaderInts for [u8] {
    fn get_int(&self, at: usize, endian: Endian) -> Option<i32> {
        let bytes = *self.get(at..)?.first_chunk()?;
        Some(match endian {
            Endian::Big => i32::from_be_bytes(bytes),
            Endian::Little => i32::from_le_bytes(bytes),
        })
    }

    fn get_double(&self, at: usize, endian: Endian) -> Option<f64> {
        let bytes = *self.get(at..)?.first_chunk()?;
        Some(match endian {
            Endian::Big => f64::from_be_bytes(bytes),
            Endian::Little => f64::from_le_bytes(bytes),
        })
    }
}

/// A record header as it stands in a file.
#[derive(Clone, Copy, Debug)]
pub(super) struct RawHeader {
    pub(super) time: f64,
    pub(super) rectype: i32,
    /// Whole record, in units of 8 bytes.
    pub(super) length: i32,
    pub(super) rank: i32,
}

impl RawHeader {
    /// Bytes of the record; at least those of a header.
    pub(super) fn size(&self) -> usize {
        usize::try_from(self.length)
            .unwrap_or(0)
            .saturating_mul(8)
            .max(HEADER_SIZE)
    }

    /// Whether this may be a header: a known type with its length, a time and a rank that can be.
    pub(super) fn is_plausible(&self, max_rank: i32, max_time: f64) -> bool {
        words(self.rectype) == Some(self.length)
            && (0..max_rank).contains(&self.rank)
            && self.time.is_finite()
            && self.time.abs() <= max_time
    }
}

/// The header at the front of these bytes, if there are enough.
pub(super) fn peek(bytes: &[u8], endian: Endian) -> Option<RawHeader> {
    let header = bytes.get(..HEADER_SIZE)?;
    Some(RawHeader {
        time: header.get_double(0, endian)?,
        rectype: header.get_int(8, endian)?,
        length: header.get_int(12, endian)?,
        rank: header.get_int(16, endian)?,
    })
}
