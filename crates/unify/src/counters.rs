//! Counts of performance counters in calls: the counters of each process in the order that the ranks have agreed on.

/// Most names of a run.
pub const MAX_COUNTER_NAMES: usize = 512;

/// Value of a counter that the process does not have.
const UNKNOWN: i64 = -1;

/// Adds the names that are not there yet. What a file says of the others has no place.
pub fn join(names: &mut Vec<String>, others: &[String]) {
    for name in others {
        if names.len() < MAX_COUNTER_NAMES && !names.contains(name) {
            names.push(name.clone());
        }
    }
}

/// The counters of a process.
#[derive(Debug, Default)]
pub struct CounterOrder {
    /// By place among its own the place among those of the run.
    places: Vec<Option<usize>>,
    /// Values of the call at hand, for each counter of the run.
    values: Vec<i64>,
}

impl CounterOrder {
    /// Counters of a process that counts `own`, in a run with these counter `names`.
    pub fn new(own: &[String], names: &[String]) -> CounterOrder {
        let place = |name: &String| names.iter().position(|n| n == name);
        CounterOrder {
            places: own.iter().map(place).collect(),
            values: vec![UNKNOWN; names.len()],
        }
    }

    /// Counts of a call from the values at its start and its end, one per counter name of the run; −1 where the process
    /// does not have that counter; `None` if they are not values of the counters that the process names, or the run names none.
    pub fn counted(&mut self, pairs: &[(i64, i64)]) -> Option<Box<[i64]>> {
        if pairs.is_empty() || pairs.len() != self.places.len() {
            return None;
        }
        for (place, (entry, exit)) in self.places.iter().zip(pairs) {
            if let Some(value) = place.and_then(|place| self.values.get_mut(place)) {
                // Values of counters that take turns are estimates, which may go back a little.
                *value = exit.wrapping_sub(*entry).max(0);
            }
        }
        (!self.values.is_empty()).then(|| self.values.as_slice().into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(text: &str) -> Vec<String> {
        text.split(' ').map(str::to_owned).collect()
    }

    #[test]
    fn values_come_in_the_order_of_the_run() {
        let mut run = names("a b c d");
        join(&mut run, &names("e b"));
        assert_eq!(run, names("a b c d e"));
        let mut counters = CounterOrder::new(&names("e b"), &run);
        let values = counters.counted(&[(10, 13), (7, 5)]).expect("as many");
        assert_eq!(values[..], [-1, 0, -1, -1, 3]);
        assert_eq!(counters.counted(&[(1, 2)]), None);
        assert_eq!(counters.counted(&[]), None);
    }
}
