//! Names of this host.

use crate::platform::clock;
use crate::platform::launcher;
use std::ffi::{CStr, c_char};

/// Name of this host, as gethostname(2) gives it.
pub fn host() -> String {
    let mut name = [0 as c_char; 256];
    // SAFETY: the buffer is one byte longer than what may be written, and zero.
    unsafe {
        libc::gethostname(name.as_mut_ptr(), name.len() - 1);
        CStr::from_ptr(name.as_ptr()).to_string_lossy().into_owned()
    }
}

/// Identity of this start of the kernel: processes with the same one read the same clocks.
pub fn boot_id() -> String {
    let rank = launcher::rank().filter(|_| clock::is_wrong());
    kernel_start() + &rank.map(|rank| format!("-{rank}")).unwrap_or_default()
}

/// Identity of this start of the kernel as the kernel tells it, which no other host has: the same for all processes of this host.
pub fn kernel_start() -> String {
    let id = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    id.trim().to_owned()
}
