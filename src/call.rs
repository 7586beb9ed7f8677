//! One call becomes one record: what every generated wrapper does around the real function.
//!
//! ```text
//! let call = Call::enter(index);        // depth, on or off, a CallID
//! if call.ignored() { … pass through … }
//! let call = call.start(number);        // time stamp
//! let r = real(…);
//! let stopped = call.stop();            // time stamp
//! let mut w = stopped.record(number, …) // room for the record in this thread's block
//! w.args.i32(count); …
//! w.publish();                          // the record is there
//! ```
//!
//! No lock, no allocation, no system call on this way; what is rare is out of line in [`crate::process`].

use crate::clock;
use crate::generated::COUNT;
use crate::process;
use crate::thread::{self, Thread};
use records::encode::{Cursor, Head, SLACK};
use records::layout::BlockHeader;
use records::record;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering::Relaxed};

/// Calls of the function are counted only.
pub const OFF: u8 = 0;
/// Calls of the function are recorded.
pub const ON: u8 = 1;
/// Calls are recorded unless they failed, or tested for something that was not there.
pub const SUCCESS: u8 = 2;

/// What to do with calls of each function. All `OFF` while recording is switched off.
pub static MODE: [AtomicU8; COUNT] = [const { AtomicU8::new(ON) }; COUNT];
/// Whether CPU time is read as well.
pub static CPU_TIME: AtomicBool = AtomicBool::new(false);

/// A call that has begun. One pointer, so that it stays in a register; everything else is in the thread's state.
#[repr(transparent)]
pub struct Call {
    /// The running thread; null when the call is passed through without a record.
    thread: *mut Thread,
}

/// A call whose real function is about to run.
pub struct Running {
    thread: *mut Thread,
    start: u64,
}

/// A call whose real function has returned.
pub struct Stopped {
    thread: *mut Thread,
    start: u64,
    duration: u64,
}

/// A record being written.
pub struct Writer {
    /// Where the arguments go, in the order of the signature.
    pub args: Cursor,
    thread: *mut Thread,
    record: *mut u8,
    head: Head,
}

impl Call {
    /// Begins a call of the function with this index among the declared ones.
    #[inline(always)]
    pub fn enter(index: u16) -> Call {
        let t = thread::current();
        // SAFETY: the state of the running thread, which nobody else writes.
        unsafe {
            if t.is_null() || MODE[usize::from(index)].load(Relaxed) == OFF || (*t).depth != 0 {
                return enter_rarely(index);
            }
            (*t).depth = 1;
            if (*t).next_call == (*t).call_limit {
                process::reserve_calls(&mut *t);
            }
            (*t).next_call += 1;
        }
        Call { thread: t }
    }

    /// Whether the call is passed through without a record; then [`Call::leave`] must end it.
    #[inline(always)]
    pub fn ignored(&self) -> bool {
        self.thread.is_null()
    }

    /// Ends a call without a record.
    #[cold]
    pub fn leave(self) {
        let t = thread::current();
        if !t.is_null() {
            // SAFETY: the state of the running thread.
            unsafe { (*t).depth -= 1 };
        }
    }

    /// Room for values that must be kept from before the call, this call's own until it ends.
    #[inline(always)]
    pub fn before(&self) -> *mut Vec<u8> {
        // SAFETY: the state of the running thread; nested calls are not recorded and leave it alone.
        unsafe { &raw mut (*self.thread).before }
    }

    /// Takes the time and makes the CallID of the call of function number `function` visible to lower layers.
    #[inline(always)]
    pub fn start(self, function: u16) -> Running {
        // SAFETY: the state of the running thread, and its own block's header.
        unsafe {
            let t = self.thread;
            let header: &BlockHeader = &*(*t).block.header();
            header.open_call.store((*t).next_call - 1, Relaxed);
            if CPU_TIME.load(Relaxed) {
                (*t).cpu = clock::cpu();
            }
            let start = clock::now();
            header.open_start.store(start, Relaxed);
            header
                .open_function
                .store(u32::from(function) + 1, Relaxed);
            Running { thread: t, start }
        }
    }
}

/// Whether the running thread is inside another MPI call than the one that is being passed through.
pub fn is_nested() -> bool {
    let t = thread::current();
    // SAFETY: the state of the running thread.
    !t.is_null() && unsafe { (*t).depth } > 1
}

impl Running {
    /// Takes the time.
    #[inline(always)]
    pub fn stop(self) -> Stopped {
        Stopped {
            thread: self.thread,
            start: self.start,
            duration: clock::now().wrapping_sub(self.start),
        }
    }
}

impl Stopped {
    /// Whether calls of the function that bring nothing are to be left out.
    #[inline(always)]
    pub fn left_out(&self, index: u16) -> bool {
        MODE[usize::from(index)].load(Relaxed) == SUCCESS
    }

    /// Ends the call without a record.
    #[cold]
    pub fn leave_out(self, index: u16) {
        // SAFETY: the state of the running thread.
        unsafe {
            let t = &mut *self.thread;
            t.ignored[usize::from(index)] += 1;
            (*t.block.header()).open_function.store(0, Relaxed);
            t.depth = 0;
        }
    }

    /// The thread, for definitions that belong before the record.
    #[allow(clippy::mut_from_ref, reason = "the thread is not part of self")]
    pub fn thread(&self) -> &mut Thread {
        // SAFETY: the state of the running thread, of which nobody else has a reference while its call ends.
        unsafe { &mut *self.thread }
    }

    /// A record of a call of function number `function` with room for `room` bytes of arguments. `code` is what the call
    /// returned, `flags` are flags of the head.
    #[inline(always)]
    pub fn record(self, function: u16, code: i32, flags: u16, room: usize) -> Writer {
        let total = room + record::HEAD + record::HEAD_EXTRA + SLACK;
        let mut word = function | flags;
        // SAFETY: the state of the running thread; `at` to `end` is the free part of its block, or of the buffer that
        // make_room provides.
        unsafe {
            let t = self.thread;
            let mut record = (*t).at;
            let mut start = self.start.wrapping_sub((*t).time_base);
            if total > ((*t).end as usize) - (record as usize) || start > u64::from(u32::MAX) {
                record = process::make_room(&mut *t, total, self.start);
                start = self.start.wrapping_sub((*t).time_base);
            }
            let mut args = Cursor::new(record.add(record::HEAD));
            let mut duration = self.duration as u32;
            if self.duration > u64::from(u32::MAX) {
                word |= record::LONG;
                duration = 0;
                args.i64(self.duration as i64);
            }
            if code != 0 {
                word |= record::ERROR;
                args.i32(code);
            }
            if CPU_TIME.load(Relaxed) {
                word |= record::CPU;
                args.i64((*t).cpu as i64);
                args.i64(clock::cpu() as i64);
            }
            Writer {
                args,
                thread: t,
                record,
                head: Head {
                    word,
                    start: start as u32,
                    duration,
                    call: ((*t).next_call - 1).wrapping_sub((*t).call_base) as u32,
                },
            }
        }
    }
}

impl Writer {
    /// Ends the record and the call: from here on readers see it.
    #[inline(always)]
    pub fn publish(self) {
        // SAFETY: the state of the running thread; the cursor has stayed within the room that was asked for.
        unsafe {
            let t = self.thread;
            let used = (self.args.position() as usize - self.record as usize).next_multiple_of(4);
            if !(*t).large.is_empty() {
                process::publish_large(&mut *t, self.head, self.args.position());
            } else {
                self.head.write(self.record, used);
                let at = self.record.add(used);
                (*t).at = at;
                let block = (*t).block;
                let committed = at as usize - block.start() as usize;
                (*block.header()).committed.publish(committed as u32);
            }
            (*(*t).block.header()).open_function.store(0, Relaxed);
            (*t).depth = 0;
        }
    }
}

/// The ways into a call that lead to no record, and a thread's first call.
#[cold]
#[inline(never)]
fn enter_rarely(index: u16) -> Call {
    let ignored = Call {
        thread: std::ptr::null_mut(),
    };
    let mut t = thread::current();
    if t.is_null() && !process::inside() {
        t = process::start_thread();
    }
    if t.is_null() {
        return ignored;
    }
    // SAFETY: the state of the running thread.
    unsafe {
        if MODE[usize::from(index)].load(Relaxed) != OFF && (*t).depth == 0 {
            return Call::enter(index);
        }
        (*t).depth += 1;
        (*t).ignored[usize::from(index)] += 1;
    }
    ignored
}
