//! Why there is no merged trace, in words.

use crate::exchange::failure::ExchangeFailure;
use crate::exchange::reasons;
use crate::mpi::world::World;
use crate::platform::host;

/// What went wrong, in words for the user.
pub type Trouble = String;

/// What went wrong, and where: rank 0 says it, of all ranks that had a reason.
pub fn on_rank(world: &World, why: &str) -> String {
    format!("{why} (rank {} on {})", world.rank, host::host())
}

/// Why an exchange failed: the reason of the rank that gave up first, if this one has heard it.
pub fn said(failure: ExchangeFailure) -> Trouble {
    let first = reasons::reason().filter(|_| matches!(failure, ExchangeFailure::GivenUp(_)));
    first.unwrap_or_else(|| format!("{failure}: not merged"))
}
