//! Trace formats.
