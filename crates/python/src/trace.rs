//! An open trace.

use crate::error::exception;
use crate::report::NativeReport;
use crate::rows;
use arrow_array::RecordBatchReader;
use mpitrace::api::{
    CategoryColors, DrawnPicture, Failure, FocusChoice, NamedFocus, PictureFile, PictureRequest,
    Theme, TimePosition, TimelineSelection, TraceFiles,
};
use pyo3::prelude::*;
use pyo3::types::PyCapsule;
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;
use trace_model::TimeBBox;

/// Parts of the time that a report has figures for, as `mpitrace report --json`.
const PARTS: usize = 100;

/// Two times in seconds, the first before the second.
type Window = Option<(f64, f64)>;

/// Half of a nanosecond: times in tables are whole ones, and those of traces need not be.
const HALF_NS: f64 = 0.5e-9;

/// The window of rows whose times, as whole nanoseconds, are in this one.
fn bounds_of_rows(window: Window) -> Result<Option<TimeBBox>, Failure> {
    let bounds = bounds(window)?;
    Ok(bounds.map(|bounds| TimeBBox {
        earliest: bounds.earliest - HALF_NS,
        latest: bounds.latest + HALF_NS,
    }))
}

fn bounds(window: Window) -> Result<Option<TimeBBox>, Failure> {
    match window {
        Some((earliest, latest)) if earliest <= latest => Ok(Some(TimeBBox { earliest, latest })),
        Some((from, to)) => Err(Failure::Call(format!(
            "the window begins at {from} s and ends before that, at {to} s"
        ))),
        None => Ok(None),
    }
}

/// A trace that is open.
#[pyclass(frozen, module = "mpitrace._native")]
pub struct NativeTrace(Arc<TraceFiles>);

impl NativeTrace {
    fn reader(
        &self,
        py: Python<'_>,
        table: &str,
        ranks: Option<BTreeSet<u32>>,
        window: Window,
        with_waits: bool,
    ) -> PyResult<Box<dyn RecordBatchReader + Send>> {
        let begin = || {
            rows::reader(
                self.0.clone(),
                table,
                ranks,
                bounds_of_rows(window)?,
                with_waits,
            )
        };
        py.detach(begin).map_err(exception)
    }
}

#[pymethods]
impl NativeTrace {
    /// Opens the files of one trace.
    #[new]
    fn open(py: Python<'_>, files: Vec<PathBuf>) -> PyResult<NativeTrace> {
        let opened = py.detach(|| TraceFiles::open(&files));
        let trace = opened.map_err(exception)?;
        Ok(NativeTrace(Arc::new(trace)))
    }

    /// Name of the first file.
    fn name(&self) -> String {
        self.0.name()
    }

    /// Name of the format.
    fn format(&self) -> String {
        self.0.format()
    }

    /// First and last time, in seconds; `None` if the trace is empty.
    fn bounds(&self, py: Python<'_>) -> PyResult<Window> {
        let bounds = py.detach(|| self.0.bounds()).map_err(exception)?;
        Ok(bounds.map(|bounds| (bounds.earliest, bounds.latest)))
    }

    /// Rows of a table, by Arrow's C stream interface.
    #[pyo3(signature = (table, ranks=None, window=None, with_waits=false))]
    fn rows<'py>(
        &self,
        py: Python<'py>,
        table: &str,
        ranks: Option<BTreeSet<u32>>,
        window: Window,
        with_waits: bool,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        rows::capsule(py, self.reader(py, table, ranks, window, with_waits)?)
    }

    /// What is missing in what was read so far, in words.
    fn take_notes(&self) -> BTreeSet<String> {
        self.0.take_notes()
    }

    /// Number of such rows.
    #[pyo3(signature = (table, ranks=None, window=None))]
    fn count(
        &self,
        py: Python<'_>,
        table: &str,
        ranks: Option<BTreeSet<u32>>,
        window: Window,
    ) -> PyResult<u64> {
        rows::count(py, self.reader(py, table, ranks, window, false)?)
    }

    /// Names and types of a table's columns.
    #[pyo3(signature = (table, with_waits=false))]
    fn columns(
        &self,
        py: Python<'_>,
        table: &str,
        with_waits: bool,
    ) -> PyResult<Vec<(String, String)>> {
        let schema = py
            .detach(|| rows::columns(&self.0, table, with_waits))
            .map_err(exception)?;
        let fields = schema.fields().iter();
        Ok(fields
            .map(|field| (field.name().clone(), field.data_type().to_string()))
            .collect())
    }

    /// The report on a part of the run: a window, and in it a region or phases as `report --focus` names them.
    #[pyo3(signature = (window=None, focus=None, parts=PARTS))]
    fn report(
        &self,
        py: Python<'_>,
        window: Window,
        focus: Option<String>,
        parts: usize,
    ) -> PyResult<NativeReport> {
        let made = py.detach(|| {
            let named = focus.map(|focus| focus.parse::<NamedFocus>()).transpose();
            let focus = FocusChoice {
                window: bounds(window)?,
                named: named.map_err(Failure::Call)?,
            };
            let report = self.0.report(&focus, parts)?;
            Ok((focus, report))
        });
        let (focus, report) = made.map_err(exception)?;
        Ok(NativeReport {
            trace: self.0.clone(),
            focus,
            report,
        })
    }

    /// A picture as SVG, written to a file if one is named, and what is not shown, in words.
    #[pyo3(signature = (path=None, window=None, timelines=None, categories=Vec::new(), only_io=false, size=None, dark=false, by_class=false))]
    #[expect(clippy::too_many_arguments, reason = "they have names in Python")]
    fn picture(
        &self,
        py: Python<'_>,
        path: Option<PathBuf>,
        window: Window,
        timelines: Option<String>,
        categories: Vec<String>,
        only_io: bool,
        size: Option<(u32, Option<u32>)>,
        dark: bool,
        by_class: bool,
    ) -> PyResult<(String, Vec<String>)> {
        let made = py.detach(|| {
            let timelines = timelines.map(|text| TimelineSelection::parse(&text));
            let whole = PictureRequest::default();
            let window = bounds(window)?.map(|bounds| [bounds.earliest, bounds.latest]);
            let theme = if dark { Theme::Dark } else { Theme::Light };
            let wanted = PictureRequest {
                window: window.map(|window| window.map(TimePosition::Seconds)),
                timelines: timelines.transpose().map_err(Failure::Call)?,
                only_io,
                width: size.map_or(whole.width, |(width, _)| width),
                height: size.and_then(|(_, height)| height),
                categories,
                theme,
                colors: if by_class {
                    CategoryColors::Class(theme)
                } else {
                    CategoryColors::File
                },
            };
            let file = path.as_deref().map(|path| PictureFile::new(path, &wanted));
            let file = file.transpose()?;
            path.as_deref()
                .map_or(Ok(()), |path| self.0.refuse_own(path))?;
            let picture = self.0.picture(&wanted)?;
            if let Some(file) = file {
                file.write(&picture)?;
            }
            Ok(picture)
        });
        let DrawnPicture { svg, notes } = made.map_err(exception)?;
        Ok((svg, notes))
    }
}
