//! The table of every MPI function.
