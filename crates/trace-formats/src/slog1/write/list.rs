//! Lists of encoded records, and the frames they go into.

use super::super::error::{Slog1Error, Slog1ErrorKind};
use super::super::types::FRAME_HEADER_SIZE;

/// Encoded records, one behind the other.
#[derive(Debug, Default)]
pub(super) struct EncodedRecords {
    bytes: Vec<u8>,
    count: u32,
}

impl EncodedRecords {
    pub(super) const fn new() -> Self {
        EncodedRecords {
            bytes: Vec::new(),
            count: 0,
        }
    }

    /// The records in these bytes.
    pub(super) fn of(bytes: &[u8], count: u32) -> Self {
        let bytes = bytes.to_vec();
        EncodedRecords { bytes, count }
    }

    /// Appends the record that `encode` writes.
    pub(super) fn push(&mut self, encode: impl FnOnce(&mut Vec<u8>)) {
        encode(&mut self.bytes);
        self.count += 1;
    }

    pub(super) fn copy(&mut self, record: &[u8]) {
        self.push(|bytes| bytes.extend_from_slice(record));
    }

    pub(super) fn append(&mut self, other: &EncodedRecords) {
        self.bytes.extend_from_slice(&other.bytes);
        self.count += other.count;
    }

    pub(super) fn clear(&mut self) {
        self.bytes.clear();
        self.count = 0;
    }

    pub(super) fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Bytes of all records.
    pub(super) fn size(&self) -> u64 {
        self.bytes.len() as u64
    }

    /// All records.
    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The records.
    pub(super) fn iter(&self) -> impl Iterator<Item = &[u8]> {
        let mut rest = self.bytes.as_slice();
        std::iter::from_fn(move || {
            let size = rest.first_chunk().copied().map(u16::from_be_bytes)?;
            let (record, behind) = rest.split_at_checked(size.into())?;
            rest = behind;
            // A record of no bytes would come again and again.
            (!record.is_empty()).then_some(record)
        })
    }

    /// The smallest start.
    pub(super) fn earliest(&self) -> f64 {
        self.iter().map(start).fold(f64::INFINITY, f64::min)
    }

    /// The largest end.
    pub(super) fn latest(&self) -> f64 {
        self.iter().map(end).fold(f64::NEG_INFINITY, f64::max)
    }

    /// The start of the last record.
    pub(super) fn last_start(&self) -> f64 {
        self.iter().last().map_or(-1.0, start)
    }

    /// The end of the last record.
    pub(super) fn last_end(&self) -> f64 {
        self.iter().last().map_or(-1.0, end)
    }
}

/// Start of an encoded record, in seconds.
pub(super) fn start(record: &[u8]) -> f64 {
    number(record, 7)
}

/// End of an encoded record, in seconds.
pub(super) fn end(record: &[u8]) -> f64 {
    start(record) + number(record, 15)
}

fn number(record: &[u8], at: usize) -> f64 {
    let bytes = record.get(at..).and_then(|rest| rest.first_chunk());
    f64::from_be_bytes(bytes.copied().unwrap_or_default())
}

/// Puts the frame of these sectors at the front of `buffer`, and gives the bytes it takes.
pub(super) fn fill(
    buffer: &mut Vec<u8>,
    offset: u64,
    size: u32,
    sectors: &[&EncodedRecords; 4],
) -> Result<usize, Slog1Error> {
    let needed = FRAME_HEADER_SIZE as u64 + sectors.iter().map(|list| list.size()).sum::<u64>();
    if needed > u64::from(size) {
        return Err(Slog1Error::new(
            offset,
            Slog1ErrorKind::FrameFull { needed, size },
        ));
    }
    let needed = needed as usize;
    if buffer.len() < needed {
        buffer.resize(needed, 0);
    }
    let mut rest = buffer.as_mut_slice();
    let mut put = |bytes: &[u8]| {
        let (to, behind) = std::mem::take(&mut rest).split_at_mut(bytes.len());
        to.copy_from_slice(bytes);
        rest = behind;
    };
    for list in sectors {
        put(&(list.size() as u32).to_be_bytes());
        put(&list.count.to_be_bytes());
    }
    for list in sectors {
        put(&list.bytes);
    }
    Ok(needed)
}
