//! Readers, writers and text renderings of parallel-program logs: CLOG2, SLOG2 and DUMPI, and the projections that make
//! them from the recorder's own blocks.
#![deny(missing_docs)]

pub mod alog;
pub mod clog1;
pub mod clog2;
pub mod dumpi;
#[cfg(feature = "spill")]
pub mod edit;
mod fault;
pub mod io;
pub mod model;
mod mpe1;
pub mod paje;
mod pending;
pub mod project;
pub mod slog1;
pub mod slog2;
pub mod stats;

pub use fault::{Fault, FaultKind};
pub use pending::PendingFile;
