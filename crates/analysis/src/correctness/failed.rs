//! Calls that failed, by function and class of the error.

use super::call::{CallPlace, FunctionKey};
use std::collections::BTreeMap;

/// Functions with error codes that are kept.
const MAX_KEPT: usize = 1 << 12;

/// Calls of a function that failed with errors of one class.
#[derive(Clone, Debug)]
pub(super) struct FailedCalls {
    /// Error code of the first.
    pub code: i64,
    pub first: CallPlace,
    pub count: u64,
    /// Ranks, as far as there is room.
    pub ranks: super::report::RankSet,
}

/// All calls that failed.
#[derive(Debug, Default)]
pub(super) struct Failures {
    pub by_class: BTreeMap<(FunctionKey, i64), FailedCalls>,
}

impl Failures {
    /// A call failed.
    pub(super) fn add(&mut self, place: CallPlace, class: i64, code: i64) {
        let key = (place.function, class);
        if self.by_class.len() >= MAX_KEPT && !self.by_class.contains_key(&key) {
            return;
        }
        let known = self.by_class.entry(key).or_insert_with(|| FailedCalls {
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
