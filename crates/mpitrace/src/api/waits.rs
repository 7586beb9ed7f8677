//! The waits of a trace as a table.

use super::{Failure, TraceFiles};
use analysis::performance::{CallWait, PerformanceCollector, PerformanceOptions};
use arrow_array::types::Int32Type;
use arrow_array::{ArrayRef, DictionaryArray, Int32Array, Int64Array, RecordBatch};
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;
use trace_model::{Actor, TimeBBox, lane_of};

/// Whether a wait is one of those that are asked for: of these ranks, which wait or are waited for, and overlapping this window.
fn is_wanted(
    wait: &CallWait,
    rank: Option<i32>,
    ranks: Option<&BTreeSet<u32>>,
    window: Option<TimeBBox>,
) -> bool {
    let has = |ranks: &BTreeSet<u32>| {
        let ends = [rank, Some(wait.culprit.rank)].into_iter().flatten();
        ends.filter_map(|rank| u32::try_from(rank).ok())
            .any(|rank| ranks.contains(&rank))
    };
    let overlaps = |window: TimeBBox| wait.from <= window.latest && wait.to >= window.earliest;
    ranks.is_none_or(has) && window.is_none_or(overlaps)
}

impl TraceFiles {
    /// The stretches of time in which calls waited for other ranks, as the report has them, by the begin of the wait: who waited in which call,
    /// from when to when, why, and for whom. Of more than a million, the longest.
    ///
    /// # Errors
    /// A file is damaged.
    pub fn waits(
        &self,
        ranks: Option<&BTreeSet<u32>>,
        window: Option<TimeBBox>,
    ) -> Result<RecordBatch, Failure> {
        let reading = self.reading(None)?;
        let definitions = reading.definitions();
        let mut collector = PerformanceCollector::new(definitions, &PerformanceOptions::default());
        collector.keep_waits();
        reading.for_each(&mut |drawable| {
            collector.put(drawable);
            Ok(())
        })?;
        let found = collector.finish_with_waits().waits.unwrap_or_default();
        let lines: HashMap<i32, _> = (definitions.lines.iter())
            .map(|line| (line.id, lane_of(line)))
            .collect();
        let rank = |wait: &CallWait| match lines.get(&wait.line).map(|lane| lane.actor) {
            Some(Actor::Rank(rank)) => i32::try_from(rank).ok(),
            _ => None,
        };
        let mut waits = found.waits;
        waits.retain(|wait| is_wanted(wait, rank(wait), ranks, window));
        waits.sort_by(|a, b| a.from.total_cmp(&b.from));
        let names: HashMap<i32, _> = (definitions.categories.iter())
            .map(|category| (category.index, category.name.to_str()))
            .collect();
        let small = |value: &dyn Fn(&CallWait) -> Option<i32>| -> ArrayRef {
            Arc::new(waits.iter().map(value).collect::<Int32Array>())
        };
        let time = |seconds: &dyn Fn(&CallWait) -> f64| -> ArrayRef {
            let ns = |wait| (seconds(wait) * 1e9).round() as i64;
            Arc::new(Int64Array::from_iter_values(waits.iter().map(ns)))
        };
        let function = |wait: &CallWait| names.get(&wait.category).map(AsRef::as_ref);
        let functions: DictionaryArray<Int32Type> = waits.iter().map(function).collect();
        let patterns: DictionaryArray<Int32Type> =
            waits.iter().map(|wait| wait.pattern.name()).collect();
        let thread = |wait: &CallWait| {
            let lane = lines.get(&wait.line)?;
            i32::try_from(lane.thread).ok()
        };
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
        let batch = RecordBatch::try_from_iter_with_nullable(
            columns.map(|(name, column)| (name, column, name == "rank" || name == "thread")),
        );
        batch.map_err(|error| Failure::file(self.name(), error))
    }
}
