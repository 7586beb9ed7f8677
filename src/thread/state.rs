//! State of a thread of the traced program: its block, its place in it, and how deep it is inside MPI.

use crate::blocks::{Block, BlockStore};
use crate::counters::ThreadCounters;
use crate::mpi::functions::COUNT;
use crate::thread::polls::PollRow;
use crate::thread::program_functions::ProgramFunctions;
use std::sync::atomic::AtomicU64;

/// State of one thread. Only the thread itself touches it, but for `ignored`, which Finalize adds up.
pub struct Thread {
    /// Stack pointer in the wrapper of the MPI call that this thread is inside of, the outermost one; 0 outside MPI.
    pub outer_stack: usize,
    /// MPI calls that are made inside that one.
    pub nested: u32,
    /// 1 while the recorder works on the thread, else 0. Code that calls libc meanwhile, be it a signal handler, is passed through,
    /// because a record may be half written.
    pub busy: u32,
    /// The error that a handler of the program's was told of in the running call.
    pub handled: HandledError,
    /// Number in the order of first calls.
    pub number: u32,
    /// Thread ID of the operating system.
    pub tid: u64,
    /// Position of the next record.
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
    /// Stack pointer in the wrapper of the first MPI call that is made inside another one, where there is one.
    pub nested_stack: usize,
    /// Performance counters, where they are wanted.
    pub counters: Option<Box<ThreadCounters>>,
    /// The thread is ending: they are not opened any more.
    pub counters_ended: bool,
    /// Functions of the program.
    pub functions: ProgramFunctions,
    /// Values taken before a call, for its record.
    pub before: Vec<u8>,
    /// Record that is larger than a block, being put together.
    pub large: Vec<u8>,
    /// Whether the call that has just returned is left out of the trace and recorded for matching only.
    pub for_matching_only: bool,
    /// End of the latest gap marker: block and position.
    pub gap: (u64, *mut u8),
    /// Whether `block` is the private one because the file could not grow.
    pub discarding: bool,
    /// Memory that is written to then.
    pub private: Option<Block>,
    /// Calls that were counted and not recorded, by function.
    pub ignored: &'static mut [u64; COUNT],
    /// The polls that are going on.
    pub row: &'static mut PollRow,
    /// The file that blocks come from.
    pub store: &'static BlockStore,
    /// Word in which a server sees the call that the thread is in.
    pub seen: &'static AtomicU64,
    /// The rank's part of CallIDs.
    pub rank: AtomicU64,
    /// The state that was made before this one.
    pub before_this: *mut Thread,
}

/// An error that an error handler of the program's was told of ([`crate::call::handled`]).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HandledError {
    /// The call that failed: 1 for the outermost one that the thread is inside of, 2 for one that is made inside it, and so on; 0 where there is no error.
    pub depth: u32,
    /// The error's code.
    pub code: i32,
}

/// A state and what it points to, in one piece of memory. Apart, so that what each call touches stays together.
pub struct ThreadArena {
    /// The state.
    pub state: Thread,
    /// [`Thread::ignored`].
    pub ignored: [u64; COUNT],
    /// [`Thread::row`].
    pub row: PollRow,
    /// [`Thread::seen`], where nobody looks.
    pub unseen: AtomicU64,
}
