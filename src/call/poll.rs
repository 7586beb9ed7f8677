//! Polling: of a row of calls that bring nothing the first is kept and the last, and those between are counted.
//!
//! While nothing else is recorded on a thread, the record of its latest poll is the last one in the block. The next equal poll
//! takes it back and counts it in a SKIPPED record in front of it; then its own record is written, as that of any call. So
//! what stands in the block is right at any moment, also when the process is killed, and nothing need be done when a row ends:
//! whatever is recorded stands behind. Calls that take turns (a probe, a test, and again) are counted each for itself.

use crate::call::arg;
use crate::thread::polls::{MAX_POLL_TURNS, PollTurn};
use crate::thread::records;
use crate::thread::state::Thread;
use blockfile::define::{COUNTS, SKIPPED, SkippedPolls};
use blockfile::record::{self, RecordBase};
use std::ptr::null_mut;

/// Room that must be left for a record of the row: what is counted is taken back only if there is.
const ROOM_BYTES: usize = record::HEAD + SkippedPolls::SIZE + 4;

/// Key that distinguishes calls of the same function: a hash of the arguments (FNV-1a by words).
#[derive(Clone, Copy)]
pub struct PollKey(u64);

impl PollKey {
    /// Key of a call without arguments.
    #[inline(always)]
    pub fn new() -> PollKey {
        PollKey(0xcbf2_9ce4_8422_2325)
    }

    /// Adds a number to the key.
    #[inline(always)]
    pub fn number(self, n: i64) -> PollKey {
        let mixed = (self.0 ^ n as u64).wrapping_mul(0x0000_0100_0000_01b3);
        PollKey(mixed ^ mixed >> 29)
    }

    /// Adds a handle to the key.
    #[inline(always)]
    pub fn handle(self, bits: u64) -> PollKey {
        self.number(bits as i64)
    }

    /// Adds an array of `n` handles and its length to the key; `None` counts as 0.
    ///
    /// # Safety
    /// `handles` must be readable for `n` elements.
    pub unsafe fn handles<T: arg::HandleBits>(
        self,
        handles: *const T,
        n: Option<usize>,
    ) -> PollKey {
        let n = n.unwrap_or(0);
        // SAFETY: promised by the caller.
        let each = (0..n).map(|i| unsafe { handles.add(i).read_unaligned() }.bits());
        each.fold(self.number(n as i64), PollKey::handle)
    }
}

/// The thread has polled in vain: before its record is written, that of the poll before is taken back and counted, if they are
/// of one row.
#[cold]
#[inline(never)]
pub fn again(t: &mut Thread, index: u16, number: u16, PollKey(key): PollKey) {
    // SAFETY: within the thread's own block.
    let behind_latest = |poll: *const u8| poll.wrapping_add(unsafe { size_at(poll) });
    let is_latest = t.row.used > 0
        && t.row.sequence == t.sequence
        // SAFETY: as above; nothing is read behind the latest record.
        && behind_latest(unsafe { behind_counts(t.row.tail, t.at) }) == t.at;
    if !is_latest || (t.end as usize - t.at as usize) < ROOM_BYTES {
        t.row.used = 0;
    }
    let row = &t.row;
    let found = row.turns[..row.used]
        .iter()
        .position(|turn| turn.index == index && turn.key == key);
    match found {
        Some(turn) => {
            if row.counts {
                // SAFETY: the record of the latest poll is the last one of the thread's own block.
                unsafe { take_back(t) };
            }
            t.row.turn = turn;
            t.row.counts = true;
        }
        None => {
            let row = &mut t.row;
            if row.used == MAX_POLL_TURNS {
                row.used = 0;
            }
            row.turn = row.used;
            row.turns[row.used] = PollTurn {
                index,
                key,
                number,
                skipped: null_mut(),
            };
            row.used += 1;
            row.counts = false;
        }
    }
    t.row.tail = t.at;
    t.row.sequence = t.sequence;
}

/// Bytes of the record at `at`.
///
/// # Safety
/// There must be one, or at least room for one, or null.
unsafe fn size_at(at: *const u8) -> usize {
    if at.is_null() {
        return 0;
    }
    // SAFETY: promised by the caller.
    4 * usize::from(unsafe { at.add(2).cast::<u16>().read() })
}

/// The record of a poll whose records begin at `first`, and end before `end`: what its counters have counted stands in front of it.
///
/// # Safety
/// There must be a record at `first`, or null, and all records before `end` must be whole.
unsafe fn behind_counts(first: *mut u8, end: *const u8) -> *mut u8 {
    if first.is_null() || first.cast_const() >= end {
        return first;
    }
    // SAFETY: the word with the number of the function begins a record.
    let word = unsafe { first.cast::<u16>().read() };
    match word & record::FUNCTION == COUNTS {
        // SAFETY: promised by the caller.
        true => first.wrapping_add(unsafe { size_at(first) }),
        false => first,
    }
}

/// Takes the record of the latest poll back and counts it. What its counters have counted goes with it.
///
/// # Safety
/// The record of the latest poll must be the last one in the thread's block, and there must be [`ROOM_BYTES`] behind it.
unsafe fn take_back(t: &mut Thread) {
    let tail = t.row.tail;
    // SAFETY: promised by the caller.
    let bytes = unsafe {
        let poll = behind_counts(tail, t.at);
        std::slice::from_raw_parts(poll, t.at as usize - poll as usize)
    };
    let base = RecordBase {
        time: t.time_base,
        call: t.call_base,
    };
    let Some((poll, _)) = record::decode(bytes, base) else {
        return;
    };
    let (start, stop) = (poll.start, poll.stop());
    let turn = t.row.turns[t.row.turn];
    if turn.skipped.is_null() {
        records::truncate(t, tail);
        let skipped = SkippedPolls {
            function: turn.number,
            calls: 1,
            first: start,
            last: stop,
        };
        t.row.turns[t.row.turn].skipped = t.at;
        records::put_at(t, SKIPPED, &skipped.encode(), start);
    } else {
        // SAFETY: the SKIPPED record that this row has written into this block.
        unsafe { SkippedPolls::count(turn.skipped.add(record::HEAD), stop) };
        records::truncate(t, tail);
    }
}
