//! Datatypes that calls make, and those that nobody has seen being made: MPICH's binding for `mpi_f08` makes one inside the library for each section of
//! an array that is no contiguous memory, calls MPI with it, and frees it at once. Its handle is one that a datatype of the program had, or will have.

use crate::mpi::abi::Abi;
use crate::mpi::constants;
use crate::mpi::handles::{Handle, HandleBits};
use crate::mpi::pmpi;
use crate::mpi::types::{MPI_Aint, MPI_Count, MPI_Datatype};
use crate::thread::records::put_definition;
use crate::thread::state::Thread;
use blockfile::define::{DatatypeDefinition, Definition};
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

/// Places of [`DEFINED`].
const PLACES: usize = 1 << 14;

/// Handles of datatypes whose definition holds until they are freed, each at the place that follows from it. Of two with one place the later one stays:
/// a datatype that is not found is defined anew by every call with it.
static DEFINED: [AtomicU32; PLACES] = [const { AtomicU32::new(0) }; PLACES];

fn place(handle: u32) -> &'static AtomicU32 {
    &DEFINED[(handle ^ handle >> 12) as usize % PLACES]
}

/// Definitions of this datatype hold from now on.
pub(super) fn has_been_defined(handle: u64) {
    place(handle as u32).store(handle as u32, Relaxed);
}

/// A datatype that a call has made.
pub fn datatype(t: &mut Thread, datatype: MPI_Datatype) {
    if datatype.bits() == constants::handle("MPI_DATATYPE_NULL") {
        return;
    }
    write(t, datatype);
    has_been_defined(datatype.bits());
}

/// A datatype that a call has used, and that may be none of those that were defined.
#[inline(always)]
pub fn uses_datatype<A: Abi>(t: &mut Thread, datatype: A::Handle) {
    let handle = datatype.bits();
    if A::may_be_hidden(handle) && place(handle as u32).load(Relaxed) != handle as u32 {
        write(t, Handle::from_bits(handle));
    }
}

/// The program is about to free this datatype.
pub fn frees_datatype(handle: u64) {
    let _ = place(handle as u32).compare_exchange(handle as u32, 0, Relaxed, Relaxed);
}

#[cold]
fn write(t: &mut Thread, datatype: MPI_Datatype) {
    let (size, extent) = sizes(datatype);
    put_definition(
        t,
        &Definition::Type(DatatypeDefinition {
            handle: datatype.bits(),
            size,
            extent,
            name: String::new(),
        }),
    );
}

/// Size and extent in bytes; −1 where the library does not tell.
pub(super) fn sizes(datatype: MPI_Datatype) -> (i64, i64) {
    let (mut size, mut lb, mut extent): (i64, MPI_Aint, MPI_Aint) = (-1, 0, 0);
    // SAFETY: predefined, or just made by the program. Errors would go to the error handler of MPI_COMM_WORLD, but there
    // is nothing wrong with these.
    unsafe {
        let mut wide: MPI_Count = -1;
        if pmpi::MPI_Type_size_x(datatype, &mut wide) == 0 {
            size = wide;
        }
        pmpi::MPI_Type_get_extent(datatype, &mut lb, &mut extent);
    }
    (size, extent)
}
