//! Why an exchange between the ranks failed.

use std::ffi::c_int;
use std::fmt;

/// Why an exchange failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExchangeFailure {
    /// The rank with this number did not answer in time.
    Silence(i32),
    /// Not all ranks came to MPI_Finalize in time.
    Absent,
    /// MPI returned this error code.
    Mpi(c_int),
    /// The rank with this number sent something unexpected.
    Nonsense(i32),
    /// This neighbour said that it has given up.
    GivenUp(i32),
}

impl fmt::Display for ExchangeFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ExchangeFailure::Silence(rank) => {
                write!(f, "no answer from rank {rank} within the deadline")
            }
            ExchangeFailure::Absent => {
                write!(f, "not all ranks came to MPI_Finalize within the deadline")
            }
            ExchangeFailure::Mpi(code) => write!(f, "MPI error {code}"),
            ExchangeFailure::Nonsense(rank) => write!(f, "unexpected message from rank {rank}"),
            ExchangeFailure::GivenUp(rank) => write!(f, "rank {rank} has given up"),
        }
    }
}
