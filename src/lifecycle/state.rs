//! Stage of the process.

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

/// Stage of the process: one of the numbers below.
pub static STATE: AtomicU32 = AtomicU32::new(BEFORE);
/// Value of [`STATE`]: MPI has not begun.
pub const BEFORE: u32 = 0;
/// Value of [`STATE`]: MPI_Init has returned.
pub const INITIALIZED: u32 = 1;
/// Value of [`STATE`]: nothing more is recorded.
pub const FINISHED: u32 = 2;
/// Value of [`STATE`]: there are sessions, and no MPI_COMM_WORLD.
pub const SESSIONS: u32 = 3;

/// Whether MPI_Init has returned and MPI_Finalize has not begun.
pub fn is_running() -> bool {
    STATE.load(Relaxed) == INITIALIZED
}

/// Whether there is nothing more to record.
pub fn is_over() -> bool {
    STATE.load(Relaxed) == FINISHED
}
