//! Forked children: a child has its parent's memory and must not write to its parent's file. It records nothing.

use crate::call::modes;
use crate::lifecycle::state::{FINISHED, STATE};
use crate::memory;
use crate::mpi::slots;
use crate::posix;
use crate::thread::program_functions;
use std::sync::atomic::Ordering::Relaxed;

/// Has every child that is forked from now on record nothing.
pub fn watch() {
    // SAFETY: the handler is a function of this library, which is never unloaded: the program calls into it.
    unsafe {
        libc::pthread_atfork(None, None, Some(in_forked_child));
    }
}

unsafe extern "C" fn in_forked_child() {
    STATE.store(FINISHED, Relaxed);
    memory::forked();
    modes::all_off();
    posix::switch(false);
    program_functions::switch(false);
    slots::bypass();
}
