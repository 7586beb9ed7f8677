//! A mark by which other ranks of this host see whether a process has a recorder: an anonymous mapping with a name, which
//! /proc/PID/maps shows. It takes a page of address space, no descriptor and no file, and goes with the process.

use std::ffi::CStr;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// The process records, or would if it had room, and comes to the merge.
pub const RECORDS: &CStr = c"libtrace-records";
/// The recorder is loaded and passes everything through, as it is built for another MPI.
pub const STEPS_ASIDE: &CStr = c"libtrace-steps-aside";
/// The process waits in MPI_Finalize for the communicator of all ranks.
pub const WAITS: &CStr = c"libtrace-waits";

/// Sets the first mark that is asked for: [`RECORDS`] or [`STEPS_ASIDE`]. Where the system has no such mappings, nothing happens: the process then counts as
/// unknown.
pub fn set(mark: &CStr) {
    static SET: AtomicBool = AtomicBool::new(false);
    if !SET.swap(true, Relaxed) {
        map(mark);
    }
}

/// Sets [`WAITS`], beside the first mark.
pub fn wait() {
    static SET: AtomicBool = AtomicBool::new(false);
    if !SET.swap(true, Relaxed) {
        map(WAITS);
    }
}

fn map(mark: &CStr) {
    const PAGE: usize = 4096;
    // SAFETY: a new descriptor and a new mapping of ours that nobody touches; the descriptor is closed again.
    unsafe {
        let file = libc::syscall(libc::SYS_memfd_create, mark.as_ptr(), libc::MFD_CLOEXEC);
        let Ok(file @ 0..) = i32::try_from(file) else {
            return;
        };
        let (protection, flags) = (libc::PROT_NONE, libc::MAP_SHARED);
        libc::mmap(std::ptr::null_mut(), PAGE, protection, flags, file, 0);
        libc::close(file);
    }
}
