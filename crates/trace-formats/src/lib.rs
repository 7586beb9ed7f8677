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
pub mod io;
#[cfg(feature = "commands")]
mod mpe1;
#[cfg(feature = "commands")]
pub mod paje;
pub mod project;
#[cfg(feature = "commands")]
pub mod slog1;
pub mod slog2;
pub mod stats;
