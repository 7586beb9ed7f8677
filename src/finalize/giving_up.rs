//! A rank that gives the merge up tells its neighbours in the tree why, and they give up and tell theirs: nobody waits until the
//! deadline for messages that will not come.
//!
//! Whoever waits for a message looks now and then whether such a one has come instead. What has come stays: each later wait of the
//! rank ends with it, too.
//!
//! Then each takes from its neighbours what they had sent before, and waits until what it had sent itself is gone. The
//! MPI_Finalize of MPICH with UCX waits for ever for a long message that nobody takes, and UCX complains of short ones.

use super::exchange::{Exchange, Failure, PART};
use super::meeting::pause;
use super::merge::{children, parent};
use super::under_way;
use crate::mpi::constants::{ANY_TAG, predefined};
use crate::mpi::header::{MPI_Datatype, MPI_Status};
use crate::mpi::pmpi;
use crate::mpi::status;
use parking_lot::Mutex;
use std::cell::UnsafeCell;
use std::ffi::c_int;
use std::mem::MaybeUninit;
use std::time::{Duration, Instant};

/// Of the messages, each of which is a reason in UTF-8.
const TAG: i32 = 790;
/// Most bytes of a reason.
const MOST: usize = 240;

/// The first such message that this rank has got.
#[derive(Clone, Copy, Debug)]
struct Heard {
    from: i32,
    why: [u8; MOST],
    length: usize,
}

/// Nothing is allocated while it is locked, as want of memory may end the work that has locked it.
static HEARD: Mutex<Option<Heard>> = Mutex::new(None);

/// The ranks that this one exchanges messages with in the tree.
fn neighbours(line: &Exchange) -> impl Iterator<Item = i32> {
    parent(line.rank)
        .into_iter()
        .chain(children(line.rank, line.size))
}

/// Whether a neighbour has given up.
pub fn heard(line: &Exchange) -> Option<Failure> {
    let known = *HEARD.lock();
    if let Some(heard) = known {
        return Some(Failure::GivenUp(heard.from));
    }
    neighbours(line).find_map(|from| {
        let mut why = [0; MOST];
        let (_, length) = take(line, from, TAG, &mut why)?;
        *HEARD.lock() = Some(Heard { from, why, length });
        Some(Failure::GivenUp(from))
    })
}

/// Takes a message with this tag from that rank, if one is there; gives its tag and length.
fn take(line: &Exchange, from: i32, tag: i32, place: &mut [u8]) -> Option<(i32, usize)> {
    let mut status = MaybeUninit::<MPI_Status>::zeroed();
    let mut flag: c_int = 0;
    // SAFETY: the recorder's communicator, and places for the answer.
    let code = unsafe { pmpi::MPI_Iprobe(from, tag, line.comm.0, &mut flag, status.as_mut_ptr()) };
    if code != 0 || flag == 0 {
        return None;
    }
    // SAFETY: all bytes are set, at least to zero.
    let found = status::decode(unsafe { status.assume_init_ref() }, false);
    let byte: MPI_Datatype = predefined("MPI_BYTE");
    // SAFETY: as above; the message is there, so that nobody waits for long, and the place has as many bytes as is said.
    let code = unsafe {
        pmpi::MPI_Recv(
            place.as_mut_ptr().cast(),
            place.len() as c_int,
            byte,
            from,
            found.tag,
            line.comm.0,
            status.as_mut_ptr(),
        )
    };
    (code == 0).then_some((found.tag, place.len().min(found.bytes as usize)))
}

/// The reason of the rank that gave up first, as far as this one has heard of it: a line that names that rank.
pub fn reason() -> Option<String> {
    let heard = *HEARD.lock();
    heard.map(|heard| {
        let why = heard.why.get(..heard.length).unwrap_or_default();
        String::from_utf8_lossy(why).into_owned()
    })
}

/// Tells the neighbours that this rank takes part in the merge no more.
pub fn tell(line: &Exchange, why: &str) {
    let length = (0..=MOST).rev().find(|&n| why.is_char_boundary(n));
    let why = why.get(..length.unwrap_or(0)).unwrap_or_default();
    for to in neighbours(line) {
        // What cannot be told, the other one finds out at the deadline. The message is complete when [`part`] is.
        drop(line.start_send(to, TAG, why.as_bytes().to_vec()));
    }
}

/// Where messages go that nobody needs any more.
struct Discarded(UnsafeCell<[u8; PART]>);

// SAFETY: only the thread that is in MPI_Finalize uses it.
unsafe impl Sync for Discarded {}

static DISCARDED: Discarded = Discarded(UnsafeCell::new([0; PART]));

/// Takes what the neighbours have sent before they gave up, each of them having been told by [`tell`], and waits until what this
/// rank has sent is gone, no longer than `deadline`. It needs no memory.
pub fn part(line: &Exchange, deadline: Option<Duration>) {
    under_way::cancel_receives();
    let first = HEARD.lock().map(|heard| heard.from);
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
                *has_given_up |= tag == TAG;
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
