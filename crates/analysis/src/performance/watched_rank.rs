//! The rank whose iterations stand for those of the program: what it does, in two rows.

use super::lane::{LineUse, ThreadLane};
use super::repetition::{Iterations, Repetition};
use super::role::CategoryRole;

/// What the watched rank does.
#[derive(Clone, Debug)]
pub(super) struct WatchedRank {
    lane: u32,
    /// Collective calls and the program's own states.
    steps: Repetition,
    /// All calls that move data or wait. For programs without steps.
    calls: Repetition,
    /// Number of communicators.
    comms: u32,
}

impl WatchedRank {
    /// The main thread of the lowest rank, of a trace with so many communicators; `None` if there is none.
    pub(super) fn lowest(lanes: &[ThreadLane], comms: usize) -> Option<WatchedRank> {
        let mains = (0..).zip(lanes).filter(|(_, lane)| lane.thread == 0);
        let (lane, _) = mains.min_by_key(|(_, lane)| lane.rank)?;
        Some(WatchedRank {
            lane,
            steps: Repetition::default(),
            calls: Repetition::default(),
            comms: u32::try_from(comms).ok()?,
        })
    }

    /// A state begins on some line. Gives its places in the rows.
    pub(super) fn begin(
        &mut self,
        line: LineUse,
        category: u32,
        role: CategoryRole,
        from: f64,
    ) -> [Option<u32>; 2] {
        if line.lane != self.lane {
            return [None; 2];
        }
        let (is_step, is_call) = match role {
            CategoryRole::Region => (true, false),
            CategoryRole::Collective(_) | CategoryRole::StartsCollective(_) => (true, true),
            CategoryRole::BlockingTransfer
            | CategoryRole::StartsTransfer
            | CategoryRole::FileCall => (false, true),
            _ => (false, false),
        };
        let symbol = self.symbol(category, line.comm);
        [
            is_step.then(|| self.steps.begin(symbol, from)).flatten(),
            is_call.then(|| self.calls.begin(symbol, from)).flatten(),
        ]
    }

    /// A state ends that has these places.
    pub(super) fn end(&mut self, [step, call]: [Option<u32>; 2], to: f64) {
        if let Some(place) = step {
            self.steps.end(place, to);
        }
        if let Some(place) = call {
            self.calls.end(place, to);
        }
    }

    /// The focus begins anew.
    pub(super) fn restart(&mut self) {
        self.steps.clear();
        self.calls.clear();
    }

    /// The iterations between two times, and the categories that they consist of.
    pub(super) fn iterations(self, from: f64, to: f64) -> Option<Iterations> {
        let comms = self.comms + 1;
        let steps = self.steps.loops(from, to);
        let mut found = steps.iterations(false).or_else(|| {
            let calls = self.calls.loops(from, to);
            let found = calls.iterations(false);
            let found = found.or_else(|| steps.iterations(true));
            found.or_else(|| calls.iterations(true))
        })?;
        for symbol in &mut found.symbols {
            *symbol /= comms;
        }
        Some(found)
    }

    /// One symbol for a category on a communicator.
    fn symbol(&self, category: u32, comm: u32) -> u32 {
        let comms = self.comms + 1;
        category
            .wrapping_mul(comms)
            .wrapping_add(comm.min(self.comms))
    }
}
