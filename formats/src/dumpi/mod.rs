//! DUMPI.
