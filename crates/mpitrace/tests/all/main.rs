//! One program for all tests of the command and of the documentation: linking each apart takes longer than running them.

mod blk;
mod check;
mod convert;
mod docs;
mod draw;
mod edit;
mod hostile;
mod info;
mod io;
mod ioserver;
mod join;
mod links;
mod matrix;
mod mpe1;
mod overwrite;
mod paje;
mod print;
mod recover;
mod recover_killed;
mod run;
mod slog1;
mod slog2_files;
mod stats;
mod synth;
mod view;
mod window;
