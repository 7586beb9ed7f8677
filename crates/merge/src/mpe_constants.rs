//! Event numbers and constants that MPE writes into every log.

use blockfile::layout::Family;
use unify::library::Library;

/// Solo event MPE_Comm_init.
pub(super) const COMM_INIT: i32 = -10;
/// Solo event MPE_Comm_finalize.
pub(super) const COMM_FINALIZE: i32 = -9;

/// The constants that MPE writes; the usual values of the family where the trace does not tell.
pub(super) fn constants(library: &Library, family: Family) -> [(&'static str, i64); 3] {
    let [null, source, tag] = match family {
        Family::Mpich => [-1, -2, -1],
        Family::OpenMpi => [-2, -1, -1],
        Family::Standard => [-3, -1, -31],
    };
    [
        ("MPI_PROC_NULL", null),
        ("MPI_ANY_SOURCE", source),
        ("MPI_ANY_TAG", tag),
    ]
    .map(|(name, usual)| (name, library.constant(name).unwrap_or(usual)))
}
