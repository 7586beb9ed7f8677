//! File calls into libc: what the MPI library does for an MPI_File_* call, and with `posix all` what the program does itself.
//!
//! Every function of [`exports`] is found in place of libc's. Where nothing is to be recorded it jumps on to the real one
//! ([`real`]) after a look at the thread's state; else [`calls`] runs the real one and writes one record ([`record`]) into the
//! thread's block. [`watch`] decides; [`descriptors`] knows which descriptors are regular files that are watched, and where
//! their positions stand; [`paths`] names them. [`crate::thread::tids`] tells a server on this machine which MPI call a thread is in.
//!
//! These functions may be called at any time, in signal handlers and before any constructor: no lock, no allocation, errno
//! as the real function left it.

mod aio;
mod calls;
mod context;
mod descriptors;
mod exports;
mod mappings;
mod maps;
mod paths;
mod printing;
mod raw;
pub mod real;
mod record;
mod stdio;
mod system;
mod watch;

pub use exports::at_load;
pub use watch::{apply, left_out, start, switch};
