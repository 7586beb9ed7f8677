//! Memory of each simulated rank: what its thread has allocated, with messages counted where they are.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

thread_local! {
    static NOW: Cell<isize> = const { Cell::new(0) };
    static PEAK: Cell<isize> = const { Cell::new(0) };
}

/// Counts for each thread.
pub struct CountingAllocator;

fn add(bytes: isize) {
    // A thread that ends has no place for its counts any more.
    let _ = NOW.try_with(|now| {
        now.set(now.get() + bytes);
        let _ = PEAK.try_with(|peak| peak.set(peak.get().max(now.get())));
    });
}

// SAFETY: all is done by the system's allocator.
unsafe impl GlobalAlloc for CountingAllocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        add(layout.size() as isize);
        // SAFETY: as the caller promises.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, place: *mut u8, layout: Layout) {
        add(-(layout.size() as isize));
        // SAFETY: as the caller promises.
        unsafe { System.dealloc(place, layout) }
    }

    unsafe fn realloc(&self, place: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        add(size as isize - layout.size() as isize);
        // SAFETY: as the caller promises.
        unsafe { System.realloc(place, layout, size) }
    }
}

/// A message has left this rank.
pub fn gave_away(bytes: usize) {
    add(-(bytes as isize));
}

/// A message has come to this rank.
pub fn got(bytes: usize) {
    add(bytes as isize);
}

/// Forgets what this thread has allocated so far.
pub fn begin() {
    NOW.set(0);
    PEAK.set(0);
}

/// Most bytes that this thread had since [`begin`].
pub fn peak() -> u64 {
    PEAK.get().max(0) as u64
}
