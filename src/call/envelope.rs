//! How many values a datatype was made with.

use crate::mpi::functions::index;
use crate::mpi::pmpi;
use crate::mpi::slots;
use crate::mpi::types::{MPI_Count, MPI_Datatype};
use std::ffi::c_int;

/// Numbers of the values that MPI_Type_get_contents gives.
pub struct TypeEnvelope {
    /// Constructor of the datatype, an MPI_COMBINER_….
    pub combiner: c_int,
    /// Integers.
    pub ints: u64,
    /// Addresses.
    pub addresses: u64,
    /// Large counts, which only the functions for large counts tell.
    pub counts: u64,
    /// Datatypes.
    pub types: u64,
}

impl TypeEnvelope {
    /// The envelope of a datatype that is valid; `None` where the library does not tell it. The functions for large counts tell it of all types, the
    /// others only of types that were made without them.
    pub fn of(datatype: MPI_Datatype) -> Option<TypeEnvelope> {
        let mut combiner = 0;
        let (code, [ints, addresses, counts, types]) = if has_large_counts() {
            let mut numbers: [MPI_Count; 4] = [0; 4];
            let [ints, addresses, counts, types] = &mut numbers;
            // SAFETY: a valid datatype.
            let code = unsafe {
                pmpi::MPI_Type_get_envelope_c(
                    datatype,
                    ints,
                    addresses,
                    counts,
                    types,
                    &mut combiner,
                )
            };
            (code, numbers)
        } else {
            let (mut ints, mut addresses, mut types) = (0, 0, 0);
            // SAFETY: a valid datatype.
            let code = unsafe {
                pmpi::MPI_Type_get_envelope(
                    datatype,
                    &mut ints,
                    &mut addresses,
                    &mut types,
                    &mut combiner,
                )
            };
            (code, [ints, addresses, 0, types].map(MPI_Count::from))
        };
        let is = |n: MPI_Count| u64::try_from(n).unwrap_or(0);
        (code == 0).then(|| TypeEnvelope {
            combiner,
            ints: is(ints),
            addresses: is(addresses),
            counts: is(counts),
            types: is(types),
        })
    }
}

/// Whether the MPI library has the functions for large counts that tell how a datatype was made.
pub fn has_large_counts() -> bool {
    slots::is_there(index::MPI_Type_get_envelope_c)
        && slots::is_there(index::MPI_Type_get_contents_c)
}
