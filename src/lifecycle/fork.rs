//! Forked children: a child has its parent's memory and must not write to its parent's file. It records nothing. The C library tells of those
//! that fork makes; [`crate::thread::wiped`] tells of all others when they call.

use crate::call::modes;
use crate::lifecycle::state::{BEFORE, FINISHED, STATE};
use crate::memory;
use crate::mpi::slots;
use crate::platform::{mark, say};
use crate::posix;
use crate::thread::current;
use crate::thread::program_functions;
use crate::thread::records;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// Whether this is a child of a process that had called MPI and not begun it.
static IS_FORKED_BEFORE_INIT: AtomicBool = AtomicBool::new(false);

/// Has every child that is forked from now on record nothing.
pub fn watch() {
    // SAFETY: the handler is a function of this library, which is never unloaded: the program calls into it.
    unsafe {
        libc::pthread_atfork(None, None, Some(in_forked_child));
    }
}

unsafe extern "C" fn in_forked_child() {
    // SAFETY: the state of the running thread, which a child has a copy of.
    if let Some(t) = unsafe { current().as_mut() }
        // A record that is half written is the same as its parent's.
        && t.outer_stack != 0
        && t.busy == 0
    {
        records::leave_file(t);
    }
    stop();
}

/// Has this process, which is a forked child, record nothing. Nothing here waits for a lock or allocates: another thread of the parent's
/// may have held the lock.
pub fn stop() {
    if STATE.swap(FINISHED, Relaxed) == BEFORE {
        IS_FORKED_BEFORE_INIT.store(true, Relaxed);
    }
    memory::forked();
    modes::all_off();
    posix::switch(false);
    program_functions::switch(false);
    slots::bypass();
}

/// MPI begins in this process. If it is a forked child of a process that has never begun MPI, it is the rank, and nothing of it is
/// recorded: this says so, and marks it for the other ranks of the host, which would wait for it in MPI_Finalize.
#[cold]
pub fn tell_if_rank_is_child() {
    if IS_FORKED_BEFORE_INIT.swap(false, Relaxed) {
        mark::set(&mark::STEPS_ASIDE);
        say::on_first_rank(
            "trace: MPI begins in a forked child of a process that had called MPI before (MPI_Initialized, MPI_Get_version …): \
             this rank is not traced; it is if the parent forks before it calls MPI",
        );
    }
}
