//! Facts about the MPI libraries of each binary interface: constants, layout of `MPI_Status`, file names.
//!
//! build.rs makes the source from `wrappers/abi`; it is in `$OUT_DIR/constants.rs`.

use std::ffi::CStr;

/// Source of a constant's value.
#[derive(Clone, Copy, Debug)]
pub enum ConstantSource {
    /// A number.
    Number(u64),
    /// The address of an object in the MPI library.
    Symbol(&'static CStr),
    /// The value of a variable of the MPI library.
    Variable(&'static CStr),
}

/// The constants of the libraries of one binary interface.
pub struct ConstantTable {
    /// File names under which such libraries are loaded.
    pub libraries: &'static [&'static CStr],
    /// MPI_UNWEIGHTED.
    pub unweighted: ConstantSource,
    /// MPI_WEIGHTS_EMPTY.
    pub weights_empty: ConstantSource,
    /// Predefined handles, other than of datatypes, by name.
    pub handles: &'static [(&'static str, ConstantSource)],
    /// Predefined datatypes by name.
    pub datatypes: &'static [(&'static str, ConstantSource)],
    /// Integers by name.
    pub integers: &'static [(&'static str, i64)],
}

include!(concat!(env!("OUT_DIR"), "/constants.rs"));

/// The tables of all binary interfaces, in the order of [`blockfile::layout::Family`].
pub static TABLES: [ConstantTable; 3] = [MPICH, OPENMPI, STANDARD];
