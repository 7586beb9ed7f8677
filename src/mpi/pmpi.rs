//! The MPI library's own functions under their MPI_ names, for the recorder's use: calls of these are never recorded. build.rs
//! makes the source from the function table; it is in `$OUT_DIR/pmpi.rs`.
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

use crate::mpi::handles::Handle;
use crate::mpi::slots::{self, CodeAddress};
use std::ffi::{c_char, c_int, c_void};

include!(concat!(env!("OUT_DIR"), "/pmpi.rs"));
