//! Count of the program's collective calls on MPI_COMM_WORLD. Where ranks have begun different numbers of them, MPI takes a collective call of the
//! recorder on one rank and a call of the program on another for the same call: then the recorder makes none.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Handle of MPI_COMM_WORLD; no handle before MPI_Init.
static WORLD: AtomicU64 = AtomicU64::new(u64::MAX);
/// Number of calls so far.
static BEGUN: AtomicU64 = AtomicU64::new(0);

/// Begins to count calls on MPI_COMM_WORLD, whose handle this is.
pub fn count_on(world: u64) {
    WORLD.store(world, Relaxed);
}

/// Counts a collective call on the communicator with this handle, if that is MPI_COMM_WORLD, whether the call is recorded or not.
#[inline(always)]
pub fn begins(comm: u64) {
    if comm == WORLD.load(Relaxed) {
        // No two threads may be in collective calls on one communicator.
        BEGUN.store(BEGUN.load(Relaxed) + 1, Relaxed);
    }
}

/// Number of collective calls on MPI_COMM_WORLD that the program has begun.
pub fn begun() -> u64 {
    BEGUN.load(Relaxed)
}
