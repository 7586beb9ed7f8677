//! From native records to DUMPI and CLOG2.
