//! Calls of a merged trace that never came to their end: at the beginning of each stands an annotation that says so.

use super::report::{InfoReport, object};
use std::collections::BTreeMap;
use trace_formats::clog2::annotations::{is_annotation, unfinished_of};
use trace_model::Category;

/// The unfinished calls of a trace, by function.
#[derive(Debug, Default)]
pub struct UnfinishedCalls {
    /// Category of annotations; `None` if the trace has none.
    annotation: Option<i32>,
    by_function: BTreeMap<String, u64>,
}

impl UnfinishedCalls {
    /// None so far, for a trace with these categories.
    pub fn new(categories: &[Category]) -> UnfinishedCalls {
        let annotation = categories.iter().find(|category| is_annotation(category));
        UnfinishedCalls {
            annotation: annotation.map(|category| category.index),
            by_function: BTreeMap::new(),
        }
    }

    /// Whether there can be any.
    pub fn is_possible(&self) -> bool {
        self.annotation.is_some()
    }

    /// Takes a drawable: its category and its info.
    pub fn take(&mut self, category: i32, info: &[u8]) {
        if self.annotation != Some(category) {
            return;
        }
        let text = info
            .split_first_chunk()
            .and_then(|(length, text)| text.get(..usize::from(u16::from_be_bytes(*length))));
        if let Some(function) = text.and_then(unfinished_of) {
            *self.by_function.entry(function.to_owned()).or_default() += 1;
        }
    }

    /// Reports them, if there are any.
    pub fn put(&self, report: &mut InfoReport) {
        if !self.by_function.is_empty() {
            report.put("calls_unfinished", self.by_function.values().sum::<u64>());
            put_functions(&self.by_function, report);
        }
    }
}

/// Reports unfinished calls by function, if there are any.
pub fn put_functions(by_function: &BTreeMap<String, u64>, report: &mut InfoReport) {
    if by_function.is_empty() {
        return;
    }
    let rows = by_function
        .iter()
        .map(|(name, &count)| object([("name", name.as_str().into()), ("calls", count.into())]));
    report.put("unfinished", rows.collect::<Vec<_>>());
}
