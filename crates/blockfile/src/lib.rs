//! The recorder's own log: 64 KB blocks of records in one file per process.
//!
//! A traced process maps a *block file* and lets each of its threads fill 64 KB blocks in it ([`layout`]). One MPI call is
//! one record ([`record`]): a 16-byte head with function, times and CallID, then the arguments in the order of the MPI
//! signature, packed without padding ([`encode`] writes them, [`args`] reads them back with the function table as schema).
//! What the reader needs besides calls (communicators, datatype sizes, constants of the MPI library, clock readings) stands
//! in the same blocks as definition records ([`define`]). What a call does below MPI, its file operations, are records as
//! well ([`operation`]); so are the program's own events ([`user`]), values of performance counters ([`counts`]) and functions that
//! the program enters and leaves ([`mod@function`]). [`runs`] describes which bytes of a file a view shows.
//!
//! Because the file is a shared mapping, what was recorded survives the death of the process. [`mod@file`] reads it, whether the
//! process finished or not. [`handover`] passes blocks from thread to thread in the recorder; `writer` writes the files of all
//! other processes.
#![deny(missing_docs)]

#[cfg(target_endian = "big")]
compile_error!("block files, and what writes and reads them, are for little-endian processors");

pub mod args;
pub mod arrivals;
mod block;
mod block_bytes;
pub mod counts;
pub mod define;
pub mod encode;
pub mod file;
pub mod function;
pub mod handover;
pub mod layout;
#[cfg(unix)]
pub mod machine;
mod numbers;
pub mod operation;
mod payload;
pub mod record;
mod rewrite;
pub mod runs;
mod thread_records;
pub mod tids;
pub mod user;
#[cfg(all(unix, not(loom)))]
pub mod writer;

pub use block::definitions_block;
pub use rewrite::rewrite;
