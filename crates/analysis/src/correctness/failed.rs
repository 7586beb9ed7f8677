//! Calls that failed, or in which something failed, by function and cause.

use super::call::{CallPlace, FunctionKey};
use std::collections::BTreeMap;

/// Functions with causes that are kept.
const MAX_KEPT: usize = 1 << 12;

/// Calls of a function that failed by one cause.
#[derive(Clone, Debug)]
pub(super) struct FailedCalls {
    /// Error code of the first; 0 is success.
    pub code: i64,
    pub first: CallPlace,
    pub count: u64,
    /// Ranks, as far as there is room.
    pub ranks: super::report::RankSet,
}

/// All calls that failed. A cause is what the calls of a function that are told together have in common.
#[derive(Debug)]
pub(super) struct Failures<Cause> {
    pub by_cause: BTreeMap<(FunctionKey, Cause), FailedCalls>,
}

impl<Cause> Default for Failures<Cause> {
    fn default() -> Self {
        let by_cause = BTreeMap::new();
        Failures { by_cause }
    }
}

impl<Cause: Ord> Failures<Cause> {
    /// A call failed.
    pub(super) fn add(&mut self, place: CallPlace, cause: Cause, code: i64) {
        let key = (place.function, cause);
        if self.by_cause.len() >= MAX_KEPT && !self.by_cause.contains_key(&key) {
            return;
        }
        let known = self.by_cause.entry(key).or_insert_with(|| FailedCalls {
            code,
            first: place,
            count: 0,
            ranks: Default::default(),
        });
        known.count += 1;
        known.ranks.insert(place.rank);
        if place.start < known.first.start {
            known.first = place;
            known.code = code;
        }
    }
}
