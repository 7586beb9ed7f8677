//! Layout of `MPI_Status` in each family. Byte count and cancelled flag are private fields; reading them takes
//! nothing, asking MPI_Get_count and MPI_Test_cancelled for every status would cost more than the record.

use crate::mpi::constants;
use crate::mpi::functions::FAMILY;
use crate::mpi::handles;
use crate::mpi::header::MPI_Status;
use crate::mpi::pmpi;
use blockfile::encode::MpiStatus;
use blockfile::layout::Family;
use std::ffi::c_int;

/// Decodes a status. Its error field counts only with `error`: calls that complete one operation do not set it.
#[inline(always)]
pub fn decode(s: &MPI_Status, error: bool) -> MpiStatus {
    let (bytes, cancelled) = private(s);
    MpiStatus {
        source: s.MPI_SOURCE,
        tag: s.MPI_TAG,
        error: if error { s.MPI_ERROR } else { 0 },
        bytes,
        cancelled,
    }
}

/// The private fields: MPICH has the low half of the count, then the high half shifted left by one with the flag as last
/// bit, before the public fields; Open MPI has the flag and the count behind them.
#[inline(always)]
fn private(s: &MPI_Status) -> (u64, bool) {
    let base = std::ptr::from_ref(s).cast::<u8>();
    // SAFETY: the offsets lie within the status of the family; build.rs checks its size.
    unsafe {
        match FAMILY {
            Family::Mpich => {
                let low = base.cast::<u32>().read_unaligned();
                let high = base.add(4).cast::<u32>().read_unaligned();
                (u64::from(low) | (u64::from(high >> 1) << 32), high & 1 != 0)
            }
            Family::OpenMpi => (
                base.add(16).cast::<u64>().read_unaligned(),
                base.add(12).cast::<i32>().read_unaligned() != 0,
            ),
            Family::Standard => {
                // The standard names no private fields.
                let mut count = 0;
                let mut cancelled = 0;
                let byte = constants::handle("MPI_BYTE");
                // not MPI_Get_count, which has no number for more than 2 GB
                pmpi::MPI_Get_elements_x(s, handles::from_bits(byte), &mut count);
                pmpi::MPI_Test_cancelled(s, &mut cancelled);
                (u64::try_from(count).unwrap_or(0), cancelled != 0)
            }
        }
    }
}

/// Whether `code` is of class MPI_ERR_IN_STATUS.
#[cold]
pub fn is_in_status(code: c_int) -> bool {
    let mut class = 0;
    // SAFETY: any code may be asked about.
    unsafe { pmpi::MPI_Error_class(code, &mut class) == 0 && class == constants::IN_STATUS }
}
