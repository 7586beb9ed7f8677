//! A rank that gives the merge up tells its neighbours in the tree why, and they give up and tell theirs: nobody waits until the
//! deadline for messages that will not come.
//!
//! Whoever waits for a message looks now and then whether such a one has come instead. What has come stays: each later wait of the
//! rank ends with it, too.
//!
//! Then each takes what others had sent before, until nothing is under way between any two ranks. In the tree merge only neighbours
//! send to each other; in the merge by slices any rank sends to any other. The MPI_Finalize of MPICH with UCX waits for ever for a long
//! message that nobody takes, and UCX complains of short ones.

use super::line::{Exchange, MESSAGE_BYTES, pause};
use super::patience::Patience;
use super::reasons::{MAX_REASON_BYTES, REASON_TAG, neighbours, take_found};
use super::tree::{children, parent};
use super::under_way;
use crate::memory::MappedBytes;
use crate::mpi::constants;
use std::cell::UnsafeCell;
use std::time::Duration;

/// Tag of the message that says that all is gone that a rank and the ranks below it have sent.
const ALL_SENT_TAG: i32 = 791;
/// Tag of the message that says that a rank takes messages no more.
const PARTED_TAG: i32 = 792;
/// Longest wait for what a rank that has left had taken before.
const MAX_WAIT_AFTER_PARTING: Duration = Duration::from_secs(2);
/// Messages that are taken before time is looked at.
const MAX_TAKEN_AT_ONCE: usize = 256;

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

/// Takes what others have sent before they gave up, and waits until nothing is under way between any two ranks. Ends when nothing has come for
/// as long as `deadline`.
/// No memory is allocated. Collective: each rank tells its parent in the tree when all that it and the ranks below it have sent is gone. Rank 0
/// tells all when that holds for every rank. A rank that waits no longer tells its neighbours, who then need not wait for it either.
pub fn part(line: &Exchange, deadline: Option<Duration>) {
    under_way::cancel_receives();
    let up = parent(line.rank);
    let mut sending_children = children(line.rank, line.size).count();
    let mut has_told_parent = false;
    // Whether all ranks have parted, and how long what was taken before may still be on its way.
    let mut parted: Option<(bool, Patience)> = None;
    let mut patience = Patience::new(deadline);
    let mut turn = 0;
    // Whether all ranks have come so far that nothing is under way.
    let is_nothing_left = loop {
        // MPI may fail to take what it shows.
        for _ in 0..MAX_TAKEN_AT_ONCE {
            let Some((from, tag)) = discard_next(line) else {
                break;
            };
            // Who still sends is there, and hears soon that it need not.
            patience.renew();
            match tag {
                ALL_SENT_TAG => sending_children = sending_children.saturating_sub(1),
                PARTED_TAG => {
                    let rest = Patience::new(Some(MAX_WAIT_AFTER_PARTING));
                    parted = Some((Some(from) == up, rest));
                }
                _ => {}
            }
        }
        // Asked each time, as MPI goes on with messages when it is asked.
        let are_own_gone = under_way::are_complete();
        // Of one that has left before this one was ready, what says that it had taken a message may come after its parting.
        if let Some((is_nothing_left, rest)) = &mut parted
            && (*is_nothing_left || are_own_gone || rest.is_over())
        {
            break *is_nothing_left;
        }
        if are_own_gone && sending_children == 0 && !has_told_parent {
            has_told_parent = true;
            match up {
                Some(up) => send_empty(line, up, ALL_SENT_TAG),
                None => break true,
            }
        }
        if patience.is_over() {
            break false;
        }
        pause(turn);
        turn = turn.saturating_add(1);
    };
    for to in neighbours(line).filter(|&to| Some(to) != up || !is_nothing_left) {
        send_empty(line, to, PARTED_TAG);
    }
}

/// Starts to send a message without bytes, which needs no memory of the recorder's.
fn send_empty(line: &Exchange, to: i32, tag: i32) {
    // If it cannot be sent, the other one finds out at the deadline.
    drop(line.start_send(to, tag, Vec::new()));
}

/// Takes the next message of any rank, if there is one, and gives its sender and tag. One for which there is no room stays.
fn discard_next(line: &Exchange) -> Option<(i32, i32)> {
    let any = constants::integers();
    let found = line.probe(any.any_source, any.any_tag).ok()??;
    let bytes = usize::try_from(found.bytes).ok()?;
    let taken = if bytes <= MESSAGE_BYTES {
        // SAFETY: nobody else has the place, and nobody looks at what is in it.
        let place = unsafe { &mut *DISCARDED.0.get() };
        take_found(line, found, place)
    } else {
        // The recorder's own memory may be used up.
        let mut room = MappedBytes::new(bytes)?;
        take_found(line, found, room.bytes())
    };
    Some((taken.from, taken.tag))
}
