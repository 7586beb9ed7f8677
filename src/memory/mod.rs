//! Memory of the recorder's own allocations, so that none of them ends the program.
//!
//! An allocation that fails aborts a Rust program. A traced program may run under a limit (`ulimit -v`, `ulimit -d`) and be close to it,
//! or set one itself; then what the recorder needs must be there all the same. So room in the address space is set aside in
//! MPI_Init, without any memory behind it. When the C library has no more memory, and from the beginning of the merge where there
//! is a limit, the recorder's allocations come out of that room ([`arena`]); the merge, which is what may need more than that, is given
//! up where even this is used up ([`guard`]); and a little is left for the words that say so.

mod arena;
mod guard;
mod mapped;
pub mod page;

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};

pub use guard::{MergeStopped, main_end_and_limit, unless_exhausted};
pub use mapped::MappedBytes;

/// Room set aside if nothing limits the address space: enough for a merge, and as much again for MPI meanwhile.
const MAX_ROOM_BYTES: usize = 40 << 20;
/// Divisor of the part of the room that is given back for MPI and for mapped files when it is opened.
const GIVEN_BACK: usize = 3;
/// Most room set aside under a limit, as the program comes first; a merge of a few ranks takes some megabytes.
const MAX_LIMITED_ROOM_BYTES: u64 = 12 << 20;
/// Under a limit, of the address space that is left no more than one part of so many is set aside.
const PART: u64 = 8;

/// Whether the recorder's room is asked before the C library.
static ROOM_FIRST: AtomicBool = AtomicBool::new(false);

/// The recorder's allocator.
struct Allocator;

#[global_allocator]
static ALLOCATOR: Allocator = Allocator;

// SAFETY: memory comes from the C library, or from the room, which knows what it has given; it never unwinds.
unsafe impl GlobalAlloc for Allocator {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if !ROOM_FIRST.load(Relaxed) {
            // SAFETY: promised by the caller.
            let memory = unsafe { System.alloc(layout) };
            if !memory.is_null() {
                return memory;
            }
        }
        with_room(layout)
    }

    #[inline]
    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        if arena::has(memory) {
            arena::give(memory, layout.size());
        } else if !is_last(memory) {
            // SAFETY: promised by the caller; it came from there.
            unsafe { System.dealloc(memory, layout) };
        }
    }

    #[inline]
    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        if !arena::has(memory) && !is_last(memory) {
            // SAFETY: promised by the caller; it came from there.
            let moved = unsafe { System.realloc(memory, layout, size) };
            if !moved.is_null() {
                return moved;
            }
        }
        // SAFETY: promised by the caller: the size is not 0 and does not overflow with the alignment.
        let new = unsafe { Layout::from_size_align_unchecked(size, layout.align()) };
        // SAFETY: as above; the old memory is readable, the new one writable for so much, and they are two.
        unsafe {
            let moved = self.alloc(new);
            if !moved.is_null() {
                moved.copy_from_nonoverlapping(memory, layout.size().min(size));
                self.dealloc(memory, layout);
            }
            moved
        }
    }
}

/// Memory where the C library has none or is not to be asked first.
#[cold]
fn with_room(layout: Layout) -> *mut u8 {
    let from_room = arena::take(layout);
    if !from_room.is_null() {
        return from_room;
    }
    // SAFETY: what every caller of an allocator promises.
    let memory = unsafe { System.alloc(layout) };
    if !memory.is_null() {
        return memory;
    }
    guard::give_up();
    last(layout)
}

/// Bytes for the words with which a merge is given up.
const LAST_ROOM_BYTES: usize = 32 << 10;

#[repr(align(64))]
struct Last(std::cell::UnsafeCell<[u8; LAST_ROOM_BYTES]>);

// SAFETY: every byte is given out once, by an atomic counter.
unsafe impl Sync for Last {}

static LAST_ROOM: Last = Last(std::cell::UnsafeCell::new([0; LAST_ROOM_BYTES]));
static LAST_USED: AtomicUsize = AtomicUsize::new(0);

/// A piece of the last room, which is never given back; null if there is none.
fn last(layout: Layout) -> *mut u8 {
    let size = layout.size().next_multiple_of(64);
    let at = LAST_USED.fetch_update(Relaxed, Relaxed, |used| {
        let end = used.checked_add(size)?;
        (end <= LAST_ROOM_BYTES && layout.align() <= 64).then_some(end)
    });
    // SAFETY: within the room.
    at.map_or(std::ptr::null_mut(), |at| unsafe {
        LAST_ROOM.0.get().cast::<u8>().add(at)
    })
}

#[inline]
fn is_last(memory: *mut u8) -> bool {
    (memory as usize).wrapping_sub(LAST_ROOM.0.get() as usize) < LAST_ROOM_BYTES
}

/// Sets the room aside, if there is so much. Called once MPI is there, since what MPI needs goes before.
pub fn hold() {
    let Some(limit) = limit(libc::RLIMIT_AS) else {
        arena::hold(MAX_ROOM_BYTES);
        return;
    };
    let left = limit.saturating_sub(address_space().unwrap_or(limit));
    arena::hold((left / PART).min(MAX_LIMITED_ROOM_BYTES) as usize & !0xFFFF);
}

/// The merge begins. Where nothing limits this process the room is given back, as the C library has all that the merge may need;
/// under a limit the merge lives in it, and a part is given back to MPI and to files that are mapped.
pub fn merging() {
    let is_limited = [libc::RLIMIT_AS, libc::RLIMIT_DATA]
        .into_iter()
        .any(|which| limit(which).is_some());
    if !is_limited {
        arena::release();
        return;
    }
    arena::open(GIVEN_BACK);
    ROOM_FIRST.store(true, Relaxed);
}

/// The merge has ended, or was given up.
pub fn merged() {
    ROOM_FIRST.store(false, Relaxed);
    arena::shrink();
}

/// Whether `bytes` could be had now. They are not touched, so no memory is used.
pub fn has(bytes: usize) -> bool {
    let Ok(layout) = Layout::from_size_align(bytes, 64) else {
        return false;
    };
    let mut memory = arena::take(layout);
    if memory.is_null() {
        // SAFETY: a layout that is not empty.
        memory = unsafe { System.alloc(layout) };
    }
    if !memory.is_null() {
        // SAFETY: what has just been allocated.
        unsafe { ALLOCATOR.dealloc(memory, layout) };
    }
    !memory.is_null()
}

/// Whether limits leave the MPI library this many bytes of address space and of data. What it allocates for messages is not the recorder's to give.
pub fn limits_leave(bytes: u64) -> bool {
    address_space_leaves(bytes) && leaves(libc::RLIMIT_DATA, DATA_FIELD, bytes)
}

/// Whether the limit of the address space leaves the MPI library this many bytes: what it maps to take messages of other processes.
pub fn address_space_leaves(bytes: u64) -> bool {
    leaves(libc::RLIMIT_AS, SPACE_FIELD, bytes)
}

/// Fields of /proc/self/statm: pages of the address space, and of data and stack.
const SPACE_FIELD: usize = 0;
const DATA_FIELD: usize = 5;

fn leaves(which: libc::__rlimit_resource_t, field: usize, bytes: u64) -> bool {
    limit(which).is_none_or(|limit| {
        let taken = pages(field).unwrap_or(limit);
        limit.saturating_sub(taken) >= bytes
    })
}

/// Notes that this process is a forked child: it shares the reserve with its parent, and must not take any of it.
pub fn forked() {
    arena::close();
}

/// The limit of a resource, if there is one.
fn limit(which: libc::__rlimit_resource_t) -> Option<u64> {
    let mut limit = libc::rlimit {
        rlim_cur: 0,
        rlim_max: 0,
    };
    // SAFETY: a place for the result.
    let known = unsafe { libc::getrlimit(which, &mut limit) } == 0;
    (known && limit.rlim_cur != libc::RLIM_INFINITY).then_some(limit.rlim_cur)
}

/// Bytes of address space that this process has.
fn address_space() -> Option<u64> {
    pages(SPACE_FIELD)
}

/// A field of /proc/self/statm, in bytes.
fn pages(field: usize) -> Option<u64> {
    let text = std::fs::read_to_string("/proc/self/statm").ok()?;
    let pages: u64 = text.split(' ').nth(field)?.trim().parse().ok()?;
    // SAFETY: a plain question.
    let page = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
    Some(pages * u64::try_from(page).ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_room_is_given_once() {
        let layout = Layout::from_size_align(100, 8).expect("a layout");
        let (one, two) = (last(layout), last(layout));
        assert!(is_last(one) && is_last(two));
        assert_eq!(two as usize - one as usize, 128);
        let large = Layout::from_size_align(LAST_ROOM_BYTES, 8).expect("a layout");
        assert!(last(large).is_null());
    }

    #[test]
    fn limits_and_address_space_are_known() {
        assert!(address_space().is_some_and(|bytes| bytes > 1 << 20));
        assert!(limit(libc::RLIMIT_NOFILE).is_none_or(|files| files > 2));
    }
}
