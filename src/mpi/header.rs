//! The types of the installed `mpi.h`; build.rs makes the source, which is in `$OUT_DIR/mpi.rs`.
#![allow(
    clippy::all,
    clippy::undocumented_unsafe_blocks,
    non_camel_case_types,
    non_snake_case,
    non_upper_case_globals,
    unused_imports,
    unused_parens,
    unused_mut,
    unused_variables,
    unused_unsafe,
    unsafe_op_in_unsafe_fn,
    dead_code,
    reason = "generated: one pattern for all functions"
)]

use crate::mpi::values;

include!(concat!(env!("OUT_DIR"), "/mpi.rs"));

const _: () = assert!(size_of::<MPI_Status>() == values::SIZE_OF_MPI_STATUS);
