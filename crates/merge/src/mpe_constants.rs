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

/// MPI_ROOT in the run, or what it usually is in this family.
pub(super) fn mpi_root(library: &Library, family: Family) -> i64 {
    let usual = match family {
        Family::Mpich => -3,
        Family::OpenMpi | Family::Standard => -4,
    };
    library.constant("MPI_ROOT").unwrap_or(usual)
}

/// The root of a collective call as infos have it, whatever numbers the library has: a rank, −2 for MPI_PROC_NULL, −3 for MPI_ROOT. `None` for any
/// other number.
pub(super) fn shown_root(root: i64, proc_null: i64, mpi_root: impl FnOnce() -> i64) -> Option<i32> {
    match root {
        0.. => i32::try_from(root).ok(),
        _ if root == proc_null => Some(-2),
        _ if root == mpi_root() => Some(-3),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// MPI_PROC_NULL and MPI_ROOT in the headers of MPICH, Open MPI and the standard ABI.
    #[test]
    fn roots_are_the_same_whatever_the_library() {
        for (proc_null, mpi_root) in [(-1, -3), (-2, -4), (-3, -4)] {
            let shown = [5, 0, proc_null, mpi_root, -9];
            let shown = shown.map(|root| shown_root(root, proc_null, || mpi_root));
            assert_eq!(shown, [Some(5), Some(0), Some(-2), Some(-3), None]);
        }
    }
}
