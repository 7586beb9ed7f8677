//! Names that the program has given to its communicators: calls of MPI_Comm_set_name tell them.

use trace_formats::slog2::Vertex;
use trace_model::{CommNames, Drawable};

use super::hits::places;
use super::language::{Condition, SearchTerm, SearchTerms};
use super::plan::SearchPlan;
use crate::base::error::ApiError;
use crate::trace::OpenTrace;

/// Calls that give names, of which so many are looked at, and bytes that are read to find them when a trace is opened.
const MAX_CALLS: u64 = 1 << 16;
const MAX_BYTES: u64 = 16 << 20;

/// The names of communicators, those that the trace was given if it was; none of a trace in which too much would have to be read.
///
/// # Errors
/// The file is damaged.
pub fn comm_names(trace: &OpenTrace<'_>) -> Result<CommNames, ApiError> {
    if let Some(names) = trace.given_names() {
        return Ok(CommNames::given(names.communicators.clone()));
    }
    let mut names = CommNames::new(&trace.definitions());
    if !names.may_come() {
        return Ok(names);
    }
    let naming = SearchTerm {
        not: false,
        condition: Condition::Name(vec!["MPI_Comm_set_name".into()]),
    };
    let plan = SearchPlan::new(trace, &|_| true, &SearchTerms(vec![naming]));
    let mut calls = places(trace, &plan, MAX_CALLS, MAX_BYTES, &|| false)?.unwrap_or_default();
    // Of several names of a rank the last one counts.
    calls.sort_by(|a, b| a.item().start.total_cmp(&b.item().start));
    for call in &calls {
        let item = call.item();
        let line = trace.lines()[item.line as usize].line.id;
        names.take(&Drawable {
            topology: item.topology,
            category: trace.kinds()[item.kind as usize].category.index,
            info: item.info,
            vertices: &[item.start, item.end].map(|time| Vertex { time, line }),
        });
    }
    Ok(names)
}
