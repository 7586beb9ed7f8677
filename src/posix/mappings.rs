//! The latest mappings of watched files: where each lies in memory and which descriptor it was made with.

use std::ffi::c_int;
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

/// Remembers a mapping of the file that descriptor `fd` stands for.
pub fn add(start: usize, length: usize, fd: c_int, offset: i64) {
    let mapping = &MAPPINGS[MADE.fetch_add(1, Relaxed) % MAX_MAPPINGS];
    mapping.length.store(0, Relaxed);
    // The old mapping is gone before anything of the new one is there, and this one has a length when all of it is there.
    fence(Release);
    mapping.start.store(start, Relaxed);
    mapping.fd.store(fd as u64, Relaxed);
    mapping.offset.store(offset as u64, Relaxed);
    mapping.length.store(length, Release);
}

/// Something else lies in this memory now.
pub fn replaced(start: usize, length: usize) {
    if MADE.load(Relaxed) == 0 {
        return;
    }
    for mapping in &MAPPINGS {
        let old = mapping.start.load(Relaxed);
        if old < start + length && start < old + mapping.length.load(Relaxed) {
            mapping.length.store(0, Relaxed);
        }
    }
}

/// Descriptor `fd` is closed, or about to be. Another file may get its number, so the mappings made with it are forgotten.
pub fn closed(fd: c_int) {
    if MADE.load(Relaxed) == 0 {
        return;
    }
    for mapping in &MAPPINGS {
        if mapping.fd.load(Relaxed) == fd as u64 {
            mapping.length.store(0, Relaxed);
        }
    }
}

/// Descriptor and offset of what lies at `address`, in the latest mapping that holds it.
pub fn at(address: usize) -> Option<(c_int, i64)> {
    let made = MADE.load(Relaxed);
    for i in (made.saturating_sub(MAX_MAPPINGS)..made).rev() {
        let mapping = &MAPPINGS[i % MAX_MAPPINGS];
        let mapped = mapping.length.load(Acquire);
        let start = mapping.start.load(Relaxed);
        if address >= start && address - start < mapped {
            let offset = mapping.offset.load(Relaxed) as i64 + (address - start) as i64;
            return Some((mapping.fd.load(Relaxed) as c_int, offset));
        }
    }
    None
}
