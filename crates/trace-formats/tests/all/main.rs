//! One program for all tests of the formats: linking some fifty takes longer than running them.

mod allocator;
mod alog;
mod chrome;
mod clog1;
mod clog2;
mod dumpi;
mod legacy;
mod mpe1;
#[cfg(unix)]
mod otf2;
mod paje;
mod perfetto;
mod slog1;
mod slog2;
