//! Collective match: calls of one collective operation are recognized by running at the same time.

use trace_formats::slog2::{TimeBBox, Topology};

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

/// Whether `other` is the call of another rank in the operation of a call of this kind, on this line and at this time.
pub fn is_same_collective(
    trace: &OpenTrace<'_>,
    kind: u32,
    line: u32,
    time: TimeBBox,
    other: &TraceItem<'_>,
) -> bool {
    let name = &trace.kinds()[kind as usize].name;
    let [own, theirs] = [line, other.line].map(|line| &trace.lines()[line as usize]);
    other.kind == kind
        && other.topology == Topology::State
        && SYNCHRONIZING_CALLS
            .iter()
            .any(|call| name.starts_with(call))
        && own.line.comm == theirs.line.comm
        && own.lane != theirs.lane
        && other.start < time.latest
        && time.earliest < other.end
}
