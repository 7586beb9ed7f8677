//! libtrace, the recorder: what runs inside a traced MPI program.
//!
//! A call comes in through [`interpose`], where exported names lead to generated wrappers. [`call`] turns it into one record in
//! the block of the running [`thread`]; [`blocks`] hands out blocks and keeps them in a file. MPI_Finalize merges the records of all
//! ranks into files ([`finalize`]).
//!
//! The folders are floors. A floor uses itself and those before it (`ci/cycles` checks that):
//!
//! 1. [`in_force`]: which [`settings`] hold now.
//! 2. [`memory`]: where the recorder's own allocations come from.
//! 3. [`platform`]: clock, environment, launcher, host, messages to the user. Nothing of MPI.
//! 4. [`mpi`]: the MPI library below: types, constants, numbers of functions, the real functions.
//! 5. [`counters`]: performance counters of the running thread.
//! 6. [`blocks`]: the block file.
//! 7. [`thread`]: what a thread keeps, and how records are written into its block.
//! 8. [`call`]: the hot path: one call, one record. Filters, and what becomes of the calls of each function.
//! 9. [`define`]: definitions of communicators, datatypes, file views and modules, which readers need besides.
//! 10. [`exchange`]: messages between the recorders of the ranks.
//! 11. [`posix`]: file calls below MPI-IO.
//! 12. [`lifecycle`]: the first call, MPI_Init, changed settings, fork.
//! 13. [`api`]: what the program says of itself: `trace.h`, MPE, libdumpi, MPI_Pcontrol, `-finstrument-functions`.
//! 14. [`finalize`]: MPI_Finalize, MPI_Abort, exit.
//! 15. [`interpose`]: the exported functions of MPI. The top floor, because every call begins here.
//!
//! What a low floor needs of a high one is passed down, or registered before the first call ([`call::hooks`]).
//!
//! Nothing in here may change what the program computes, end it, or make it wait.

mod api;
mod blocks;
mod call;
mod counters;
mod define;
mod exchange;
mod finalize;
mod in_force;
mod interpose;
mod lifecycle;
mod memory;
mod mpi;
mod platform;
mod posix;
mod thread;
