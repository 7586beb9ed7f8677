//! The table by which a server on the same machine sees which MPI call a thread is in: one file in shared memory, written by
//! all ranks, read by the server when a request of that thread arrives.
//!
//! ```text
//! 0    TIDS_MAGIC, zero up to 64
//! 64   SLOTS slots of 16 bytes: u32 thread ID (0: free), u32 zero, u64 CallID (0: in no call)
//! ```
//!
//! A slot belongs to the thread that put its ID there; it stands in the first free place from [`first_slot`] on.

use std::sync::atomic::{
    AtomicU32, AtomicU64,
    Ordering::{AcqRel, Acquire, Relaxed},
};

/// First bytes of the file.
pub const TIDS_MAGIC: [u8; 8] = *b"LTRTIDS\x01";
/// Bytes in front of the slots.
pub const TIDS_HEADER: usize = 64;
/// Number of slots.
pub const SLOTS: usize = 1 << 16;
/// Bytes of the file.
pub const TIDS_SIZE: usize = TIDS_HEADER + SLOTS * size_of::<TidSlot>();

/// The entry of one thread.
#[repr(C)]
#[derive(Debug, Default)]
pub struct TidSlot {
    /// Thread ID of the system; 0 where the slot is free.
    pub tid: AtomicU32,
    unused: u32,
    /// CallID of the MPI call it is in, 0 if it is in none.
    pub call: AtomicU64,
}

/// Index of the slot at which the search for a thread begins.
pub fn first_slot(tid: u32) -> usize {
    tid.wrapping_mul(0x9E37_79B1) as usize >> 16
}

/// All slots in the order in which they are searched for `tid`.
fn places(tid: u32) -> impl Iterator<Item = usize> {
    let first = first_slot(tid);
    (0..SLOTS).map(move |i| (first + i) % SLOTS)
}

/// The slot of thread `tid`, taken if it has none yet; `None` when all are taken. A thread ID that the system gives out again
/// finds the old one's slot.
pub fn claim(slots: &[TidSlot], tid: u32) -> Option<&TidSlot> {
    for slot in places(tid).filter_map(|i| slots.get(i)) {
        match slot.tid.compare_exchange(0, tid, AcqRel, Acquire) {
            Ok(_) => return Some(slot),
            Err(found) if found == tid => return Some(slot),
            Err(_) => {}
        }
    }
    None
}

/// The CallID of the call that thread `tid` is in: `None` for a thread that has no slot, 0 outside MPI.
pub fn call_of(slots: &[TidSlot], tid: u32) -> Option<u64> {
    for slot in places(tid).filter_map(|i| slots.get(i)) {
        match slot.tid.load(Acquire) {
            0 => return None,
            found if found == tid => return Some(slot.call.load(Relaxed)),
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_find_their_slot() {
        let slots: Vec<TidSlot> = (0..SLOTS).map(|_| TidSlot::default()).collect();
        for tid in 1..=3000 {
            let slot = claim(&slots, tid).expect("a free slot");
            slot.call.store(u64::from(tid) << 3, Relaxed);
        }
        for tid in 1..=3000 {
            assert_eq!(call_of(&slots, tid), Some(u64::from(tid) << 3));
        }
        assert_eq!(call_of(&slots, 3001), None);
        assert!(std::ptr::eq(
            claim(&slots, 5).unwrap(),
            claim(&slots, 5).unwrap()
        ));
    }
}
