//! Rows of tables, in capsules of Arrow's C stream interface.

use crate::error::exception;
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::{RecordBatch, RecordBatchIterator, RecordBatchReader};
use mpitrace::api::{Failure, RowBatches, RowSelection, TableKind, TraceFiles, timelines_batch};
use pyo3::prelude::*;
use pyo3::types::PyCapsule;
use std::collections::BTreeSet;
use std::sync::Arc;
use trace_model::TimeBBox;

/// Name of the capsule, from Arrow's PyCapsule interface.
const STREAM: &std::ffi::CStr = c"arrow_array_stream";
/// Name of the table that is made of definitions.
const TIMELINES: &str = "timelines";
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
) -> Result<Box<dyn RecordBatchReader + Send>, Failure> {
    if table == TIMELINES {
        let failed = |error| Failure::Data(format!("{}: {error}", trace.name()));
        let batch = timelines_batch(&trace.definitions()?);
        return Ok(whole(batch.map_err(failed)?));
    }
    if table == WAITS {
        return Ok(whole(trace.waits(ranks.as_ref(), window)?));
    }
    let kind = TableKind::ALL.into_iter().find(|kind| kind.name() == table);
    let Some(kind) = kind else {
        return Err(Failure::Call(format!("there is no table '{table}'")));
    };
    let selection = RowSelection {
        kind,
        ranks,
        window,
    };
    Ok(Box::new(RowBatches::begin(trace, selection)?))
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
