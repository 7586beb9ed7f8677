//! SLOG2: golden files, files of our own, conversion, windows, annotation files, damage.

mod annotation;
pub mod common;
mod convert;
mod damaged;
mod golden;
mod on_thread;
mod own;
mod positioned;
mod small_logs;
mod versions;
mod window;
