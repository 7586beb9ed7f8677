//! One program for all tests of the crate's answers: linking each apart takes longer than running them.

mod aggregate;
mod answers;
mod cells;
mod columns;
mod common;
mod durations;
mod hostile;
mod index;
mod levels;
mod moments;
mod names;
mod numbers;
mod pictures;
mod range;
mod search;
mod summary;
mod timelines;
mod tracks;
mod waits;
mod wasm;
