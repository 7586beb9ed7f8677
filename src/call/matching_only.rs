//! Calls recorded for matching only: filters leave them out of the trace, but messages depend on them.
//!
//! Which send belongs to which receive is told by their order. Where one side of a row of messages is recorded and the other
//! is not (one of two send functions disabled, a part of the run that the ranks enter in the midst of an exchange), the order
//! of what is left says nothing. So where settings can do that, calls that send, receive, begin or complete such operations
//! are recorded in MATCHING_ONLY records instead of being left out: readers match messages with them and show nothing of them.
//!
//! There is room for so many of them (`matching-only-limit`). When it is used up, a gap marker (a GAP record) says that from here on
//! some may be missing. As in a run that reached its end as many messages were received as sent, what comes after the last gap
//! marker can be counted from the end; so half of the room is kept for what comes after the first one.

use crate::call::filter;
use crate::mpi::functions::{CLASSES, MOVES_MESSAGES, NAMES};
use crate::platform::clock;
use crate::thread::records;
use crate::thread::state::Thread;
use blockfile::define::GAP;
use settings::{Setting, Settings};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use wrappers::Class;

/// Whether calls are recorded for matching only. Once it is so, it stays: what was recorded before needs what comes later.
static ON: AtomicBool = AtomicBool::new(false);
/// Bytes of room, and how many of them are used, about.
static ROOM: AtomicU64 = AtomicU64::new(0);
static USED: AtomicU64 = AtomicU64::new(0);
/// Whether there has been a gap already.
static HAS_GAP: AtomicBool = AtomicBool::new(false);

/// Whether calls that are left out are recorded for matching.
pub fn is_on() -> bool {
    ON.load(Relaxed)
}

/// Takes new settings. `is_chosen`: the rank is one of those that record. `cuts`: calls may be left out by other things than their
/// functions. True if it has been switched on by this.
pub fn apply(settings: &Settings, is_chosen: bool, cuts: bool) -> bool {
    ROOM.store(settings.matching_only_limit.unwrap_or(0), Relaxed);
    if is_on() || !is_chosen {
        return false;
    }
    let (mut sends, mut receives, mut left_out) = (false, false, cuts);
    for (i, class) in CLASSES.iter().enumerate() {
        let (true, Some(class)) = (MOVES_MESSAGES[i], *class) else {
            continue;
        };
        let name = NAMES[i].to_str().unwrap_or("P");
        let setting = settings.setting_of(name.strip_prefix('P').unwrap_or(name), Some(class));
        left_out |= setting != Setting::Enable;
        if setting == Setting::Disable {
            continue;
        }
        sends |= is_send(class);
        receives |= is_receive(class);
    }
    // Otherwise there is no arrow that could be a wrong one.
    let is_needed = sends && receives && left_out;
    if is_needed {
        ON.store(true, Relaxed);
    }
    is_needed
}

fn is_send(class: Class) -> bool {
    matches!(
        class,
        Class::Send | Class::Sendrecv | Class::Isend | Class::Isendrecv | Class::Start
    )
}

fn is_receive(class: Class) -> bool {
    matches!(
        class,
        Class::Recv | Class::Sendrecv | Class::Complete | Class::Test
    )
}

/// Whether the call of function `index` that has just returned, and is left out of the trace, is recorded for matching. It is
/// counted as left out, if so.
pub fn wants(t: &mut Thread, index: u16) -> bool {
    if !is_on() {
        return false;
    }
    if t.for_matching_only {
        return true;
    }
    // Of a row of calls that are missing, one record tells.
    if t.gap == (t.sequence, t.at) {
        return false;
    }
    let room = ROOM.load(Relaxed);
    let share = match HAS_GAP.load(Relaxed) {
        true => room,
        false => room / 2,
    };
    if filter::is_over() || USED.load(Relaxed) >= share {
        mark_gap(t);
        return false;
    }
    t.for_matching_only = true;
    t.ignored[usize::from(index)] += 1;
    true
}

/// Notes that a record of at most `bytes` bytes is being written for matching only.
pub fn uses(bytes: usize) {
    USED.fetch_add(bytes as u64, Relaxed);
}

/// Writes a gap marker: from here on calls are missing.
fn mark_gap(t: &mut Thread) {
    records::put_encoded(t, GAP, &[], clock::now());
    t.gap = (t.sequence, t.at);
    HAS_GAP.store(true, Relaxed);
}
