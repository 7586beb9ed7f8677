//! Adds the counts of performance counters to the infos of states.

use super::categories::LogCategories;
use trace_model::COUNTER_SIGN;

/// The counters of a log.
#[derive(Debug)]
pub(super) struct Counted {
    /// Number of counters.
    count: usize,
    /// What the infos of states with values have behind what others have.
    format: String,
}

impl Counted {
    pub(super) fn new(names: &[String]) -> Counted {
        let key = |name: &String| format!("{}{COUNTER_SIGN}%l", name.replace('%', ""));
        Counted {
            count: names.len(),
            format: names.iter().map(key).collect::<Vec<_>>().join(", "),
        }
    }

    /// What the infos of states with values have behind what others have.
    pub(super) fn format(&self) -> &str {
        &self.format
    }

    /// Appends the values to the info of a state that is complete without them.
    pub(super) fn append(
        &self,
        categories: &mut LogCategories,
        slot: u32,
        info: &mut Vec<u8>,
        values: &[i64],
    ) {
        categories.add_info(slot, &self.format);
        let numbers = values.iter().take(self.count);
        info.extend(numbers.flat_map(|number| number.to_be_bytes()));
    }
}
