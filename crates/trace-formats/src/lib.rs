//! Readers, writers and text renderings of parallel-program logs: CLOG2, SLOG2 and DUMPI, and the projections that make
//! them from the recorder's own blocks.
#![deny(missing_docs)]

#[cfg(feature = "commands")]
pub mod alog;
#[cfg(feature = "commands")]
pub mod clog1;
pub mod clog2;
pub mod dumpi;
#[cfg(feature = "commands")]
pub mod edit;
mod fault;
#[cfg(unix)]
pub mod files;
pub mod io;
pub mod model;
#[cfg(feature = "commands")]
mod mpe1;
mod os;
#[cfg(feature = "commands")]
pub mod paje;
mod pending;
pub mod project;
#[cfg(feature = "commands")]
pub mod slog1;
pub mod slog2;
pub mod stats;

pub use fault::{Fault, FaultKind};
pub use pending::PendingFile;
