//! What the commands change: filters, arrows, merging, sub-lines and views.

mod clog2;
pub mod common;
mod damaged;
mod dumpi;
mod filter;
mod traces;
