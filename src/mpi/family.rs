//! The binary interface of the MPI library in this process, once it is known.

use blockfile::layout::Family;
use std::sync::atomic::{AtomicU8, Ordering::Relaxed};

/// Number of the family of the MPI library in this process; 0 as long as none is known.
static FAMILY: AtomicU8 = AtomicU8::new(0);

/// The family of the MPI library in this process. Before it is known, [`Family::Mpich`]: there are no handles yet.
#[inline(always)]
pub fn family() -> Family {
    match FAMILY.load(Relaxed) {
        2 => Family::OpenMpi,
        3 => Family::Standard,
        _ => Family::Mpich,
    }
}

/// Position of the interface of this process in tables that have one entry for each.
#[inline(always)]
pub fn index() -> usize {
    family() as usize - 1
}

/// Whether the family of the MPI library in this process is known.
pub fn is_known() -> bool {
    FAMILY.load(Relaxed) != 0
}

/// Notes the family of the MPI library in this process.
pub fn set_family(family: Family) {
    FAMILY.store(family as u8, Relaxed);
}
