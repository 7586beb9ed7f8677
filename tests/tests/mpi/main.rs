//! Real MPI programs under mpiexec with the recorder preloaded, in one program: features of dependencies and a link for each
//! file took longer than some of the files. Not run by a plain `cargo test`, since MPI programs want the machine for themselves.

mod annotations;
mod applications;
mod arrows;
mod batch;
mod call_tracing;
mod clocks;
mod counters;
mod failures;
mod file_calls;
mod filters;
mod flight;
mod fortran;
mod hosts;
mod hung;
mod io_chain;
mod io_drawn;
mod io_owned_bytes;
mod library;
mod lifecycle;
mod limits;
mod linking;
mod memory;
mod names;
mod other_users;
mod own_state;
mod partly;
mod polling;
mod programs;
mod recovered;
mod rust;
mod shapes;
mod trouble;
mod user;
mod verify;
mod waits;
