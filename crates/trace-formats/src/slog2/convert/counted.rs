//! What performance counters counted in states: records in front of the state's end (`clog2/counters.rs`) become a part of its
//! info.

use super::categories::Categories;
use crate::clog2::CARGO_SIZE;
use crate::clog2::counters;
use trace_model::COUNTER_SIGN;
use trace_model::hash::Map as HashMap;

/// The counters of a log.
#[derive(Debug)]
pub(super) struct Counted {
    /// Number of counters.
    count: usize,
    /// What the infos of states with values have behind what others have.
    format: String,
    /// By line, the values for the state that ends next.
    waiting: HashMap<i32, Vec<i64>>,
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
            waiting: HashMap::default(),
            lengths: HashMap::default(),
            info: Vec::new(),
        }
    }

    /// Takes a record of values; false if it is none.
    #[inline]
    pub(super) fn take(&mut self, etype: i32, line: i32, cargo: &[u8; CARGO_SIZE]) -> bool {
        let Some(part) = counters::part(etype) else {
            return false;
        };
        counters::unpack(part, cargo, self.waiting.entry(line).or_default());
        true
    }

    /// The info of a state that ends: `own`, as far as its category says what it is, and the values, if there are such.
    pub(super) fn info<'a>(
        &'a mut self,
        categories: &mut Categories,
        slot: u32,
        line: i32,
        own: &'a [u8],
    ) -> &'a [u8] {
        let length = self.lengths.entry(slot);
        let length = *length.or_insert_with(|| length_of(categories.info_types(slot)));
        let Some(length) = length else {
            return own;
        };
        // The rest of the cargo would be taken for values.
        let own = &own[..own.len().min(length)];
        let waiting = self.waiting.get_mut(&line);
        let Some(values) = waiting.filter(|values| !values.is_empty()) else {
            return own;
        };
        categories.add_info(slot, &self.format);
        self.info.clear();
        self.info.extend_from_slice(own);
        self.info.resize(length, 0);
        let numbers = values.drain(..).take(self.count);
        self.info.extend(numbers.flat_map(i64::to_be_bytes));
        &self.info
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
