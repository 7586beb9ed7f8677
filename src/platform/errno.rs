//! errno of the running thread, which the recorder leaves as the program's own call has left it.

use std::ffi::c_int;

/// errno of the running thread.
#[inline(always)]
pub fn errno() -> c_int {
    // SAFETY: the place of errno of this thread.
    unsafe { *libc::__errno_location() }
}

/// Sets errno of the running thread.
#[inline(always)]
pub fn set_errno(value: c_int) {
    // SAFETY: the place of errno of this thread.
    unsafe { *libc::__errno_location() = value };
}
