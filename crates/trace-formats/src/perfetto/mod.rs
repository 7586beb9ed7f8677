//! Perfetto's traces of track events, which ui.perfetto.dev and the trace processor read.
//!
//! [`PerfettoSink`] makes a trace of drawables. [`fields`] has the numbers of the fields, with the public definition that each is from.
//! There is no reader.

pub mod fields;
mod proto;
mod write;

pub use write::{PerfettoError, PerfettoErrorKind, PerfettoSink, recognises};
