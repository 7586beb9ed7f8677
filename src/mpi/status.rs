//! `MPI_Status` in each binary interface. Byte count and cancelled flag are private fields; reading them takes
//! nothing, asking MPI_Get_count and MPI_Test_cancelled for every status would cost more than the record.

use crate::mpi::constants;
use crate::mpi::facts::{mpich, openmpi, standard};
use crate::mpi::family;
use crate::mpi::pmpi;
use blockfile::encode::MpiStatus;
use blockfile::layout::Family;
use std::ffi::{c_int, c_void};
use std::mem::offset_of;

/// A status of a binary interface.
pub trait AbiStatus: Copy {
    /// MPI_SOURCE.
    fn source(&self) -> c_int;
    /// Sets MPI_SOURCE.
    fn set_source(&mut self, source: c_int);
    /// MPI_ERROR, which only calls set that complete several operations and fail.
    fn error(&self) -> c_int;
    /// All that a record holds of it, without an error.
    fn decode(&self) -> MpiStatus;
}

/// The status of MPICH.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct MpichStatus {
    /// Low half of the number of bytes.
    count_low: u32,
    /// Whether the operation was cancelled in the last bit, above it the high half of the number of bytes.
    count_high_and_cancelled: u32,
    source: c_int,
    tag: c_int,
    error: c_int,
}

/// The status of Open MPI.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct OpenMpiStatus {
    source: c_int,
    tag: c_int,
    error: c_int,
    cancelled: c_int,
    bytes: u64,
}

/// The status of the standard ABI, which names no private fields.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct StandardStatus {
    source: c_int,
    tag: c_int,
    error: c_int,
    private: [c_int; 5],
}

macro_rules! as_declared {
    ($status:ident, $constants:ident) => {
        const _: () = {
            let [size, source, tag, error] = $constants::MPI_STATUS;
            assert!(size_of::<$status>() == size && offset_of!($status, source) == source);
            assert!(offset_of!($status, tag) == tag && offset_of!($status, error) == error);
        };
    };
}
as_declared!(MpichStatus, mpich);
as_declared!(OpenMpiStatus, openmpi);
as_declared!(StandardStatus, standard);

impl AbiStatus for MpichStatus {
    #[inline(always)]
    fn source(&self) -> c_int {
        self.source
    }

    fn set_source(&mut self, source: c_int) {
        self.source = source;
    }

    fn error(&self) -> c_int {
        self.error
    }

    #[inline(always)]
    fn decode(&self) -> MpiStatus {
        let high = self.count_high_and_cancelled;
        MpiStatus {
            source: self.source,
            tag: self.tag,
            error: 0,
            bytes: u64::from(self.count_low) | (u64::from(high >> 1) << 32),
            cancelled: high & 1 != 0,
        }
    }
}

impl AbiStatus for OpenMpiStatus {
    #[inline(always)]
    fn source(&self) -> c_int {
        self.source
    }

    fn set_source(&mut self, source: c_int) {
        self.source = source;
    }

    fn error(&self) -> c_int {
        self.error
    }

    #[inline(always)]
    fn decode(&self) -> MpiStatus {
        MpiStatus {
            source: self.source,
            tag: self.tag,
            error: 0,
            bytes: self.bytes,
            cancelled: self.cancelled != 0,
        }
    }
}

impl AbiStatus for StandardStatus {
    #[inline(always)]
    fn source(&self) -> c_int {
        self.source
    }

    fn set_source(&mut self, source: c_int) {
        self.source = source;
    }

    fn error(&self) -> c_int {
        self.error
    }

    #[inline(always)]
    fn decode(&self) -> MpiStatus {
        let (mut count, mut cancelled) = (0, 0);
        let status = std::ptr::from_ref(self).cast();
        // SAFETY: a status of the library, whose functions may be asked about it. Not MPI_Get_count, which has no number for more than 2 GB.
        unsafe {
            pmpi::MPI_Get_elements_x(status, constants::predefined("MPI_BYTE"), &mut count);
            pmpi::MPI_Test_cancelled(status, &mut cancelled);
        }
        MpiStatus {
            source: self.source,
            tag: self.tag,
            error: 0,
            bytes: u64::try_from(count).unwrap_or(0),
            cancelled: cancelled != 0,
        }
    }
}

/// Room for a status of any binary interface, for calls of the recorder itself.
#[repr(C)]
#[derive(Clone, Copy)]
pub union Status {
    mpich: MpichStatus,
    open_mpi: OpenMpiStatus,
    standard: StandardStatus,
}

impl Status {
    /// A status that no call has set.
    pub fn unset() -> Status {
        // SAFETY: a status consists of integers.
        unsafe { std::mem::zeroed() }
    }

    /// Place for a call to put it.
    pub fn place(&mut self) -> *mut c_void {
        std::ptr::from_mut(self).cast()
    }

    /// What a call has put there.
    pub fn decode(&self) -> MpiStatus {
        // SAFETY: a status consists of integers; the library has written those of its own interface.
        unsafe {
            match family::family() {
                Family::Mpich => self.mpich.decode(),
                Family::OpenMpi => self.open_mpi.decode(),
                Family::Standard => self.standard.decode(),
            }
        }
    }
}

/// Whether statuses tell what became of messages where a call returned `code`: of several operations each has its own error, or the one message
/// was longer than the room for it.
#[cold]
pub fn tells_outcomes(code: c_int) -> bool {
    let integers = constants::integers();
    let class = error_class(code);
    class == Some(integers.err_in_status) || class == Some(integers.err_truncate)
}

/// The status of an operation that failed with `code`.
#[cold]
pub fn failed(status: MpiStatus, code: c_int) -> MpiStatus {
    MpiStatus {
        error: error_class(code).unwrap_or(code),
        ..status
    }
}

/// The status of one of several operations, whose error code is `code`; `None` if it is still under way.
#[cold]
pub fn outcome(status: MpiStatus, code: c_int) -> Option<MpiStatus> {
    let status = failed(status, code);
    (status.error != constants::integers().err_pending).then_some(status)
}

/// Class of an error code; `None` if the library does not know it.
fn error_class(code: c_int) -> Option<c_int> {
    let mut class = 0;
    // SAFETY: any code may be asked about.
    let unknown = unsafe { pmpi::MPI_Error_class(code, &mut class) } != 0;
    (!unknown).then_some(class)
}
