//! Mappings of watched files: only those are recorded, and msync names an address, not a file.

use super::calls::{plain, watched};
use super::mappings;
use blockfile::operation::{MMAP, MSYNC};
use std::ffi::{c_int, c_void};

/// mmap.
#[inline(always)]
pub fn map(
    real: impl FnOnce() -> *mut c_void,
    length: usize,
    fd: c_int,
    offset: i64,
) -> *mut c_void {
    if fd < 0 || watched(fd).is_none() {
        let r = real();
        if r != libc::MAP_FAILED {
            mappings::replaced(r as usize, length);
        }
        return r;
    }
    let r = plain(real, MMAP, fd, offset, length as i64);
    if r != libc::MAP_FAILED {
        mappings::add(r as usize, length, fd, offset);
    }
    r
}

/// msync: recorded where the address lies in a mapping of a watched file whose descriptor is open.
#[inline(always)]
pub fn sync(real: impl FnOnce() -> c_int, address: *mut c_void, length: usize) -> c_int {
    match mappings::at(address as usize) {
        Some((fd, offset)) => plain(real, MSYNC, fd, offset, length as i64),
        None => real(),
    }
}
