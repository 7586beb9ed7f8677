//! The slow path of a call: what is read round it besides the time-stamp counter, and records that are not of the usual form,
//! those of calls that took long or failed, and of calls recorded for matching only.

use crate::call::counted;
use crate::call::filter;
use crate::call::matching_only;
use crate::call::modes;
use crate::counters;
use crate::platform::clock::{self, READS_CPU_TIME};
use crate::thread::records::{self, make_room, put_any};
use crate::thread::state::Thread;
use crate::thread::within::within;
use blockfile::define::{COUNTS, MATCHING_ONLY, MATCHING_ONLY_HEAD_BYTES};
use blockfile::encode::{EncodeCursor, RecordHead};
use blockfile::record;
use std::sync::atomic::Ordering::Relaxed;

/// Reads what the settings want before a call, and last the time. Ticks.
#[cold]
pub fn start(t: &mut Thread) -> u64 {
    records::keep_to_own_memory(t);
    if READS_CPU_TIME.load(Relaxed) {
        t.cpu = clock::cpu();
    }
    if counters::is_on() {
        counted::before(t);
    }
    if filter::begins() {
        within(modes::set);
    }
    clock::now()
}

/// Reads the time after a call, and then what the settings want. Ticks.
#[cold]
pub fn stop(t: &mut Thread) -> u64 {
    let now = clock::now();
    records::keep_to_own_memory(t);
    if counters::is_on() {
        counted::after(t);
    }
    now
}

/// Begins a record for which there is no room in the block, or whose head is not the usual one: of a call that took long or
/// failed, or that has CPU times. Gives the place for the arguments.
#[cold]
#[inline(never)]
pub fn begin(t: &mut Thread, call: SlowCall) -> *mut u8 {
    records::keep_to_own_memory(t);
    let number = t.next_call - 1;
    if std::mem::take(&mut t.for_matching_only) {
        return begin_for_matching(t, &call);
    }
    if let Some(payload) = counted::payload(t) {
        put_in_front(t, COUNTS, &call, &payload);
    }
    let at = make_room(t, call.total, call.start, number);
    let mut word = call.word;
    let mut duration = call.duration as u32;
    // SAFETY: make_room gave room for a head with everything, and the arguments.
    unsafe {
        let mut args = EncodeCursor::new(at.add(record::HEAD));
        if call.duration > u64::from(u32::MAX) {
            word |= record::LONG;
            duration = 0;
            args.i64(call.duration as i64);
        }
        if call.code != 0 {
            word |= record::ERROR;
            args.i32(call.code);
        }
        if READS_CPU_TIME.load(Relaxed) {
            word |= record::CPU;
            args.i64(t.cpu as i64);
            args.i64(clock::cpu() as i64);
        }
        RecordHead {
            word,
            start: call.start.wrapping_sub(t.time_base) as u32,
            duration,
            call: number.wrapping_sub(t.call_base) as u32,
        }
        .write(at, record::HEAD);
        args.position()
    }
}

/// Begins the record of a call that is recorded for matching only: what its own record would be stands in the payload of another
/// one. Gives the place for the arguments.
fn begin_for_matching(t: &mut Thread, call: &SlowCall) -> *mut u8 {
    let number = t.next_call - 1;
    matching_only::uses(call.total + MATCHING_ONLY_HEAD_BYTES);
    let at = make_room(t, call.total + MATCHING_ONLY_HEAD_BYTES, call.start, number);
    let long = call.duration > u64::from(u32::MAX);
    // SAFETY: make_room gave room for a head with everything, and the arguments.
    unsafe {
        let mut args = EncodeCursor::new(at.add(record::HEAD));
        if long {
            args.i64(call.duration as i64);
        }
        args.u32(call.word.into());
        args.i32(call.code);
        RecordHead {
            word: if long {
                MATCHING_ONLY | record::LONG
            } else {
                MATCHING_ONLY
            },
            start: call.start.wrapping_sub(t.time_base) as u32,
            duration: if long { 0 } else { call.duration as u32 },
            call: number.wrapping_sub(t.call_base) as u32,
        }
        .write(at, record::HEAD);
        args.position()
    }
}

/// Writes a record that belongs to the one of a call that follows.
fn put_in_front(t: &mut Thread, word: u16, call: &SlowCall, payload: &[u8]) {
    let number = t.next_call - 1;
    make_room(t, record::HEAD + payload.len() + 4, call.start, number);
    let head = RecordHead {
        word,
        start: 0,
        duration: 0,
        call: number.wrapping_sub(t.call_base) as u32,
    };
    put_any(t, head, call.start, 0, payload);
}

/// A call whose record is begun on the slow path.
pub struct SlowCall {
    /// Function number and flags.
    pub word: u16,
    /// Start, ticks.
    pub start: u64,
    /// Duration, ticks.
    pub duration: u64,
    /// Return value of the MPI function.
    pub code: i32,
    /// Most bytes of the record.
    pub total: usize,
}
