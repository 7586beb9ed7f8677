//! The calls that took longest.

use super::calls::{Brief, CausedKind, OpenAccess};
use super::waits::Waits;
use io_attribution::DataAccessCall;
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// A call that took long, with what it caused.
#[derive(Clone, Debug, PartialEq)]
pub struct Slow {
    /// The call.
    pub made: DataAccessCall,
    /// Operations of the call by kind, those that took most time first.
    pub caused: Vec<CausedKind>,
    /// The longest of them, in order of time.
    pub longest: Vec<Brief>,
    /// Time of the call by cause; `None` unless it is blocking and collective.
    pub waits: Option<Waits>,
}

/// Keeps the slowest.
#[derive(Debug)]
pub(super) struct Slowest {
    most: usize,
    /// By duration and, the other way round, CallID.
    calls: BTreeMap<(u64, Reverse<u64>), Slow>,
}

impl Slowest {
    pub fn new(most: usize) -> Self {
        Slowest {
            most,
            calls: BTreeMap::new(),
        }
    }

    pub fn add(&mut self, made: &DataAccessCall, open: &mut OpenAccess) {
        let key = (made.duration(), Reverse(made.call));
        let is_full = self.calls.len() >= self.most;
        if is_full
            && self
                .calls
                .first_key_value()
                .is_none_or(|(least, _)| *least >= key)
        {
            return;
        }
        let mut caused = std::mem::take(&mut open.caused);
        caused.sort_by_key(|c| (Reverse(c.ns), c.key));
        let mut longest = std::mem::take(&mut open.longest);
        longest.sort_by_key(|brief| brief.place.ns);
        let slow = Slow {
            made: made.clone(),
            caused,
            longest,
            waits: open.waits,
        };
        self.calls.insert(key, slow);
        if self.calls.len() > self.most {
            self.calls.pop_first();
        }
    }

    /// The slowest first.
    pub fn finish(self) -> Vec<Slow> {
        self.calls.into_values().rev().collect()
    }
}
