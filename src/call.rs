//! One call becomes one record: what every generated wrapper does around the real function.
//!
//! ```text
//! let call = Call::enter(i, f);         // depth, on or off, a CallID
//! if call.ignored() { … pass through … }
//! let call = call.start();              // time stamp
//! let r = real(…);
//! let stopped = call.stop();            // time stamp
//! let mut w = stopped.record(r, …);     // room for the record in this thread's block
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
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering::Relaxed, Ordering::Release};

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

/// A call that has begun. Not `Copy`: every call ends exactly once.
pub struct Call {
    thread: *mut Thread,
    index: u16,
    function: u16,
    mode: u8,
    number: u64,
}

/// A call whose real function is about to run.
pub struct Running {
    call: Call,
    start: u64,
    cpu: u64,
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
    /// Begins a call of the function with this index among the declared ones and this number in records.
    #[inline(always)]
    pub fn enter(index: u16, function: u16) -> Call {
        let t = thread::current();
        let mode = MODE[usize::from(index)].load(Relaxed);
        if t.is_null() || mode == OFF {
            return enter_rarely(index, function);
        }
        // SAFETY: the state of the running thread, which nobody else writes.
        unsafe {
            if (*t).depth != 0 {
                return enter_rarely(index, function);
            }
            (*t).depth = 1;
            if (*t).next_call == (*t).call_limit {
                process::reserve_calls(&mut *t);
            }
            let number = (*t).next_call;
            (*t).next_call = number + 1;
            Call {
                thread: t,
                index,
                function,
                mode,
                number,
            }
        }
    }

    /// Whether the call is passed through without a record; then [`Call::leave`] must end it.
    #[inline(always)]
    pub fn ignored(&self) -> bool {
        self.mode == OFF
    }

    /// Whether an ignored call was made inside another one.
    pub fn is_nested(&self) -> bool {
        // SAFETY: the state of the running thread.
        !self.thread.is_null() && unsafe { (*self.thread).depth } > 1
    }

    /// Ends a call without a record.
    #[inline(always)]
    pub fn leave(self) {
        if !self.thread.is_null() {
            // SAFETY: the state of the running thread.
            unsafe { (*self.thread).depth -= 1 };
        }
    }

    /// Room for values that must be kept from before the call, this call's own until it ends.
    #[inline(always)]
    pub fn before(&self) -> *mut Vec<u8> {
        // SAFETY: the state of the running thread; nested calls are not recorded and leave it alone.
        unsafe { &raw mut (*self.thread).before }
    }

    /// Takes the time and makes the CallID visible to lower layers.
    #[inline(always)]
    pub fn start(self) -> Running {
        // SAFETY: the state of the running thread, and its own block's header.
        let header: &BlockHeader = unsafe { &*(*self.thread).block.header() };
        header.open_call.store(self.number, Relaxed);
        let cpu = if CPU_TIME.load(Relaxed) {
            clock::cpu()
        } else {
            0
        };
        let start = clock::now();
        header.open_start.store(start, Relaxed);
        header
            .open_function
            .store(u32::from(self.function) + 1, Relaxed);
        Running {
            call: self,
            start,
            cpu,
        }
    }
}

impl Running {
    /// Takes the time.
    #[inline(always)]
    pub fn stop(self) -> Stopped {
        let stop = clock::now();
        Stopped {
            duration: stop.wrapping_sub(self.start),
            running: self,
        }
    }
}

/// A call whose real function has returned.
pub struct Stopped {
    running: Running,
    duration: u64,
}

impl Stopped {
    /// Whether calls that bring nothing are to be left out.
    #[inline(always)]
    pub fn left_out(&self) -> bool {
        self.running.call.mode == SUCCESS
    }

    /// Ends the call without a record.
    #[cold]
    pub fn leave_out(self) {
        // SAFETY: the state of the running thread.
        unsafe {
            let t = &mut *self.running.call.thread;
            t.ignored[usize::from(self.running.call.index)] += 1;
            (*t.block.header()).open_function.store(0, Relaxed);
            t.depth = 0;
        }
    }

    /// The thread, for definitions that belong before the record.
    #[allow(clippy::mut_from_ref, reason = "the thread is not part of self")]
    pub fn thread(&self) -> &mut Thread {
        // SAFETY: the state of the running thread, of which nobody else has a reference while its call ends.
        unsafe { &mut *self.running.call.thread }
    }

    /// A record with room for `room` bytes of arguments. `code` is what the call returned, `flags` are flags of the head.
    #[inline(always)]
    pub fn record(self, code: i32, flags: u16, room: usize) -> Writer {
        let call = &self.running.call;
        let total = room + record::HEAD + record::HEAD_EXTRA + SLACK;
        let mut word = call.function | flags;
        // SAFETY: the state of the running thread; `at` to `end` is the free part of its block, or of the buffer that
        // make_room provides.
        unsafe {
            let t = call.thread;
            let mut record = (*t).at;
            let mut start = self.running.start.wrapping_sub((*t).time_base);
            if total > ((*t).end as usize) - (record as usize) || start > u64::from(u32::MAX) {
                record = process::make_room(&mut *t, total, self.running.start, call.number);
                start = self.running.start.wrapping_sub((*t).time_base);
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
                args.i64(self.running.cpu as i64);
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
                    call: (call.number.wrapping_sub((*t).call_base)) as u32,
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
                (*block.header()).committed.store(committed as u32, Release);
            }
            (*(*t).block.header()).open_function.store(0, Relaxed);
            (*t).depth = 0;
        }
    }
}

/// The ways into a call that lead to no record, and a thread's first call.
#[cold]
#[inline(never)]
fn enter_rarely(index: u16, function: u16) -> Call {
    let mut t = thread::current();
    if t.is_null() && !process::inside() {
        t = process::start_thread();
    }
    // SAFETY: the state of the running thread.
    unsafe {
        if t.is_null() {
            return Call {
                thread: t,
                index,
                function,
                mode: OFF,
                number: 0,
            };
        }
        let mode = MODE[usize::from(index)].load(Relaxed);
        if mode != OFF && (*t).depth == 0 {
            return Call::enter(index, function);
        }
        (*t).depth += 1;
        (*t).ignored[usize::from(index)] += 1;
        Call {
            thread: t,
            index,
            function,
            mode: OFF,
            number: 0,
        }
    }
}
