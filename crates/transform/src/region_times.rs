//! When the regions of a DUMPI file were, each of which is a Function_enter and a Function_exit record.

use std::collections::HashMap;

use trace_formats::dumpi::functions::{FUNCTION_ENTER, FUNCTION_EXIT};
use trace_formats::dumpi::read::DumpiReader;
use trace_formats::dumpi::types::DumpiRecord;
use trace_formats::dumpi::value::FieldValue;

/// The key of the function or annotation that a Function_enter or Function_exit record is of; `None` for any other record.
pub(crate) fn region(record: &DumpiRecord<'_>) -> Option<u64> {
    let (FUNCTION_ENTER | FUNCTION_EXIT) = record.function.id else {
        return None;
    };
    match record.args().next() {
        Some((_, FieldValue::U64(key))) => Some(key),
        _ => None,
    }
}

/// Wall times of the regions of a file, for a pass over its records in order.
#[derive(Debug, Default)]
pub(crate) struct RegionTimes {
    /// By place among the records of regions: start and end of the region, in nanoseconds of the file's clock.
    times: Vec<(i64, i64)>,
    next: usize,
}

impl RegionTimes {
    /// The regions of a file. One that never ends goes on for ever, and one that never began was always there.
    pub(crate) fn of(reader: &DumpiReader<'_>) -> RegionTimes {
        let mut times: Vec<(i64, i64)> = Vec::new();
        // By thread the key and the place of each region that is open.
        let mut open: HashMap<u16, Vec<(u64, usize)>> = HashMap::new();
        for record in reader.records().map_while(Result::ok) {
            let Some(key) = region(&record) else {
                continue;
            };
            let open = open.entry(record.thread).or_default();
            if record.function.id == FUNCTION_ENTER {
                open.push((key, times.len()));
                times.push((record.wall.start.ns(), i64::MAX));
                continue;
            }
            let end = record.wall.stop.ns();
            let begun = open.iter().rposition(|(open, _)| *open == key);
            let begun = begun.map(|at| open.remove(at).1);
            let start = match begun.and_then(|at| times.get_mut(at)) {
                Some(begun) => {
                    begun.1 = end;
                    begun.0
                }
                None => i64::MIN,
            };
            times.push((start, end));
        }
        RegionTimes { times, next: 0 }
    }

    /// Start and end of what the next record is of: of its region if it is one of a region, else of the record.
    pub(crate) fn span(&mut self, record: &DumpiRecord<'_>) -> (i64, i64) {
        let own = (record.wall.start.ns(), record.wall.stop.ns());
        if region(record).is_none() {
            return own;
        }
        let span = self.times.get(self.next).copied();
        self.next += 1;
        span.unwrap_or(own)
    }
}
