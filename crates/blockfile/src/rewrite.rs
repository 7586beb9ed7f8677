//! Writing a block file that was read: all of it, byte by byte, or without some of its records.
//!
//! Records count times and CallIDs from their block's bases, so they stay in their blocks; what is left out leaves the block
//! shorter. Definitions always stay: the records behind them cannot be read without.

use crate::define;
use crate::layout::{BLOCK_HEADER, BLOCK_MAGIC, BLOCK_SIZE, at};
use crate::record::{self, Record, RecordBase, Records, u32_at, u64_at};
use std::collections::HashMap;
use std::io::{self, Write};

/// Writes the block file `bytes` to `out`, without the calls that `keep` does not want. It is asked for each call with the
/// number of its thread; of a call larger than a block it sees the arguments that stand in the first part. Gives the number
/// of calls left out.
///
/// Damaged blocks are written as they are.
///
/// # Errors
/// When `out` fails.
pub fn rewrite(
    bytes: &[u8],
    out: &mut impl Write,
    mut keep: impl FnMut(u32, &Record<'_>) -> bool,
) -> io::Result<u64> {
    let (header, body) = bytes.split_at(bytes.len().min(BLOCK_SIZE));
    out.write_all(header)?;
    let mut dropped = 0;
    // By thread, whether the rest of a call in parts is left out. Blocks of a thread stand in their order unless the file
    // was made by a process that died; parts of a call then share the fate of the first one met.
    let mut dropping: HashMap<u32, bool> = HashMap::new();
    let mut block = Vec::with_capacity(BLOCK_SIZE);
    for found in body.chunks(BLOCK_SIZE) {
        if found.len() < BLOCK_SIZE || u32_at(found, 0) != Some(BLOCK_MAGIC) {
            out.write_all(found)?;
            continue;
        }
        let thread = u32_at(found, at::B_THREAD).unwrap_or(0);
        let dropping = dropping.entry(thread).or_default();
        block.clear();
        block.extend_from_slice(&found[..BLOCK_HEADER]);
        let committed = u32_at(found, at::B_COMMITTED).unwrap_or(0) as usize;
        let records = &found[BLOCK_HEADER..BLOCK_HEADER + committed.min(BLOCK_SIZE - BLOCK_HEADER)];
        let base = RecordBase {
            time: u64_at(found, at::B_TIME_BASE).unwrap_or(0),
            call: u64_at(found, at::B_CALL_BASE).unwrap_or(0),
        };
        let mut walk = Records::new(records, base);
        let mut from = 0;
        let mut left_out = 0;
        let mut is_whole = true;
        while let Some(found) = walk.next() {
            let to = walk.position();
            if wanted(&found, dropping, &mut left_out, &mut |record| {
                keep(thread, record)
            }) {
                block.extend_from_slice(&records[from..to]);
                from = to;
                continue;
            }
            is_whole = false;
            if let Some(bases) = bases(&records[from..to]) {
                // New bases in front of a record left out are those of the records behind it.
                block.extend_from_slice(bases);
            }
            from = to;
        }
        if is_whole || walk.position() != records.len() {
            out.write_all(found)?;
            continue;
        }
        dropped += left_out;
        let kept = (block.len() - BLOCK_HEADER) as u32;
        block.resize(BLOCK_SIZE, 0);
        block[at::B_COMMITTED..at::B_COMMITTED + 4].copy_from_slice(&kept.to_ne_bytes());
        out.write_all(&block)?;
    }
    Ok(dropped)
}

fn wanted(
    found: &Record<'_>,
    dropping: &mut bool,
    left_out: &mut u64,
    keep: &mut dyn FnMut(&Record<'_>) -> bool,
) -> bool {
    if found.function != define::FRAGMENT {
        let wanted = !found.is_call() || keep(found);
        *left_out += u64::from(!wanted);
        return wanted;
    }
    if u32_at(found.payload, 4) == Some(0) {
        // The first part: function and flags, return code, then arguments.
        let word = record::u16_at(found.payload, 8).unwrap_or(record::FIRST_DEFINITION);
        let call = Record {
            function: word & record::FUNCTION,
            in_place: word & record::IN_PLACE != 0,
            code: u32_at(found.payload, 10).unwrap_or(0) as i32,
            payload: found.payload.get(14..).unwrap_or_default(),
            ..*found
        };
        *dropping = !call.is_definition() && !keep(&call);
        *left_out += u64::from(*dropping);
    }
    !*dropping
}

/// The records that set new bases at the start of `bytes`, if there are any.
fn bases(bytes: &[u8]) -> Option<&[u8]> {
    let mut end = 0;
    while let Some((found, size)) = record::decode(bytes.get(end..)?, RecordBase::default()) {
        if found.function != define::TIME_BASE || size == 0 {
            break;
        }
        end += size;
    }
    bytes.get(..end).filter(|bases| !bases.is_empty())
}
