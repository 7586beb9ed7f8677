//! What a thread of the traced program keeps: its block, its place in it, and how deep it is inside MPI.
//!
//! The state is reached through one thread-local pointer with the initial-exec model: a load from the thread control block
//! instead of a function call. Rust has no stable way to choose the model, so the variable is declared in assembler.

use crate::api::functions::Functions;
use crate::blocks::{Block, Store};
use crate::call::poll::Row;
use crate::counters::Counters;
use crate::mpi::functions::COUNT;
use std::ptr::NonNull;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release, SeqCst};
use std::sync::atomic::{AtomicPtr, AtomicU64, compiler_fence};

/// State of one thread. Only the thread itself touches it, but for `ignored`, which Finalize adds up.
pub struct Thread {
    /// MPI calls that this thread is inside of.
    pub depth: u32,
    /// How many activities of the recorder are going on: what calls libc meanwhile, be it a signal handler, is passed through,
    /// because a record may be half written.
    pub busy: u32,
    /// Number in the order of first calls.
    pub number: u32,
    /// Thread ID of the operating system.
    pub tid: u64,
    /// Where the next record goes.
    pub at: *mut u8,
    /// End of the room for records.
    pub end: *mut u8,
    /// Block being filled.
    pub block: Block,
    /// Time that heads of records count from.
    pub time_base: u64,
    /// Counter that heads of records count CallIDs from.
    pub call_base: u64,
    /// Counter of the next call's CallID.
    pub next_call: u64,
    /// End of the CallIDs that this thread has reserved.
    pub call_limit: u64,
    /// Number of CallIDs that this thread has reserved so far.
    pub reserved: u64,
    /// Number of the block that is being filled.
    pub sequence: u64,
    /// CPU time at the start of the running call, ns, where it is wanted.
    pub cpu: u64,
    /// Performance counters, where they are wanted.
    pub counters: Option<Box<Counters>>,
    /// The thread is ending: they are not opened any more.
    pub counters_ended: bool,
    /// Functions of the program.
    pub functions: Functions,
    /// Values taken before a call, for its record.
    pub before: Vec<u8>,
    /// Record that is larger than a block, being put together.
    pub large: Vec<u8>,
    /// Whether the call that has just returned is left out and stands hidden in the blocks.
    pub hides: bool,
    /// Where the latest CUT record ends: block and place.
    pub cut: (u64, *mut u8),
    /// Whether `block` is the private one because the file could not grow.
    pub discarding: bool,
    /// Memory that is written to then.
    pub private: Option<Block>,
    /// Calls that were counted and not recorded, by function.
    pub ignored: &'static mut [u64; COUNT],
    /// The polls that are going on.
    pub row: &'static mut Row,
    /// The file that blocks come from.
    pub store: &'static Store,
    /// Where a server sees which call the thread is in.
    pub seen: &'static AtomicU64,
    /// The rank's part of CallIDs.
    pub rank: AtomicU64,
    /// The state that was made before this one.
    pub before_this: *mut Thread,
}

/// A state and what it points to, in one piece of memory. Apart, so that what each call touches stays together.
pub struct Places {
    /// The state.
    pub state: Thread,
    /// [`Thread::ignored`].
    pub ignored: [u64; COUNT],
    /// [`Thread::row`].
    pub row: Row,
    /// [`Thread::seen`], where nobody looks.
    pub unseen: AtomicU64,
}

/// The state that was made last; all others are behind it. They live until the process ends, because Finalize adds up what
/// threads have counted.
static LATEST: AtomicPtr<Thread> = AtomicPtr::new(std::ptr::null_mut());

/// Adds a state to those that [`all`] gives.
pub fn register(t: &mut Thread) {
    let mut latest = LATEST.load(Relaxed);
    loop {
        t.before_this = latest;
        match LATEST.compare_exchange_weak(latest, t, Release, Relaxed) {
            Ok(_) => return,
            Err(now) => latest = now,
        }
    }
}

/// The states of all threads that there have been, the latest first. Of others than the running thread only what is atomic or
/// never changes is to be read, unless they are outside of the recorder for sure.
pub fn all() -> impl Iterator<Item = NonNull<Thread>> {
    let latest = NonNull::new(LATEST.load(Acquire));
    std::iter::successors(latest, |t| {
        // SAFETY: states are never freed, and this part of a registered one does not change.
        NonNull::new(unsafe { (*t.as_ptr()).before_this })
    })
}

/// While this lives the recorder is busy on the thread.
pub struct Busy(*mut Thread);

impl Busy {
    /// Busy from here on. `t` may be null.
    #[inline(always)]
    pub fn new(t: *mut Thread) -> Busy {
        // SAFETY: null, or the state of the running thread, which nobody else writes.
        if let Some(t) = unsafe { t.as_mut() } {
            t.busy += 1;
        }
        // Before anything of a record is written, as a signal handler of this thread sees it.
        compiler_fence(SeqCst);
        Busy(t)
    }
}

impl Drop for Busy {
    #[inline(always)]
    fn drop(&mut self) {
        compiler_fence(SeqCst);
        // SAFETY: as above; states live until the process ends.
        if let Some(t) = unsafe { self.0.as_mut() } {
            t.busy -= 1;
        }
    }
}

std::arch::global_asm!(
    ".section .tbss.trace_current_thread,\"awT\",@nobits",
    ".hidden trace_current_thread",
    ".globl trace_current_thread",
    ".type trace_current_thread,@object",
    ".size trace_current_thread,8",
    ".balign 8",
    "trace_current_thread:",
    ".zero 8",
    ".text",
);

/// The running thread's state; null before its first call that is recorded.
#[inline(always)]
pub fn current() -> *mut Thread {
    let t: *mut Thread;
    // SAFETY: reads the variable declared above; no memory is written.
    unsafe {
        std::arch::asm!(
            "mov {t}, qword ptr [rip + trace_current_thread@GOTTPOFF]",
            "mov {t}, qword ptr fs:[{t}]",
            t = out(reg) t,
            options(nostack, preserves_flags, readonly),
        );
    }
    t
}

/// Makes `t` the running thread's state.
pub fn set_current(t: *mut Thread) {
    // SAFETY: writes the variable declared above, which only this thread sees.
    unsafe {
        std::arch::asm!(
            "mov {p}, qword ptr [rip + trace_current_thread@GOTTPOFF]",
            "mov qword ptr fs:[{p}], {t}",
            p = out(reg) _,
            t = in(reg) t,
            options(nostack, preserves_flags),
        );
    }
}
