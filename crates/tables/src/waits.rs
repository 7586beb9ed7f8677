//! Waits of calls: a table of their own, and what the table of calls says of them.

use crate::lines::{self, LineColumns};
use crate::times::ns;
use analysis::performance::{CallWait, WaitsOfCalls};
use arrow_array::types::Int32Type;
use arrow_array::{ArrayRef, DictionaryArray, Int32Array, Int64Array, RecordBatch};
use arrow_schema::ArrowError;
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;
use trace_model::hash::Map;
use trace_model::{Definitions, NumberMap};

/// Name of the table of waits, which is that of its folder.
pub(crate) const WAITS: &str = "waits";

/// What the table of waits says of timelines and categories, by their numbers.
pub struct WaitTable {
    lines: NumberMap<LineColumns>,
    functions: HashMap<i32, String>,
}

impl WaitTable {
    /// The table for a trace with these definitions.
    pub fn new(definitions: &Definitions) -> WaitTable {
        let categories = definitions.categories.iter();
        WaitTable {
            lines: lines::columns(definitions),
            functions: categories
                .map(|category| (category.index, category.name.to_str().into_owned()))
                .collect(),
        }
    }

    /// Rank of a wait's call.
    fn rank(&self, wait: &CallWait) -> Option<u32> {
        self.lines.get(wait.line)?.rank
    }

    /// Whether one of these ranks waits or is waited for.
    pub fn is_of(&self, wait: &CallWait, ranks: &BTreeSet<u32>) -> bool {
        let culprit = u32::try_from(wait.culprit.rank).ok();
        [self.rank(wait), culprit]
            .into_iter()
            .flatten()
            .any(|rank| ranks.contains(&rank))
    }

    /// The table with these waits.
    ///
    /// # Errors
    /// The rows make no batch.
    pub fn batch(&self, waits: &[CallWait]) -> Result<RecordBatch, ArrowError> {
        let small = |value: &dyn Fn(&CallWait) -> Option<i32>| -> ArrayRef {
            Arc::new(waits.iter().map(value).collect::<Int32Array>())
        };
        let time = |seconds: &dyn Fn(&CallWait) -> f64| -> ArrayRef {
            let times = waits.iter().map(|wait| ns(seconds(wait)));
            Arc::new(Int64Array::from_iter_values(times))
        };
        let rank = |wait: &CallWait| i32::try_from(self.rank(wait)?).ok();
        let thread = |wait: &CallWait| i32::try_from(self.lines.get(wait.line)?.thread).ok();
        let function = |wait: &CallWait| self.functions.get(&wait.category).map(String::as_str);
        let functions: DictionaryArray<Int32Type> = waits.iter().map(function).collect();
        let patterns = waits.iter().map(|wait| wait.pattern.name());
        let patterns: DictionaryArray<Int32Type> = patterns.collect();
        let columns = [
            ("rank", small(&rank)),
            ("thread", small(&thread)),
            ("line", small(&|wait| Some(wait.line))),
            ("function", Arc::new(functions) as ArrayRef),
            ("enter_ns", time(&|wait| wait.start)),
            ("from_ns", time(&|wait| wait.from)),
            ("to_ns", time(&|wait| wait.to)),
            ("pattern", Arc::new(patterns)),
            ("culprit_rank", small(&|wait| Some(wait.culprit.rank))),
            ("culprit_thread", small(&|wait| Some(wait.culprit.thread))),
        ];
        RecordBatch::try_from_iter_with_nullable(
            columns.map(|(name, column)| (name, column, name == "rank" || name == "thread")),
        )
    }
}

/// What the table of calls says of a call's waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CallWaiting {
    /// How long the call waited, ns.
    pub waiting: i64,
    /// Rank that the longest of its waits was for.
    pub culprit: i32,
}

/// Calls that waited, by line, category and begin of the call: calls of several functions may begin in one tick of a coarse clock.
#[derive(Debug, Default)]
pub struct WaitingCalls {
    calls: Map<(i32, i32, u64), CallWaiting>,
}

impl WaitingCalls {
    /// The calls of these waits.
    pub fn new(found: &WaitsOfCalls) -> WaitingCalls {
        let mut waits: Vec<&CallWait> = found.waits.iter().collect();
        let call = |wait: &CallWait| (wait.line, wait.category, wait.start.to_bits());
        waits.sort_by(|a, b| call(a).cmp(&call(b)).then(a.from.total_cmp(&b.from)));
        let of_calls = waits.chunk_by(|a, b| call(a) == call(b));
        WaitingCalls {
            calls: of_calls
                .filter_map(|waits| Some((call(waits.first()?), waiting(waits)?)))
                .collect(),
        }
    }

    /// What is said of the call of this category that begins on this line at this time.
    pub fn get(&self, line: i32, category: i32, start: f64) -> Option<CallWaiting> {
        let call = (line, category, start.to_bits());
        self.calls.get(&call).copied()
    }
}

/// What is said of the call whose waits these are, in order of their begin. Two that overlap count once.
fn waiting(waits: &[&CallWait]) -> Option<CallWaiting> {
    let length = |wait: &CallWait| wait.to - wait.from;
    let longest = waits
        .iter()
        .max_by(|a, b| length(a).total_cmp(&length(b)))?;
    let (mut seconds, mut until) = (0.0, f64::NEG_INFINITY);
    for wait in waits {
        seconds += f64::max(0.0, wait.to - wait.from.max(until));
        until = until.max(wait.to);
    }
    Some(CallWaiting {
        waiting: ns(seconds),
        culprit: longest.culprit.rank,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use analysis::performance::{RankThread, WaitPattern};

    fn wait(start: f64, from: f64, to: f64, rank: i32) -> CallWait {
        CallWait {
            line: 7,
            category: 1,
            start,
            from,
            to,
            pattern: WaitPattern::LateSender,
            culprit: RankThread { rank, thread: 0 },
        }
    }

    #[test]
    fn waits_that_overlap_count_once_and_the_longest_names_the_culprit() {
        let found = WaitsOfCalls {
            waits: vec![
                wait(1.0, 1.5, 2.5, 3),
                wait(1.0, 1.0, 2.0, 2),
                wait(1.0, 3.0, 3.25, 5),
                wait(4.0, 4.0, 4.5, 6),
            ],
            ..WaitsOfCalls::default()
        };
        let calls = WaitingCalls::new(&found);
        let first = calls.get(7, 1, 1.0).expect("it waited");
        assert_eq!(first.waiting, 1_750_000_000);
        assert!([2, 3].contains(&first.culprit), "{first:?}");
        let second = CallWaiting {
            waiting: 500_000_000,
            culprit: 6,
        };
        assert_eq!(calls.get(7, 1, 4.0), Some(second));
        assert_eq!(calls.get(8, 1, 1.0), None);
        assert_eq!(calls.get(7, 1, 1.5), None);
        // Another call that begins at the same time.
        assert_eq!(calls.get(7, 2, 1.0), None);
    }
}
