//! Why there is no merged trace, in words.

use crate::exchange::failure::ExchangeFailure;
use crate::exchange::reasons;
use crate::mpi::world::World;
use crate::platform::host;

/// An error, in words for the user.
pub type Trouble = String;

/// An error with the rank and host that had it: rank 0 says it for one of the ranks that had one.
pub fn on_rank(world: &World, why: &str) -> String {
    format!("{why} (rank {} on {})", world.rank, host::host())
}

/// Why an exchange failed: the reason of the rank that gave up first, if this one has heard it.
pub fn said(failure: ExchangeFailure) -> Trouble {
    let first = reasons::reason().filter(|_| matches!(failure, ExchangeFailure::GivenUp(_)));
    first.unwrap_or_else(|| format!("{failure}: not merged"))
}
