//! The recorders' line to each other: their communicator, and how they wait.

use crate::mpi::pmpi;
use crate::mpi::status::Status;
use crate::mpi::types::MPI_Comm;
use crate::mpi::world::World;
use crate::platform::clock;
use blockfile::encode::MpiStatus;
use std::ffi::c_int;
use std::time::Duration;

/// A communicator handle.
#[derive(Clone, Copy, Debug)]
pub struct RecorderComm(pub MPI_Comm);
// SAFETY: a handle, valid in every thread.
unsafe impl Send for RecorderComm {}

/// The recorders' line to each other.
#[derive(Debug, Clone, Copy)]
pub struct Exchange {
    /// The recorder's own communicator.
    pub comm: RecorderComm,
    /// Rank of this process in the line.
    pub rank: i32,
    /// Number of ranks.
    pub size: i32,
    /// Longest wait for a message; `None` waits for ever.
    pub deadline: Option<Duration>,
}

impl Exchange {
    /// On `comm`, which has the ranks of `world`; a wait ends after `deadline`.
    pub fn new(comm: RecorderComm, world: &World, deadline: Option<Duration>) -> Exchange {
        Exchange {
            comm,
            rank: world.rank,
            size: world.size,
            deadline,
        }
    }

    /// The message with this tag from that rank that comes next, if one is there. An error is MPI's.
    pub fn probe(&self, from: i32, tag: i32) -> Result<Option<MpiStatus>, c_int> {
        let mut status = Status::unset();
        let mut flag: c_int = 0;
        // SAFETY: the recorder's communicator, and places for the answer.
        let code = unsafe { pmpi::MPI_Iprobe(from, tag, self.comm.0, &mut flag, status.place()) };
        match (code, flag) {
            (0, 0) => Ok(None),
            // SAFETY: all bytes are set, at least to zero.
            (0, _) => Ok(Some(status.decode())),
            (code, _) => Err(code),
        }
    }
}

/// Waits a little, the longer the more often it was in vain, and leaves the processor to the others. Where ranks share a core, each
/// yield is a switch of context, so there are few.
pub fn pause(turn: u32) {
    match turn {
        0..64 => std::hint::spin_loop(),
        64..80 => std::thread::yield_now(),
        _ => clock::nap(Duration::from_micros(50 + u64::from(turn.min(1000)))),
    }
}

/// Bytes of a message that carries part of something longer.
pub const MESSAGE_BYTES: usize = 64 * 1024;
