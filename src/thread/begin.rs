//! The beginning of a thread: its state and its first block.

use crate::blocks::own::store;
use crate::blocks::{Block, BlockStore, memory};
use crate::platform::clock;
use crate::thread::callids::callid;
use crate::thread::current::set_current;
use crate::thread::polls::PollRow;
use crate::thread::program_functions::ProgramFunctions;
use crate::thread::records::{begin_block, lost_from, private_block, reserve_calls};
use crate::thread::registry;
use crate::thread::retire;
use crate::thread::state::{HandledError, Thread, ThreadArena};
use crate::thread::tids;
use crate::thread::within::{inside, within};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};

static NEXT_THREAD: AtomicU32 = AtomicU32::new(0);

/// Makes the state of the running thread, whose records go to `store`. `describe` is run on the state of the process's first
/// thread. Null when there is no memory for it.
pub fn start(store: &'static BlockStore, describe: fn(&mut Thread)) -> *mut Thread {
    begin(store, false, describe)
}

/// Makes the state of a thread that has never called MPI, at its first call on a file. It may have been interrupted by a signal
/// anywhere but in the recorder, in the allocator, say. Null when nothing can be recorded.
#[cold]
pub fn adopt() -> *mut Thread {
    // The line of the process is that of its first MPI call.
    let is_first = NEXT_THREAD.load(Relaxed) == 0;
    match store() {
        Some(store) if !is_first && !inside() => within(|| begin(store, true, |_| ())),
        _ => std::ptr::null_mut(),
    }
}

/// Gives the running thread a state, and with `anywhere` takes no memory from the allocator for it. `describe` is run on the state
/// of the process's first thread.
fn begin(store: &'static BlockStore, anywhere: bool, describe: fn(&mut Thread)) -> *mut Thread {
    // SAFETY: asks for a number.
    let tid = unsafe { libc::syscall(libc::SYS_gettid) } as u64;
    if let Some(mut idle) = retire::take() {
        // SAFETY: a state that lives until the process ends, from here on this thread's own.
        let t = unsafe { idle.as_mut() };
        t.tid = tid;
        // SAFETY: the state's own block, which no other thread writes to. `mpitrace status` shows the number.
        unsafe { (*t.block.header()).tid = tid };
        t.counters_ended = false;
        set_current(t);
        retire::watch(t, anywhere);
        return t;
    }
    let Some(arena) = memory(size_of::<ThreadArena>()) else {
        return std::ptr::null_mut();
    };
    let arena = arena.cast::<ThreadArena>().as_ptr();
    let number = NEXT_THREAD.fetch_add(1, Relaxed);
    // SAFETY: fresh zeroed memory, aligned to a page, that stays for good; each part of it is lent once.
    let (ignored, row, unseen) = unsafe {
        (&raw mut (*arena).row).write(PollRow::new());
        (&mut (*arena).ignored, &mut (*arena).row, &(*arena).unseen)
    };
    let state = Thread {
        outer_stack: 0,
        nested: 0,
        nested_stack: 0,
        handled: HandledError::default(),
        // Until it is set up.
        busy: 1,
        number,
        tid,
        at: std::ptr::null_mut(),
        end: std::ptr::null_mut(),
        block: Block::at(NonNull::dangling()),
        private: None,
        time_base: 0,
        call_base: 0,
        next_call: 0,
        call_limit: 0,
        reserved: 0,
        sequence: 0,
        cpu: 0,
        counters: None,
        counters_ended: false,
        functions: ProgramFunctions::default(),
        before: Vec::new(),
        large: Vec::new(),
        for_matching_only: false,
        gap: (0, std::ptr::null_mut()),
        discarding: false,
        ignored,
        row,
        store,
        seen: tids::place(tid as u32, unseen),
        rank: AtomicU64::new(callid(0)),
        before_this: std::ptr::null_mut(),
    };
    // SAFETY: as above; nobody else knows of it.
    let t = unsafe {
        (&raw mut (*arena).state).write(state);
        &mut (*arena).state
    };
    let block = store.take();
    t.discarding = block.is_none();
    if t.discarding {
        lost_from(store, clock::now());
    }
    t.block = block.unwrap_or_else(|| private_block(t));
    reserve_calls(t);
    begin_block(t, clock::now(), t.next_call, (0, 0, 0));
    registry::register(t);
    set_current(t);
    retire::watch(t, anywhere);
    if number == 0 {
        describe(t);
    }
    t.busy = 0;
    t
}
