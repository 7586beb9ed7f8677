//! Intercommunicators: the two communicators of the trace that are the sides of one, whose ranks come together in collective calls.

use super::call_info::MadeComm;
use super::collective::OperationQueue;
use super::role::{CollectiveRole, Members, Needs};
use super::wait::WaitPattern;
use trace_model::hash::Map;

/// Where the ranks of one side come to the operations of an intercommunicator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Side {
    /// Queue of the operations.
    pub queue: u32,
    pub side: u8,
    /// Place of the side's rank 0 among all ranks of both sides.
    pub first: i32,
}

/// The sides of all intercommunicators, by communicator.
#[derive(Clone, Debug, Default)]
pub(super) struct Intercomms {
    /// `None` where a communicator is a side of several.
    sides: Map<u32, Option<Side>>,
    queues: Map<(u32, u32), u32>,
}

impl Intercomms {
    /// There is an intercommunicator with these sides, which are places of communicators among those of the trace.
    pub(super) fn add(&mut self, queues: &mut Vec<OperationQueue>, local: u32, remote: u32) {
        let (low, high) = (local.min(remote), local.max(remote));
        let [low_size, high_size] = [low, high].map(|comm| queues[comm as usize].size);
        let queue = *self.queues.entry((low, high)).or_insert_with(|| {
            queues.push(OperationQueue::new(low_size + high_size));
            queues.len() as u32 - 1
        });
        for (comm, side, first) in [(low, 0, 0), (high, 1, low_size as i32)] {
            let own = Side { queue, side, first };
            let known = self.sides.entry(comm).or_insert(Some(own));
            if *known != Some(own) {
                *known = None;
            }
        }
    }

    /// Where ranks of a communicator come to an operation, by a call that makes this one. `Some(None)` if it is on an intercommunicator, and
    /// the trace does not tell on which.
    pub(super) fn of(
        &self,
        comm: u32,
        role: CollectiveRole,
        made: Option<&MadeComm>,
    ) -> Option<Option<Side>> {
        let side = self.sides.get(&comm)?;
        let may_be = match role.pattern {
            // What is made of an intercommunicator is one, too, unless both sides become one.
            WaitPattern::Communicator => {
                role.members == Members::BothSides || made.is_some_and(|made| made.remote.is_some())
            }
            _ => matches!(role.needs, Needs::All | Needs::Root | Needs::AtRoot),
        };
        may_be.then_some(*side)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::performance::role::SharedUse;

    #[test]
    fn both_sides_have_one_queue() {
        let mut queues: Vec<OperationQueue> = [3, 2, 4].map(OperationQueue::new).into();
        let mut inter = Intercomms::default();
        let barrier = CollectiveRole {
            needs: Needs::All,
            pattern: WaitPattern::Barrier,
            members: Members::ItsOwn,
            shared: SharedUse::Nothing,
        };
        assert_eq!(inter.of(1, barrier, None), None);
        inter.add(&mut queues, 1, 0);
        inter.add(&mut queues, 0, 1);
        assert_eq!((queues.len(), queues[3].size), (4, 5));
        let side = |side, first| {
            Some(Side {
                queue: 3,
                side,
                first,
            })
        };
        assert_eq!(inter.of(0, barrier, None), Some(side(0, 0)));
        assert_eq!(inter.of(1, barrier, None), Some(side(1, 3)));
        // With another intercommunicator between the same ranks and others, calls do not tell which they are on.
        inter.add(&mut queues, 0, 2);
        assert_eq!(inter.of(0, barrier, None), Some(None));
    }
    /// A communicator of one rank is the line of MPI_COMM_SELF, too.
    #[test]
    fn what_a_call_makes_tells_whether_it_is_on_an_intercommunicator() {
        let mut queues: Vec<OperationQueue> = [1, 3].map(OperationQueue::new).into();
        let mut inter = Intercomms::default();
        inter.add(&mut queues, 0, 1);
        let makes = |members| CollectiveRole {
            needs: Needs::All,
            pattern: WaitPattern::Communicator,
            members,
            shared: SharedUse::Nothing,
        };
        let made = |remote| MadeComm {
            number: 0,
            remote,
            sources: Vec::new(),
        };
        let own = makes(Members::ItsOwn);
        for comm in [0, 1] {
            assert!(inter.of(comm, own, Some(&made(Some(1)))).is_some());
            assert_eq!(inter.of(comm, own, Some(&made(None))), None);
            assert_eq!(inter.of(comm, own, None), None);
            let merge = makes(Members::BothSides);
            assert!(inter.of(comm, merge, Some(&made(None))).is_some());
        }
    }
}
