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
//! No lock, no allocation, no system call on this way; what is rare is out of line in [`slow`].
//!
//! What a wrapper calls on this way is put in place in each of the thousands of wrappers, but not in builds with debug assertions
//! (`cfg_attr(not(debug_assertions), inline(always))`): with all their checks in place the compiler would be busy for minutes.

pub(crate) mod arg;
pub(crate) mod counted;
pub(crate) mod envelope;
pub(crate) mod filter;
pub(crate) mod handled;
pub(crate) mod hooks;
pub(crate) mod lengths;
pub(crate) mod matching_only;
pub(crate) mod mode;
pub(crate) mod modes;
pub(crate) mod path;
pub(crate) mod poll;
pub(crate) mod slow;
pub(crate) mod world_collectives;

use crate::mpi::abi::Abi;
use crate::mpi::handles::HandleBits;
use crate::platform::{clock, stack};
use crate::thread::current::current;
use crate::thread::records;
use crate::thread::state::{HandledError, Thread};
use crate::thread::wiped::{is_alone, is_wiped};
use crate::thread::within::{inside, leave_recorder, within};
use blockfile::encode::{EncodeCursor, RecordHead, SLACK};
use blockfile::layout::{BlockHeader, tells};
use blockfile::record;
use mode::{FILTERED, MATCHING_ONLY, OFF, SAMPLED, SUCCESS, modes};
use path::needs_slow_path;
use slow::SlowCall;
use std::ffi::c_int;
use std::mem::ManuallyDrop;
use std::sync::atomic::{
    Ordering::{Relaxed, SeqCst},
    compiler_fence,
};

/// A call that has begun. One pointer, so that it stays in a register; everything else is in the thread's state.
#[repr(transparent)]
pub struct Call {
    /// The running thread; null when the call is passed through without a record.
    thread: *mut Thread,
}

/// A call whose real function is about to run.
pub struct RunningCall {
    thread: *mut Thread,
    start: u64,
}

/// A call whose real function has returned.
pub struct StoppedCall {
    thread: *mut Thread,
    start: u64,
    duration: u64,
}

/// A record being written. Its head stands already, but for the size.
pub struct RecordWriter {
    /// Writer of the arguments, in the order of the signature.
    pub args: EncodeCursor,
    thread: *mut Thread,
}

impl Call {
    /// Begins a call of the function with this index among the declared ones, made through its MPI_ name or its PMPI_ name.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub fn enter(index: u16, by_mpi_name: bool) -> Call {
        let t = current();
        // SAFETY: the state of the running thread, which nobody else writes.
        unsafe {
            if t.is_null()
                || modes()[usize::from(index)].load(Relaxed) == OFF
                || (*t).outer_stack != 0
            {
                return enter_rarely(index, by_mpi_name);
            }
            // Until the call is visible to lower layers; first, as a signal handler would find a call that nobody has begun.
            (*t).busy = 1;
            compiler_fence(SeqCst);
            (*t).outer_stack = stack::pointer();
            compiler_fence(SeqCst);
            if (*t).next_call == (*t).call_limit {
                records::reserve_calls(&mut *t);
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

    /// The running thread, if a call that is passed through is not made inside another one: what it makes must be known,
    /// because later calls that are recorded may use it.
    pub fn outermost(&mut self) -> Option<&mut Thread> {
        // SAFETY: the state of the running thread. Its one call that is not nested is borrowed for as long as the reference lives.
        unsafe { current().as_mut() }.filter(|t| t.outer_stack != 0 && t.nested == 0)
    }

    /// The running thread, if it must be known what a call that is passed through makes: later calls that are recorded may use it. That is so of the
    /// outermost call, and of one that a callback of the program makes inside another, by the `MPI_` name of the function. What the MPI library makes
    /// for itself, by `PMPI_` names, nobody else uses.
    pub fn maker(&mut self, by_mpi_name: bool) -> Option<&mut Thread> {
        // SAFETY: the state of the running thread. As long as the reference lives, nothing else of this thread uses it: the call that this one is made
        // inside of is in the MPI library.
        let t = unsafe { current().as_mut() }.filter(|t| t.outer_stack != 0)?;
        let has_begun = |t: &Thread| t.store.header().rank.load(Relaxed) != u32::MAX;
        let is_callback = by_mpi_name && t.busy == 0 && !inside() && is_alone();
        let has_failed = handled::is_of_call(t, t.nested + 1);
        (!has_failed && (t.nested == 0 || is_callback && has_begun(t))).then_some(t)
    }

    /// Ends a call without a record.
    #[cold]
    pub fn leave(self) {
        // Dropping does it.
    }

    /// Room for values that must be kept from before the call, this call's own until it ends.
    #[inline(always)]
    pub fn before(&self) -> *mut Vec<u8> {
        // SAFETY: the state of the running thread; nested calls are not recorded and leave it alone.
        unsafe { &raw mut (*self.thread).before }
    }

    /// The thread, for definitions that belong before the record.
    ///
    /// # Safety
    /// The call is recorded: [`Call::ignored`] is false.
    pub unsafe fn thread(&mut self) -> &mut Thread {
        // SAFETY: the state of the running thread, not null by the caller. Its one recorded call is borrowed for as long as the
        // reference lives.
        unsafe { &mut *self.thread }
    }

    /// Tells on which communicator, to and from whom, and with which tag the call that begins sends or receives.
    ///
    /// # Safety
    /// The call is recorded: [`Call::ignored`] is false.
    #[inline(always)]
    pub unsafe fn waits(&self, comm: u64, dest: i32, source: i32, tag: i32) {
        // SAFETY: the header of the thread's own block; not null by the caller.
        let header: &BlockHeader = unsafe { &*(*self.thread).block.header() };
        header.open_comm.store(comm, Relaxed);
        header.open_dest.store(dest as u32, Relaxed);
        header.open_source.store(source as u32, Relaxed);
        header.open_tag.store(tag as u32, Relaxed);
    }

    /// Tells the tag of the message that the call sends that begins, besides what [`Call::waits`] tells.
    ///
    /// # Safety
    /// The call is recorded: [`Call::ignored`] is false.
    #[inline(always)]
    pub unsafe fn sends_with_tag(&self, tag: i32) {
        // SAFETY: the header of the thread's own block; not null by the caller.
        let header: &BlockHeader = unsafe { &*(*self.thread).block.header() };
        header.open_tells.store(tells::SEND_TAG, Relaxed);
        header.open_send_tag.store(tag as u32, Relaxed);
    }

    /// Tells on which file or window the call that begins waits for the other ranks.
    ///
    /// # Safety
    /// The call is recorded: [`Call::ignored`] is false.
    #[inline(always)]
    pub unsafe fn waits_on_object(&self, object: u64) {
        // SAFETY: the header of the thread's own block; not null by the caller.
        let header: &BlockHeader = unsafe { &*(*self.thread).block.header() };
        header.open_comm.store(object, Relaxed);
    }

    /// Tells on which window the call that begins waits for others: the rank of the target in the window, the type of the lock, and the group of targets. What
    /// the function does not have is 0.
    ///
    /// # Safety
    /// The call is recorded: [`Call::ignored`] is false.
    #[inline(always)]
    pub unsafe fn waits_on_window(&self, window: u64, target: i32, lock_type: i32, group: u64) {
        // SAFETY: the header of the thread's own block; not null by the caller.
        let header: &BlockHeader = unsafe { &*(*self.thread).block.header() };
        header.open_comm.store(window, Relaxed);
        header.open_dest.store(target as u32, Relaxed);
        header.open_tag.store(lock_type as u32, Relaxed);
        header.open_requests[0].store(group, Relaxed);
        header.open_tells.store(tells::WINDOW, Relaxed);
    }

    /// Tells which request the call that begins is to complete.
    ///
    /// # Safety
    /// The call is recorded: [`Call::ignored`] is false.
    #[inline(always)]
    pub unsafe fn waits_for_request(&self, request: u64) {
        // SAFETY: the header of the thread's own block; not null by the caller.
        let header: &BlockHeader = unsafe { &*(*self.thread).block.header() };
        header.open_request_count.store(1, Relaxed);
        header.open_requests[0].store(request, Relaxed);
    }

    /// Tells how many requests the call that begins is to complete, and the first of them.
    ///
    /// # Safety
    /// The call is recorded: [`Call::ignored`] is false. `requests` is readable for `count` elements.
    #[inline(always)]
    pub unsafe fn waits_for_requests<T: HandleBits>(&self, requests: *const T, count: usize) {
        // SAFETY: the header of the thread's own block; not null by the caller.
        let header: &BlockHeader = unsafe { &*(*self.thread).block.header() };
        let number = u32::try_from(count).unwrap_or(u32::MAX);
        header.open_request_count.store(number, Relaxed);
        for (nth, place) in header.open_requests.iter().enumerate().take(count) {
            // SAFETY: one of the elements, by the caller.
            let request = unsafe { requests.add(nth).read_unaligned() };
            place.store(request.bits(), Relaxed);
        }
    }

    /// Takes the time and makes the CallID of the call of function number `function` visible to lower layers.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub fn start(self, function: u16) -> RunningCall {
        let this = ManuallyDrop::new(self);
        // SAFETY: the state of the running thread, and its own block's header.
        unsafe {
            let t = this.thread;
            let header: &BlockHeader = &*(*t).block.header();
            let number = (*t).next_call - 1;
            header.open_call.store(number, Relaxed);
            (*t).seen.store((*t).rank.load(Relaxed) | number, Relaxed);
            let start = if needs_slow_path() {
                slow::start(&mut *t)
            } else {
                clock::ticks()
            };
            header.open_start.store(start, Relaxed);
            header.open_function.store(u32::from(function) + 1, Relaxed);
            compiler_fence(SeqCst);
            (*t).busy = 0;
            RunningCall { thread: t, start }
        }
    }
}

/// Ends a call that is passed through, and one that a C++ exception leaves: an error handler of the program may throw.
impl Drop for Call {
    #[cold]
    fn drop(&mut self) {
        let t = current();
        if !t.is_null() {
            // SAFETY: the state of the running thread.
            unsafe {
                handled::call_ends(&mut *t);
                if (*t).nested > 0 {
                    (*t).nested -= 1;
                } else {
                    (*t).outer_stack = 0;
                }
                if !self.thread.is_null() {
                    (*t).busy = 0;
                }
            }
        }
    }
}

/// Ends a call that a C++ exception leaves.
impl Drop for RunningCall {
    #[cold]
    fn drop(&mut self) {
        // SAFETY: the state of the running thread.
        unsafe {
            // No more than this: what is larger would not be put in place, and each call would store this value for it.
            close(&mut *self.thread);
        }
    }
}

/// Ends what is visible of the running call, which leaves no record.
fn close(t: &mut Thread) {
    // SAFETY: the header of the thread's own block.
    unsafe { (*t.block.header()).open_function.store(0, Relaxed) };
    t.seen.store(0, Relaxed);
    t.outer_stack = 0;
    t.handled = HandledError::default();
}

/// Ends the call that the running thread is inside of when the program jumps out of it with `longjmp`: from an error handler,
/// or from a signal handler that ends a wait. `stack` is the stack pointer that the jump goes to. A jump that stays inside
/// the call ends only calls that were made inside it. Nothing is ended by one to another stack, as libraries of user-level threads make it.
pub fn jump_out(stack: usize) {
    let t = current();
    // SAFETY: the state of the running thread.
    let Some(t) = (unsafe { t.as_mut() }) else {
        return;
    };
    if t.outer_stack == 0 {
        return;
    }
    if !stack::is_below(t.outer_stack, stack) {
        if stack::is_below(t.nested_stack, stack) {
            // Into a callback of the program, out of the calls that it has made.
            t.nested = 0;
            handled::nested_calls_end(t);
        }
        return;
    }
    records::keep_to_own_memory(t);
    close(t);
    t.nested = 0;
    t.large.clear();
    leave_recorder();
    compiler_fence(SeqCst);
    t.busy = 0;
}

/// Whether the running thread is inside another MPI call than the one that is being passed through.
pub fn is_nested() -> bool {
    let t = current();
    // SAFETY: the state of the running thread.
    !t.is_null() && unsafe { (*t).nested } > 0
}

impl RunningCall {
    /// Takes the time.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub fn stop(self) -> StoppedCall {
        let this = ManuallyDrop::new(self);
        let thread = this.thread;
        // SAFETY: the state of the running thread. From here on its record may be half written.
        unsafe { (*thread).busy = 1 };
        // A signal handler of this thread must see it before anything of the record.
        compiler_fence(SeqCst);
        let now = if needs_slow_path() {
            // SAFETY: the state of the running thread.
            slow::stop(unsafe { &mut *thread })
        } else {
            clock::ticks()
        };
        StoppedCall {
            thread,
            start: this.start,
            duration: now.wrapping_sub(this.start),
        }
    }
}

impl StoppedCall {
    /// The error code of the call, which gave `code`: MPICH 5 gives MPI_SUCCESS of a call that failed if an error handler of the program's was called.
    #[inline(always)]
    pub fn outcome<A: Abi>(&mut self, code: c_int) -> c_int {
        if !A::MAY_HIDE_ERRORS {
            return code;
        }
        let t = self.thread();
        if t.handled.depth == 0 {
            return code;
        }
        handled::outcome(t, code)
    }

    /// Whether calls of the function that bring nothing are to be left out.
    #[inline(always)]
    pub fn left_out(&self, index: u16) -> bool {
        modes()[usize::from(index)].load(Relaxed) & (SUCCESS | MATCHING_ONLY) != 0
    }

    /// Whether a call that is left out of the trace is recorded for matching only.
    #[cold]
    pub fn is_for_matching(&mut self, index: u16) -> bool {
        matching_only::wants(self.thread(), index)
    }

    /// Whether the filters have to be asked.
    #[inline(always)]
    pub fn filtered(&self, index: u16) -> bool {
        modes()[usize::from(index)].load(Relaxed) & FILTERED != 0
    }

    /// Whether a call of function `index`, which names no communicator and moves no data, is left out by filters.
    pub fn is_filtered_out(&self, index: usize) -> bool {
        self.filtered(index as u16) && modes::leaves_out(index, self.number(), None, &[])
    }

    /// Whether of polls only some are kept.
    #[inline(always)]
    pub fn sampled(&self, index: u16) -> bool {
        modes()[usize::from(index)].load(Relaxed) & SAMPLED != 0
    }

    /// The number of the call in its CallID.
    pub fn number(&self) -> u64 {
        // SAFETY: the state of the running thread.
        unsafe { (*self.thread).next_call - 1 }
    }

    /// Ends the call without a record.
    #[cold]
    pub fn leave_out(self, index: u16) {
        // SAFETY: the state of the running thread.
        unsafe {
            let t = &mut *self.thread;
            t.ignored[usize::from(index)] += 1;
            close(t);
            compiler_fence(SeqCst);
            t.busy = 0;
        }
    }

    /// The thread, for definitions that belong before the record.
    pub fn thread(&mut self) -> &mut Thread {
        // SAFETY: the state of the running thread. Its one recorded call is borrowed for as long as the reference lives.
        unsafe { &mut *self.thread }
    }

    /// A record of a call of function number `function` with room for `room` bytes of arguments. `code` is what the call
    /// returned, `flags` are flags of the head.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub fn record(self, function: u16, code: i32, flags: u16, room: usize) -> RecordWriter {
        let total = room + record::HEAD + record::HEAD_EXTRA + SLACK;
        let word = function | flags;
        let t = self.thread;
        // SAFETY: the state of the running thread; `at` to `end` is the free part of its block.
        unsafe {
            let at = (*t).at;
            let start = self.start.wrapping_sub((*t).time_base);
            let is_slow = (start | self.duration) >> 32 != 0 || code != 0 || needs_slow_path();
            let args = if is_slow || total > ((*t).end as usize) - (at as usize) {
                let call = SlowCall {
                    word,
                    start: self.start,
                    duration: self.duration,
                    code,
                    total,
                };
                slow::begin(&mut *t, call)
            } else {
                RecordHead {
                    word,
                    start: start as u32,
                    duration: self.duration as u32,
                    call: ((*t).next_call - 1).wrapping_sub((*t).call_base) as u32,
                }
                .write(at, record::HEAD);
                at.add(record::HEAD)
            };
            RecordWriter {
                args: EncodeCursor::new(args),
                thread: t,
            }
        }
    }
}

impl RecordWriter {
    /// Ends the record and the call: from here on readers see it.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub fn publish(self) {
        // SAFETY: the state of the running thread; the cursor has stayed within the room that was asked for.
        unsafe {
            let t = self.thread;
            let block = (*t).block;
            if (*t).large.is_empty() {
                let at = (*t).at;
                let size = (self.args.position() as usize - at as usize).next_multiple_of(4);
                RecordHead::set_size(at, size);
                (*t).at = at.add(size);
                let committed = at as usize + size - block.start() as usize;
                (*block.header()).committed.publish(committed as u32);
            } else {
                records::publish_large(&mut *t, self.args.position());
            }
            (*(*t).block.header()).open_function.store(0, Relaxed);
            (*t).seen.store(0, Relaxed);
            (*t).outer_stack = 0;
            compiler_fence(SeqCst);
            (*t).busy = 0;
        }
    }
}

/// The ways into a call that lead to no record, and a thread's first call.
#[cold]
#[inline(never)]
fn enter_rarely(index: u16, by_mpi_name: bool) -> Call {
    let mut t = current();
    if t.is_null() && !inside() {
        t = hooks::start_thread();
    }
    // Made only where it is returned: dropping one ends a call.
    let ignored = || Call {
        thread: std::ptr::null_mut(),
    };
    if t.is_null() {
        return ignored();
    }
    // SAFETY: the state of the running thread.
    unsafe {
        if (*t).outer_stack == 0 {
            if filter::is_before() {
                if is_wiped() {
                    // With its parent's memory, which says what the parent was doing on this thread.
                    hooks::forked();
                    return ignored();
                }
                if filter::begins() {
                    within(modes::set);
                }
            }
            if modes()[usize::from(index)].load(Relaxed) != OFF {
                return Call::enter(index, by_mpi_name);
            }
        }
        // Calls that the MPI library makes through PMPI_ names inside a call are nobody's.
        if by_mpi_name || (*t).outer_stack == 0 {
            (*t).ignored[usize::from(index)] += 1;
        }
        if (*t).outer_stack == 0 {
            (*t).outer_stack = stack::pointer();
            (*t).nested = 0;
        } else {
            if (*t).nested == 0 {
                (*t).nested_stack = stack::pointer();
            }
            (*t).nested += 1;
        }
    }
    ignored()
}
