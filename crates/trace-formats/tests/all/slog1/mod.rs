//! SLOG-1: golden files, files of our own, damage.

pub mod common;
mod golden;
mod own;
mod robust;
