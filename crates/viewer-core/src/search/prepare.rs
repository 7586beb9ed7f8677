//! Makes a search ready, with what it takes to look up in the trace.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::call_files::CallFiles;
use super::language::SearchTerms;
use super::plan::{SearchPlan, is_text};
use crate::base::error::ApiError;
use crate::timelines::layout::TimelineLayout;
use crate::trace::OpenTrace;
use crate::trace::scan::ReadBudget;
use crate::trace::waits::TraceWaits;

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
    let patterns = plan.file_patterns();
    if patterns.is_empty() {
        return Ok(plan);
    }
    let files = CallFiles::read(trace, budget)?;
    for (at, pattern) in patterns {
        let named = files.files().filter(|file| is_text(&pattern, &file.path));
        let named: BTreeSet<i64> = named.map(|file| file.number).collect();
        let calls = files.calls().filter(|(_, file)| named.contains(file));
        plan.add_calls(at, calls.map(|(id, _)| id).collect());
        plan.add_files(at, named);
    }
    Ok(plan)
}
