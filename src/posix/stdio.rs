//! Streams of C's stdio. What libc does inside for them is not seen; but what descriptors stand for is followed, and that a
//! stream moves the position unseen.

use super::calls::{self, closing};
use super::descriptors;
use crate::platform::errno::{errno, set_errno};
use blockfile::operation::OPEN;
use libc::FILE;
use std::cell::Cell;
use std::ffi::{CStr, c_char, c_int};

/// A stream's descriptor, -1 if it has none.
///
/// # Safety
/// The stream is open, or null.
unsafe fn descriptor(stream: *mut FILE) -> c_int {
    if stream.is_null() {
        return -1;
    }
    let saved = errno();
    // SAFETY: promised by the caller.
    let fd = unsafe { libc::fileno(stream) };
    set_errno(saved);
    fd
}

/// Flags that open(2) would be given for `mode`.
fn flags_of(mode: &[u8]) -> c_int {
    let both = mode.contains(&b'+');
    let access = |one| if both { libc::O_RDWR } else { one };
    match mode.first() {
        Some(b'r') => access(libc::O_RDONLY),
        Some(b'a') => access(libc::O_WRONLY) | libc::O_CREAT | libc::O_APPEND,
        _ => access(libc::O_WRONLY) | libc::O_CREAT | libc::O_TRUNC,
    }
}

/// fopen: recorded as the open that it is.
///
/// # Safety
/// The names are what the program gave to libc.
pub unsafe fn open_stream(
    real: impl FnOnce() -> *mut FILE,
    path: *const c_char,
    mode: *const c_char,
) -> *mut FILE {
    if path.is_null() || mode.is_null() {
        return real();
    }
    // SAFETY: as promised.
    let flags = flags_of(unsafe { CStr::from_ptr(mode) }.to_bytes());
    let stream = Cell::new(std::ptr::null_mut());
    let open = || {
        stream.set(real());
        // SAFETY: just opened, or null.
        unsafe { descriptor(stream.get()) }
    };
    // SAFETY: as promised.
    let fd = unsafe { calls::opening(open, OPEN, libc::AT_FDCWD, path, flags) };
    if let Some(description) = descriptors::known(fd) {
        description.share();
    }
    stream.get()
}

/// tmpfile: recorded as the open of a file without a name.
pub fn open_temporary(real: impl FnOnce() -> *mut FILE) -> *mut FILE {
    const FLAGS: c_int = libc::O_RDWR | libc::O_CREAT | libc::O_EXCL;
    let mut stream = std::ptr::null_mut();
    let open = || {
        stream = real();
        // SAFETY: just opened, or null.
        unsafe { descriptor(stream) }
    };
    let fd = calls::opening_nameless(open, OPEN, FLAGS);
    if let Some(description) = descriptors::known(fd) {
        description.share();
    }
    stream
}

/// freopen: recorded as the open that it is. From then on the stream's descriptor stands for the new file.
///
/// # Safety
/// The names and the stream are what the program gave to libc.
pub unsafe fn reopen_stream(
    real: impl FnOnce() -> *mut FILE,
    path: *const c_char,
    mode: *const c_char,
    stream: *mut FILE,
) -> *mut FILE {
    // SAFETY: as promised.
    let old = unsafe { descriptor(stream) };
    descriptors::forget(old);
    // Without a name the stream gets another mode; what it stands for is found at its next use.
    // SAFETY: as promised.
    let new = unsafe { open_stream(real, path, mode) };
    // SAFETY: just opened, or null.
    let fd = unsafe { descriptor(new) };
    if path.is_null() {
        descriptors::forget(fd);
    }
    match new.is_null() {
        true => calls::closes_standard_error(old as u32, old as u32),
        false => calls::gives_standard_error(fd),
    }
    new
}

/// fdopen: from now on the stream moves the position.
pub fn use_stream(real: impl FnOnce() -> *mut FILE, fd: c_int) -> *mut FILE {
    let stream = real();
    if !stream.is_null()
        && let Some(description) = descriptors::known(fd)
    {
        description.share();
    }
    stream
}

/// fclose: closes the descriptor.
///
/// # Safety
/// The stream is what the program gave to libc.
pub unsafe fn close_stream(real: impl FnOnce() -> c_int, stream: *mut FILE) -> c_int {
    // SAFETY: as promised.
    let fd = unsafe { descriptor(stream) };
    closing(real, fd)
}
