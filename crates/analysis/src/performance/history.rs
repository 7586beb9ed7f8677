//! What a rank did lately and whom it waited for, so that a wait for it is followed to its root causes.

use super::clocks::{earlier_of, later_of};
use super::prefetch::prefetch;

/// Stretches that are kept of a rank. When there are more, old neighbours are put together.
const MAX_KEPT: usize = 128;
/// Stretches that are left at most when neighbours have been put together.
const ENOUGH_ROOM: usize = MAX_KEPT / 4 * 3;
/// Causes that have a sum of their own where neighbours are put together; the shorter ones of more count for the longest.
const MAX_MIXED: usize = 16;

/// Part of the time that one of several causes has at most.
const LARGEST_PART: f64 = 1.0 - f64::EPSILON;

/// Who a wait is due to in the end, and what that rank did.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct RootCause {
    /// Lane of the rank.
    pub lane: u32,
    /// Category of the state that it was in: one of the program's own, a file operation, an MPI call that did not wait. `None` is computing
    /// outside of any.
    pub activity: Option<u32>,
}

impl RootCause {
    /// Another number for each cause. Lanes have 31 bits, as no memory has room for more.
    #[inline]
    pub(super) fn number(self) -> u64 {
        u64::from(self.lane) << 33 | self.activity.map_or(0, |activity| u64::from(activity) + 1)
    }
}

/// A stretch of time of a rank, and who determined how long it took: the rank itself, or the one that it waited for in the end.
///
/// Old stretches are put together: then one for each cause has the same time, and the part of it that is due to the cause.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct CausedStretch {
    pub from: f64,
    pub to: f64,
    pub cause: RootCause,
    /// Part of the time that is due to the cause: 1 where that is known for each moment.
    pub part: f64,
}

impl CausedStretch {
    /// A stretch of which one cause has all.
    pub(super) fn new(from: f64, to: f64, cause: RootCause) -> CausedStretch {
        CausedStretch {
            from,
            to,
            cause,
            part: 1.0,
        }
    }

    pub(super) fn seconds(&self) -> f64 {
        (self.to - self.from) * self.part
    }

    /// Whether two stretches stand for the same time.
    fn has_time_of(&self, other: &CausedStretch) -> bool {
        self.from == other.from && self.to == other.to
    }
}

/// The latest stretches of a lane, in order of time.
#[derive(Clone, Debug)]
pub(super) struct RecentHistory {
    stretches: Vec<CausedStretch>,
    /// When the rank last met others. Their waits for it begin then, so nothing before it is put together with what comes later.
    met: f64,
}

impl Default for RecentHistory {
    fn default() -> RecentHistory {
        RecentHistory {
            stretches: Vec::new(),
            met: f64::NEG_INFINITY,
        }
    }
}

impl RecentHistory {
    /// A stretch comes soon.
    #[inline]
    pub(super) fn prefetch(&self) {
        prefetch(self.stretches.as_ptr().wrapping_add(self.stretches.len()));
    }

    /// The rank has met others in a collective call, which it leaves at this time.
    pub(super) fn meet(&mut self, time: f64) {
        self.met = time;
    }

    /// A stretch that follows those before.
    pub(super) fn add(&mut self, from: f64, to: f64, cause: RootCause) {
        if to <= from || !from.is_finite() {
            return;
        }
        if let Some(last) = self.stretches.last_mut()
            && last.cause == cause
            && last.part == 1.0
            && last.to >= from
        {
            last.to = to;
            return;
        }
        if self.stretches.len() >= MAX_KEPT {
            self.join_neighbours();
        }
        self.stretches.push(CausedStretch::new(from, to, cause));
    }

    /// Stretches that follow those before, and each other without a gap. Neighbours among them have different causes.
    pub(super) fn add_all(&mut self, stretches: &[CausedStretch]) {
        let mut rest = stretches;
        if let [first, behind @ ..] = stretches
            && first.part == 1.0
        {
            self.add(first.from, first.to, first.cause);
            rest = behind;
        }
        while !rest.is_empty() {
            if self.stretches.len() >= MAX_KEPT {
                self.join_neighbours();
            }
            let room = MAX_KEPT.saturating_sub(self.stretches.len()).max(1);
            let (next, behind) = rest.split_at(room.min(rest.len()));
            self.stretches.extend_from_slice(next);
            rest = behind;
        }
    }

    /// A wait that was found after what came behind it. Its stretches follow each other without a gap.
    pub(super) fn replace(&mut self, stretches: &[CausedStretch]) {
        let ([first, ..], [.., last]) = (stretches, stretches) else {
            return;
        };
        let before = self.stretches.iter().map(|old| CausedStretch {
            to: earlier_of(old.to, first.from),
            ..*old
        });
        let behind = self.stretches.iter().map(|old| CausedStretch {
            from: later_of(old.from, last.to),
            ..*old
        });
        let all = before.chain(stretches.iter().copied()).chain(behind);
        self.stretches = all.filter(|kept| kept.to > kept.from).collect();
        if self.stretches.len() > MAX_KEPT {
            self.join_neighbours();
        }
    }

    /// Puts old neighbours together, so that there is room. The older, the more: what is put together is at most an eighth as long as it is old,
    /// if that is enough. So a wait, which ends about now, has the right sum for each cause but for a small part at its begin.
    fn join_neighbours(&mut self) {
        for most in [0.125, 0.5, 2.0, f64::INFINITY] {
            self.join_up_to(most);
            if self.stretches.len() <= ENOUGH_ROOM {
                return;
            }
        }
    }

    /// Puts neighbours together that are at most `most` times as long together as they are old. The latest ones have no age, and stay.
    fn join_up_to(&mut self, most: f64) {
        let Some(now) = self.stretches.last().map(|last| last.to) else {
            return;
        };
        let mut mixed: Vec<(RootCause, f64)> = Vec::with_capacity(MAX_MIXED);
        let (mut kept, mut at) = (0, 0);
        while let Some(&CausedStretch { from, mut to, .. }) = self.stretches.get(at) {
            let mut behind = self.behind(at);
            let alone = behind;
            while let Some(next) = self.stretches.get(behind) {
                let over_meeting = from < self.met && next.to > self.met;
                if over_meeting || next.to >= now || next.to - from > most * (now - next.to) {
                    break;
                }
                to = next.to;
                behind = self.behind(behind);
            }
            if behind == alone {
                self.stretches.copy_within(at..behind, kept);
                kept += behind - at;
            } else {
                mix(&self.stretches[at..behind], &mut mixed);
                for &(cause, seconds) in &mixed {
                    let part = match mixed.len() {
                        1 => 1.0,
                        _ => (seconds / (to - from)).min(LARGEST_PART),
                    };
                    self.stretches[kept] = CausedStretch {
                        from,
                        to,
                        cause,
                        part,
                    };
                    kept += 1;
                }
            }
            at = behind;
        }
        self.stretches.truncate(kept);
    }

    /// The place after the stretches that have the same time as the one at this place.
    fn behind(&self, at: usize) -> usize {
        let first = &self.stretches[at];
        if first.part == 1.0 {
            return at + 1;
        }
        let others = self.stretches[at + 1..].iter();
        at + 1 + others.take_while(|other| other.has_time_of(first)).count()
    }

    /// Puts the causes of what happened between two times into `causes`, which is empty. What is not known is put down to `otherwise`.
    pub(super) fn causes(
        &self,
        from: f64,
        to: f64,
        otherwise: RootCause,
        causes: &mut Vec<CausedStretch>,
    ) {
        let first = self.stretches.partition_point(|stretch| stretch.to <= from);
        let mut at = from;
        let mut add = |next: CausedStretch| match causes.last_mut() {
            _ if next.to <= next.from => {}
            Some(last) if last.cause == next.cause && last.part == 1.0 && next.part == 1.0 => {
                last.to = next.to;
            }
            _ => causes.push(next),
        };
        for stretch in &self.stretches[first..] {
            if stretch.from >= to {
                break;
            }
            add(CausedStretch::new(
                at,
                earlier_of(stretch.from, to),
                otherwise,
            ));
            // Of several causes of the same time, each has its part of it.
            let begin = match stretch.part < 1.0 {
                true => from,
                false => at,
            };
            add(CausedStretch {
                from: later_of(stretch.from, begin),
                to: earlier_of(stretch.to, to),
                ..*stretch
            });
            at = later_of(stretch.to, at);
        }
        add(CausedStretch::new(earlier_of(at, to), to, otherwise));
    }
}

/// Adds up stretches by cause. What lies between them counts for the later one. Of too many causes the shortest count for the longest.
fn mix(stretches: &[CausedStretch], mixed: &mut Vec<(RootCause, f64)>) {
    mixed.clear();
    let mut to = stretches.first().map_or(0.0, |first| first.from);
    for stretch in stretches {
        let seconds = stretch.seconds() + later_of(stretch.from - to, 0.0);
        to = stretch.to;
        match mixed.iter_mut().find(|(cause, _)| *cause == stretch.cause) {
            Some((_, sum)) => *sum += seconds,
            None => mixed.push((stretch.cause, seconds)),
        }
    }
    if mixed.len() > MAX_MIXED {
        mixed.sort_by(|a, b| b.1.total_cmp(&a.1));
        let rest: f64 = mixed.drain(MAX_MIXED..).map(|(_, seconds)| seconds).sum();
        mixed[0].1 += rest;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cause(lane: u32) -> RootCause {
        RootCause {
            lane,
            activity: None,
        }
    }

    fn stretch(from: f64, to: f64, lane: u32) -> CausedStretch {
        CausedStretch::new(from, to, cause(lane))
    }

    fn causes(history: &RecentHistory, from: f64, to: f64) -> Vec<CausedStretch> {
        let mut causes = Vec::new();
        history.causes(from, to, cause(9), &mut causes);
        causes
    }

    #[test]
    fn a_wait_has_the_causes_of_whom_it_was_for() {
        let mut history = RecentHistory::default();
        history.add(0.0, 1.0, cause(1));
        history.add(1.0, 2.0, cause(1));
        history.add(2.5, 3.0, cause(2));
        assert_eq!(
            causes(&history, 1.5, 4.0),
            [
                stretch(1.5, 2.0, 1),
                stretch(2.0, 2.5, 9),
                stretch(2.5, 3.0, 2),
                stretch(3.0, 4.0, 9)
            ]
        );
        history.replace(&[stretch(0.5, 1.5, 7)]);
        assert_eq!(
            causes(&history, 0.0, 2.0),
            [
                stretch(0.0, 0.5, 1),
                stretch(0.5, 1.5, 7),
                stretch(1.5, 2.0, 1)
            ]
        );
        assert_eq!(
            causes(&RecentHistory::default(), 0.0, 1.0),
            [stretch(0.0, 1.0, 9)]
        );
    }

    #[test]
    fn stretches_together_are_as_one_after_the_other() {
        let (mut together, mut alone) = (RecentHistory::default(), RecentHistory::default());
        let mut at = 0.0;
        for turn in 0..200_u32 {
            // The first one goes on where the last one of the turn before was.
            let causes = (turn % 7..turn % 7 + turn % 90).map(|lane| cause(lane % 5 + lane / 60));
            let mut stretches: Vec<CausedStretch> = Vec::new();
            for cause in causes {
                let to = at + f64::from(cause.lane * turn % 11 + 1);
                stretches.push(CausedStretch::new(at, to, cause));
                at = to;
            }
            together.add_all(&stretches);
            for stretch in stretches {
                alone.add(stretch.from, stretch.to, stretch.cause);
            }
            assert_eq!(together.stretches, alone.stretches, "{turn}");
        }
    }

    #[test]
    fn old_stretches_are_joined() {
        let mut history = RecentHistory::default();
        for nth in 0..1000 {
            let at = f64::from(nth);
            history.add(at, at + 1.0, cause(nth as u32 % 2));
        }
        assert!(history.stretches.len() <= MAX_KEPT);
        let causes = causes(&history, 0.0, 1000.0);
        assert!(causes.iter().all(|stretch| stretch.cause.lane < 2));
        let sum: f64 = causes.iter().map(CausedStretch::seconds).sum();
        assert_eq!(sum, 1000.0);
    }

    fn seconds_of(history: &RecentHistory, lane: u32, from: f64, to: f64) -> f64 {
        let causes = causes(history, from, to);
        let of = causes.iter().filter(|stretch| stretch.cause.lane == lane);
        of.map(CausedStretch::seconds).sum()
    }

    /// In a wait since ranks met, each cause has what it had, however often it came; what was before it has no part in it.
    #[test]
    fn each_cause_keeps_its_sum() {
        for turns in [10, 100, 1000, 10_000] {
            let mut history = RecentHistory::default();
            for nth in 0..500 {
                let at = f64::from(nth) / 100.0;
                history.add(at, at + 0.01, cause(nth % 3 + 4));
            }
            history.meet(5.0);
            for nth in 0..turns {
                let at = 5.0 + f64::from(nth);
                history.add(at, at + 0.625, cause(1));
                history.add(at + 0.625, at + 1.0, cause(2));
            }
            assert!(history.stretches.len() <= MAX_KEPT);
            let turns = f64::from(turns);
            let sums = [1, 2, 4].map(|lane| seconds_of(&history, lane, 5.0, 5.0 + turns));
            for (sum, expected) in sums.into_iter().zip([0.625 * turns, 0.375 * turns, 0.0]) {
                assert!((sum - expected).abs() < 1e-6, "{turns}: {sums:?}");
            }
            // Copied to a rank that waits for this one, and found later than what came behind it.
            let (mut waiting, mut late) = (RecentHistory::default(), RecentHistory::default());
            let copied = causes(&history, 5.0, 5.0 + turns);
            waiting.add_all(&copied);
            late.add(0.0, 9.0 + turns, cause(3));
            late.replace(&copied);
            for copy in [&waiting, &late] {
                let sum = seconds_of(copy, 2, 5.0, 5.0 + turns);
                assert!((sum - 0.375 * turns).abs() < 1e-6, "{turns}: {sum}");
            }
            assert!((seconds_of(&late, 3, 0.0, 9.0 + turns) - 9.0).abs() < 1e-6);
        }
    }

    /// Waits that begin at any time have sums that are wrong by a small part of their length at most, also where causes are many.
    #[test]
    fn sums_of_other_waits_are_nearly_right() {
        for kinds in [2, 5, 12] {
            let mut history = RecentHistory::default();
            let mut all: Vec<CausedStretch> = Vec::new();
            let (mut at, mut state) = (0.0, 12_345_u32);
            for _ in 0..4000 {
                state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                let to = at + f64::from(state >> 24) + 1.0;
                let stretch = stretch(at, to, (state >> 8) % kinds);
                history.add(at, to, stretch.cause);
                all.push(stretch);
                at = to;
                // A wait that ends now.
                let from = at * f64::from(state >> 16 & 0xff) / 256.0;
                let of = |lane: u32| -> f64 {
                    let of = all.iter().filter(|stretch| stretch.cause.lane == lane);
                    of.map(|stretch| (stretch.to - stretch.from.max(from)).max(0.0))
                        .sum()
                };
                if state >> 4 & 15 == 0 {
                    let wrong = |lane| (of(lane) - seconds_of(&history, lane, from, at)).abs();
                    let wrong: f64 = (0..kinds).map(wrong).sum();
                    assert!(
                        wrong <= 0.25 * (at - from) + 1e-6,
                        "{kinds}: {wrong} of {}",
                        at - from
                    );
                }
            }
        }
    }

    /// A program that begins with a long call, and then looks at the clock all the time: in a wait after it nobody is in that call.
    #[test]
    fn a_long_stretch_does_not_take_over_what_follows() {
        let mut history = RecentHistory::default();
        history.add(0.0, 1000.0, cause(1));
        for nth in 0..10_000 {
            let at = 1000.0 + f64::from(nth);
            history.add(at, at + 0.4, cause(2));
            history.add(at + 0.4, at + 1.0, cause(3));
        }
        let began = seconds_of(&history, 1, 0.0, 11_000.0);
        assert!((began - 1000.0).abs() < 1e-6, "{began}");
        let later = [1, 2, 3].map(|lane| seconds_of(&history, lane, 3000.0, 11_000.0));
        for (found, expected) in later.into_iter().zip([0.0, 3200.0, 4800.0]) {
            assert!((found - expected).abs() < 100.0, "{later:?}");
        }
    }
}
