//! Merges the block files of a run into CLOG2, SLOG2 and DUMPI files.
//!
//! Each process is read twice. [`unify::scan`] finds what the ranks must agree on before anything can be written, [`stream`] then
//! gives its [`MergedRecord`]s in order of time. [`local`] merges block files on one machine as MPI_Finalize does over MPI. [`outputs`]
//! makes the files of the merged stream, with [`operations`] below MPI drawn in; [`dumpi`] makes the files of one process.
//! [`BlockFilesSource`] gives a run as drawables.
//!
//! This crate must not know the formats that the recorder does not write, nor the commands.
#![deny(missing_docs)]

mod calls;
mod cargo;
mod clog2;
mod details;
pub mod dumpi;
mod forward;
mod frame;
mod handle_numbers;
pub mod local;
mod messages;
mod mpe_constants;
mod notes;
mod number_text;
mod on_threads;
pub mod operations;
mod output_plan;
pub mod outputs;
mod posted_receives;
mod ready_records;
mod record;
mod request_numbers;
mod request_operation;
mod settings;
pub mod slices;
mod slog2;
mod source;
mod state_info;
pub mod stream;
mod user;
mod wire;

pub use cargo::Cargo;
pub use on_threads::on_threads;
pub use record::{EventDefinition, LeftState, MergedBody, MergedRecord, StateDefinition};
pub use source::{BlockFilesSource, SourceError};
pub use state_info::StateInfo;
pub use wire::RecordDecoder;
