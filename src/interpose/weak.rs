//! Weak references: programs that are made for several versions of MPI (mpi4py's wheels) ask in this way which functions there are.
//!
//! The recorder exports every function of MPI, so the dynamic linker has answered that there are all. What the MPI library lacks is answered with null,
//! as it would be without the recorder, at the first call of each function that comes after an object was loaded.

use crate::mpi::dynamic;
use crate::mpi::library;
use crate::mpi::slots;
use std::ffi::c_void;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// How many objects had been loaded when the references were looked at.
static LOOKED_AT: AtomicU64 = AtomicU64::new(0);

/// Answers the weak references of objects that have been loaded, once there is an MPI library.
pub fn answer() {
    let loaded = dynamic::loaded_objects();
    if LOOKED_AT.swap(loaded, Relaxed) == loaded {
        return;
    }
    // The dynamic linker is asked between two walks, and not in one: a walk holds a lock for which a thread may wait that loads or unloads an
    // object, and which holds the lock that a question takes.
    let mut gone = Vec::new();
    dynamic::for_each_weak_reference(|name, address| {
        gone.extend(slots::of_name(name).map(|slot| (slot, address)));
    });
    gone.sort_unstable();
    gone.dedup();
    gone.retain(|&(slot, address)| {
        library::is_ours(address as *mut c_void) && !slots::has_real(slot)
    });
    if gone.is_empty() {
        return;
    }
    dynamic::clear_weak_references(|name, address| {
        slots::of_name(name).is_some_and(|slot| gone.contains(&(slot, address)))
    });
}
