//! What a rank did lately and whom it waited for, so that a wait for it is followed to its root causes.

use std::collections::VecDeque;

/// Stretches that are kept of a rank. When there are more, neighbours of the older half become one.
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
    stretches: VecDeque<CausedStretch>,
}

impl RecentHistory {
    /// A stretch that follows those before.
    pub(super) fn add(&mut self, from: f64, to: f64, cause: RootCause) {
        if to <= from || !from.is_finite() {
            return;
        }
        if let Some(last) = self.stretches.back_mut()
            && last.cause == cause
            && last.to >= from
        {
            last.to = to;
            return;
        }
        if self.stretches.len() == MAX_KEPT {
            self.join_neighbours();
        }
        self.stretches.push_back(CausedStretch { from, to, cause });
    }

    /// A wait that was found after what came behind it.
    pub(super) fn replace(&mut self, stretch: CausedStretch) {
        let cut = |old: CausedStretch| {
            let before = CausedStretch {
                to: old.to.min(stretch.from),
                ..old
            };
            let behind = CausedStretch {
                from: old.from.max(stretch.to),
                ..old
            };
            [before, behind]
        };
        let kept = self.stretches.drain(..).flat_map(cut);
        let mut kept: Vec<CausedStretch> = kept.filter(|kept| kept.to > kept.from).collect();
        let at = kept.partition_point(|kept| kept.from < stretch.from);
        kept.insert(at, stretch);
        self.stretches = kept.into();
        while self.stretches.len() > MAX_KEPT {
            self.join_neighbours();
        }
    }

    fn join_neighbours(&mut self) {
        let newest = self.stretches.split_off(MAX_KEPT / 2);
        let older = std::mem::take(&mut self.stretches);
        for pair in Vec::from(older).chunks(2) {
            let longer = pair
                .iter()
                .max_by(|a, b| a.seconds().total_cmp(&b.seconds()));
            if let (Some(first), Some(last), Some(longer)) = (pair.first(), pair.last(), longer) {
                self.stretches.push_back(CausedStretch {
                    from: first.from,
                    to: last.to,
                    cause: longer.cause,
                });
            }
        }
        self.stretches.extend(newest);
    }

    /// The causes of what happened between two times. What is not known is put down to `otherwise`.
    pub(super) fn causes(&self, from: f64, to: f64, otherwise: RootCause) -> Vec<CausedStretch> {
        let first = self.stretches.partition_point(|stretch| stretch.to <= from);
        let mut causes: Vec<CausedStretch> = Vec::new();
        let mut at = from;
        let mut add = |from: f64, to: f64, cause| match causes.last_mut() {
            _ if to <= from => {}
            Some(last) if last.cause == cause => last.to = to,
            _ => causes.push(CausedStretch { from, to, cause }),
        };
        for stretch in self.stretches.iter().skip(first) {
            if stretch.from >= to {
                break;
            }
            add(at, stretch.from.min(to), otherwise);
            let begin = stretch.from.max(at);
            add(begin, stretch.to.min(to), stretch.cause);
            at = stretch.to.max(at);
        }
        add(at.min(to), to, otherwise);
        causes
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

    #[test]
    fn a_wait_has_the_causes_of_whom_it_was_for() {
        let mut history = RecentHistory::default();
        history.add(0.0, 1.0, cause(1));
        history.add(1.0, 2.0, cause(1));
        history.add(2.5, 3.0, cause(2));
        assert_eq!(
            history.causes(1.5, 4.0, cause(9)),
            [
                stretch(1.5, 2.0, 1),
                stretch(2.0, 2.5, 9),
                stretch(2.5, 3.0, 2),
                stretch(3.0, 4.0, 9)
            ]
        );
        history.replace(stretch(0.5, 1.5, 7));
        assert_eq!(
            history.causes(0.0, 2.0, cause(9)),
            [
                stretch(0.0, 0.5, 1),
                stretch(0.5, 1.5, 7),
                stretch(1.5, 2.0, 1)
            ]
        );
        assert_eq!(
            RecentHistory::default().causes(0.0, 1.0, cause(9)),
            [stretch(0.0, 1.0, 9)]
        );
    }

    #[test]
    fn old_stretches_are_joined() {
        let mut history = RecentHistory::default();
        for nth in 0..1000 {
            let at = f64::from(nth);
            history.add(at, at + 1.0, cause(nth as u32 % 2));
        }
        assert!(history.stretches.len() <= MAX_KEPT);
        let causes = history.causes(0.0, 1000.0, cause(9));
        assert!(causes.iter().all(|stretch| stretch.cause.lane < 2));
        let sum: f64 = causes.iter().map(CausedStretch::seconds).sum();
        assert_eq!(sum, 1000.0);
    }
}
