//! Functions that ranks call together, and what they come together on.

use wrappers::Function;

/// What the ranks of a collective call have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CollectiveOn {
    /// The communicator that they name.
    Communicator,
    /// A file or window.
    Object,
}

/// What a function's calls come together on; `None` for one that ranks call alone.
pub(super) fn comes_together_on(function: &Function) -> Option<CollectiveOn> {
    match function.is_collective_on_comm() {
        true => Some(CollectiveOn::Communicator),
        false => function.collective_object().map(|_| CollectiveOn::Object),
    }
}

/// Whether a function makes an intercommunicator with processes outside of the communicator that its callers come together on, which they wait for, too.
pub(super) fn meets_other_side(name: &str) -> bool {
    matches!(
        name,
        "MPI_Intercomm_create"
            | "MPI_Comm_accept"
            | "MPI_Comm_connect"
            | "MPI_Comm_spawn"
            | "MPI_Comm_spawn_multiple"
    )
}

/// Whether an operation of a function on an intercommunicator, of a nonblocking or persistent one too, ends only when all ranks of the other side have
/// come to it.
pub(super) fn waits_for_other_side(name: &str) -> bool {
    const OPERATIONS: [&str; 12] = [
        "barrier",
        "allreduce",
        "allgather",
        "allgatherv",
        "alltoall",
        "alltoallv",
        "alltoallw",
        "reduce_scatter",
        "reduce_scatter_block",
        "intercomm_merge",
        "comm_dup",
        "comm_dup_with_info",
    ];
    is_one_of(name, &OPERATIONS) || name.starts_with("MPI_Comm_idup")
}

/// Whether a function is the blocking, nonblocking or persistent form of one of these operations, whose names are in lower case.
fn is_one_of(name: &str, operations: &[&str]) -> bool {
    let bare = name.strip_prefix("MPI_").unwrap_or(name);
    let bare = bare.strip_suffix("_c").unwrap_or(bare);
    let bare = bare.strip_suffix("_init").unwrap_or(bare);
    let bare = bare.to_ascii_lowercase();
    let is = |&one: &&str| bare == one || bare.strip_prefix('i') == Some(one);
    operations.iter().any(is)
}

/// Whether the data that each rank passes to a collective function has one size on all ranks.
pub(super) fn has_one_size(name: &str) -> bool {
    const ONE_SIZE: [&str; 11] = [
        "bcast",
        "reduce",
        "allreduce",
        "scan",
        "exscan",
        "gather",
        "scatter",
        "allgather",
        "alltoall",
        "reduce_scatter",
        "reduce_scatter_block",
    ];
    is_one_of(name, &ONE_SIZE)
}
