//! Calls that Fortran bindings make for themselves: the size of a communicator, say, to know how long an array is. They are
//! none of the program's.
//!
//! They come through PMPI_ names, as do those that the program makes through the same binding; what tells them apart is
//! the procedure that they come from.

use crate::interpose::wrappers::WRAPPERS;
use crate::mpi::family;
use crate::mpi::functions::index;
use crate::mpi::slots::{CodeAddress, REAL, name};
use crate::platform::jump::{find_and_jump, jump_with_number};
use std::ffi::{CStr, c_void};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

macro_rules! helpers {
    ($($function:ident)*) => {
        /// Guard before the wrapper of slot `slot`, for functions that bindings call in other procedures; `None` for other
        /// slots.
        pub fn guard(slot: usize) -> Option<CodeAddress> {
            $(if slot == 2 * index::$function + 1 {
                return Some(guarded::<{ 2 * index::$function + 1 }> as CodeAddress);
            })*
            None
        }
    };
}

// By disassembly of the binding libraries: lengths of arrays, and datatypes of array sections.
helpers! {
    MPI_Comm_size MPI_Cartdim_get MPI_Dist_graph_neighbors_count
    MPI_Type_contiguous MPI_Type_create_hvector MPI_Type_commit MPI_Type_free
}

#[unsafe(naked)]
unsafe extern "C" fn guarded<const SLOT: usize>() {
    jump_with_number!(SLOT, decide);
}

/// Jumps to the wrapper of the slot whose number is in r11 (x11 on aarch64), or past it. None of the functions takes more arguments than the registers hold.
#[unsafe(naked)]
unsafe extern "C" fn decide() {
    find_and_jump!(target);
}

/// Places that calls have come from: the address, and in the lowest bit whether a binding calls for itself there.
static CALL_PLACES: [AtomicUsize; 64] = [const { AtomicUsize::new(0) }; 64];

extern "C" fn target(slot: usize, caller: CodeAddress) -> CodeAddress {
    let address = caller as usize;
    let place = &CALL_PLACES[(address ^ (address >> 6)) % CALL_PLACES.len()];
    let known = place.load(Relaxed);
    let is_own = if known >> 1 == address {
        known & 1 == 1
    } else {
        let is_own = calls_for_itself(slot, caller);
        place.store(address << 1 | usize::from(is_own), Relaxed);
        is_own
    };
    if is_own {
        REAL[slot].get()
    } else {
        WRAPPERS[family::index()][slot]
    }
}

/// Whether the caller is a procedure of a Fortran binding, and not the one of this function.
fn calls_for_itself(slot: usize, caller: CodeAddress) -> bool {
    // The call may be the last instruction of its procedure.
    let inside = caller.cast::<u8>().wrapping_sub(1).cast::<c_void>();
    // SAFETY: Dl_info is plain data, for which zero is valid; dladdr takes any address.
    let info = unsafe {
        let mut info: libc::Dl_info = std::mem::zeroed();
        if libc::dladdr(inside, &mut info) == 0 || info.dli_fname.is_null() {
            return false;
        }
        info
    };
    // SAFETY: dladdr gave a text that lives as long as the object is loaded.
    let object = unsafe { CStr::from_ptr(info.dli_fname) }.to_bytes();
    let file = object.rsplit(|&b| b == b'/').next().unwrap_or(object);
    let bindings: [&[u8]; 4] = [
        b"libmpichfort",
        b"libmpifort",
        b"libmpi_mpifh",
        b"libmpi_use",
    ];
    if !bindings.iter().any(|name| file.starts_with(name)) {
        return false;
    }
    if info.dli_sname.is_null() {
        // A function that only the binding itself knows.
        return true;
    }
    // SAFETY: as above.
    let symbol = unsafe { CStr::from_ptr(info.dli_sname) }.to_string_lossy();
    let function = name(slot).to_string_lossy();
    procedure(&symbol) != procedure(&function)
}

/// `comm_size` of `pmpir_comm_size_f08_`, `MPI_COMM_SIZE`, `ompi_comm_size_f`, `PMPI_Comm_size`.
fn procedure(symbol: &str) -> String {
    let mut name = symbol.to_ascii_lowercase();
    for prefix in ["pmpir_", "pmpi_", "ompi_", "mpi_"] {
        if let Some(rest) = name.strip_prefix(prefix) {
            name = rest.to_owned();
            break;
        }
    }
    let endings = [
        "_f08ts_large_",
        "_f08_large_",
        "_f08ts_",
        "_f08_",
        "_f08",
        "_f",
        "__",
        "_",
    ];
    for ending in endings {
        if let Some(rest) = name.strip_suffix(ending) {
            name = rest.to_owned();
            break;
        }
    }
    name
}

#[cfg(test)]
mod tests {
    use super::procedure;

    #[test]
    fn every_spelling_is_the_same_procedure() {
        for symbol in [
            "PMPI_Comm_size",
            "mpi_comm_size_",
            "mpi_comm_size__",
            "MPI_COMM_SIZE",
            "ompi_comm_size_f",
            "MPI_Comm_size_f08",
            "pmpi_comm_size",
            "pmpir_comm_size_f08_",
        ] {
            assert_eq!(procedure(symbol), "comm_size", "{symbol}");
        }
        assert_eq!(procedure("mpi_type_size_f08_large_"), "type_size");
        assert_ne!(procedure("mpi_gatherv_"), procedure("PMPI_Comm_size"));
    }
}
