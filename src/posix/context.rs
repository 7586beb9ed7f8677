//! The state in which a call on a file is made.

use crate::thread::state::Thread;
use blockfile::operation::{DEFERRED, OUTSIDE};

/// The state in which a call is made that may have to be recorded.
#[derive(Clone, Copy)]
pub struct CallContext {
    /// The running thread.
    pub thread: *mut Thread,
    /// Number of the call that it belongs to: the MPI call that is running, else the next one.
    pub call: u64,
    /// Flags of the record.
    pub flags: u32,
    /// Whether an MPI_File_* function is running.
    pub in_file: bool,
    /// Whether only descriptors are recorded that an MPI_File_* function has opened.
    pub put_off: bool,
}

impl CallContext {
    /// Flags of a record on a descriptor that an MPI_File_* function has opened (`of_mpi`) or not.
    #[inline(always)]
    pub fn flags_on(&self, of_mpi: bool) -> u32 {
        if of_mpi && !self.in_file && self.flags & OUTSIDE == 0 {
            self.flags | DEFERRED
        } else {
            self.flags
        }
    }
}
