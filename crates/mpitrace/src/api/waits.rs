//! The waits of a trace as a table.

use super::{Failure, TraceFiles, for_each};
use analysis::performance::{CallWait, PerformanceCollector, PerformanceOptions};
use arrow_array::types::Int32Type;
use arrow_array::{ArrayRef, DictionaryArray, Int32Array, Int64Array, RecordBatch};
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;
use tables::{LineColumns, line_columns, ns};
use trace_model::{Definitions, TimeBBox};

impl TraceFiles {
    /// The stretches of time in which calls waited for other ranks, as the report has them, by the begin of the wait: who waited in which call,
    /// from when to when, why, and for whom. With `ranks`, those that wait or are waited for; with `window`, those that overlap it. Of more than
    /// a million waits, the longest.
    ///
    /// # Errors
    /// A file is damaged.
    pub fn waits(
        &self,
        ranks: Option<&BTreeSet<u32>>,
        window: Option<TimeBBox>,
    ) -> Result<RecordBatch, Failure> {
        let source = self.source(None)?;
        let definitions = source.definitions();
        let mut collector = PerformanceCollector::new(definitions, &PerformanceOptions::default());
        collector.keep_waits();
        for_each(source.as_ref(), &mut |drawable| {
            collector.put(drawable);
            Ok(())
        })?;
        let found = collector.finish_with_waits().waits.unwrap_or_default();
        let table = WaitTable::new(definitions);
        let mut waits = found.waits;
        waits.retain(|wait| {
            let span = TimeBBox {
                earliest: wait.from,
                latest: wait.to,
            };
            ranks.is_none_or(|ranks| table.is_of(wait, ranks))
                && window.is_none_or(|window| window.overlaps(span))
        });
        waits.sort_by(|a, b| a.from.total_cmp(&b.from));
        let batch = table.batch(&waits);
        batch.map_err(|error| Failure::file(self.name(), error))
    }

    /// The table of waits without a row.
    ///
    /// # Errors
    /// A file is damaged where its definitions are.
    pub fn no_waits(&self) -> Result<RecordBatch, Failure> {
        let batch = WaitTable::new(&self.definitions()?).batch(&[]);
        batch.map_err(|error| Failure::file(self.name(), error))
    }
}

/// What the table of waits says of timelines and categories, by their numbers.
struct WaitTable {
    lines: trace_model::hash::Map<i32, LineColumns>,
    functions: HashMap<i32, String>,
}

impl WaitTable {
    fn new(definitions: &Definitions) -> WaitTable {
        let categories = definitions.categories.iter();
        WaitTable {
            lines: line_columns(definitions),
            functions: categories
                .map(|category| (category.index, category.name.to_str().into_owned()))
                .collect(),
        }
    }

    /// Rank of a wait's call.
    fn rank(&self, wait: &CallWait) -> Option<u32> {
        self.lines.get(&wait.line)?.rank
    }

    /// Whether one of these ranks waits or is waited for.
    fn is_of(&self, wait: &CallWait, ranks: &BTreeSet<u32>) -> bool {
        let culprit = u32::try_from(wait.culprit.rank).ok();
        [self.rank(wait), culprit]
            .into_iter()
            .flatten()
            .any(|rank| ranks.contains(&rank))
    }

    /// The table with these waits.
    fn batch(&self, waits: &[CallWait]) -> Result<RecordBatch, arrow_schema::ArrowError> {
        let small = |value: &dyn Fn(&CallWait) -> Option<i32>| -> ArrayRef {
            Arc::new(waits.iter().map(value).collect::<Int32Array>())
        };
        let time = |seconds: &dyn Fn(&CallWait) -> f64| -> ArrayRef {
            let times = waits.iter().map(|wait| ns(seconds(wait)));
            Arc::new(Int64Array::from_iter_values(times))
        };
        let rank = |wait: &CallWait| i32::try_from(self.rank(wait)?).ok();
        let thread = |wait: &CallWait| i32::try_from(self.lines.get(&wait.line)?.thread).ok();
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
