//! The program's own events, written into the running thread's block like calls: regions, markers and texts of
//! `trace.h` ([`names`]), and the events of MPE's API ([`crate::api::mpe`]).
//!
//! An event takes no lock, no memory and no system call (but when a block is full), and may come from a signal handler: while
//! a record is half written on the thread, it is left out and counted.

pub mod names;

use crate::call::modes;
use crate::lifecycle::open;
use crate::platform::clock;
use crate::platform::errno::errno;
use crate::platform::errno::set_errno;
use crate::thread::current;
use crate::thread::records;
use crate::thread::state::Thread;
use crate::thread::wiped::is_alone;
use crate::thread::within::BusyGuard;
use crate::thread::within::inside;
use blockfile::define::USER_EVENT;
use blockfile::encode::{EncodeCursor, RecordHead, SLACK};
use blockfile::record::{CPU, HEAD, HEAD_EXTRA};
use blockfile::user::{COMM, INSIDE};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Longest text that is kept, bytes.
pub const MAX_TEXT_BYTES: usize = 4000;
/// Bytes of a record in front of its data: what, number, handle.
const FIXED_BYTES: usize = 16;

/// Events that came while the recorder was busy on their thread.
static INTERRUPTING: AtomicU64 = AtomicU64::new(0);

/// Events that should have been recorded and were not: how many, and why.
pub fn left_out() -> [(u64, &'static str); 2] {
    [
        (
            INTERRUPTING.load(Relaxed),
            "regions and events of signal handlers that interrupted the recorder",
        ),
        (
            names::beyond(),
            "regions and markers beyond the number of names that there is room for",
        ),
    ]
}

/// The running thread, if it may record an event now.
#[inline(always)]
fn ready() -> Option<*mut Thread> {
    if !modes::wanted() {
        return None;
    }
    let mut t = current();
    if t.is_null() {
        t = first_event()?;
    }
    // SAFETY: the state of the running thread.
    if unsafe { (*t).busy } != 0 {
        INTERRUPTING.fetch_add(1, Relaxed);
        return None;
    }
    is_alone().then_some(t)
}

/// Makes the thread's state, at its first event.
#[cold]
fn first_event() -> Option<*mut Thread> {
    if inside() {
        return None;
    }
    let t = open::start_thread();
    (!t.is_null()).then_some(t)
}

/// Writes an event: `word` is what it is, with the flags of what `put` writes behind its number, which are at most `most`
/// bytes.
#[inline(always)]
pub fn event(
    word: u32,
    number: i32,
    comm: Option<u64>,
    most: usize,
    put: impl FnOnce(&mut EncodeCursor),
) {
    let Some(t) = ready() else { return };
    // SAFETY: the state of the running thread, which nobody else writes; the guard holds off signal handlers.
    unsafe { write(&mut *t, word, number, comm, most, put) }
}

/// As [`event`], of a name that other events may have defined already.
#[inline(always)]
pub fn named(word: u32, name: names::EventName, most: usize, put: impl FnOnce(&mut EncodeCursor)) {
    let Some(t) = ready() else { return };
    // SAFETY: as above.
    unsafe {
        if !name.is_defined() {
            name.define(&mut *t);
        }
        write(&mut *t, word, name.number(), None, most, put);
    }
}

/// # Safety
/// `t` is the running thread's state, and `put` writes no more than `most` bytes.
#[inline(always)]
unsafe fn write(
    t: &mut Thread,
    word: u32,
    number: i32,
    comm: Option<u64>,
    most: usize,
    put: impl FnOnce(&mut EncodeCursor),
) {
    let _busy = BusyGuard::new(t);
    let room = HEAD + HEAD_EXTRA + FIXED_BYTES + most + SLACK;
    let now = clock::now();
    let inside = t.outer_stack != 0;
    let call = t.next_call;
    // SAFETY: `room` bytes are free where the record begins, and it is no larger.
    unsafe {
        let is_far = now.wrapping_sub(t.time_base) >> 32 != 0;
        let at = if is_far || room > (t.end as usize) - (t.at as usize) {
            make_room(t, room, now, call)
        } else {
            t.at
        };
        let mut out = EncodeCursor::new(at.add(HEAD));
        let mut head = USER_EVENT;
        if clock::READS_CPU_TIME.load(Relaxed) {
            head |= CPU;
            let cpu = clock::cpu() as i64;
            out.i64(cpu);
            out.i64(cpu);
        }
        out.u32(word | if inside { INSIDE } else { 0 } | comm.map_or(0, |_| COMM));
        out.i32(number);
        if let Some(comm) = comm {
            out.i64(comm as i64);
        }
        put(&mut out);
        let size = (out.position() as usize - at as usize).next_multiple_of(4);
        RecordHead {
            word: head,
            start: now.wrapping_sub(t.time_base) as u32,
            duration: 0,
            call: call.wrapping_sub(t.call_base) as u32,
        }
        .write(at, size);
        t.at = at.add(size);
        let committed = t.at as usize - t.block.start() as usize;
        (*t.block.header()).committed.publish(committed as u32);
    }
}

/// A block that is written out takes calls of ours: the program's errno stays as it is.
#[cold]
fn make_room(t: &mut Thread, room: usize, now: u64, call: u64) -> *mut u8 {
    let saved = errno();
    let at = records::make_room(t, room, now, call);
    set_errno(saved);
    at
}
