//! Collective calls: the n-th call of each rank of a communicator belongs to the n-th calls of the others, and must be of the same kind, root,
//! operation and size. All together must send as much as they expect.

use super::call::{CallPlace, CommKey, ExchangedBytes, Signature};
use std::collections::VecDeque;

/// Operations of all communicators that are kept until all ranks have come to them.
const MAX_PENDING: usize = 1 << 20;
/// Ranks of which is kept what they did differently in one operation.
const MAX_DIFFERENT: usize = 64;

/// A rank's call in a collective operation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Arrival {
    pub place: CallPlace,
    pub signature: Signature,
}

/// A collective operation as far as ranks have come to it.
#[derive(Clone, Debug)]
struct PendingOperation {
    came: u32,
    /// The first call.
    first: Arrival,
    /// Calls that are not as the first one, and how many there are.
    others: Vec<Arrival>,
    different: u32,
    /// Calls of which less is known than of the first, and how many there are.
    less_known: Vec<Arrival>,
    less_known_count: u32,
    /// What the ranks that came send and expect; `None` if that of one is not known.
    exchanged: Option<ExchangedBytes>,
}

impl PendingOperation {
    /// The ranks of which is not known what calls differ in; `None` if there are too many.
    fn unknown(&self, difference: Difference) -> Option<Vec<u32>> {
        let is_unknown = |call: &&Arrival| match difference {
            Difference::Function | Difference::Exchange(_) => false,
            Difference::Root => call.signature.root.is_none(),
            Difference::Operation => call.signature.operation.is_none(),
            Difference::Size => call.signature.bytes.is_none(),
        };
        let are_all_kept = self.less_known_count as usize == self.less_known.len();
        let unknown = self.less_known.iter().filter(is_unknown);
        are_all_kept.then(|| unknown.map(|call| call.place.rank).collect())
    }
}

/// How calls of one operation differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Difference {
    /// Other functions.
    Function,
    /// Other roots.
    Root,
    /// Other reduction operations.
    Operation,
    /// Other sizes of data.
    Size,
    /// All ranks together send more or less than they expect.
    Exchange(ExchangedBytes),
}

/// Calls of one operation that do not fit.
#[derive(Clone, Debug)]
pub(super) struct Mismatch {
    pub comm: CommKey,
    /// Number of the operation on the communicator, from 0.
    pub number: u64,
    pub difference: Difference,
    /// The call that came first, then those that are not as it.
    pub calls: Vec<Arrival>,
    /// Number of ranks that did something else than the first.
    pub different: u32,
    /// Ranks in MPI_COMM_WORLD of which is not known what they did; `None` if there are too many.
    pub unknown: Option<Vec<u32>>,
    /// Ranks that had come to the operation.
    pub came: u32,
    /// Operations on the communicator that differ in this way.
    pub count: u64,
}

/// Collective calls on one communicator.
#[derive(Clone, Debug, Default)]
struct OperationQueue {
    size: u32,
    /// Operations that each rank has come to.
    come: Vec<u64>,
    first: u64,
    pending: VecDeque<PendingOperation>,
    /// Number of the last operation whose calls belong together for sure: behind a call that failed, or one of another kind, nobody knows.
    last: Option<u64>,
}

/// The operation that a rank has come to, for [`CollectiveMatcher::missing`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct OperationNumber {
    pub comm: CommKey,
    pub number: u64,
}

/// Ranks that did not come to an operation.
#[derive(Clone, Debug)]
pub(super) struct Missing {
    pub comm: CommKey,
    pub number: u64,
    pub first: Arrival,
    /// Ranks in the communicator that did not come.
    pub ranks: Vec<u32>,
}

/// Matches the collective calls of all communicators.
#[derive(Debug, Default)]
pub(super) struct CollectiveMatcher {
    queues: Vec<OperationQueue>,
    pending: usize,
    pub mismatches: Vec<Mismatch>,
    /// Operations that were forgotten before all ranks had come to them.
    pub forgotten: u64,
    /// Operations that were compared.
    pub compared: u64,
}

impl CollectiveMatcher {
    /// A communicator of so many ranks.
    pub(super) fn add_comm(&mut self, size: u32) {
        self.queues.push(OperationQueue {
            size,
            ..OperationQueue::default()
        });
    }

    /// The rank with the number `rank` in a communicator makes its next collective call on it.
    pub(super) fn come(&mut self, comm: CommKey, rank: u32, arrival: Arrival) -> OperationNumber {
        let Some(queue) = self.queues.get_mut(comm.0 as usize) else {
            return OperationNumber { comm, number: 0 };
        };
        let at = rank.min(queue.size) as usize;
        if queue.come.len() <= at {
            queue.come.resize(at + 1, 0);
        }
        let number = queue.come[at];
        queue.come[at] += 1;
        let result = OperationNumber { comm, number };
        if queue.last.is_some_and(|last| number > last) || queue.size < 2 {
            return result;
        }
        let Some(place) = number.checked_sub(queue.first) else {
            return result;
        };
        match queue.pending.get_mut(place as usize) {
            Some(operation) => {
                operation.came += 1;
                operation.exchanged = operation
                    .exchanged
                    .zip(arrival.signature.exchanged)
                    .and_then(|(all, own)| all.checked_add(own));
                let mut arrival = arrival;
                if lacks_what_is_known(&arrival, &operation.first) {
                    std::mem::swap(&mut operation.first, &mut arrival);
                }
                if lacks_what_is_known(&operation.first, &arrival) {
                    operation.less_known_count += 1;
                    if operation.less_known.len() < MAX_DIFFERENT {
                        operation.less_known.push(arrival);
                    }
                }
                if !is_alike(&operation.first, &arrival) {
                    operation.different += 1;
                    if operation.others.len() < MAX_DIFFERENT {
                        operation.others.push(arrival);
                    }
                }
            }
            None => {
                self.pending += 1;
                queue.pending.push_back(PendingOperation {
                    came: 1,
                    first: arrival,
                    others: Vec::new(),
                    different: 0,
                    less_known: Vec::new(),
                    less_known_count: 0,
                    exchanged: arrival.signature.exchanged,
                });
            }
        }
        let is_whole = |queue: &OperationQueue| {
            let first = queue.pending.front();
            first.is_some_and(|operation| operation.came >= queue.size)
        };
        while is_whole(&self.queues[comm.0 as usize]) || self.pending > MAX_PENDING {
            self.forgotten += u64::from(!is_whole(&self.queues[comm.0 as usize]));
            self.take_first(comm);
        }
        result
    }

    /// A call of this operation failed: what comes after it on the communicator need not belong together.
    pub(super) fn end_after(&mut self, operation: OperationNumber) {
        let Some(queue) = self.queues.get_mut(operation.comm.0 as usize) else {
            return;
        };
        queue.last = Some(queue.last.unwrap_or(u64::MAX).min(operation.number));
        while queue.first + queue.pending.len() as u64 > operation.number + 1
            && queue.pending.pop_back().is_some()
        {
            self.pending -= 1;
        }
    }

    /// Takes the first operation of a communicator out and compares its calls.
    fn take_first(&mut self, comm: CommKey) {
        let queue = &mut self.queues[comm.0 as usize];
        let Some(operation) = queue.pending.pop_front() else {
            return;
        };
        let number = queue.first;
        queue.first += 1;
        self.pending -= 1;
        self.compared += 1;
        self.compare(comm, number, operation);
    }

    fn compare(&mut self, comm: CommKey, number: u64, operation: PendingOperation) {
        let first = operation.first;
        let differences = [
            Difference::Function,
            Difference::Root,
            Difference::Operation,
            Difference::Size,
        ];
        for difference in differences {
            let others: Vec<Arrival> = (operation.others.iter())
                .filter(|other| differs(&first, other, difference))
                .copied()
                .collect();
            if others.is_empty() {
                continue;
            }
            let different = match operation.others.len() < MAX_DIFFERENT {
                true => others.len() as u32,
                false => operation.different,
            };
            self.note(Mismatch {
                comm,
                number,
                difference,
                calls: std::iter::once(first).chain(others).collect(),
                different,
                unknown: operation.unknown(difference),
                came: operation.came,
                count: 1,
            });
            if difference == Difference::Function {
                let queue = &mut self.queues[comm.0 as usize];
                queue.last = Some(number);
                self.pending -= queue.pending.len();
                queue.pending.clear();
                return;
            }
        }
        let have_all_come = operation.came >= self.queues[comm.0 as usize].size;
        // From other roots or sizes it would follow.
        if let Some(all) = operation.exchanged
            && all.sent != all.expected
            && have_all_come
            && operation.others.is_empty()
        {
            self.note(Mismatch {
                comm,
                number,
                difference: Difference::Exchange(all),
                calls: vec![first],
                different: 0,
                unknown: Some(Vec::new()),
                came: operation.came,
                count: 1,
            });
        }
    }

    /// Adds a mismatch to one like it on the same communicator.
    fn note(&mut self, mismatch: Mismatch) {
        let kind = |of: &Mismatch| std::mem::discriminant(&of.difference);
        let is_same =
            |other: &&mut Mismatch| other.comm == mismatch.comm && kind(other) == kind(&mismatch);
        match self.mismatches.iter_mut().find(is_same) {
            Some(known) => known.count += 1,
            None => self.mismatches.push(mismatch),
        }
    }

    /// Compares what is left when all calls have come. Gives the first operation of each communicator to which not all ranks came.
    pub(super) fn finish(&mut self) -> Vec<Missing> {
        let mut missing = Vec::new();
        for nth in 0..self.queues.len() {
            let comm = CommKey(nth as u32);
            let mut is_first = true;
            while let Some(operation) = self.queues[nth].pending.front() {
                let first = operation.first;
                let number = self.queues[nth].first;
                if is_first {
                    let ranks = self.missing(OperationNumber { comm, number });
                    missing.push(Missing {
                        comm,
                        number,
                        first,
                        ranks,
                    });
                }
                is_first = false;
                self.take_first(comm);
            }
        }
        missing
    }

    /// Whether an operation is the one after which nobody knows which calls of a communicator belong together, or comes after that one.
    pub(super) fn is_past_comparison(&self, operation: OperationNumber) -> bool {
        let queue = self.queues.get(operation.comm.0 as usize);
        let last = queue.and_then(|queue| queue.last);
        last.is_some_and(|last| operation.number >= last)
    }

    /// Ranks in the communicator that have not come to an operation.
    pub(super) fn missing(&self, operation: OperationNumber) -> Vec<u32> {
        let Some(queue) = self.queues.get(operation.comm.0 as usize) else {
            return Vec::new();
        };
        let has_come = |rank: u32| {
            let come = queue.come.get(rank as usize);
            come.is_some_and(|&come| come > operation.number)
        };
        (0..queue.size).filter(|&rank| !has_come(rank)).collect()
    }
}

fn differs(first: &Arrival, other: &Arrival, difference: Difference) -> bool {
    let (a, b) = (&first.signature, &other.signature);
    match difference {
        Difference::Function => first.place.function != other.place.function,
        Difference::Root => a.root.zip(b.root).is_some_and(|(a, b)| a != b),
        Difference::Operation => a.operation.zip(b.operation).is_some_and(|(a, b)| a != b),
        Difference::Size => a.bytes.zip(b.bytes).is_some_and(|(a, b)| a != b),
        Difference::Exchange(_) => false,
    }
}

/// Whether something is known of a call that is not of the other.
fn lacks_what_is_known(known: &Arrival, other: &Arrival) -> bool {
    let (a, b) = (&known.signature, &other.signature);
    a.root.is_some() && b.root.is_none()
        || a.operation.is_some() && b.operation.is_none()
        || a.bytes.is_some() && b.bytes.is_none()
}

/// Whether two calls fit as far as is known of both.
fn is_alike(first: &Arrival, other: &Arrival) -> bool {
    let all = [
        Difference::Function,
        Difference::Root,
        Difference::Operation,
        Difference::Size,
    ];
    !all.into_iter().any(|each| differs(first, other, each))
}
