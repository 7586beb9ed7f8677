//! Makes a search ready, with what it takes to look up in the trace.

use std::sync::Arc;

use super::files::for_each_file;
use super::language::SearchTerms;
use super::plan::SearchPlan;
use crate::base::error::ApiError;
use crate::timelines::layout::TimelineLayout;
use crate::trace::OpenTrace;
use crate::trace::scan::ReadBudget;
use crate::trace::waits::TraceWaits;

/// Most events that name files for a condition on files.
const MAX_FILE_EVENTS: u64 = 1 << 16;

/// Makes a search ready, with who waited if that is known, also what it says about files, which other drawables name by number only.
///
/// # Errors
/// The trace cannot be read, or it has not been read and the search is about waits.
pub fn plan(
    trace: &OpenTrace<'_>,
    layout: &TimelineLayout,
    terms: &SearchTerms,
    waits: Option<&Arc<TraceWaits>>,
    budget: ReadBudget<'_>,
) -> Result<SearchPlan, ApiError> {
    let is_shown = |line: u32| layout.timeline(line).is_some();
    let mut plan = SearchPlan::new(trace, &is_shown, terms);
    if terms.ask_for_waits() {
        let waits = waits.ok_or_else(|| {
            ApiError::bad_request("q: who waits is told when all of the trace has been read")
        })?;
        plan.set_waits(Arc::clone(waits));
    }
    for (at, pattern) in plan.file_patterns() {
        for_each_file(trace, &pattern, MAX_FILE_EVENTS, budget, |file| {
            plan.add_file(at, file.number);
        })?;
    }
    Ok(plan)
}
