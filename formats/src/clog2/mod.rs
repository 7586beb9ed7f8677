//! CLOG2.
