//! One program for all tests of the formats: linking some fifty takes longer than running them.

mod allocator;
mod alog;
mod blocks;
mod clog1;
mod clog2;
mod dumpi;
mod edit;
mod io;
mod legacy;
mod mpe1;
mod paje;
mod project;
mod slog1;
mod slog2;
mod stats;
