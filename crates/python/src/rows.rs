//! Rows of tables, in capsules of Arrow's C stream interface.

use crate::error::exception;
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::{RecordBatch, RecordBatchIterator, RecordBatchReader};
use mpitrace::api::{Failure, OpenedTrace, RowBatches, RowSelection, TableKind, timelines_batch};
use pyo3::prelude::*;
use pyo3::types::PyCapsule;
use std::sync::Arc;

/// Name of the capsule, from Arrow's PyCapsule interface.
const STREAM: &std::ffi::CStr = c"arrow_array_stream";
/// Name of the table that is made of definitions.
const TIMELINES: &str = "timelines";

/// The rows of a table by its name.
///
/// # Errors
/// There is no such table; a file is damaged where its definitions are.
pub fn reader(
    trace: Arc<OpenedTrace>,
    table: &str,
    selection: impl FnOnce(TableKind) -> RowSelection,
) -> Result<Box<dyn RecordBatchReader + Send>, Failure> {
    if table == TIMELINES {
        let failed = |error| Failure::Data(format!("{}: {error}", trace.name()));
        let batch: RecordBatch = timelines_batch(&trace.definitions()?).map_err(failed)?;
        let schema = batch.schema();
        return Ok(Box::new(RecordBatchIterator::new([Ok(batch)], schema)));
    }
    let kind = TableKind::ALL.into_iter().find(|kind| kind.name() == table);
    let Some(kind) = kind else {
        return Err(Failure::Call(format!("there is no table '{table}'")));
    };
    Ok(Box::new(RowBatches::begin(trace, selection(kind))?))
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
