//! Rows of tables, in capsules of Arrow's C stream interface.

use crate::error::exception;
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::{RecordBatch, RecordBatchIterator, RecordBatchReader};
use arrow_schema::Schema;
use mpitrace::api::{
    DefinitionTable, Failure, RowBatches, RowSelection, TableKind, TraceFiles, WaitColumns,
};
use pyo3::prelude::*;
use pyo3::types::PyCapsule;
use std::collections::BTreeSet;
use std::sync::Arc;
use trace_model::TimeBBox;

/// Name of the capsule, from Arrow's PyCapsule interface.
const STREAM: &std::ffi::CStr = c"arrow_array_stream";
/// Name of the table that is the result of an analysis.
const WAITS: &str = "waits";

/// The rows of a table by its name.
///
/// # Errors
/// There is no such table; a file is damaged where its definitions are.
pub fn reader(
    trace: Arc<TraceFiles>,
    table: &str,
    ranks: Option<BTreeSet<u32>>,
    window: Option<TimeBBox>,
    with_waits: bool,
) -> Result<Box<dyn RecordBatchReader + Send>, Failure> {
    if let Some(table) = DefinitionTable::by_name(table) {
        return Ok(whole(trace.definition_table(table, ranks.as_ref())?));
    }
    match table {
        WAITS => Ok(whole(trace.waits(ranks.as_ref(), window)?)),
        _ => {
            let selection = RowSelection {
                ranks,
                window,
                ..RowSelection::all(kind(table)?)
            };
            let waits = wait_columns(with_waits);
            Ok(Box::new(RowBatches::begin(trace, selection, waits)?))
        }
    }
}

/// The columns of a table by its name. No rows are read for them.
///
/// # Errors
/// There is no such table; a file is damaged where its definitions are.
pub fn columns(trace: &TraceFiles, table: &str, with_waits: bool) -> Result<Arc<Schema>, Failure> {
    if let Some(table) = DefinitionTable::by_name(table) {
        return Ok(table.schema());
    }
    match table {
        WAITS => Ok(trace.no_waits()?.schema()),
        _ => trace.columns(kind(table)?, wait_columns(with_waits)),
    }
}

/// Columns of calls about waits, if they are wanted.
fn wait_columns(are_wanted: bool) -> WaitColumns {
    match are_wanted {
        true => WaitColumns::Read,
        false => WaitColumns::Absent,
    }
}

/// The table of drawables of this name.
fn kind(table: &str) -> Result<TableKind, Failure> {
    let kind = TableKind::ALL.into_iter().find(|kind| kind.name() == table);
    kind.ok_or_else(|| Failure::Call(format!("there is no table '{table}'")))
}

/// A table that is in memory.
fn whole(batch: RecordBatch) -> Box<dyn RecordBatchReader + Send> {
    let schema = batch.schema();
    Box::new(RecordBatchIterator::new([Ok(batch)], schema))
}

/// Puts rows into a capsule, which whoever takes it empties.
pub fn capsule<'py>(
    py: Python<'py>,
    reader: Box<dyn RecordBatchReader + Send>,
) -> PyResult<Bound<'py, PyCapsule>> {
    PyCapsule::new_with_value(py, FFI_ArrowArrayStream::new(reader), STREAM)
}

/// Number of rows.
pub fn count(py: Python<'_>, reader: Box<dyn RecordBatchReader + Send>) -> PyResult<u64> {
    py.detach(|| {
        let mut rows = 0;
        for batch in reader {
            rows += batch
                .map_err(|error| Failure::Data(error.to_string()))?
                .num_rows() as u64;
        }
        Ok(rows)
    })
    .map_err(exception)
}
