//! One-sided communication: ranks that wait for the post or the completion of others, or for a lock that another one holds.
//!
//! The post of a target belongs to the start of an origin if both are the n-th of this pair of ranks on the window, and so does the completion of
//! an origin to the wait of a target.

use super::arrivals::Arrival;
use super::clocks::{ReplayClocks, later};
use super::lane::{OneSidedCall, WaitEnd};
use super::message::EndedCall;
use super::role::OneSidedStep;
use super::wait::WaitPattern;
use std::collections::VecDeque;
use std::ops::Range;
use trace_model::hash::Map;

/// Posts and completions of a pair of ranks, ends of locks, and locks that a rank asks for on one window, that are kept.
const MAX_KEPT: usize = 64;
/// Calls of a rank that are kept since it has asked for a lock.
const MAX_CALLS: usize = 8;

/// A window, as the queue of the collective calls on it, and two ranks, as places among the ranks of the trace.
type Pair = (u32, u32, u32);

/// What a rank did again and again, by number.
#[derive(Clone, Debug, Default)]
struct Numbered {
    /// Number of the first that is kept.
    first: u64,
    kept: VecDeque<Arrival>,
}

impl Numbered {
    fn push(&mut self, arrival: Arrival) {
        if self.kept.len() == MAX_KEPT {
            self.kept.pop_front();
            self.first += 1;
        }
        self.kept.push_back(arrival);
    }

    fn get(&self, number: u64) -> Option<Arrival> {
        let at = usize::try_from(number.checked_sub(self.first)?).ok()?;
        self.kept.get(at).copied()
    }

    /// Number of the next one.
    fn next(&self) -> u64 {
        self.first + self.kept.len() as u64
    }
}

/// What an origin and a target do for each other.
#[derive(Clone, Debug, Default)]
struct PairSteps {
    posts: Numbered,
    completions: Numbered,
    /// Starts of the origin so far.
    starts: u64,
    /// Calls that ended without the post or the completion of this number, which they need: by the clocks it comes later.
    without_post: Option<(u64, EndedCall)>,
    without_completion: Option<(u64, EndedCall)>,
}

/// Takes out the call that ended a little before what it needs came, at `time`, which has this number. One that ended earlier than its own length ago did
/// not wait for it: the clocks do not differ by so much.
fn take_early(early: &mut Option<(u64, EndedCall)>, number: u64, time: f64) -> Option<EndedCall> {
    let (_, call) = early.take_if(|(awaited, _)| *awaited == number)?;
    let is_near = time - call.leave <= call.leave - call.place.start;
    (is_near && call.waited_until < call.leave).then_some(call)
}

/// Ranks that a rank accesses, or that access it, each with the number of the post or completion that belongs to it.
type Epoch = Vec<(u32, u64)>;

/// A lock that a rank has asked for.
#[derive(Clone, Debug)]
struct AskedLock {
    /// Place of the rank among the ranks of the trace.
    rank: u32,
    is_exclusive: bool,
    /// The latest calls of the rank since then that have ended, without the one that gives back a lock which the rank had.
    calls: VecDeque<EndedCall>,
    /// Whether it is known that the rank has the lock.
    has_it: bool,
    /// Whether it is known for whom the rank waited.
    has_waited: bool,
}

impl AskedLock {
    /// The call by which the rank got the lock, if another rank began to give it back at this time: it had begun before that, and has ended.
    fn getting(&self, time: f64) -> Option<EndedCall> {
        let mut calls = self.calls.iter();
        let call = calls.find(|call| call.enter < time && call.leave > time);
        call.copied()
    }

    /// Whether it is known that another rank cannot have this lock meanwhile.
    fn keeps_out(&self, other: &AskedLock) -> bool {
        self.rank != other.rank && self.has_it && (self.is_exclusive || other.is_exclusive)
    }

    /// Gives the call by which the rank got the lock, unless it is known already for whom the rank waited.
    fn take_getting(&mut self, time: f64) -> Option<EndedCall> {
        let call = self.getting(time).filter(|_| !self.has_waited);
        self.has_it |= call.is_some();
        self.has_waited |= call.is_some();
        call
    }
}

/// The end of a lock.
#[derive(Clone, Debug)]
struct LockEnd {
    arrival: Arrival,
    lock: AskedLock,
}

/// A window and a rank in it, which locks are about.
type LockTarget = (u32, i32);

/// The locks at a target.
#[derive(Clone, Debug, Default)]
struct TargetLocks {
    asked: Vec<AskedLock>,
    /// The latest last.
    ended: VecDeque<LockEnd>,
}

/// What a rank has begun and not ended.
#[derive(Clone, Debug, Default)]
struct RankEpochs {
    /// By window: targets that it accesses, with the numbers of their posts.
    accesses: Vec<(u32, Epoch)>,
    /// By window: origins that access it, with the numbers of their completions.
    exposures: Vec<(u32, Epoch)>,
    /// By window: ranks that it has asked for locks at.
    locks: Vec<(u32, Vec<i32>)>,
}

impl RankEpochs {
    /// What the rank has asked for locks at, on a window, or on all where a call does not name its window.
    fn locks_on(&self, window: Option<u32>) -> impl Iterator<Item = LockTarget> {
        let meant =
            (self.locks.iter()).filter(move |(own, _)| window.is_none_or(|named| named == *own));
        meant.flat_map(|(own, targets)| targets.iter().map(move |&target| (*own, target)))
    }
}

/// The ranks of the window that a call locks or unlocks.
fn locked(call: &OneSidedCall) -> Range<i32> {
    match (call.step, call.target) {
        (OneSidedStep::LockAll | OneSidedStep::UnlockAll, _) => {
            0..i32::try_from(call.size).unwrap_or_default()
        }
        (_, Some(target)) => target..target.saturating_add(1),
        (_, None) => 0..0,
    }
}

/// Whether a call gives back the lock at this target.
fn gives_back(call: &OneSidedCall, (window, target): LockTarget) -> bool {
    matches!(call.step, OneSidedStep::Unlock | OneSidedStep::UnlockAll)
        && call.window == Some(window)
        && locked(call).contains(&target)
}

/// The epoch of a window, in place of the former one.
fn begin_epoch(epochs: &mut Vec<(u32, Epoch)>, window: u32, epoch: Epoch) {
    end_epoch(epochs, window);
    if epochs.len() < MAX_KEPT {
        epochs.push((window, epoch));
    }
}

fn end_epoch(epochs: &mut Vec<(u32, Epoch)>, window: u32) {
    epochs.retain(|(other, _)| *other != window);
}

/// What a call may have waited for: the latest, and all clocks.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct OneSidedWait {
    pub end: Option<(WaitEnd, WaitPattern)>,
    pub clocks: ReplayClocks,
}

impl OneSidedWait {
    fn add(&mut self, arrival: Arrival, pattern: WaitPattern) {
        self.clocks = later(&self.clocks, &arrival.clocks);
        if self.end.is_none_or(|(end, _)| end.time < arrival.time) {
            let end = WaitEnd {
                lane: arrival.lane,
                time: arrival.time,
            };
            self.end = Some((end, pattern));
        }
    }
}

/// One-sided communication of all ranks.
#[derive(Clone, Debug, Default)]
pub(super) struct OneSided {
    pairs: Map<Pair, PairSteps>,
    epochs: Map<u32, RankEpochs>,
    locks: Map<LockTarget, TargetLocks>,
    /// By lane, the begin of the last call that is known to have ended before what it waited for.
    early: Map<u32, f64>,
}

impl OneSided {
    /// A call begins, which names a group of these ranks, by their places among the ranks of the trace, or an exclusive lock. Gives the calls that have
    /// waited for it until their end, which was before by clocks that differ.
    pub(super) fn begin(
        &mut self,
        call: &OneSidedCall,
        group: &[u32],
        is_exclusive: bool,
        arrival: Arrival,
    ) -> Vec<(EndedCall, WaitPattern)> {
        let mut early = Vec::new();
        let Some(window) = call.window else {
            return early;
        };
        let own = self.epochs.entry(call.rank).or_default();
        match call.step {
            OneSidedStep::Post => {
                let mut epoch = Epoch::new();
                for &origin in group {
                    let pair = self.pairs.entry((window, origin, call.rank)).or_default();
                    let number = pair.posts.next();
                    epoch.push((origin, number));
                    pair.posts.push(arrival);
                    let waited = take_early(&mut pair.without_post, number, arrival.time);
                    early.extend(waited.map(|call| (call, WaitPattern::LatePost)));
                }
                begin_epoch(&mut own.exposures, window, epoch);
            }
            OneSidedStep::Start => {
                let mut epoch = Epoch::new();
                for &target in group {
                    let pair = self.pairs.entry((window, call.rank, target)).or_default();
                    epoch.push((target, pair.starts));
                    pair.starts += 1;
                }
                begin_epoch(&mut own.accesses, window, epoch);
            }
            OneSidedStep::Complete => {
                let of_window = own.accesses.iter().filter(|(other, _)| *other == window);
                for &(target, _) in of_window.flat_map(|(_, epoch)| epoch) {
                    let pair = self.pairs.entry((window, call.rank, target)).or_default();
                    let number = pair.completions.next();
                    pair.completions.push(arrival);
                    let waited = take_early(&mut pair.without_completion, number, arrival.time);
                    early.extend(waited.map(|call| (call, WaitPattern::LateComplete)));
                }
            }
            OneSidedStep::Lock | OneSidedStep::LockAll => {
                let targets = locked(call);
                let at = own.locks.iter().position(|(other, _)| *other == window);
                let at = at.unwrap_or_else(|| {
                    own.locks.push((window, Vec::new()));
                    own.locks.len() - 1
                });
                let kept = &mut own.locks[at].1;
                if kept.len() + targets.len() > MAX_KEPT {
                    return early;
                }
                for target in targets {
                    kept.push(target);
                    let locks = self.locks.entry((window, target)).or_default();
                    locks.asked.push(AskedLock {
                        rank: call.rank,
                        is_exclusive,
                        calls: VecDeque::new(),
                        has_it: false,
                        has_waited: false,
                    });
                }
            }
            OneSidedStep::Wait
            | OneSidedStep::Unlock
            | OneSidedStep::UnlockAll
            | OneSidedStep::Flush
            | OneSidedStep::Access => {}
        }
        // Of several ranks that it waited for, one is enough.
        let start = |call: &EndedCall| call.place.start;
        early.retain(|(call, _)| {
            self.early.insert(call.place.lane, start(call)) != Some(start(call))
        });
        early
    }

    /// Notes that a call has ended to which something must come yet that it needs.
    fn note_early(&mut self, call: &OneSidedCall, ended: EndedCall) {
        let (Some(window), Some(own)) = (call.window, self.epochs.get(&call.rank)) else {
            return;
        };
        let of_window = |epochs: &'_ [(u32, Epoch)]| -> Epoch {
            let meant = epochs.iter().filter(|(other, _)| *other == window);
            meant.flat_map(|(_, epoch)| epoch.iter().copied()).collect()
        };
        match call.step {
            OneSidedStep::Start | OneSidedStep::Complete => {
                for (target, number) in of_window(&own.accesses) {
                    let pair = self.pairs.get_mut(&(window, call.rank, target));
                    if let Some(pair) = pair.filter(|pair| pair.posts.next() <= number) {
                        pair.without_post = Some((number, ended));
                    }
                }
            }
            OneSidedStep::Wait => {
                for (origin, number) in of_window(&own.exposures) {
                    let pair = self.pairs.get_mut(&(window, origin, call.rank));
                    if let Some(pair) = pair.filter(|pair| pair.completions.next() <= number) {
                        pair.without_completion = Some((number, ended));
                    }
                }
            }
            _ => {}
        }
    }

    /// What a call of a lane that ends now, and has begun at `enter`, may have waited for.
    pub(super) fn waited_for(&self, call: &OneSidedCall, lane: u32, enter: f64) -> OneSidedWait {
        let mut wait = OneSidedWait::default();
        let Some(own) = self.epochs.get(&call.rank) else {
            return wait;
        };
        let pair = |window, origin, target| self.pairs.get(&(window, origin, target));
        // An access names no window in the trace: any may be meant that the rank has an epoch of.
        let is_meant = |window: u32| call.window.is_none_or(|named| named == window);
        match call.step {
            OneSidedStep::Start
            | OneSidedStep::Complete
            | OneSidedStep::Flush
            | OneSidedStep::Access => {
                for (window, epoch) in own.accesses.iter().filter(|(window, _)| is_meant(*window)) {
                    for &(target, number) in epoch {
                        let pair = pair(*window, call.rank, target);
                        if let Some(post) = pair.and_then(|pair| pair.posts.get(number)) {
                            wait.add(post, WaitPattern::LatePost);
                        }
                    }
                }
            }
            OneSidedStep::Wait => {
                for (window, epoch) in own.exposures.iter().filter(|(window, _)| is_meant(*window))
                {
                    for &(origin, number) in epoch {
                        let pair = pair(*window, origin, call.rank);
                        if let Some(end) = pair.and_then(|pair| pair.completions.get(number)) {
                            wait.add(end, WaitPattern::LateComplete);
                        }
                    }
                }
            }
            OneSidedStep::Post
            | OneSidedStep::Lock
            | OneSidedStep::LockAll
            | OneSidedStep::Unlock
            | OneSidedStep::UnlockAll => {}
        }
        for target in own.locks_on(call.window) {
            let Some(locks) = self.locks.get(&target) else {
                continue;
            };
            let mut asked = locks.asked.iter();
            let Some(asked) = asked.find(|asked| asked.rank == call.rank && !asked.has_it) else {
                continue;
            };
            // Whoever has it is giving it back: for that one the rank waited, and not for an earlier one.
            if locks.asked.iter().any(|other| other.keeps_out(asked)) {
                continue;
            }
            // Nobody else's lock can end while the rank has it: the rank has got it after that.
            let before = locks.ended.iter().rev().find(|end| {
                end.arrival.lane != lane
                    && (end.lock.is_exclusive || asked.is_exclusive)
                    && !(gives_back(call, target) && end.lock.getting(enter).is_some())
            });
            if let Some(before) = before.filter(|before| before.arrival.time > enter) {
                wait.add(before.arrival, WaitPattern::LockContention);
            }
        }
        wait
    }

    /// A call has ended, and the clocks of its lane are those of `arrival`. Gives the calls of other ranks that are known now to have waited
    /// until their end for the lock that it has given back.
    pub(super) fn end(
        &mut self,
        call: &OneSidedCall,
        ended: EndedCall,
        arrival: Arrival,
    ) -> Vec<EndedCall> {
        self.note_early(call, ended);
        let Some(own) = self.epochs.get_mut(&call.rank) else {
            return Vec::new();
        };
        for target in own.locks_on(call.window) {
            let locks = self.locks.entry(target).or_default();
            for asked in &mut locks.asked {
                if asked.rank != call.rank {
                    continue;
                }
                if asked.has_it && gives_back(call, target) {
                    continue;
                }
                // It waited for another rank: for the lock, unless it has an epoch of another kind, too. What is flushed has been done.
                asked.has_waited |= ended.waited_until > ended.enter;
                asked.has_it |= asked.has_waited || call.step == OneSidedStep::Flush;
                if asked.calls.len() == MAX_CALLS {
                    asked.calls.pop_front();
                }
                asked.calls.push_back(ended);
            }
        }
        let Some(window) = call.window else {
            return Vec::new();
        };
        let mut have_it_now = Vec::new();
        match call.step {
            OneSidedStep::Complete => end_epoch(&mut own.accesses, window),
            OneSidedStep::Wait => end_epoch(&mut own.exposures, window),
            OneSidedStep::Unlock | OneSidedStep::UnlockAll => {
                let targets = locked(call);
                for (_, kept) in own.locks.iter_mut().filter(|(other, _)| *other == window) {
                    kept.retain(|target| !targets.contains(target));
                }
                own.locks.retain(|(_, kept)| !kept.is_empty());
                for target in targets {
                    if let Some(locks) = self.locks.get_mut(&(window, target)) {
                        have_it_now.extend(locks.give_back(call.rank, ended, arrival));
                    }
                }
            }
            _ => {}
        }
        have_it_now
    }

    /// The focus begins anew: clocks start at zero.
    pub(super) fn restart(&mut self) {
        let steps = self.pairs.values_mut();
        let numbered = steps.flat_map(|pair| [&mut pair.posts, &mut pair.completions]);
        let arrivals = numbered.flat_map(|numbered| &mut numbered.kept);
        let ends = self.locks.values_mut().flat_map(|locks| &mut locks.ended);
        for arrival in arrivals.chain(ends.map(|end| &mut end.arrival)) {
            arrival.clocks = ReplayClocks::default();
        }
    }
}

impl TargetLocks {
    /// A rank gives its lock back with a call that has ended. Gives the calls of others that have got the lock from it.
    fn give_back(&mut self, rank: u32, ended: EndedCall, arrival: Arrival) -> Vec<EndedCall> {
        let Some(at) = self.asked.iter().position(|asked| asked.rank == rank) else {
            return Vec::new();
        };
        let lock = self.asked.remove(at);
        let is_exclusive = lock.is_exclusive;
        // Whoever has got it from this rank may have given it back already.
        let given_back = self.ended.iter_mut().map(|end| &mut end.lock);
        let others = self.asked.iter_mut().chain(given_back);
        let others = others.filter(|other| other.is_exclusive || is_exclusive);
        let calls = others
            .filter_map(|other| other.take_getting(ended.enter))
            .collect();
        if self.ended.len() == MAX_KEPT {
            self.ended.pop_front();
        }
        self.ended.push_back(LockEnd { arrival, lock });
        calls
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::performance::wait::CallPlace;

    fn arrival(lane: u32, time: f64) -> Arrival {
        let clocks = ReplayClocks::default();
        Arrival { time, lane, clocks }
    }

    fn call(step: OneSidedStep, rank: u32) -> OneSidedCall {
        OneSidedCall {
            step,
            window: Some(7),
            size: 2,
            rank,
            target: Some(0),
        }
    }

    /// Rank 1 has a lock, and rank 2 asks for it at second 1.
    fn locked() -> OneSided {
        let mut rma = OneSided::default();
        let lock = |rank| call(OneSidedStep::Lock, rank);
        rma.begin(&lock(1), &[], true, arrival(1, 0.0));
        rma.end(&lock(1), ended(1, 0.0, 0.5), arrival(1, 0.5));
        rma.begin(&lock(2), &[], true, arrival(2, 1.0));
        rma
    }

    fn ended(lane: u32, enter: f64, leave: f64) -> EndedCall {
        let place = CallPlace {
            lane,
            line: 0,
            start: enter,
            comm: 0,
            region: None,
            category: 0,
        };
        EndedCall {
            place,
            enter,
            leave,
            waited_until: enter,
            sent: f64::NEG_INFINITY,
        }
    }

    fn found(wait: OneSidedWait) -> Option<(u32, f64, WaitPattern)> {
        wait.end.map(|(end, pattern)| (end.lane, end.time, pattern))
    }

    #[test]
    fn an_origin_waits_for_the_last_post_and_a_target_for_the_last_completion() {
        let mut rma = OneSided::default();
        let begin = |rma: &mut OneSided, step, rank: u32, group: &[u32], time| {
            rma.begin(&call(step, rank), group, true, arrival(rank, time));
        };
        // Rank 2 accesses ranks 0 and 1; rank 0 has posted for an epoch before, too.
        begin(&mut rma, OneSidedStep::Start, 2, &[0, 1], 1.0);
        begin(&mut rma, OneSidedStep::Post, 0, &[2], 2.0);
        begin(&mut rma, OneSidedStep::Post, 1, &[2], 3.0);
        let start = call(OneSidedStep::Start, 2);
        let wait = found(rma.waited_for(&start, 2, 1.0));
        assert_eq!(wait, Some((1, 3.0, WaitPattern::LatePost)));
        let waiting = call(OneSidedStep::Wait, 0);
        assert_eq!(found(rma.waited_for(&waiting, 0, 3.0)), None);
        begin(&mut rma, OneSidedStep::Complete, 2, &[], 4.0);
        let wait = found(rma.waited_for(&waiting, 0, 3.0));
        assert_eq!(wait, Some((2, 4.0, WaitPattern::LateComplete)));
        // The next epoch knows nothing of the posts of this one.
        rma.end(
            &call(OneSidedStep::Complete, 2),
            ended(2, 4.0, 5.0),
            arrival(2, 5.0),
        );
        begin(&mut rma, OneSidedStep::Start, 2, &[0], 6.0);
        assert_eq!(found(rma.waited_for(&start, 2, 6.0)), None);
    }

    #[test]
    fn a_lock_is_waited_for_until_another_one_gives_it_back() {
        let mut rma = locked();
        let [lock, unlock] = [OneSidedStep::Lock, OneSidedStep::Unlock];
        assert_eq!(found(rma.waited_for(&call(lock, 2), 2, 1.0)), None);
        rma.end(&call(unlock, 1), ended(1, 3.0, 4.0), arrival(1, 4.0));
        let wait = found(rma.waited_for(&call(lock, 2), 2, 1.0));
        assert_eq!(wait, Some((1, 4.0, WaitPattern::LockContention)));
        // It has the lock now.
        assert_eq!(found(rma.waited_for(&call(unlock, 2), 2, 5.0)), None);
    }

    /// Both ranks have locked all ranks of many other windows.
    #[test]
    fn locks_on_other_windows_hide_no_contention() {
        let mut rma = OneSided::default();
        let on = |window, step, rank| OneSidedCall {
            window: Some(window),
            ..call(step, rank)
        };
        for window in 100..200 {
            for rank in [1, 2] {
                let all = on(window, OneSidedStep::LockAll, rank);
                rma.begin(&all, &[], false, arrival(rank, 0.0));
                rma.end(&all, ended(rank, 0.0, 0.0), arrival(rank, 0.0));
            }
        }
        let [lock, unlock] = [OneSidedStep::Lock, OneSidedStep::Unlock];
        for rank in [1, 2] {
            rma.begin(&call(lock, rank), &[], true, arrival(rank, 1.0));
        }
        rma.end(&call(lock, 1), ended(1, 1.0, 1.1), arrival(1, 1.1));
        rma.end(&call(unlock, 1), ended(1, 3.0, 4.0), arrival(1, 4.0));
        let wait = found(rma.waited_for(&call(lock, 2), 2, 1.0));
        assert_eq!(wait, Some((1, 4.0, WaitPattern::LockContention)));
    }

    /// Rank 2 locks all ranks of the window, of which rank 1 has one for itself.
    #[test]
    fn whoever_locks_all_waits_for_the_lock_of_one() {
        let mut rma = locked();
        let unlock_all = call(OneSidedStep::UnlockAll, 2);
        let unlock = call(OneSidedStep::Unlock, 1);
        rma.end(&unlock_all, ended(2, 1.5, 1.6), arrival(2, 1.6));
        let all = call(OneSidedStep::LockAll, 2);
        rma.begin(&all, &[], false, arrival(2, 2.0));
        rma.end(&unlock, ended(1, 3.0, 4.0), arrival(1, 4.0));
        let wait = found(rma.waited_for(&all, 2, 2.0));
        assert_eq!(wait, Some((1, 4.0, WaitPattern::LockContention)));
        // Those who lock all do not wait for each other.
        rma.end(&all, ended(2, 2.0, 4.1), arrival(2, 4.1));
        let other = call(OneSidedStep::LockAll, 3);
        rma.begin(&other, &[], false, arrival(3, 4.2));
        rma.end(&unlock_all, ended(2, 5.0, 5.1), arrival(2, 5.1));
        assert_eq!(found(rma.waited_for(&other, 3, 4.2)), None);
    }

    #[test]
    fn the_next_one_may_give_a_lock_back_first() {
        let mut rma = locked();
        let [lock, unlock] = [OneSidedStep::Lock, OneSidedStep::Unlock];
        let waiting = ended(2, 1.0, 3.5);
        rma.end(&call(lock, 2), waiting, arrival(2, 3.5));
        let flush = call(OneSidedStep::Flush, 2);
        rma.end(&flush, ended(2, 3.51, 3.52), arrival(2, 3.52));
        let given = rma.end(&call(unlock, 2), ended(2, 3.6, 3.7), arrival(2, 3.7));
        assert_eq!(given, []);
        // Rank 1 did not wait for rank 2.
        assert_eq!(found(rma.waited_for(&call(unlock, 1), 1, 3.0)), None);
        let known = rma.end(&call(unlock, 1), ended(1, 3.0, 4.0), arrival(1, 4.0));
        assert_eq!(known, [waiting]);
    }

    /// What takes long is the end of rank 1's accesses, which it waits for.
    #[test]
    fn whoever_gives_a_lock_back_does_not_wait_for_the_next_one() {
        let mut rma = locked();
        let [lock, unlock, flush] = [
            OneSidedStep::Lock,
            OneSidedStep::Unlock,
            OneSidedStep::Flush,
        ];
        rma.end(&call(flush, 1), ended(1, 0.6, 0.7), arrival(1, 0.7));
        let waiting = ended(2, 1.0, 3.5);
        rma.end(&call(lock, 2), waiting, arrival(2, 3.5));
        let known = rma.end(&call(unlock, 1), ended(1, 3.0, 4.0), arrival(1, 4.0));
        assert_eq!(known, [waiting]);
        let known = rma.end(&call(unlock, 2), ended(2, 3.6, 4.2), arrival(2, 4.2));
        assert_eq!(known, []);
    }

    #[test]
    fn whoever_gives_a_lock_back_may_return_after_the_next_one_has_it() {
        let mut rma = locked();
        let [lock, unlock] = [OneSidedStep::Lock, OneSidedStep::Unlock];
        let waiting = ended(2, 1.0, 3.5);
        rma.end(&call(lock, 2), waiting, arrival(2, 3.5));
        let access = call(OneSidedStep::Access, 2);
        rma.end(&access, ended(2, 3.6, 3.7), arrival(2, 3.7));
        let known = rma.end(&call(unlock, 1), ended(1, 3.0, 4.0), arrival(1, 4.0));
        assert_eq!(known, [waiting]);
        // A call that is running meanwhile has had it from its begin.
        assert_eq!(found(rma.waited_for(&access, 2, 3.8)), None);
    }

    /// Clocks of two hosts differ by a little: what a call waited for comes later than its end.
    #[test]
    fn a_call_may_end_a_little_before_what_it_waited_for() {
        for (post, is_near) in [(5.1, true), (11.0, false)] {
            let mut rma = OneSided::default();
            let start = call(OneSidedStep::Start, 2);
            assert!(rma.begin(&start, &[0], false, arrival(2, 1.0)).is_empty());
            let waiting = ended(2, 1.0, 5.0);
            rma.end(&start, waiting, arrival(2, 5.0));
            let known = rma.begin(&call(OneSidedStep::Post, 0), &[2], false, arrival(0, post));
            let expected = [(waiting, WaitPattern::LatePost)];
            assert_eq!(known, expected[..usize::from(is_near)]);
            // The post is there for the next call.
            let access = call(OneSidedStep::Access, 2);
            assert!(rma.waited_for(&access, 2, 5.05).end.is_some());
        }
    }

    /// Ranks 2 and 3 have asked for the lock of rank 1, and rank 3 has it before rank 2 has given it back.
    #[test]
    fn the_last_of_several_that_had_a_lock_is_waited_for() {
        let mut rma = locked();
        let [lock, unlock] = [OneSidedStep::Lock, OneSidedStep::Unlock];
        rma.begin(&call(lock, 3), &[], true, arrival(3, 1.1));
        rma.end(&call(unlock, 1), ended(1, 3.0, 4.0), arrival(1, 4.0));
        let second = EndedCall {
            waited_until: 4.0,
            ..ended(2, 1.0, 4.1)
        };
        rma.end(&call(lock, 2), second, arrival(2, 4.1));
        assert_eq!(found(rma.waited_for(&call(lock, 3), 3, 1.1)), None);
        let third = ended(3, 1.1, 6.5);
        rma.end(&call(lock, 3), third, arrival(3, 6.5));
        let known = rma.end(&call(unlock, 2), ended(2, 6.0, 7.0), arrival(2, 7.0));
        assert_eq!(known, [third]);
    }
}
