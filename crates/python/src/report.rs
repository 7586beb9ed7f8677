//! Reports and comparisons.

use crate::error::exception;
use mpitrace::api::{
    self, Failure, FocusChoice, PerformanceReport, TraceComparison, TraceFiles, Width,
};
use pyo3::prelude::*;
use std::path::PathBuf;
use std::sync::Arc;

/// Columns of text.
const COLUMNS: usize = 100;

/// A report on a trace.
#[pyclass(frozen, module = "mpitrace._native")]
pub struct NativeReport {
    pub(crate) trace: Arc<TraceFiles>,
    pub(crate) focus: FocusChoice,
    pub(crate) report: PerformanceReport,
}

#[pymethods]
impl NativeReport {
    /// Every number, as JSON.
    fn json(&self) -> PyResult<String> {
        let written = serde_json::to_string(&self.report);
        written.map_err(|error| exception(Failure::Data(error.to_string())))
    }

    /// What the report says first.
    fn verdict(&self) -> String {
        api::verdict(&self.report)
    }

    /// The report as `mpitrace report` prints it.
    fn text(&self) -> String {
        self.trace.report_text(&self.focus, &self.report)
    }

    /// A page that needs no other file.
    fn html(&self, py: Python<'_>) -> PyResult<String> {
        let page = py.detach(|| self.trace.report_html(&self.focus, &self.report));
        page.map_err(exception)
    }
}

/// A comparison of traces.
#[pyclass(frozen, module = "mpitrace._native")]
pub struct NativeComparison(TraceComparison);

/// Compares traces, of which the first is what the others are compared with.
#[pyfunction]
pub fn compare(py: Python<'_>, files: Vec<PathBuf>) -> PyResult<NativeComparison> {
    let comparison = py.detach(|| api::compare(&files, true));
    comparison.map(NativeComparison).map_err(exception)
}

#[pymethods]
impl NativeComparison {
    /// Every number, as JSON.
    fn json(&self) -> String {
        serde_json::Value::Object(self.0.json()).to_string()
    }

    /// The comparison as `mpitrace compare` prints it.
    fn text(&self) -> String {
        self.0.text(Width(COLUMNS))
    }

    /// The change in a sentence.
    fn words(&self) -> &str {
        self.0.words()
    }

    /// A page that needs no other file.
    fn html(&self) -> String {
        self.0.html()
    }
}
