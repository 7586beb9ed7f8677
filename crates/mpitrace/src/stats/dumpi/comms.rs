//! Size of a communicator, own rank in it and world ranks of its members, at one point of the run of a rank.

use trace_formats::dumpi::communicators::{Communicators, HandleNames, is_creation};
use trace_formats::dumpi::types::DumpiRecord;

/// The communicators of a rank at one point of its run.
pub struct RankComms<'c> {
    comms: &'c Communicators,
    handles: HandleNames,
    rank: u32,
    /// Position of the rank's file among those of the run.
    place: usize,
}

/// A communicator as one of its members sees it.
#[derive(Clone, Copy)]
pub struct MemberComm<'c> {
    pub size: u32,
    pub own_rank: u32,
    comms: &'c Communicators,
    index: u32,
    /// World rank of the member.
    rank: u32,
}

impl MemberComm<'_> {
    /// The rank in MPI_COMM_WORLD of a rank in the communicator.
    pub fn world_rank(&self, rank: i32) -> Option<i32> {
        let rank = self.comms.world_rank(self.index, self.rank, rank)?;
        i32::try_from(rank).ok()
    }
}

impl<'c> RankComms<'c> {
    /// The state before the first call of a rank, whose file is at `place` among those of the run.
    pub fn new(comms: &'c Communicators, rank: u32, place: usize) -> Self {
        RankComms {
            comms,
            handles: HandleNames::default(),
            rank,
            place,
        }
    }

    /// Takes note of what a call made, once it is over.
    pub fn learn(&mut self, record: &DumpiRecord<'_>) {
        if is_creation(record.function.id) {
            self.handles.take(record);
        }
    }

    /// The communicator that a number stands for now. `None` if it cannot be followed, and for an intercommunicator.
    pub fn comm(&self, number: i32) -> Option<MemberComm<'c>> {
        let index = self.comms.index(self.place, self.handles.comm(number))?;
        let (size, own_rank) = self.comms.size_and_rank(index, self.rank)?;
        Some(MemberComm {
            size,
            own_rank,
            comms: self.comms,
            index,
            rank: self.rank,
        })
    }
}
