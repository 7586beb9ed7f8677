//! Collective match: calls of one collective operation are recognized by running at the same time.

use trace_formats::slog2::{TimeBBox, Topology};

use crate::base::error::ApiError;
use crate::trace::nearby::collect;
use crate::trace::scan::ReadBudget;
use crate::trace::{OpenTrace, TraceItem};

/// Collective calls that nobody leaves before all have come, by how their names begin. Of others two may overlap that do not
/// belong together.
const SYNCHRONIZING_CALLS: [&str; 5] = [
    "MPI_Barrier",
    "MPI_Allreduce",
    "MPI_Allgather",
    "MPI_Alltoall",
    "MPI_Reduce_scatter",
];

/// The call of the rank for which a call of a collective operation waited, and whether all was read that tells.
///
/// # Errors
/// The file is damaged.
pub fn last_to_come<'a>(
    trace: &OpenTrace<'a>,
    budget: ReadBudget<'_>,
    item: &TraceItem<'a>,
) -> Result<(Option<TraceItem<'a>>, bool), ApiError> {
    let name = &trace.kinds()[item.kind as usize].name;
    let mut calls = SYNCHRONIZING_CALLS.iter();
    if item.topology != Topology::State || !calls.any(|call| name.starts_with(call)) {
        return Ok((None, true));
    }
    let time = TimeBBox {
        earliest: item.start,
        latest: item.end,
    };
    let budget = ReadBudget {
        window: time,
        ..budget
    };
    let is_same = |other: &TraceItem<'a>| is_same_collective(trace, item, other);
    let (calls, scanned) = collect(trace, budget, &is_same)?;
    let last = calls.into_iter().max_by(|a, b| a.start.total_cmp(&b.start));
    Ok((last.filter(|last| last.start > item.start), scanned.exact))
}

/// Whether `other` is the call of another rank in the operation of this call of a collective operation.
fn is_same_collective(trace: &OpenTrace<'_>, item: &TraceItem<'_>, other: &TraceItem<'_>) -> bool {
    let [own, theirs] = [item, other].map(|of| &trace.lines()[of.line as usize]);
    other.kind == item.kind
        && other.topology == Topology::State
        && own.line.comm == theirs.line.comm
        && own.lane != theirs.lane
        && other.start < item.end
        && item.start < other.end
}
