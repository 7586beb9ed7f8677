//! Adds the counts of performance counters to the infos of states.

use super::categories::LogCategories;
use trace_model::COUNTER_SIGN;
use trace_model::hash::Map as HashMap;

/// The counters of a log.
#[derive(Debug)]
pub(super) struct Counted {
    /// Number of counters.
    count: usize,
    /// What the infos of states with values have behind what others have.
    format: String,
    /// By slot of a category, bytes of what its infos have anyway; `None` if that is not always as long.
    lengths: HashMap<u32, Option<usize>>,
    info: Vec<u8>,
}

impl Counted {
    pub(super) fn new(names: &[String]) -> Counted {
        let key = |name: &String| format!("{}{COUNTER_SIGN}%l", name.replace('%', ""));
        Counted {
            count: names.len(),
            format: names.iter().map(key).collect::<Vec<_>>().join(", "),
            lengths: HashMap::default(),
            info: Vec::new(),
        }
    }

    /// What the infos of states with values have behind what others have.
    pub(super) fn format(&self) -> &str {
        &self.format
    }

    /// The info of a state that ends: `own`, as far as its category says what it is, and the values, if there are any.
    pub(super) fn info<'a>(
        &'a mut self,
        categories: &mut LogCategories,
        slot: u32,
        own: &'a [u8],
        values: &[i64],
    ) -> &'a [u8] {
        let length = self.lengths.entry(slot);
        let length = *length.or_insert_with(|| length_of(categories.info_types(slot)));
        let Some(length) = length else {
            return own;
        };
        // The rest of the cargo would be taken for values.
        let own = &own[..own.len().min(length)];
        if values.is_empty() {
            return own;
        }
        let mut info = std::mem::take(&mut self.info);
        info.clear();
        info.extend_from_slice(own);
        info.resize(length, 0);
        self.append(categories, slot, &mut info, values);
        self.info = info;
        &self.info
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

/// Bytes of values of these types (`spec/clog2.md` section 8), if that is always the same.
fn length_of(types: &[u8]) -> Option<usize> {
    types.iter().try_fold(0, |sum, kind| {
        Some(
            sum + match kind {
                b'h' => 2,
                b'd' | b'x' | b'e' => 4,
                b'l' | b'X' | b'E' => 8,
                _ => return None,
            },
        )
    })
}
