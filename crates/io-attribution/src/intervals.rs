//! Sets of numbers: bytes of a call that have been found.

use std::collections::BTreeMap;

/// A set of numbers, kept as intervals.
#[derive(Clone, Debug, Default)]
pub struct Intervals {
    /// Start and end of each; they neither overlap nor touch.
    by_start: BTreeMap<u64, u64>,
    covered: u64,
}

impl Intervals {
    /// Number of integers in the set.
    pub fn covered(&self) -> u64 {
        self.covered
    }

    /// Number of integers from `start` to before `end` that are in the set.
    pub fn within(&self, start: u64, end: u64) -> u64 {
        if start >= end {
            return 0;
        }
        let before = self.by_start.range(..start).next_back();
        let first = before.map_or(0, |(_, &e)| e.min(end).saturating_sub(start));
        let others = self.by_start.range(start..end);
        others.fold(first, |sum, (&s, &e)| sum + (e.min(end) - s))
    }

    /// Adds the numbers from `start` to before `end`; tells how many were not in it.
    pub fn add(&mut self, start: u64, end: u64) -> u64 {
        self.add_and_tell(start, end, |_, _| {})
    }

    /// As [`Intervals::add`]; gives those that were in it to `known`.
    pub fn add_and_tell(&mut self, start: u64, end: u64, mut known: impl FnMut(u64, u64)) -> u64 {
        if start >= end {
            return 0;
        }
        let (mut low, mut high, mut old) = (start, end, 0);
        while let Some((&s, &e)) = self.by_start.range(..=high).next_back() {
            if e < low {
                break;
            }
            let (from, to) = (s.max(start), e.min(end));
            if from < to {
                old += to - from;
                known(from, to);
            }
            (low, high) = (low.min(s), high.max(e));
            self.by_start.remove(&s);
        }
        self.by_start.insert(low, high);
        let new = (end - start) - old;
        self.covered += new;
        new
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn intervals_are_sets(adds in prop::collection::vec((0..200_u64, 0..30_u64), 0..60), q in (0..230_u64, 0..230_u64)) {
            let mut set = std::collections::BTreeSet::new();
            let mut intervals = Intervals::default();
            for (start, length) in adds {
                let new = (start..start + length).filter(|n| set.insert(*n)).count() as u64;
                prop_assert_eq!(intervals.add(start, start + length), new);
            }
            prop_assert_eq!(intervals.covered(), set.len() as u64);
            let within = (q.0..q.1).filter(|n| set.contains(n)).count() as u64;
            prop_assert_eq!(intervals.within(q.0, q.1), within);
        }
    }
}
