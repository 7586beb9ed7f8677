//! The verdict of a range of time: the report with that focus.

use analysis::performance::{PerformanceCollector, PerformanceOptions};
use std::cell::RefCell;
use trace_formats::slog2::TimeBBox;

use super::places::TracePlaces;
use super::summary::RunVerdict;
use crate::base::error::ApiError;
use crate::statistics::in_order::in_order;
use crate::timelines::tree::LabelTree;
use crate::trace::OpenTrace;
use crate::trace::scan::ReadBudget;

/// The verdict of a range. All of the trace is read, as who waited in the range may have been waited for by calls before it. `None` of a trace
/// without ranks or without MPI calls.
///
/// # Errors
/// The file is damaged, or the answer is not wanted any more.
pub(crate) fn verdict_of(
    trace: &OpenTrace<'_>,
    trees: &[LabelTree],
    range: TimeBBox,
    budget: ReadBudget<'_>,
) -> Result<Option<RunVerdict>, ApiError> {
    let definitions = trace.definitions();
    let options = PerformanceOptions {
        focus: vec![range],
        parts: 0,
    };
    let new = || {
        let mut collector = PerformanceCollector::new(&definitions, &options);
        collector.keep_waits();
        collector
    };
    let collector = RefCell::new(new());
    in_order(
        trace,
        budget,
        &mut || *collector.borrow_mut() = new(),
        &mut |drawable| collector.borrow_mut().put(drawable),
    )?;
    let found = collector.into_inner().finish_with_waits();
    let places = TracePlaces {
        trace,
        trees,
        all: trace.bounds(),
    };
    Ok(places.verdict(&found.report, found.waits.as_ref(), range))
}
