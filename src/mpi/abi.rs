//! The binary interfaces of MPI libraries, for each of which wrappers are made.

use crate::mpi::facts::{mpich, openmpi, standard};
use crate::mpi::handles::HandleBits;
use crate::mpi::status::{AbiStatus, MpichStatus, OpenMpiStatus, StandardStatus};
use std::ffi::{c_int, c_void};

/// What wrappers have to know of a binary interface.
pub trait Abi {
    /// A handle, other than of a file.
    type Handle: HandleBits;
    /// `MPI_Status`.
    type Status: AbiStatus;
    /// MPI_IN_PLACE.
    const MPI_IN_PLACE: usize;
    /// MPI_STATUS_IGNORE.
    const MPI_STATUS_IGNORE: usize;
    /// MPI_STATUSES_IGNORE.
    const MPI_STATUSES_IGNORE: usize;
    /// MPI_UNDEFINED.
    const UNDEFINED: c_int;
    /// MPI_PROC_NULL.
    const PROC_NULL: c_int;
    /// Whether a call of these libraries may give MPI_SUCCESS although it has failed, where an error handler of the program's was called.
    const MAY_HIDE_ERRORS: bool;
    /// Whether a handle may be that of a datatype which the library made for itself.
    fn may_be_hidden(datatype: u64) -> bool;
}

macro_rules! interface {
    ($(#[$doc:meta])* $name:ident, $constants:ident, $handle:ty, $status:ty, $hides_errors:literal, $hidden:expr) => {
        $(#[$doc])*
        pub enum $name {}

        impl Abi for $name {
            type Handle = $handle;
            type Status = $status;
            const MPI_IN_PLACE: usize = $constants::MPI_IN_PLACE;
            const MPI_STATUS_IGNORE: usize = $constants::MPI_STATUS_IGNORE;
            const MPI_STATUSES_IGNORE: usize = $constants::MPI_STATUSES_IGNORE;
            const UNDEFINED: c_int = $constants::MPI_UNDEFINED;
            const PROC_NULL: c_int = $constants::MPI_PROC_NULL;
            const MAY_HIDE_ERRORS: bool = $hides_errors;

            #[inline(always)]
            fn may_be_hidden(datatype: u64) -> bool {
                $hidden(datatype)
            }
        }
    };
}

interface! {
    /// MPICH and what is compatible with it: handles are ints. The highest bit stands in those of objects that are made.
    Mpich, mpich, c_int, MpichStatus, true, |handle| handle & 0x8000_0000 != 0
}
interface! {
    /// Open MPI: handles are pointers to objects.
    OpenMpi, openmpi, *mut c_void, OpenMpiStatus, false, |_| false
}
interface! {
    /// The standard ABI of MPI 5: handles are pointers, predefined ones small numbers.
    Standard, standard, *mut c_void, StandardStatus, true, |_| false
}
