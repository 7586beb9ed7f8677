//! From the recorder's blocks to CLOG2 and DUMPI.
//!
//! A traced process leaves a block file ([`blockfile::file::File`]) with one record per MPI call. A projection walks over it
//! and makes what another format wants to see. MPI_Finalize and `mpitrace recover` use the same code.
//!
//! Shared by the projections: [`timeline`] puts the threads of a process into one order, [`clock`] turns ticks into time,
//! [`library`], [`comms`] and [`requests`] know what the raw handles in records stand for at that moment.
//!
//! CLOG2: [`states`] numbers the states of all functions. Each process is read twice: [`scan`] finds what the ranks must
//! agree on before anything can be written, [`clog2`] then gives its records in order of time. [`merge`] does for block
//! files on one machine what MPI_Finalize does over MPI. [`outputs`] makes the files of the merged stream, with [`operations`] below
//! MPI drawn in.
//! [`Source`] gives it as drawables.

mod calls;
mod cancelled;
pub mod categories;
pub mod clock;
pub mod clog2;
pub mod comms;
pub(crate) mod completion;
pub mod dumpi;
mod files;
pub mod forward;
mod frame;
pub mod function_set;
pub mod functions;
pub mod gids;
pub mod halves;
mod lanes;
pub mod library;
pub mod merge;
mod messages;
#[cfg(feature = "spill")]
pub mod operations;
#[cfg(feature = "spill")]
pub mod outputs;
mod places;
pub(crate) mod plan;
pub mod polls;
pub mod scan;
#[cfg(feature = "spill")]
mod source;
mod symbols;
pub mod timeline;
mod user;

#[cfg(feature = "spill")]
pub use source::{Source, SourceError};
