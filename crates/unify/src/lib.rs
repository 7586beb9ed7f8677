//! Unification: from raw block-file records to definitions that all ranks agree on.
//!
//! A traced process leaves a block file ([`blockfile::file::BlockFile`]) with one record per MPI call. [`timeline`] and [`lanes`] put
//! its threads into one order, [`clock`] turns ticks into time, [`library`], [`comms`] and [`files`] know what the raw handles
//! in records stand for at that moment, [`plan`] what a call means. [`scan`] finds what the ranks must agree on before
//! anything can be written; [`gids`], [`categories`] and [`function_set`] join it, [`endpoints`] finds the messages of which both
//! ends are known. [`forward`] corrects times of messages that arrive before they were sent. MPI_Finalize does this over MPI, the commands do it on files.
//!
//! This crate must not write a trace, draw, or know which call caused which operation below MPI.
#![deny(missing_docs)]

pub mod arguments;
pub mod cancelled;
pub mod categories;
pub mod clock;
pub mod comms;
pub mod completion;
pub mod counters;
pub mod endpoints;
pub mod files;
pub mod forward;
pub mod function_set;
pub mod functions;
pub mod gids;
pub mod lanes;
pub mod library;
pub mod places;
pub mod plan;
pub mod polls;
pub mod run_files;
pub mod scan;
pub mod schema;
pub mod symbols;
pub mod timeline;
pub mod wildcards;
