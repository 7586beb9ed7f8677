//! Files and windows that ranks share: each has a queue of the collective calls on it, from the call that makes it to the one that frees it.

use super::collective::OperationQueue;
use trace_model::hash::Map;

/// Files and windows that not all of their ranks have made yet, at most. Those beyond have no queue of their own.
const MAX_HALF_MADE: usize = 1 << 16;

/// The queues of files and windows, among those of communicators.
#[derive(Clone, Debug, Default)]
pub(super) struct SharedQueues {
    /// By queue and number of the operation that makes it, the queue of what is half made, and how many ranks have made it.
    half_made: Map<(u32, u64), (u32, u32)>,
    /// Queues of what is gone.
    free: Vec<u32>,
}

impl SharedQueues {
    /// A rank takes part in operation `number` of `queue`, which makes a file or window. Gives the queue of that; `None` if there are too many.
    pub(super) fn make(
        &mut self,
        queues: &mut Vec<OperationQueue>,
        queue: u32,
        number: u64,
    ) -> Option<u32> {
        let size = queues[queue as usize].size;
        let known = self.half_made.get(&(queue, number)).copied();
        if known.is_none() && self.half_made.len() == MAX_HALF_MADE {
            return None;
        }
        let (own, made) = known.unwrap_or_else(|| {
            let new = OperationQueue::new(size);
            match self.free.pop() {
                Some(free) => {
                    let place = &mut queues[free as usize];
                    let unmatched = place.unmatched;
                    *place = new;
                    place.unmatched = unmatched;
                    (free, 0)
                }
                None => {
                    queues.push(new);
                    (queues.len() as u32 - 1, 0)
                }
            }
        });
        queues[own as usize].makers = made + 1;
        match made + 1 < size {
            true => _ = self.half_made.insert((queue, number), (own, made + 1)),
            false => _ = self.half_made.remove(&(queue, number)),
        }
        Some(own)
    }

    /// A rank has left the operation that frees what has this queue. When all have, another one may take the queue.
    pub(super) fn free(&mut self, queues: &[OperationQueue], queue: u32) {
        if queues[queue as usize].is_idle() {
            self.free.push(queue);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::performance::arrivals::Arrival;
    use crate::performance::clocks::ReplayClocks;
    use crate::performance::collective::{OperationKind, Part, RankInOperation};
    use crate::performance::role::{CollectiveRole, Members, Needs, SharedUse};
    use crate::performance::wait::WaitPattern;

    #[test]
    fn queues_are_used_again() {
        let role = CollectiveRole {
            needs: Needs::All,
            pattern: WaitPattern::FileCollective,
            members: Members::ItsOwn,
            shared: SharedUse::Frees,
        };
        let mut queues = vec![OperationQueue::new(2)];
        let mut shared = SharedQueues::default();
        for number in 0..1000 {
            let own = [0, 1].map(|_| shared.make(&mut queues, 0, number).expect("room"));
            assert_eq!(own[0], own[1]);
            for rank in 0..2 {
                let arrival = Arrival {
                    time: 0.0,
                    lane: rank as u32,
                    clocks: ReplayClocks::default(),
                };
                let queue = &mut queues[own[0] as usize];
                let mut freed = RankInOperation {
                    queue: own[0],
                    number: 0,
                    rank,
                    side: None,
                    part: Part::Unknown,
                    role,
                    kind: OperationKind {
                        needs: role.needs,
                        pattern: role.pattern,
                        operation: None,
                    },
                    after_gap: None,
                    frees_queue: true,
                };
                queue.come(rank, &mut freed, arrival, 0);
                queue.leave(freed.number);
                shared.free(&queues, own[0]);
            }
        }
        assert_eq!((queues.len(), shared.half_made.len()), (2, 0));
    }
}
