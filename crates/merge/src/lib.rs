//! From the block files of a run to CLOG2, SLOG2 and DUMPI.
//!
//! Each process is read twice. [`unify::scan`] finds what the ranks must agree on before anything can be written, [`clog2`] then
//! gives its records in order of time. [`local`] merges block files on one machine as MPI_Finalize does over MPI. [`outputs`]
//! makes the files of the merged stream, with [`operations`] below MPI drawn in; [`dumpi`] makes the files of one process.
//! [`Source`] gives a run as drawables.
//!
//! This crate must not know the formats that the recorder does not write, nor the commands.
#![deny(missing_docs)]

mod calls;
mod cargo;
pub mod clog2;
pub mod dumpi;
pub mod forward;
mod frame;
pub mod local;
mod messages;
mod mpe_constants;
mod notes;
pub mod operations;
pub mod outputs;
mod request_operation;
mod settings;
mod source;
mod user;

pub use source::{Source, SourceError};
