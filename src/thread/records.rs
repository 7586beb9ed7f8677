//! Records in a thread's block: room for them, a new block when it is full, and those that are larger than a block. All of it is
//! off the hot path, which is in [`crate::call`].

use crate::blocks::{Block, BlockStore, memory};
use crate::platform::cancellation::CancellationPutOff;
use crate::platform::clock;
use crate::thread::callids;
use crate::thread::state::Thread;
use crate::thread::wiped::{is_alone, is_wiped};
use crate::thread::within::BusyGuard;
use blockfile::args::ByteCursor;
use blockfile::define::{
    Definition, ENTER, FRAGMENT, SkippedPolls, TIME_BASE, USER_EVENT, is_lasting,
};
use blockfile::encode::RecordHead;
use blockfile::layout::{BLOCK_HEADER, BLOCK_MAGIC, BLOCK_SIZE, BlockHeader};
use blockfile::record::{self, RecordBase};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// CallIDs that a thread reserves at a time.
const CALLIDS_RESERVED: u64 = 1024;
/// Room at the end of a block for the records that set new bases.
const BASE_RECORD: usize = record::HEAD + 16;

/// The call that a thread is in, as it stands in its block's header: function + 1 or 0, start, number.
type HeaderCall = (u32, u64, u64);

/// Sets up the header of the block that `t` has just taken: times in it count from `now`, CallIDs from `call`, and `open` is
/// the call that is running.
pub fn begin_block(t: &mut Thread, now: u64, call: u64, open: HeaderCall) {
    t.at = t.block.start();
    t.end = t.block.end();
    t.time_base = now;
    t.call_base = call;
    // SAFETY: the block is this thread's own; readers look at it only once its magic is there.
    unsafe {
        let header = t.block.header();
        // The block may have been in use before; until it is set up, readers must pass it over.
        (*header).magic.withdraw();
        (*header).thread = t.number;
        (*header).sequence = t.sequence;
        (*header).time_base = t.time_base;
        (*header).call_base = t.call_base;
        (*header).tid = t.tid;
        (*header).committed.publish(0);
        // With the block, so that at no moment a killed process seems to have been in no call.
        (*header).open_call.store(open.2, Relaxed);
        (*header).open_start.store(open.1, Relaxed);
        // Whom a call waits for that goes on in this block is not known.
        (*header).open_comm.store(0, Relaxed);
        (*header).open_request_count.store(0, Relaxed);
        (*header).open_tells.store(0, Relaxed);
        (*header).open_function.store(open.0, Relaxed);
        (*header).calls.store(0, Relaxed);
        (*header).magic.publish(BLOCK_MAGIC);
    }
    t.sequence += 1;
}

/// Gives `t` the next numbers for CallIDs.
#[cold]
pub fn reserve_calls(t: &mut Thread) {
    t.next_call = callids::next_calls(CALLIDS_RESERVED);
    t.call_limit = t.next_call + CALLIDS_RESERVED;
    t.reserved += CALLIDS_RESERVED;
    if t.next_call.wrapping_sub(t.call_base) > u64::from(u32::MAX / 2) && t.sequence > 0 {
        set_base(t, t.time_base, t.next_call);
    }
}

/// Changes to a new block.
fn change_block(t: &mut Thread, now: u64, call: u64) {
    let _whole = CancellationPutOff::new();
    let _busy = BusyGuard::new(t);
    if !is_alone() {
        // Nobody will read it, and what the file has room for is the parent's.
        use_own_memory(t, now, call);
        return;
    }
    // SAFETY: the thread's own block. A call that is still running goes on in the next one; that it stands in this one, too,
    // misleads nobody, as only a thread's last block counts.
    let open = unsafe {
        let header = &*t.block.header();
        (
            header.open_function.load(Relaxed),
            header.open_start.load(Relaxed),
            header.open_call.load(Relaxed),
        )
    };
    if t.discarding {
        count_lost(t);
    }
    // Before the old one is given back, because what takes a block may make system calls, and who intercepts them may ask for
    // the running call, which stands in the thread's block.
    let next = t.store.take();
    if !t.discarding {
        if next.is_none() {
            // The last block that will be found of this thread: what it does from now on nobody learns.
            // SAFETY: the thread's own block.
            unsafe { (*t.block.header()).open_function.store(0, Relaxed) };
        }
        t.store.put_full(t.block);
    }
    t.discarding = next.is_none();
    if t.discarding {
        let is_open = open.0 != 0;
        lost_from(t.store, if is_open { open.1.min(now) } else { now });
    }
    t.block = next.unwrap_or_else(|| private_block(t));
    // A definition has the number of the next call, and the record of the running one may follow it.
    begin_block(t, now, call.min(t.next_call.saturating_sub(1)), open);
}

/// Where nobody looks for the call that a thread of a forked child is in.
static UNSEEN: AtomicU64 = AtomicU64::new(0);

/// Has `t` write to memory of its own from here on if this is a forked child: its block is its parent's. No record may be half written.
pub fn keep_to_own_memory(t: &mut Thread) {
    if is_wiped() {
        leave_file(t);
    }
}

/// Has `t`, a thread of a forked child, write to memory of its own from here on, if it does not yet.
#[cold]
pub fn leave_file(t: &mut Thread) {
    if !std::ptr::eq(t.seen, &UNSEEN) {
        t.seen = &UNSEEN;
        use_own_memory(t, t.time_base, t.next_call.saturating_sub(1));
    }
}

/// Has `t` begin its private block.
fn use_own_memory(t: &mut Thread, now: u64, call: u64) {
    t.seen = &UNSEEN;
    t.discarding = true;
    t.block = private_block(t);
    begin_block(t, now, call, (0, 0, 0));
}

/// Memory of the thread's own to write to when the file cannot grow; what is in it is lost.
pub fn private_block(t: &mut Thread) -> Block {
    *t.private.get_or_insert_with(|| {
        let memory = memory(BLOCK_SIZE).unwrap_or_else(|| {
            let memory: Box<[u64]> = vec![0; BLOCK_SIZE / 8].into_boxed_slice();
            NonNull::from(Box::leak(memory)).cast()
        });
        Block::at(memory.cast::<BlockHeader>())
    })
}

/// Notes in the header of the file that records may be missing from this time on, or from before: which messages belong together
/// is not told by their order then.
pub fn lost_from(store: &BlockStore, time: u64) {
    let is_earlier = |since: u64| (since == 0 || time < since).then_some(time.max(1));
    let since = &store.header().lost_since;
    // It fails where an earlier time stands there.
    let _ = since.fetch_update(Relaxed, Relaxed, is_earlier);
}

/// Counts the records of the private block as lost.
pub fn count_lost(t: &mut Thread) {
    let used = t.at as usize - t.block.start() as usize;
    // SAFETY: the part of the thread's own block that has been written.
    let bytes = unsafe { std::slice::from_raw_parts(t.block.start(), used) };
    let lost: u64 = record::Records::new(bytes, record::RecordBase::default())
        .map(|r| match SkippedPolls::of(&r) {
            Some(skipped) => skipped.calls,
            None => {
                let counts = !r.is_definition()
                    || matches!(r.function, USER_EVENT | ENTER)
                    || is_last_part(&r);
                u64::from(counts)
            }
        })
        .sum();
    t.store.header().lost.fetch_add(lost, Relaxed);
}

/// Whether this ends a record that is larger than a block.
fn is_last_part(r: &record::Record<'_>) -> bool {
    let b = &mut ByteCursor::new(r.payload);
    let (total, offset) = (b.u32().unwrap_or(0), b.u32().unwrap_or(0));
    r.function == FRAGMENT && offset as usize + b.rest().len() >= total as usize
}

/// Makes room for a record of at most `total` bytes of call `call` that started at `start`. Gives the place for it: in the
/// thread's block, or in its buffer for large records.
pub fn make_room(t: &mut Thread, total: usize, start: u64, call: u64) -> *mut u8 {
    let free = |t: &Thread| t.end as usize - t.at as usize;
    if total + BASE_RECORD > free(t) && total + BASE_RECORD <= BLOCK_SIZE - BLOCK_HEADER {
        change_block(t, start, call);
    }
    if start.wrapping_sub(t.time_base) > u64::from(u32::MAX) {
        if free(t) < 2 * BASE_RECORD {
            change_block(t, start, call);
        } else {
            set_base(t, start, call);
        }
    }
    if total <= free(t) {
        return t.at;
    }
    t.large.clear();
    t.large.resize(total, 0);
    t.large.as_mut_ptr()
}

/// Writes a record that sets new bases. There must be room for it.
fn set_base(t: &mut Thread, time: u64, call: u64) {
    // As in change_block.
    let call = call.min(t.next_call.saturating_sub(1));
    let mut payload = [0; 16];
    payload[..8].copy_from_slice(&time.to_ne_bytes());
    payload[8..].copy_from_slice(&call.to_ne_bytes());
    if (t.end as usize - t.at as usize) < BASE_RECORD {
        change_block(t, time, call);
        return;
    }
    let head = RecordHead {
        word: TIME_BASE,
        start: 0,
        duration: 0,
        call: 0,
    };
    put(t, head, &payload);
    t.time_base = time;
    t.call_base = call;
}

/// Appends a record for which there is room.
fn put(t: &mut Thread, head: RecordHead, payload: &[u8]) {
    let size = (record::HEAD + payload.len()).next_multiple_of(4);
    // SAFETY: the caller has made sure of the room; the block is this thread's own.
    unsafe {
        head.write(t.at, size);
        std::ptr::copy_nonoverlapping(payload.as_ptr(), t.at.add(record::HEAD), payload.len());
        t.at = t.at.add(size);
        let committed = t.at as usize - t.block.start() as usize;
        (*t.block.header()).committed.publish(committed as u32);
    }
}

/// Appends a definition of time `time`, for which there is room.
pub fn put_at(t: &mut Thread, number: u16, payload: &[u8], time: u64) {
    let head = RecordHead {
        word: number,
        start: time.wrapping_sub(t.time_base) as u32,
        duration: 0,
        call: 0,
    };
    put(t, head, payload);
}

/// Takes back all records from `at` on.
pub fn truncate(t: &mut Thread, at: *mut u8) {
    t.at = at;
    let committed = at as usize - t.block.start() as usize;
    // SAFETY: the thread's own block.
    unsafe { (*t.block.header()).committed.publish(committed as u32) };
}

/// Appends a record of any size, in parts if need be. `word` holds function and flags.
pub fn put_any(t: &mut Thread, mut head: RecordHead, time: u64, code: i32, payload: &[u8]) {
    let call = t.call_base + u64::from(head.call);
    let room = BLOCK_SIZE - BLOCK_HEADER - 2 * record::HEAD - record::HEAD_EXTRA - 64;
    let place = |t: &mut Thread, head: &mut RecordHead, bytes: usize| {
        if (t.end as usize - t.at as usize) < bytes + record::HEAD + 8 {
            change_block(t, time, call);
        }
        head.start = time.wrapping_sub(t.time_base) as u32;
        head.call = call.wrapping_sub(t.call_base) as u32;
    };
    let lasting = is_lasting(head.word & record::FUNCTION) && is_alone();
    if payload.len() <= room && code == 0 {
        place(t, &mut head, payload.len());
        put(t, head, payload);
        if lasting {
            t.store.pin(t.number, t.sequence - 1, head.word, payload);
        }
        return;
    }
    let mut whole = Vec::with_capacity(payload.len() + 6);
    whole.extend_from_slice(&head.word.to_ne_bytes());
    whole.extend_from_slice(&code.to_ne_bytes());
    whole.extend_from_slice(payload);
    let total = whole.len() as u32;
    head.word = FRAGMENT;
    for (i, part) in whole.chunks(room).enumerate() {
        let mut fragment = Vec::with_capacity(part.len() + 8);
        fragment.extend_from_slice(&total.to_ne_bytes());
        fragment.extend_from_slice(&((i * room) as u32).to_ne_bytes());
        fragment.extend_from_slice(part);
        place(t, &mut head, fragment.len());
        put(t, head, &fragment);
        if lasting {
            t.store.pin(t.number, t.sequence - 1, head.word, &fragment);
        }
    }
}

/// Publishes the record that stands in the buffer for large ones up to `end`.
#[cold]
pub fn publish_large(t: &mut Thread, end: *const u8) {
    let large = std::mem::take(&mut t.large);
    let used = end as usize - large.as_ptr() as usize;
    let base = RecordBase {
        time: t.time_base,
        call: t.call_base,
    };
    let Some(record) = record::decode_whole(large.get(..used).unwrap_or_default(), base) else {
        return;
    };
    let head = RecordHead {
        word: record.function | if record.in_place { record::IN_PLACE } else { 0 },
        start: 0,
        // Durations beyond 32 bits and CPU times of such giant records are given up.
        duration: u32::try_from(record.duration).unwrap_or(u32::MAX),
        call: record.call.wrapping_sub(t.call_base) as u32,
    };
    put_any(t, head, record.start, record.code, record.payload);
}

/// Writes a definition into the thread's block.
pub fn put_definition(t: &mut Thread, definition: &Definition) {
    put_encoded(t, definition.number(), &definition.encode(), clock::now());
}

/// Writes a definition that stands in memory already, of time `time`.
pub fn put_encoded(t: &mut Thread, number: u16, payload: &[u8], time: u64) {
    let _busy = BusyGuard::new(t);
    if time.wrapping_sub(t.time_base) > u64::from(u32::MAX) {
        make_room(t, record::HEAD, time, t.next_call);
    }
    let head = RecordHead {
        word: number,
        start: 0,
        duration: 0,
        call: t.next_call.wrapping_sub(t.call_base) as u32,
    };
    put_any(t, head, time, 0, payload);
}

/// Writes a definition that stands for a moment of the run: its time is exact, and it has the CPU time where calls
/// have it. It must not be larger than a block.
pub fn put_moment(t: &mut Thread, definition: &Definition) {
    let _busy = BusyGuard::new(t);
    let now = clock::now();
    let mut word = definition.number();
    let mut payload = Vec::new();
    if clock::READS_CPU_TIME.load(Relaxed) {
        word |= record::CPU;
        payload.extend_from_slice(&clock::cpu().to_ne_bytes().repeat(2));
    }
    payload.extend_from_slice(&definition.encode());
    make_room(t, record::HEAD + payload.len() + 4, now, t.next_call);
    let head = RecordHead {
        word,
        start: 0,
        duration: 0,
        call: t.next_call.wrapping_sub(t.call_base) as u32,
    };
    put_any(t, head, now, 0, &payload);
}
