//! libtrace, the recorder: what runs inside a traced MPI program.
//!
//! A call comes in through [`interpose`], where exported names lead to generated wrappers. [`call`] turns it into one record in
//! the running thread's block; [`blocks`] hands out blocks and keeps them in a file; [`define`] adds what readers must know
//! besides, [`counters`] values of performance counters, [`posix`] the file calls below MPI-IO, [`api`] what the program says of
//! itself. [`memory`] is where its own allocations come from. [`process`] knows beginnings and ends, [`finalize`] merges the ranks' records into files, as [`settings`] want them.
//!
//! Nothing in here may change what the program computes, end it, or make it wait.

mod api;
mod blocks;
mod call;
mod counters;
mod define;
mod exchange;
mod finalize;
mod interpose;
mod lifecycle;
mod memory;
mod mpi;
mod platform;
mod posix;
mod settings;
mod thread;
