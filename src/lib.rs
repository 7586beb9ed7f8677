//! libtrace, the recorder: what runs inside a traced MPI program.
//!
//! A call enters through [`entry`] into its wrapper ([`generated`], by build.rs from `wrappers/`), which turns it into one
//! record ([`call`], [`arg`], [`lengths`], [`status`]) in the running thread's block ([`thread`], [`blocks`], [`fill`], [`process`]).
//! [`define`] and [`views`] add what readers must know besides; [`start`] and [`life`] handle beginnings and ends, [`annotate`]
//! what the program says about itself; [`finalize`] merges the ranks' records into files.
//!
//! Nothing in here may change what the program computes, end it, or make it wait.

mod annotate;
mod api;
mod arg;
mod blocks;
mod call;
mod clock;
mod constants;
mod define;
mod entry;
mod fill;
mod finalize;
mod floating;
mod generated;
mod lengths;
mod library;
mod life;
mod posix;
mod printf;
mod process;
mod say;
mod settings;
mod signals;
mod start;
mod status;
mod table;
mod thread;
mod views;
