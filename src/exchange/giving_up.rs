//! A rank that gives the merge up tells its neighbours in the tree why, and they give up and tell theirs: nobody waits until the
//! deadline for messages that will not come.
//!
//! Whoever waits for a message looks now and then whether such a one has come instead. What has come stays: each later wait of the
//! rank ends with it, too.
//!
//! Then each takes from its neighbours what they had sent before, and waits until what it had sent itself is gone. The
//! MPI_Finalize of MPICH with UCX waits for ever for a long message that nobody takes, and UCX complains of short ones.

use super::line::{Exchange, MESSAGE_BYTES, pause};
use super::reasons::{self, MAX_REASON_BYTES, REASON_TAG, neighbours, take};
use super::under_way;
use crate::mpi::constants::ANY_TAG;
use std::cell::UnsafeCell;
use std::time::{Duration, Instant};

/// Tells the neighbours that this rank takes part in the merge no more.
pub fn announce(line: &Exchange, why: &str) {
    let length = (0..=MAX_REASON_BYTES)
        .rev()
        .find(|&n| why.is_char_boundary(n));
    let why = why.get(..length.unwrap_or(0)).unwrap_or_default();
    for to in neighbours(line) {
        // If it cannot be told, the other one finds out at the deadline. The message is complete when [`part`] is.
        drop(line.start_send(to, REASON_TAG, why.as_bytes().to_vec()));
    }
}

/// Buffer of messages that nobody needs any more.
struct DiscardedBytes(UnsafeCell<[u8; MESSAGE_BYTES]>);

// SAFETY: only the thread that is in MPI_Finalize uses it.
unsafe impl Sync for DiscardedBytes {}

static DISCARDED: DiscardedBytes = DiscardedBytes(UnsafeCell::new([0; MESSAGE_BYTES]));

/// Takes what the neighbours have sent before they gave up, each of them having been told by [`announce`], and waits until what this
/// rank has sent is gone, no longer than `deadline`. It needs no memory.
pub fn part(line: &Exchange, deadline: Option<Duration>) {
    under_way::cancel_receives();
    let first = reasons::first();
    // Of each one, whether it has given up.
    let mut all = [None; 3];
    for (place, from) in all.iter_mut().zip(neighbours(line)) {
        *place = Some((from, first == Some(from)));
    }
    let begun = Instant::now();
    for turn in 0.. {
        for (from, has_given_up) in all.iter_mut().flatten() {
            // SAFETY: nobody else has the place, and nobody looks at what is in it.
            let place = unsafe { &mut *DISCARDED.0.get() };
            while let Some((tag, _)) = take(line, *from, ANY_TAG, place) {
                *has_given_up |= tag == REASON_TAG;
            }
        }
        let have_all_given_up = all.iter().flatten().all(|(_, has_given_up)| *has_given_up);
        // Asked first, as MPI goes on with messages when it is asked.
        let is_over = under_way::are_complete() && have_all_given_up;
        if is_over || deadline.is_some_and(|limit| begun.elapsed() > limit) {
            return;
        }
        pause(turn);
    }
}
