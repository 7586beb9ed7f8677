//! The functions of MPI by index: names, numbers in records, classes. build.rs makes the source from the function table; it is
//! in `$OUT_DIR/functions.rs`.
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

use std::ffi::CStr;
use wrappers::Class;

include!(concat!(env!("OUT_DIR"), "/functions.rs"));
