//! The numbers in drawn attribution records, read, and changed so that those of several traces stay apart in one.

use std::collections::HashMap;

use super::categories::{self, DrawableMeaning};
use super::info;
use super::read_back::NOWHERE;
use crate::record::{AttributionRecord, OpenedFile};
use trace_model::{Category, Drawable, InfoWriter, info_values};

/// Numbers to be added to those in the drawables of a trace.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NumberShift {
    /// Added to CallIDs.
    pub calls: u64,
    /// Added to numbers of files.
    pub files: u32,
    /// Added to numbers of operations.
    pub operations: u64,
}

/// Numbers that a drawable names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DrawnNumbers {
    /// CallIDs: of the call, and the one that a server told.
    pub calls: [Option<u64>; 2],
    /// True if the drawable is a data access: it tells of the first of `calls` itself.
    pub is_access: bool,
    /// Number of the file.
    pub file: Option<u32>,
    /// Number of the operation, if the drawable is that operation or an arrow to it.
    pub operation: Option<u64>,
    /// The whole file, if the drawable is a file.
    pub opened: Option<OpenedFile>,
}

/// The categories of a trace whose drawables stand for attribution records.
#[derive(Debug)]
pub struct DrawnCategories {
    known: HashMap<i32, (DrawableMeaning, Category)>,
}

impl DrawnCategories {
    /// Looks for them among `categories`.
    pub fn new(categories: &[Category]) -> Self {
        let known = categories.iter().filter_map(|category| {
            let meaning = categories::recognise(category)?;
            Some((category.index, (meaning, category.clone())))
        });
        DrawnCategories {
            known: known.collect(),
        }
    }

    /// True if the trace has none.
    pub fn is_empty(&self) -> bool {
        self.known.is_empty()
    }

    fn record(&self, drawable: &Drawable<'_>) -> Option<AttributionRecord> {
        let (meaning, category) = self.known.get(&drawable.category)?;
        let values = info_values(category, drawable.info).map(|(_, value)| value);
        info::read(
            *meaning,
            values,
            &[NOWHERE; 2][..drawable.vertices.len().min(2)],
        )
    }

    /// The numbers in a drawable; `None` if it is no attribution record.
    pub fn numbers(&self, drawable: &Drawable<'_>) -> Option<DrawnNumbers> {
        Some(match self.record(drawable)? {
            AttributionRecord::File(file) => DrawnNumbers {
                file: Some(file.id),
                opened: Some(file),
                ..DrawnNumbers::default()
            },
            AttributionRecord::Call(call) => DrawnNumbers {
                calls: [Some(call.call), None],
                is_access: true,
                file: Some(call.file),
                ..DrawnNumbers::default()
            },
            AttributionRecord::Operation(operation) => DrawnNumbers {
                calls: [operation.call, operation.record.call],
                file: operation.file,
                operation: Some(operation.id),
                ..DrawnNumbers::default()
            },
            AttributionRecord::Edge(edge) => DrawnNumbers {
                calls: [Some(edge.call), None],
                operation: Some(edge.operation),
                ..DrawnNumbers::default()
            },
        })
    }

    /// Writes the info of a drawable with shifted numbers to `out`. Returns false, and writes nothing of use, if it is no attribution record.
    pub fn shift(
        &self,
        drawable: &Drawable<'_>,
        shift: &NumberShift,
        out: &mut InfoWriter,
    ) -> bool {
        let call = |id: u64| id.wrapping_add(shift.calls);
        let file = |id: u32| id.wrapping_add(shift.files);
        let operation = |id: u64| id.wrapping_add(shift.operations);
        match self.record(drawable) {
            None => return false,
            Some(AttributionRecord::File(mut found)) => {
                found.id = file(found.id);
                info::write_file(&found, out);
            }
            Some(AttributionRecord::Call(mut found)) => {
                found.call = call(found.call);
                found.file = file(found.file);
                info::write_call(&found, out);
            }
            Some(AttributionRecord::Operation(mut found)) => {
                found.call = found.call.map(call);
                found.record.call = found.record.call.map(call);
                found.file = found.file.map(file);
                found.id = operation(found.id);
                info::write_operation(&found, out);
            }
            Some(AttributionRecord::Edge(mut found)) => {
                found.call = call(found.call);
                found.operation = operation(found.operation);
                info::write_edge(&found, out);
            }
        }
        true
    }
}
