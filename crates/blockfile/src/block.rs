//! A block as bytes: appending records, and blocks made in memory.

use crate::define::Definition;
use crate::encode::RecordHead;
use crate::layout::{BLOCK_HEADER, BLOCK_MAGIC, BLOCK_SIZE, at};
use crate::record;

/// Bytes of a record with this many bytes after its head.
pub(crate) fn record_size(body: usize) -> usize {
    (record::HEAD + body).next_multiple_of(4)
}

/// Writes a record at byte `used` of a block, which holds zeros from there on. Gives the byte after it; `None` if the record
/// does not fit, or is too large for any block.
pub(crate) fn put_record(
    block: &mut [u8],
    used: usize,
    head: RecordHead,
    body: &[u8],
) -> Option<usize> {
    let size = record_size(body.len());
    u16::try_from(size / 4).ok()?;
    let place = block.get_mut(used..used + size)?;
    // SAFETY: `place` has at least the bytes of a head.
    unsafe { head.write(place.as_mut_ptr(), size) };
    place[record::HEAD..record::HEAD + body.len()].copy_from_slice(body);
    Some(used + size)
}

/// A block with these definitions, as thread 0 would have written it at time 0. Definitions for which there is no room are
/// left out.
pub fn definitions_block(definitions: &[Definition]) -> Vec<u8> {
    let mut block = vec![0; BLOCK_SIZE];
    let mut used = BLOCK_HEADER;
    for definition in definitions {
        let head = RecordHead {
            word: definition.number(),
            start: 0,
            duration: 0,
            call: 0,
        };
        used = put_record(&mut block, used, head, &definition.encode()).unwrap_or(used);
    }
    let committed = (used - BLOCK_HEADER) as u32;
    block[..4].copy_from_slice(&BLOCK_MAGIC.to_ne_bytes());
    block[at::B_COMMITTED..at::B_COMMITTED + 4].copy_from_slice(&committed.to_ne_bytes());
    block
}
