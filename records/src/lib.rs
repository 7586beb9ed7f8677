//! The 64 KB block and its records.
