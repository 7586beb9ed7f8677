//! Mappings of watched files: only those are recorded, and msync names an address, not a file.

use super::calls::{plain, watched};
use blockfile::operation::{MMAP, MSYNC};
use std::ffi::{c_int, c_void};
use std::sync::atomic::{
    AtomicU64, AtomicUsize,
    Ordering::{Acquire, Relaxed, Release},
    fence,
};

/// Mappings that are remembered.
const MAX_MAPPINGS: usize = 256;

struct Mapping {
    start: AtomicUsize,
    length: AtomicUsize,
    fd: AtomicU64,
    offset: AtomicU64,
}

static MAPPINGS: [Mapping; MAX_MAPPINGS] = [const {
    Mapping {
        start: AtomicUsize::new(0),
        length: AtomicUsize::new(0),
        fd: AtomicU64::new(0),
        offset: AtomicU64::new(0),
    }
}; MAX_MAPPINGS];
/// Mappings made so far; a new one takes the place of the one MAX_MAPPINGS before.
static MADE: AtomicUsize = AtomicUsize::new(0);

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
        if r != libc::MAP_FAILED && MADE.load(Relaxed) > 0 {
            forget(r as usize, length);
        }
        return r;
    }
    let r = plain(real, MMAP, fd, offset, length as i64);
    if r != libc::MAP_FAILED {
        let mapping = &MAPPINGS[MADE.fetch_add(1, Relaxed) % MAX_MAPPINGS];
        mapping.length.store(0, Relaxed);
        // The old mapping is gone before anything of the new one is there, and this one has a length when all of it is there.
        fence(Release);
        mapping.start.store(r as usize, Relaxed);
        mapping.fd.store(fd as u64, Relaxed);
        mapping.offset.store(offset as u64, Relaxed);
        mapping.length.store(length, Release);
    }
    r
}

/// Something else lies there now.
#[cold]
fn forget(start: usize, length: usize) {
    for mapping in &MAPPINGS {
        let old = mapping.start.load(Relaxed);
        if old < start + length && start < old + mapping.length.load(Relaxed) {
            mapping.length.store(0, Relaxed);
        }
    }
}

/// msync: recorded where the address lies in a mapping of a watched file. The latest that holds it counts.
#[inline(always)]
pub fn sync(real: impl FnOnce() -> c_int, address: *mut c_void, length: usize) -> c_int {
    let made = MADE.load(Relaxed);
    let address = address as usize;
    for i in (made.saturating_sub(MAX_MAPPINGS)..made).rev() {
        let mapping = &MAPPINGS[i % MAX_MAPPINGS];
        let mapped = mapping.length.load(Acquire);
        let start = mapping.start.load(Relaxed);
        if address >= start && address - start < mapped {
            let offset = mapping.offset.load(Relaxed) as i64 + (address - start) as i64;
            let fd = mapping.fd.load(Relaxed) as c_int;
            return plain(real, MSYNC, fd, offset, length as i64);
        }
    }
    real()
}
