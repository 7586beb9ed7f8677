//! Collective operations: the calls of the ranks of a communicator that belong together, found by their order.
//!
//! Where a rank has made calls that are not recorded, its order alone is wrong. No rank leaves an operation before all have come whom it needs: so a rank
//! does not belong to an operation which others left before it came, nor to one of another kind.

use super::arrivals::{Arrival, LastOfSome, LatestArrivals, LowerArrivals, RankArrivals};
use super::clocks::ReplayClocks;
use super::role::{CollectiveRole, Needs};
use super::wait::WaitPattern;
use std::collections::VecDeque;
use trace_model::hash::Map;
use wrappers::CollectiveOperation;

/// Operations of a communicator that are kept until all of its ranks have left them.
const MAX_PENDING: usize = 1 << 14;

/// Seconds by which clocks may differ that are synchronised.
const CLOCK_DIFFERENCE: f64 = 1e-4;

/// A collective operation as far as ranks have come to it.
#[derive(Clone, Debug, Default)]
struct Operation {
    /// Number of the ranks that came, and of those that went.
    came: u32,
    went: u32,
    /// The lane that was the last to leave before all had come whom it needed. It knows the one before.
    left_early: Option<u32>,
    /// What those did that lack no calls.
    kind: Option<OperationKind>,
    /// The first end of a call that lacked ranks, and how long such calls took at most.
    left: Option<(f64, f64)>,
    /// Number of the ranks whose calls are not recorded.
    lacking: u32,
    /// Ranks that came: of an intercommunicator by side, else all at 0.
    sides: [LatestArrivals; 2],
    /// The root, once it is known and has come.
    root: Option<Arrival>,
    /// Ranks that came one by one, where ranks need some of the others.
    by_rank: RankArrivals,
}

/// What is the same for all ranks of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct OperationKind {
    pub needs: Needs,
    pub pattern: WaitPattern,
    /// Operation on data; `None` if it is none, or not known.
    pub operation: Option<CollectiveOperation>,
}

impl OperationKind {
    /// Whether calls of both kinds can belong to one operation.
    fn may_be(self, other: OperationKind) -> bool {
        let is_other = matches!((self.operation, other.operation), (Some(a), Some(b)) if a != b);
        (self.needs, self.pattern) == (other.needs, other.pattern) && !is_other
    }
}

/// What a rank is in an operation with a root.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// The trace does not tell, or there is no root.
    Unknown,
    Root,
    /// Gets data of the root, or gives data to it.
    Other,
    /// Gets and gives nothing: on the side of an intercommunicator where the root is.
    Bystander,
}

/// How a rank has come to an operation before which calls of it may not be recorded.
#[derive(Clone, Copy, Debug)]
pub(super) struct AfterGap {
    /// Place of the rank among all that take part.
    place: i32,
    arrival: Arrival,
    /// Whether the call may belong to the operation before.
    is_doubtful: bool,
}

/// A rank's part in a collective operation.
#[derive(Clone, Copy, Debug)]
pub(super) struct RankInOperation {
    /// Queue of the operation, and number in it.
    pub queue: u32,
    pub number: u64,
    /// Rank in the communicator.
    pub rank: i32,
    /// The side of an intercommunicator that it is on.
    pub side: Option<u8>,
    pub part: Part,
    pub role: CollectiveRole,
    pub kind: OperationKind,
    /// What is known of it if calls of the rank before this one may not be recorded.
    pub after_gap: Option<AfterGap>,
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
    /// By rank of the communicator: gaps in what is recorded of it, before its latest operation.
    gaps: Vec<u32>,
    /// Number of the first operation that is kept.
    first: u64,
    kept: VecDeque<Operation>,
    /// Operations that were dropped before all ranks had left them, or of which some ranks lack the call.
    pub unmatched: u64,
    /// Of the queue of a file or window: the ranks whose calls that make it are recorded.
    pub makers: u32,
    /// Of the queue of a file or window: whether a rank made it of which earlier calls are not recorded. What it made may be another one.
    pub is_made_unsurely: bool,
}

impl OperationQueue {
    pub(super) fn new(size: u32) -> OperationQueue {
        OperationQueue {
            size,
            ..OperationQueue::default()
        }
    }

    /// A rank, which is the one at `place` of all that take part, comes to its next operation. Fills in the number of the operation. `gaps` is how often
    /// recording may have been off on the rank so far.
    pub(super) fn come(
        &mut self,
        place: i32,
        rank: &mut RankInOperation,
        arrival: Arrival,
        gaps: u32,
    ) {
        rank.number = self.next(place);
        let at = self.at(place);
        if std::mem::replace(&mut self.gaps[at], gaps) != gaps {
            let mut gap = AfterGap {
                place,
                arrival,
                is_doubtful: false,
            };
            while let Some(is_certain) = self.is_over(rank, arrival.time) {
                gap.is_doubtful = !is_certain;
                self.skip(rank, place);
            }
            rank.after_gap = Some(gap);
            if !gap.is_doubtful {
                self.forget();
            }
        }
        self.come_to(rank, arrival);
    }

    /// Whether others have left an operation that a rank comes to at `time`, or have made another one; and whether that is certain: clocks that differ by much
    /// may be the cause as well.
    fn is_over(&self, rank: &RankInOperation, time: f64) -> Option<bool> {
        let operation = self.operation(rank.number)?;
        if operation.kind.is_some_and(|kind| !kind.may_be(rank.kind)) {
            return Some(true);
        }
        let is_needed = rank.role.needs != Needs::Root || rank.part == Part::Root;
        let (left, longest) = operation.left.filter(|_| is_needed)?;
        let late = time - left;
        (late > CLOCK_DIFFERENCE).then_some(late > longest)
    }

    /// The call of a rank to an operation is not recorded: what it comes to is the next one.
    fn skip(&mut self, rank: &mut RankInOperation, place: i32) {
        let Some(operation) = self.operation_mut(rank.number) else {
            return;
        };
        operation.lacking += 1;
        self.unmatched += u64::from(operation.lacking == 1);
        rank.number += 1;
        let at = self.at(place);
        self.come[at] = rank.number + 1;
    }

    /// A call ends, at `time`, that came after a gap: it is clear now which operation it belongs to.
    pub(super) fn find_again(&mut self, rank: &mut RankInOperation, time: f64) {
        let Some(gap) = rank.after_gap else {
            return;
        };
        let AfterGap { place, arrival, .. } = gap;
        if gap.is_doubtful && self.lacks(rank) {
            // The others have yet to come to this one: it was the one before, which they seemed to have left, as the clocks differ.
            self.uncome(rank.number);
            rank.number -= 1;
            if let Some(before) = self.operation_mut(rank.number) {
                before.lacking -= 1;
                self.unmatched -= u64::from(before.lacking == 0);
            }
            let at = self.at(place);
            self.come[at] = rank.number + 1;
            self.come_to(rank, arrival);
            return;
        }
        while !gap.is_doubtful && self.belongs_to_next(rank, &arrival, time) {
            self.uncome(rank.number);
            self.skip(rank, place);
            self.come_to(rank, arrival);
        }
    }

    /// Whether a call that ends at `time` belongs to the operation after this one: to that all others have come, and this one is of another kind, or others
    /// had left it a little before the call came, which then took much longer than it was late.
    fn belongs_to_next(&self, rank: &RankInOperation, arrival: &Arrival, time: f64) -> bool {
        let is_other = |operation: &Operation| {
            let late = operation.left.map_or(0.0, |(left, _)| arrival.time - left);
            operation.kind.is_some_and(|kind| !kind.may_be(rank.kind))
                || late > 0.0 && time - arrival.time > 4.0 * late
        };
        let has_come = |next: &Operation| {
            let mut last = next
                .sides
                .iter()
                .filter_map(|side| side.others(arrival.lane).last);
            next.came + 1 >= self.size && last.all(|last| last.time <= time)
        };
        self.operation(rank.number + 1).is_some_and(has_come)
            && self.operation(rank.number).is_some_and(is_other)
    }

    /// A rank has not come to an operation, as it seemed.
    fn uncome(&mut self, number: u64) {
        if let Some(operation) = self.operation_mut(number) {
            operation.came -= 1;
        }
    }

    /// A call that took so long, and ended at `time`, has left an operation that lacked ranks.
    pub(super) fn leave_lacking(&mut self, number: u64, time: f64, seconds: f64) {
        if let Some(operation) = self.operation_mut(number) {
            let (left, longest) = operation.left.unwrap_or((time, seconds));
            operation.left = Some((left.min(time), longest.max(seconds)));
        }
    }

    /// Operations that ranks have come to, and not all of them.
    pub(super) fn incomplete(&self) -> u64 {
        let kept = self.kept.iter();
        let lacking = kept.filter(|one| one.came > 0 && one.came < self.size && one.lacking == 0);
        lacking.count() as u64
    }

    /// A rank comes to the operation whose number it has.
    pub(super) fn come_to(&mut self, rank: &RankInOperation, arrival: Arrival) {
        let (number, size) = (rank.number, self.size);
        while self.first + self.kept.len() as u64 <= number {
            if self.kept.len() == MAX_PENDING {
                self.kept.pop_front();
                self.first += 1;
                self.unmatched += 1;
            }
            self.kept.push_back(Operation::default());
        }
        let Some(operation) = self.operation_mut(number) else {
            return;
        };
        operation.came += 1;
        if rank.after_gap.is_none() || operation.kind.is_none() {
            operation.kind = Some(rank.kind);
        }
        operation.sides[usize::from(rank.side.unwrap_or(0)) & 1].add(arrival);
        if rank.part == Part::Root {
            operation.root = Some(arrival);
        }
        let by_rank = &mut operation.by_rank;
        match (rank.role.needs, &mut *by_rank) {
            (Needs::Lower, RankArrivals::Lower(lower)) => lower.add(rank.rank, arrival),
            (Needs::Lower, _) => {
                let mut lower = LowerArrivals::new(size);
                lower.add(rank.rank, arrival);
                *by_rank = RankArrivals::Lower(lower);
            }
            (Needs::Neighbours, RankArrivals::Each(each)) => {
                each.insert(rank.rank, arrival);
            }
            (Needs::Neighbours, _) => {
                *by_rank = RankArrivals::Each(Map::from_iter([(rank.rank, arrival)]));
            }
            _ => {}
        }
    }

    /// Where what is known of the rank at `place` stands.
    fn at(&self, place: i32) -> usize {
        usize::try_from(place).unwrap_or(0).min(self.size as usize)
    }

    /// Number of the operation that the rank at `place` comes to next.
    fn next(&mut self, place: i32) -> u64 {
        let at = self.at(place);
        if self.come.len() <= at {
            self.come.resize(at + 1, 0);
            self.gaps.resize(at + 1, 0);
        }
        let number = self.come[at].max(self.first);
        self.come[at] = number + 1;
        number
    }

    /// Whom a rank waited for in an operation, of those that have come to it. `neighbours` are the ranks whose data it gets in calls that are
    /// about neighbours; `None` if they are not known.
    pub(super) fn needed(
        &self,
        rank: &RankInOperation,
        lane: u32,
        neighbours: Option<&[i32]>,
    ) -> Option<LastOfSome> {
        let operation = self.operation(rank.number)?;
        // Of an intercommunicator, all of both sides come together, but a root needs the other side only.
        let everyone = || {
            let mut needed = operation.sides[0].others(lane);
            needed.join(&operation.sides[1].others(lane));
            needed
        };
        let other_side = || match rank.side {
            Some(own) => operation.sides[1 - usize::from(own).min(1)].others(lane),
            None => everyone(),
        };
        match (rank.role.needs, rank.part) {
            (_, Part::Bystander) => None,
            (Needs::All, _) => Some(everyone()),
            // Whoever came before the call ended may have been needed.
            (Needs::Root | Needs::AtRoot, Part::Unknown) => Some(everyone()),
            (Needs::AtRoot, part) => (part == Part::Root).then(other_side),
            (Needs::Root, _) => {
                let root = operation.root.filter(|root| root.lane != lane)?;
                Some(LastOfSome {
                    last: Some(root),
                    clocks: root.clocks,
                })
            }
            (Needs::Lower, _) => match &operation.by_rank {
                RankArrivals::Lower(lower) => Some(lower.below(rank.rank)),
                _ => None,
            },
            (Needs::Neighbours, _) => {
                let RankArrivals::Each(each) = &operation.by_rank else {
                    return None;
                };
                let mut needed = LastOfSome::default();
                let come = neighbours?.iter().filter_map(|rank| each.get(rank));
                come.filter(|other| other.lane != lane)
                    .for_each(|&other| needed.add(other));
                Some(needed)
            }
        }
    }

    fn place(&self, number: u64) -> Option<usize> {
        usize::try_from(number.checked_sub(self.first)?).ok()
    }

    fn operation(&self, number: u64) -> Option<&Operation> {
        self.kept.get(self.place(number)?)
    }

    fn operation_mut(&mut self, number: u64) -> Option<&mut Operation> {
        let at = self.place(number)?;
        self.kept.get_mut(at)
    }

    /// Whether ranks have yet to come to an operation without whom this one cannot leave it.
    pub(super) fn lacks(&self, rank: &RankInOperation) -> bool {
        let size = self.size;
        let operation = self.operation(rank.number);
        operation.is_some_and(|operation| match (rank.role.needs, rank.part) {
            (Needs::All, Part::Unknown) | (Needs::AtRoot, Part::Root) => operation.came < size,
            (Needs::Root, Part::Other) => operation.root.is_none(),
            _ => false,
        })
    }

    /// A lane leaves an operation that lacks ranks. Gives the lane that did so before.
    pub(super) fn leave_early(&mut self, number: u64, lane: u32) -> Option<u32> {
        self.operation_mut(number)?.left_early.replace(lane)
    }

    /// The lane that was the last to leave an operation to which this rank has just come, if it lacked none but this one.
    pub(super) fn left_early(&mut self, rank: &RankInOperation) -> Option<u32> {
        let size = self.size;
        let operation = self.operation_mut(rank.number)?;
        let is_awaited = rank.part == Part::Root && rank.role.needs == Needs::Root;
        match is_awaited || operation.came == size {
            true => operation.left_early.take(),
            false => None,
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
        self.forget();
    }

    /// Forgets what all ranks have left.
    fn forget(&mut self) {
        while (self.kept.front())
            .is_some_and(|operation| operation.went + operation.lacking >= self.size)
        {
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
            operation.sides.iter_mut().for_each(LatestArrivals::restart);
            if let Some(root) = &mut operation.root {
                root.clocks = ReplayClocks::default();
            }
            operation.by_rank.restart();
        }
    }
}
