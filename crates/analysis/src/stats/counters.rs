//! Sums of what performance counters counted in states ([`counter_of`]).

use super::HashMap;
use trace_model::{Category, InfoValue, counter_of, info_values};

/// Adds them up by thread and category.
#[derive(Debug, Default)]
pub(super) struct CounterTotals {
    /// Names, in the order in which categories have them.
    pub(super) names: Vec<String>,
    /// By row and kind, for each name.
    sums: HashMap<(u32, u32), Vec<Option<u64>>>,
}

/// For each value of the infos of a category the counter that it is of; empty if it has none.
pub(super) type CounterIndices = Vec<Option<usize>>;

impl CounterTotals {
    /// Takes the counters of a category.
    pub(super) fn places(&mut self, category: &Category) -> CounterIndices {
        let place = |key| {
            let name = counter_of(key)?;
            let known = self.names.iter().position(|n| n == name);
            Some(known.unwrap_or_else(|| {
                self.names.push(name.to_owned());
                self.names.len() - 1
            }))
        };
        let places: CounterIndices = category.info_keys.iter().map(place).collect();
        match places.iter().any(Option::is_some) {
            true => places,
            false => CounterIndices::new(),
        }
    }

    /// Takes the info of a drawable of this row and kind.
    pub(super) fn add(
        &mut self,
        (row, kind): (u32, u32),
        category: &Category,
        places: &CounterIndices,
        info: &[u8],
    ) {
        let sums = self.sums.entry((row, kind)).or_default();
        sums.resize(self.names.len(), None);
        for ((_, value), place) in info_values(category, info).zip(places) {
            // A negative value stands for a counter that the process did not have.
            if let (InfoValue::Integer(value), Some(place)) = (value, *place)
                && let (Ok(value), Some(sum)) = (u64::try_from(value), sums.get_mut(place))
            {
                *sum = Some(sum.unwrap_or(0).saturating_add(value));
            }
        }
    }

    /// The sums of a row and kind.
    pub(super) fn sums(&self, row: u32, kind: u32) -> Vec<Option<u64>> {
        let mut sums = self.sums.get(&(row, kind)).cloned().unwrap_or_default();
        sums.resize(self.names.len(), None);
        sums
    }
}

/// Adds sums to others, one by one.
pub(super) fn join(sums: &mut [Option<u64>], others: &[Option<u64>]) {
    for (sum, other) in sums.iter_mut().zip(others) {
        *sum = match (*sum, *other) {
            (Some(a), Some(b)) => Some(a.saturating_add(b)),
            (a, b) => a.or(b),
        };
    }
}
