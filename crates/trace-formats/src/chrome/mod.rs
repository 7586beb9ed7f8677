//! Chrome's JSON trace events ("Trace Event Format"), which chrome://tracing and ui.perfetto.dev read.
//!
//! [`ChromeSink`] makes a trace of drawables. There is no reader. Perfetto's own format ([`crate::perfetto`]) is smaller and has no limit of
//! size.

mod json;
mod write;

pub use write::{ChromeError, ChromeErrorKind, ChromeSink, MAX_READABLE_BYTES, recognises};
