//! What a rank did lately and whom it waited for, so that a wait for it is followed to its root causes.

use super::clocks::{earlier_of, later_of};
use super::prefetch::prefetch;

/// Stretches that are kept of a rank. When there are more, short neighbours of the older half become one.
const MAX_KEPT: usize = 64;

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
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct CausedStretch {
    pub from: f64,
    pub to: f64,
    pub cause: RootCause,
}

impl CausedStretch {
    pub(super) fn seconds(&self) -> f64 {
        self.to - self.from
    }
}

/// The latest stretches of a lane, in order of time.
#[derive(Clone, Debug, Default)]
pub(super) struct RecentHistory {
    stretches: Vec<CausedStretch>,
}

impl RecentHistory {
    /// A stretch comes soon.
    #[inline]
    pub(super) fn prefetch(&self) {
        prefetch(self.stretches.as_ptr().wrapping_add(self.stretches.len()));
    }

    /// A stretch that follows those before.
    pub(super) fn add(&mut self, from: f64, to: f64, cause: RootCause) {
        if to <= from || !from.is_finite() {
            return;
        }
        if let Some(last) = self.stretches.last_mut()
            && last.cause == cause
            && last.to >= from
        {
            last.to = to;
            return;
        }
        if self.stretches.len() == MAX_KEPT {
            self.join_neighbours();
        } else if self.stretches.is_empty() {
            self.stretches.reserve_exact(MAX_KEPT);
        }
        self.stretches.push(CausedStretch { from, to, cause });
    }

    /// Stretches that follow those before, and each other without a gap. Neighbours among them have different causes.
    pub(super) fn add_all(&mut self, stretches: &[CausedStretch]) {
        let Some((first, mut rest)) = stretches.split_first() else {
            return;
        };
        self.add(first.from, first.to, first.cause);
        while !rest.is_empty() {
            if self.stretches.len() >= MAX_KEPT {
                self.join_neighbours();
            }
            let room = MAX_KEPT - self.stretches.len();
            let (next, behind) = rest.split_at(room.min(rest.len()));
            self.stretches.extend_from_slice(next);
            rest = behind;
        }
    }

    /// A wait that was found after what came behind it.
    pub(super) fn replace(&mut self, stretch: CausedStretch) {
        let cut = |old: &CausedStretch| {
            let before = CausedStretch {
                to: old.to.min(stretch.from),
                ..*old
            };
            let behind = CausedStretch {
                from: old.from.max(stretch.to),
                ..*old
            };
            [before, behind]
        };
        let mut kept: Vec<CausedStretch> = Vec::with_capacity(MAX_KEPT + 2);
        kept.extend(self.stretches.iter().flat_map(cut));
        kept.retain(|kept| kept.to > kept.from);
        let at = kept.partition_point(|kept| kept.from < stretch.from);
        kept.insert(at, stretch);
        self.stretches = kept;
        while self.stretches.len() > MAX_KEPT {
            self.join_neighbours();
        }
    }

    /// Makes one of each two neighbours in the older half that together are at most an eighth of it, with the cause of the longer one. Longer ones stay
    /// as they are: the cause of a long stretch does not become that of many short ones behind it. At most seven pairs are longer, so nine are joined.
    fn join_neighbours(&mut self) {
        const HALF: usize = MAX_KEPT / 2;
        let older = self.stretches[HALF - 1].to - self.stretches[0].from;
        let mut kept = 0;
        let mut keep = |stretches: &mut [CausedStretch], next: CausedStretch| {
            if kept > 0 && stretches[kept - 1].cause == next.cause {
                let before = &mut stretches[kept - 1];
                if before.to >= next.from {
                    before.to = next.to;
                    return kept;
                }
            }
            stretches[kept] = next;
            kept += 1;
            kept
        };
        let mut end = 0;
        for nth in 0..HALF / 2 {
            let pair = [self.stretches[2 * nth], self.stretches[2 * nth + 1]];
            let [first, last] = pair;
            if last.to - first.from > older / 8.0 {
                keep(&mut self.stretches, first);
                end = keep(&mut self.stretches, last);
                continue;
            }
            // Which one is longer cannot be foreseen: looked up and not branched for.
            let longer = usize::from(last.seconds() >= first.seconds());
            let joined = CausedStretch {
                from: first.from,
                to: last.to,
                cause: pair[longer].cause,
            };
            end = keep(&mut self.stretches, joined);
        }
        self.stretches.drain(end..HALF);
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
        let mut add = |from: f64, to: f64, cause| match causes.last_mut() {
            _ if to <= from => {}
            Some(last) if last.cause == cause => last.to = to,
            _ => causes.push(CausedStretch { from, to, cause }),
        };
        for stretch in &self.stretches[first..] {
            if stretch.from >= to {
                break;
            }
            add(at, earlier_of(stretch.from, to), otherwise);
            let begin = later_of(stretch.from, at);
            add(begin, earlier_of(stretch.to, to), stretch.cause);
            at = later_of(stretch.to, at);
        }
        add(earlier_of(at, to), to, otherwise);
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
        let cause = cause(lane);
        CausedStretch { from, to, cause }
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
        history.replace(stretch(0.5, 1.5, 7));
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
                stretches.push(CausedStretch {
                    from: at,
                    to,
                    cause,
                });
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
        let seconds_of = |lane: u32, from: f64, to: f64| -> f64 {
            let causes = causes(&history, from, to);
            let of = causes.iter().filter(|stretch| stretch.cause.lane == lane);
            of.map(CausedStretch::seconds).sum()
        };
        // An eighth of the time is the most that it can come to.
        let began = seconds_of(1, 0.0, 11_000.0);
        assert!((1000.0..11_000.0 / 8.0).contains(&began), "{began}");
        assert_eq!(seconds_of(1, 2000.0, 11_000.0), 0.0);
        assert!(seconds_of(3, 2000.0, 11_000.0) > 5000.0);
    }
}
