//! CallIDs: the rank in the high bits, a number in the others that counts up in the process.

use crate::blocks::BlockStore;
use crate::blocks::own::store;
use crate::thread::registry::all;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

static NEXT_CALL: AtomicU64 = AtomicU64::new(1);

/// The first of the next `n` numbers of calls.
pub fn next_calls(n: u64) -> u64 {
    NEXT_CALL.fetch_add(n, Relaxed)
}

/// CallIDs given out so far, over all threads.
pub fn calls_given_out() -> u64 {
    all()
        .map(|thread| {
            // SAFETY: states live until the process ends; a call that another thread begins now may be missed.
            let t = unsafe { thread.as_ref() };
            t.reserved - (t.call_limit - t.next_call)
        })
        .sum()
}

/// The CallID of this process's call `number`.
pub fn callid(number: u64) -> u64 {
    let Some(header) = store().map(BlockStore::header) else {
        return number;
    };
    let rank = match header.rank.load(Relaxed) {
        u32::MAX => 0,
        rank => u64::from(rank),
    };
    rank << header.counter_bits.load(Relaxed) | number
}
