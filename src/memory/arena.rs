//! The room that is set aside, and how it is given out: pieces in order of their addresses, neighbours joined when they come
//! back, the first that is large enough taken.
//!
//! The room is shared memory, as that does not count as data of the process (`ulimit -d`). A forked child has the same pages, so it
//! takes and gives nothing.

use super::page;
use std::alloc::Layout;
use std::ptr::null_mut;
use std::sync::atomic::{
    AtomicBool, AtomicUsize, Ordering::Acquire, Ordering::Relaxed, Ordering::Release,
};

/// All pieces are a multiple of this, and begin at one.
const UNIT: usize = 64;
/// Pieces below this size are kept by size when they come back, as there may be many.
const SMALL: usize = 1024;

/// Address of the room; 0 without one.
static START: AtomicUsize = AtomicUsize::new(0);
static LENGTH: AtomicUsize = AtomicUsize::new(0);
/// Bytes of it that can be read and written; 0 before it is opened.
static OPEN: AtomicUsize = AtomicUsize::new(0);
/// Whether it is another process's.
static CLOSED: AtomicBool = AtomicBool::new(false);
/// Held while pieces change hands.
static BUSY: AtomicBool = AtomicBool::new(false);

/// A piece that is free, at its beginning.
struct FreePiece {
    next: *mut FreePiece,
    size: usize,
}

/// The pieces that are free.
struct FreePieces {
    /// In order of their addresses.
    first: *mut FreePiece,
    /// Small ones, by size.
    small: [*mut FreePiece; SMALL / UNIT],
    /// Start of the part of which nothing has been given out yet.
    fresh: usize,
}

struct Locked(std::cell::UnsafeCell<FreePieces>);
// SAFETY: only used by who holds `BUSY`.
unsafe impl Sync for Locked {}

static PIECES: Locked = Locked(std::cell::UnsafeCell::new(FreePieces {
    first: null_mut(),
    small: [null_mut(); SMALL / UNIT],
    fresh: 0,
}));

/// Does something with the pieces.
fn locked<T>(f: impl FnOnce(&mut FreePieces) -> T) -> T {
    while BUSY
        .compare_exchange_weak(false, true, Acquire, Relaxed)
        .is_err()
    {
        // SAFETY: a plain system call.
        unsafe { libc::sched_yield() };
    }
    // SAFETY: nobody else has them until `BUSY` is given back; `f` neither allocates nor panics.
    let value = f(unsafe { &mut *PIECES.0.get() });
    BUSY.store(false, Release);
    value
}

/// Maps at `at`, or where the kernel likes.
pub(super) fn map(at: usize, bytes: usize, protection: i32, flags: i32) -> Option<usize> {
    // SAFETY: a new mapping, or one in place of our own, which nobody has got anything of yet.
    let address = unsafe {
        libc::mmap(
            at as *mut libc::c_void,
            bytes,
            protection,
            flags | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE,
            -1,
            0,
        )
    };
    (address != libc::MAP_FAILED).then_some(address as usize)
}

/// Sets `bytes` of address space aside, once.
pub fn hold(bytes: usize) {
    if bytes < page::bytes() || START.load(Relaxed) != 0 {
        return;
    }
    if let Some(start) = map(0, bytes, libc::PROT_NONE, libc::MAP_PRIVATE) {
        LENGTH.store(bytes, Relaxed);
        START.store(start, Relaxed);
    }
}

/// Gives the room back, unless something of it was given out.
pub fn release() {
    locked(|_| {
        if OPEN.load(Relaxed) == 0 {
            cut(0);
        }
    });
}

/// Makes the room usable, but for a part at its end, one by `given_back`, which goes back to the system.
pub fn open(given_back: usize) {
    locked(|_| open_locked(given_back));
}

fn open_locked(given_back: usize) {
    let (start, length) = (START.load(Relaxed), LENGTH.load(Relaxed));
    if start == 0 || OPEN.load(Relaxed) != 0 || CLOSED.load(Relaxed) {
        return;
    }
    let kept = (length - length / given_back) & !(page::bytes() - 1);
    let (access, flags) = (
        libc::PROT_READ | libc::PROT_WRITE,
        libc::MAP_SHARED | libc::MAP_FIXED,
    );
    if map(start, kept, access, flags).is_some() {
        OPEN.store(kept, Relaxed);
        cut(kept);
    }
}

/// Gives all behind the first `kept` bytes back.
fn cut(kept: usize) {
    let (start, length) = (START.load(Relaxed), LENGTH.load(Relaxed));
    if length > kept {
        // SAFETY: a part of our own mapping that was never given out.
        unsafe { libc::munmap((start + kept) as *mut libc::c_void, length - kept) };
        LENGTH.store(kept, Relaxed);
    }
    if kept == 0 {
        START.store(0, Relaxed);
    }
}

/// Gives back what was never used.
pub fn shrink() {
    locked(|pieces| {
        let used = pieces.fresh.next_multiple_of(page::bytes());
        if OPEN.load(Relaxed) > used && !CLOSED.load(Relaxed) {
            OPEN.store(used, Relaxed);
            cut(used);
        }
    });
}

/// Nothing is taken or given any more.
pub fn close() {
    CLOSED.store(true, Relaxed);
}

/// Whether this is in the room.
#[inline]
pub fn has(memory: *mut u8) -> bool {
    (memory as usize).wrapping_sub(START.load(Relaxed)) < OPEN.load(Relaxed)
}

/// Takes a piece; null if there is none. The room is opened, if that has not been done.
pub fn take(layout: Layout) -> *mut u8 {
    if layout.align() > UNIT || CLOSED.load(Relaxed) || START.load(Relaxed) == 0 {
        return null_mut();
    }
    let Some(size) = layout.size().max(1).checked_next_multiple_of(UNIT) else {
        return null_mut();
    };
    locked(|pieces| {
        open_locked(usize::MAX);
        // SAFETY: all pieces in the lists are free memory of the room.
        unsafe { pieces.take(size, START.load(Relaxed), OPEN.load(Relaxed)) }
    })
}

/// Gives a piece back that was taken for `size` bytes.
pub fn give(memory: *mut u8, size: usize) {
    if CLOSED.load(Relaxed) {
        return;
    }
    let size = size.max(1).next_multiple_of(UNIT);
    // SAFETY: promised by the caller; the piece is aligned and large enough for what stands in a free one.
    locked(|pieces| unsafe { pieces.give(memory.cast(), size) });
}

impl FreePieces {
    /// A piece of `size`, of a room of `length` bytes from `start` on.
    unsafe fn take(&mut self, size: usize, start: usize, length: usize) -> *mut u8 {
        if size < SMALL {
            let list = &mut self.small[size / UNIT];
            if !list.is_null() {
                let piece = *list;
                // SAFETY: a free piece.
                *list = unsafe { (*piece).next };
                return piece.cast();
            }
        }
        let mut link: *mut *mut FreePiece = &mut self.first;
        // SAFETY: the links of free pieces.
        unsafe {
            while !(*link).is_null() {
                let piece = *link;
                if (*piece).size >= size {
                    let rest = (*piece).size - size;
                    // Its end is taken, so that the link stays.
                    (*piece).size = rest;
                    if rest == 0 {
                        *link = (*piece).next;
                    }
                    return piece.cast::<u8>().add(rest);
                }
                link = &raw mut (*piece).next;
            }
        }
        if length.saturating_sub(self.fresh) < size {
            return null_mut();
        }
        let piece = start + self.fresh;
        self.fresh += size;
        piece as *mut u8
    }

    /// Takes a piece of `size` back.
    unsafe fn give(&mut self, piece: *mut FreePiece, size: usize) {
        if size < SMALL {
            let list = &mut self.small[size / UNIT];
            // SAFETY: the piece is free now.
            unsafe { piece.write(FreePiece { next: *list, size }) };
            *list = piece;
            return;
        }
        let mut before: *mut FreePiece = null_mut();
        let mut next = self.first;
        // SAFETY: the links of free pieces, and the piece, which is free now.
        unsafe {
            while !next.is_null() && next < piece {
                before = next;
                next = (*next).next;
            }
            piece.write(FreePiece { next, size });
            if before.is_null() {
                self.first = piece;
            } else {
                (*before).next = piece;
            }
            for left in [piece, before] {
                if left.is_null() {
                    continue;
                }
                let right = (*left).next;
                if left.cast::<u8>().wrapping_add((*left).size) == right.cast() {
                    (*left).size += (*right).size;
                    (*left).next = (*right).next;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Pieces of all sizes, taken and given in any order, never overlap, and join to one again.
    #[test]
    fn pieces_are_taken_once_and_join() {
        const ROOM: usize = 1 << 20;
        let room = vec![0u64; ROOM / 8 + UNIT];
        let start = (room.as_ptr() as usize).next_multiple_of(UNIT);
        let mut pieces = FreePieces {
            first: null_mut(),
            small: [null_mut(); SMALL / UNIT],
            fresh: 0,
        };
        let mut taken: Vec<(usize, usize)> = Vec::new();
        let mut seed = 1u64;
        let mut random = |below: usize| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (seed >> 33) as usize % below
        };
        for round in 0..20_000 {
            if random(2) == 0 && !taken.is_empty() {
                let (at, size) = taken.swap_remove(random(taken.len()));
                // SAFETY: taken below.
                unsafe { pieces.give(at as *mut FreePiece, size) };
                continue;
            }
            let most = 1 << (4 + random(12));
            let size = (1 + random(most)).next_multiple_of(UNIT);
            // SAFETY: the room is ours.
            let at = unsafe { pieces.take(size, start, ROOM) } as usize;
            if at == 0 {
                continue;
            }
            assert!(at.is_multiple_of(UNIT) && at >= start && at + size <= start + ROOM);
            let is_apart =
                |&(other, length): &(usize, usize)| at + size <= other || other + length <= at;
            assert!(taken.iter().all(is_apart), "round {round}");
            taken.push((at, size));
        }
        for (at, size) in taken.drain(..) {
            // SAFETY: taken above.
            unsafe { pieces.give(at as *mut FreePiece, size) };
        }
        // Pieces between small ones, which are kept by size, are joined.
        let mut piece = pieces.first;
        while !piece.is_null() {
            // SAFETY: a free piece.
            let (end, next) = unsafe { (piece as usize + (*piece).size, (*piece).next) };
            assert!(next.is_null() || end < next as usize);
            piece = next;
        }
    }

    #[test]
    fn one_room_is_held_opened_and_cut() {
        let layout = |size| Layout::from_size_align(size, 8).expect("a layout");
        assert!(take(layout(100)).is_null());
        hold(1 << 20);
        open(4);
        assert_eq!(OPEN.load(Relaxed), 3 << 18);
        let piece = take(layout(5000));
        assert!(has(piece) && !has(null_mut()));
        // SAFETY: memory of that size.
        unsafe { piece.write_bytes(1, 5000) };
        assert!(take(layout(1 << 20)).is_null());
        shrink();
        assert!(take(layout(5000)).is_null());
        assert!(!take(layout(1000)).is_null());
        give(piece, 5000);
        assert_eq!(take(layout(5000)), piece);
        assert!(super::super::has(1 << 20));
        assert!(!super::super::has(1 << 50));
    }
}
