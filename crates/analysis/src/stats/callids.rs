//! CallIDs: which drawables carry one, and how many operations each call brought about.
//!
//! The first drawable in time that carries a CallID is the call itself; what carries the same CallID later are the
//! operations that the call caused, such as those of disks and servers. Arrows from calls to operations, and events that say more
//! of a call, are neither.

use super::HashMap;
use io_attribution::draw::{Shows, shows};
use std::collections::BTreeMap;
use trace_model::{Category, InfoValue, info_values};

/// CallIDs that are remembered; see [`CallIdStatistics::is_exact`].
const REMEMBERED: usize = 1 << 20;

/// Statistics of CallIDs: calls, and the operations that they caused.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CallIdStatistics {
    /// Categories whose info has a CallID, whether or not they occur.
    pub categories: u64,
    /// Drawables that carry one.
    pub drawables: u64,
    /// Different CallIDs: calls.
    pub calls: u64,
    /// Calls that caused at least one operation.
    pub causing: u64,
    /// Operations: drawables that carry the CallID of an earlier one.
    pub operations: u64,
    /// Calls by category of the call, ascending by category index.
    pub by_call: BTreeMap<i32, CausedOperations>,
    /// Whether these numbers are exact. They are unless a CallID comes back after half a million others, more than are
    /// remembered at a time, went by; such a CallID counts as two.
    pub is_exact: bool,
}

/// Operations caused by the calls of one category.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CausedOperations {
    /// Different CallIDs that begin with a drawable of this category.
    pub calls: u64,
    /// Number of these CallIDs that caused at least one operation.
    pub causing: u64,
    /// Operations that these caused.
    pub operations: u64,
    /// The most operations that one call caused.
    pub most: u64,
    /// Operations by their category.
    pub by_operation: BTreeMap<i32, u64>,
}

impl CallIdStatistics {
    /// Operations per call that caused any: the average number of arrows per CallID having any. `None` if none did.
    pub fn operations_per_causing_call(&self) -> Option<f64> {
        (self.causing > 0).then(|| self.operations as f64 / self.causing as f64)
    }
}

/// Which value of the infos of a category is the CallID.
#[derive(Clone, Copy, Debug)]
pub(super) struct CallIdIndex(usize);

impl CallIdIndex {
    /// The place in the infos of this category, if they have a CallID: a number whose key ends in `CallID=` or
    /// `CallID=0x`.
    pub(super) fn of(category: &Category) -> Option<Self> {
        if let Some(Shows::Access | Shows::Edge(_)) = shows(category) {
            return None;
        }
        let names_it = |key: &[u8]| {
            let key = key.to_ascii_lowercase();
            let key = key.strip_suffix(b"0x").unwrap_or(&key).trim_ascii_end();
            let key = key.strip_suffix(b"=").or_else(|| key.strip_suffix(b":"));
            key.is_some_and(|key| key.trim_ascii_end().ends_with(b"callid"))
        };
        let mut values = category.info_keys.iter().zip(&category.info_types);
        values
            .position(|(key, kind)| names_it(&key.0) && matches!(kind, b'x' | b'X' | b'd' | b'l'))
            .map(CallIdIndex)
    }

    /// The CallID in an info of the category; `None` if the info is too short.
    pub(super) fn get(self, category: &Category, info: &[u8]) -> Option<u64> {
        match info_values(category, info).nth(self.0)?.1 {
            InfoValue::Hex(id) => Some(id),
            InfoValue::Integer(id) => Some(id as u64),
            _ => None,
        }
    }
}

/// A call whose operations may still come.
#[derive(Clone, Copy, Debug)]
struct RememberedCall {
    category: i32,
    operations: u64,
    /// Number of the drawable that carried its CallID last.
    last: u64,
}

/// Counts CallIDs in order of time.
#[derive(Debug, Default)]
pub(super) struct CallIdCounter {
    found: CallIdStatistics,
    calls: HashMap<u64, RememberedCall>,
    forgot: bool,
}

impl CallIdCounter {
    pub(super) fn new(categories: u64) -> Self {
        let mut counter = CallIdCounter::default();
        counter.found.categories = categories;
        counter
    }

    pub(super) fn add(&mut self, id: u64, category: i32) {
        self.found.drawables += 1;
        let last = self.found.drawables;
        if let Some(call) = self.calls.get_mut(&id) {
            call.operations += 1;
            call.last = last;
            let caused = self.found.by_call.entry(call.category).or_default();
            *caused.by_operation.entry(category).or_default() += 1;
            return;
        }
        if self.calls.len() >= REMEMBERED {
            self.forget();
        }
        let call = RememberedCall {
            category,
            operations: 0,
            last,
        };
        self.calls.insert(id, call);
    }

    /// Makes room: the half of the calls that nothing was heard of for the longest time count as over.
    fn forget(&mut self) {
        let mut ages: Vec<u64> = self.calls.values().map(|call| call.last).collect();
        let half = ages.len() / 2;
        let (_, &mut border, _) = ages.select_nth_unstable(half);
        let found = &mut self.found;
        self.calls.retain(|_, call| {
            let keep = call.last >= border;
            if !keep {
                found.close(call);
            }
            keep
        });
        self.forgot = true;
    }

    pub(super) fn finish(mut self) -> CallIdStatistics {
        for call in self.calls.values() {
            self.found.close(call);
        }
        self.found.is_exact = !self.forgot;
        self.found
    }
}

impl CallIdStatistics {
    fn close(&mut self, call: &RememberedCall) {
        let causing = u64::from(call.operations > 0);
        self.calls += 1;
        self.causing += causing;
        self.operations += call.operations;
        let caused = self.by_call.entry(call.category).or_default();
        caused.calls += 1;
        caused.causing += causing;
        caused.operations += call.operations;
        caused.most = caused.most.max(call.operations);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use trace_model::{Color, Topology};

    fn call_id(format: &str, info: &[u8]) -> Option<u64> {
        let mut category = Category::new(1, "x".into(), Topology::State, Color::WHITE);
        category.set_info_format(format.as_bytes());
        CallIdIndex::of(&category)?.get(&category, info)
    }

    #[test]
    fn found_in_the_info() {
        let info = [0, 2, b'a', b'b', 0, 0, 0, 9, 0, 0, 1, 0, 0, 0, 0, 7];
        assert_eq!(call_id("CallID=0x%x", &info[4..]), Some(9));
        let format = "name=%s n=%d callid=%X, more=%d";
        assert_eq!(call_id(format, &info), Some(0x100_0000_0007));
        assert_eq!(call_id(format, &info[..14]), None);
        for format in ["msg_tag=%d, msg_size=%d", "CallID=%s", "CallID=", ""] {
            assert_eq!(call_id(format, &info), None, "{format}");
        }
    }

    #[test]
    fn more_calls_than_are_remembered() {
        let mut counter = CallIdCounter::new(2);
        let calls = 3 * REMEMBERED as u64;
        for id in 0..calls {
            counter.add(id, 1);
            if id % 2 == 0 {
                counter.add(id, 2);
                counter.add(id, 3);
            }
        }
        let found = counter.finish();
        assert_eq!((found.calls, found.causing), (calls, calls / 2));
        assert_eq!((found.drawables, found.operations), (2 * calls, calls));
        assert_eq!(found.operations_per_causing_call(), Some(2.0));
        let caused = &found.by_call[&1];
        assert_eq!((caused.calls, caused.most), (calls, 2));
        assert_eq!(
            caused.by_operation,
            BTreeMap::from([(2, calls / 2), (3, calls / 2)])
        );
        assert!(!found.is_exact);
    }
}
