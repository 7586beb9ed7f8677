//! The states of all threads that there have been, and what they have counted together.

use crate::mpi::functions::COUNT;
use crate::thread::state::Thread;
use std::ptr::NonNull;
use std::sync::atomic::AtomicPtr;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};

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

/// Number of calls that were counted and not recorded, by function, over all threads; lost records of threads whose memory is
/// thrown away are counted now.
pub fn ignored() -> Vec<u64> {
    let mut sum = vec![0; COUNT];
    for thread in all() {
        // SAFETY: states live until the process ends; a racing increment of a thread still inside MPI may be missed.
        let thread = unsafe { thread.as_ref() };
        for (s, n) in sum.iter_mut().zip(thread.ignored.iter()) {
            *s += n;
        }
    }
    sum
}

/// Functions of the program that were recorded, and that were not because there were too many, over all threads.
pub fn functions() -> (u64, u64) {
    let mut sum = (0, 0);
    for thread in all() {
        // SAFETY: states live until the process ends; what a thread records now may be missed.
        let functions = unsafe { &thread.as_ref().functions };
        sum.0 += functions.recorded_before + functions.recorded;
        sum.1 += functions.beyond;
    }
    sum
}
