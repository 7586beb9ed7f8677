//! Analysis of traces: statistics of any trace, why its program is slow, what the program does wrong, and a report about its I/O.
//!
//! Everything here reads drawables, or what they say of operations below MPI. This crate must not change a trace, draw, or read
//! block files.
#![deny(missing_docs)]

pub mod correctness;
pub mod io;
pub mod performance;
pub mod stats;
