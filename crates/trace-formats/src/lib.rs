//! Readers, writers and texts of parallel-program logs: ALOG, CLOG-1, CLOG2, DUMPI, Paje, SLOG-1 and SLOG2. Writers of Perfetto's
//! and Chrome's traces, and of OTF2 archives.
//!
//! Each format has its types, reader, writer and the texts of the original's tools, and gives or takes the drawables of
//! [`trace_model`]. This crate must not know block files, operations below MPI, or the commands.
#![deny(missing_docs)]

#[cfg(feature = "commands")]
pub mod alog;
#[cfg(feature = "commands")]
pub mod chrome;
#[cfg(feature = "commands")]
pub mod clog1;
pub mod clog2;
mod conversion_error;
pub mod dumpi;
#[cfg(feature = "commands")]
mod mpe1;
#[cfg(all(feature = "commands", unix))]
pub mod otf2;
#[cfg(feature = "commands")]
pub mod paje;
#[cfg(feature = "commands")]
pub mod perfetto;
#[cfg(feature = "commands")]
pub mod slog1;
pub mod slog2;
#[cfg(feature = "commands")]
mod track_event;

pub use conversion_error::ConversionError;
