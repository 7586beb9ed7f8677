//! Waits one by one, and the stretches of the critical path: what pictures show of them.

use super::critical_path::PathPiece;
use super::longest::{Lasting, Longest};
use super::wait::WaitPattern;

/// Waits that are kept; when there are more, the shortest are forgotten.
const MAX_WAITS: usize = 1 << 20;

/// A wait as the pass keeps it.
#[derive(Clone, Copy, Debug)]
pub(super) struct KeptWait {
    pub from: f64,
    pub to: f64,
    /// When its call began.
    pub start: f64,
    pub line: i32,
    pub category: u32,
    /// Lane of the rank that was waited for.
    pub culprit: u32,
    pub pattern: WaitPattern,
}

impl Lasting for KeptWait {
    fn seconds(&self) -> f32 {
        (self.to - self.from) as f32
    }
}

/// The waits that the pass keeps.
pub(super) type KeptWaits = Longest<KeptWait, MAX_WAITS>;

/// A thread of a rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct RankThread {
    /// The rank.
    pub rank: i32,
    /// Number of the thread, 0 for the main one.
    pub thread: i32,
}

/// A stretch of time in which a call waited for another rank.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CallWait {
    /// Line of the call, as drawables name it.
    pub line: i32,
    /// Category of the call, as drawables name it.
    pub category: i32,
    /// When the call began, seconds.
    pub start: f64,
    /// When the wait began, seconds.
    pub from: f64,
    /// When the wait ended, seconds.
    pub to: f64,
    /// Why the call waited.
    pub pattern: WaitPattern,
    /// Who was waited for.
    pub culprit: RankThread,
}

/// A stretch of the critical path.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PathStretch {
    /// The thread that the path runs through.
    pub on: RankThread,
    /// Begin, seconds.
    pub from: f64,
    /// End, seconds.
    pub to: f64,
}

/// The waits of all calls, and the critical path.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WaitsOfCalls {
    /// The waits, in the order in which the pass found them.
    pub waits: Vec<CallWait>,
    /// Waits shorter than this many seconds are missing; 0 if all are there.
    pub shortest: f64,
    /// The critical path, in order of time.
    pub path: Vec<PathStretch>,
}

impl WaitsOfCalls {
    /// What was kept, with the threads of lanes and the categories of the trace by their places.
    pub(super) fn new(
        kept: KeptWaits,
        path: &[PathPiece],
        thread: impl Fn(u32) -> RankThread,
        category: impl Fn(u32) -> i32,
    ) -> WaitsOfCalls {
        let waits = kept.items.iter().map(|wait| CallWait {
            line: wait.line,
            category: category(wait.category),
            start: wait.start,
            from: wait.from,
            to: wait.to,
            pattern: wait.pattern,
            culprit: thread(wait.culprit),
        });
        let path = path.iter().map(|piece| PathStretch {
            on: thread(piece.lane),
            from: piece.from,
            to: piece.to,
        });
        WaitsOfCalls {
            waits: waits.collect(),
            shortest: kept.shortest.into(),
            path: path.collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wait(from: f64, to: f64) -> KeptWait {
        KeptWait {
            from,
            to,
            start: from,
            line: 0,
            category: 0,
            culprit: 0,
            pattern: WaitPattern::Barrier,
        }
    }

    #[test]
    fn the_longest_waits_are_kept_when_there_are_too_many() {
        let mut kept = KeptWaits::default();
        for nth in 0..MAX_WAITS as u32 + 1 {
            let at = f64::from(nth);
            kept.add(wait(at, at + if nth % 4 == 0 { 0.5 } else { 0.25 }));
        }
        assert!(kept.shortest > 0.25 && kept.shortest <= 0.5);
        assert!(kept.items.iter().all(|wait| wait.to - wait.from == 0.5));
        assert!(kept.items.len() >= MAX_WAITS / 4);
        kept.clear();
        kept.add(wait(1.0, 1.0 + 1e-9));
        assert_eq!((kept.items.len(), kept.shortest), (1, 0.0));
    }
}
