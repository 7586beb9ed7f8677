//! Values that build.rs has found in the MPI library: its file name, and where the values of its constants come from. The
//! source is
//! in `$OUT_DIR/constants.rs`.

use std::ffi::CStr;

/// Source of a constant's value.
#[allow(
    dead_code,
    reason = "each ABI family has constants of some of these kinds"
)]
#[derive(Clone, Copy, Debug)]
pub enum ConstantSource {
    /// A number.
    Number(u64),
    /// The address of an object in the MPI library.
    Symbol(&'static CStr),
    /// The value of a variable of the MPI library.
    Variable(&'static CStr),
}

include!(concat!(env!("OUT_DIR"), "/constants.rs"));
