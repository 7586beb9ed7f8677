//! Collective operations: the calls of the ranks of a communicator that belong together, found by their order.

use super::clocks::{ReplayClocks, later};
use super::role::{CollectiveRole, Needs};
use std::collections::VecDeque;

/// Operations of a communicator that are kept until all of its ranks have left them.
const MAX_PENDING: usize = 1 << 14;

/// A rank that has come to a collective operation.
#[derive(Clone, Copy, Debug)]
pub(super) struct Arrival {
    pub time: f64,
    pub lane: u32,
    pub clocks: ReplayClocks,
}

/// A collective operation as far as ranks have come to it.
#[derive(Clone, Debug, Default)]
struct Operation {
    /// Number of the ranks that came, and of those that went.
    came: u32,
    went: u32,
    /// The two that came last.
    latest: Option<Arrival>,
    before_latest: Option<Arrival>,
    /// The latest clocks of all that came.
    clocks: ReplayClocks,
    /// The root, once it is known and has come.
    root: Option<Arrival>,
    /// All that came with their ranks, where ranks wait for lower ones.
    all: Vec<(i32, Arrival)>,
}

/// The rank that a call waited for, when it came, and the clocks that the call has to wait for in replays.
#[derive(Clone, Copy, Debug)]
pub(super) struct Needed {
    pub last: Option<Arrival>,
    pub clocks: ReplayClocks,
}

/// A rank's part in a collective operation.
#[derive(Clone, Copy, Debug)]
pub(super) struct RankInOperation {
    /// Queue of the operation, and number in it.
    pub queue: u32,
    pub number: u64,
    /// Rank in the communicator.
    pub rank: i32,
    /// Whether the rank is the root, if that is known.
    pub is_root: Option<bool>,
    pub role: CollectiveRole,
    /// Whether the queue is that of a file or window which the operation frees.
    pub frees_queue: bool,
}

/// The collective operations of one communicator.
#[derive(Clone, Debug, Default)]
pub(super) struct OperationQueue {
    /// Ranks that take part.
    pub size: u32,
    /// By rank of the communicator: operations it has come to.
    come: Vec<u64>,
    /// Number of the first operation that is kept.
    first: u64,
    kept: VecDeque<Operation>,
    /// Operations that were dropped before all ranks had left them.
    pub unmatched: u64,
}

impl OperationQueue {
    pub(super) fn new(size: u32) -> OperationQueue {
        OperationQueue {
            size,
            ..OperationQueue::default()
        }
    }

    /// A rank comes to its next operation. Gives the number of the operation.
    pub(super) fn come(
        &mut self,
        rank: i32,
        is_root: Option<bool>,
        role: CollectiveRole,
        arrival: Arrival,
    ) -> u64 {
        let at = usize::try_from(rank).unwrap_or(0).min(self.size as usize);
        if self.come.len() <= at {
            self.come.resize(at + 1, 0);
        }
        let number = self.come[at].max(self.first);
        self.come[at] = number + 1;
        while self.first + self.kept.len() as u64 <= number {
            if self.kept.len() == MAX_PENDING {
                self.kept.pop_front();
                self.first += 1;
                self.unmatched += 1;
            }
            self.kept.push_back(Operation::default());
        }
        let Some(operation) = self.kept.get_mut((number - self.first) as usize) else {
            return number;
        };
        operation.came += 1;
        if operation
            .latest
            .is_none_or(|latest| latest.time <= arrival.time)
        {
            operation.before_latest = operation.latest.replace(arrival);
        } else if operation
            .before_latest
            .is_none_or(|other| other.time <= arrival.time)
        {
            operation.before_latest = Some(arrival);
        }
        operation.clocks = later(&operation.clocks, &arrival.clocks);
        if is_root == Some(true) {
            operation.root = Some(arrival);
        }
        if role.needs == Needs::Lower {
            operation.all.push((rank, arrival));
        }
        number
    }

    /// Whom a rank waited for in an operation, of those that have come to it.
    pub(super) fn needed(&self, part: &RankInOperation, lane: u32) -> Option<Needed> {
        let RankInOperation {
            number,
            rank,
            is_root,
            role,
            ..
        } = *part;
        let operation = self
            .kept
            .get(usize::try_from(number.checked_sub(self.first)?).ok()?)?;
        let others = || {
            let latest = operation.latest.filter(|latest| latest.lane != lane);
            latest.or(operation.before_latest.filter(|other| other.lane != lane))
        };
        let everyone = || Needed {
            last: others(),
            clocks: operation.clocks,
        };
        match role.needs {
            Needs::All => Some(everyone()),
            // Whoever came before the call ended may have been needed.
            Needs::Root | Needs::AtRoot if is_root.is_none() => Some(everyone()),
            Needs::AtRoot => (is_root == Some(true)).then(everyone),
            Needs::Root => {
                let root = operation.root.filter(|root| root.lane != lane)?;
                Some(Needed {
                    last: Some(root),
                    clocks: root.clocks,
                })
            }
            Needs::Lower => {
                let lower = operation.all.iter().filter(|(other, _)| *other < rank);
                let mut needed = Needed {
                    last: None,
                    clocks: ReplayClocks::default(),
                };
                for (_, arrival) in lower {
                    needed.clocks = later(&needed.clocks, &arrival.clocks);
                    if needed.last.is_none_or(|last| last.time < arrival.time) {
                        needed.last = Some(*arrival);
                    }
                }
                Some(needed)
            }
        }
    }

    /// A rank has left an operation. What all have left is forgotten.
    pub(super) fn leave(&mut self, number: u64) {
        let Some(at) = number.checked_sub(self.first) else {
            return;
        };
        if let Some(operation) = self.kept.get_mut(at as usize) {
            operation.went += 1;
        }
        while (self.kept.front()).is_some_and(|operation| operation.went >= self.size) {
            self.kept.pop_front();
            self.first += 1;
        }
    }

    /// Whether all ranks have left all operations that any has come to.
    pub(super) fn is_idle(&self) -> bool {
        self.kept.is_empty()
    }

    /// The focus begins anew: clocks start at zero.
    pub(super) fn restart(&mut self) {
        for operation in &mut self.kept {
            operation.clocks = ReplayClocks::default();
            let arrivals = [
                &mut operation.latest,
                &mut operation.before_latest,
                &mut operation.root,
            ];
            for arrival in arrivals.into_iter().flatten() {
                arrival.clocks = ReplayClocks::default();
            }
            for (_, arrival) in &mut operation.all {
                arrival.clocks = ReplayClocks::default();
            }
        }
    }
}
