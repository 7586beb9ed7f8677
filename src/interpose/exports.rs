//! The exported functions of MPI and of its Fortran bindings, each a jump through its slot; build.rs makes the source, which is
//! in `$OUT_DIR/exports.rs`.
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

use crate::interpose::entry::export;
use crate::mpi::functions::SLOTS;
use crate::mpi::slots::{AddressTable, CodeAddress};

include!(concat!(env!("OUT_DIR"), "/exports.rs"));
