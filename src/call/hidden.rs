//! Calls that filters leave out and that stand in the blocks all the same, hidden, because messages hang on them.
//!
//! Which send belongs to which receive is told by their order. Where one side of a row of messages is recorded and the other
//! is not (one of two send functions disabled, a part of the run that the ranks enter in the midst of an exchange), the order
//! of what is left says nothing. So where settings can do that, calls that send, receive, begin or complete such operations
//! are recorded in HIDDEN records instead of being left out: projections follow them and show nothing of them.
//!
//! There is room for so many of them (`hidden-limit`). When it is used up, a CUT record says that from here on some may be
//! missing. As in a run that reached its end as many messages were received as sent, what stands behind the last CUT record
//! can be counted from the end; so half of the room is kept for what comes behind the first one.

use crate::blocks::fill;
use crate::blocks::thread::Thread;
use crate::call;
use crate::call::filter;
use crate::mpi::functions::{CLASSES, MOVES_MESSAGES, NAMES};
use crate::platform::clock;
use crate::settings::{Setting, Settings};
use blockfile::define::CUT;
use std::sync::atomic::{
    AtomicBool, AtomicU64,
    Ordering::{Relaxed, SeqCst},
    fence,
};
use wrappers::Class;

/// Whether calls are hidden. Once it is so, it stays: what was recorded before needs what comes later.
static ON: AtomicBool = AtomicBool::new(false);
/// Bytes of room, and how many of them are used, about.
static ROOM: AtomicU64 = AtomicU64::new(0);
static USED: AtomicU64 = AtomicU64::new(0);
/// Whether some are missing already.
static WAS_CUT: AtomicBool = AtomicBool::new(false);

/// Whether calls are hidden.
pub fn is_on() -> bool {
    ON.load(Relaxed)
}

/// Takes new settings. `is_chosen`: the rank is one of those that record. `cuts`: calls may be left out by other things than their
/// functions.
pub fn apply(settings: &Settings, is_chosen: bool, cuts: bool) {
    ROOM.store(settings.hidden_limit.unwrap_or(0), Relaxed);
    if is_on() || !is_chosen {
        return;
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
    if sends && receives && left_out {
        ON.store(true, Relaxed);
        call::set_unusual();
        // Before any mode says that a call is hidden.
        fence(SeqCst);
    }
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

/// Whether the call of function `index` that has just returned, and is left out, stands hidden in the blocks. It is counted as
/// left out, if so.
pub fn wants(t: &mut Thread, index: u16) -> bool {
    if !is_on() {
        return false;
    }
    if t.hides {
        return true;
    }
    // Of a row of calls that are missing, one record tells.
    if t.cut == (t.sequence, t.at) {
        return false;
    }
    let room = ROOM.load(Relaxed);
    let share = match WAS_CUT.load(Relaxed) {
        true => room,
        false => room / 2,
    };
    if filter::is_over() || USED.load(Relaxed) >= share {
        cut(t);
        return false;
    }
    t.hides = true;
    t.ignored[usize::from(index)] += 1;
    true
}

/// A record of at most so many bytes is being written for one.
pub fn uses(bytes: usize) {
    USED.fetch_add(bytes as u64, Relaxed);
}

/// From here on calls are missing.
fn cut(t: &mut Thread) {
    fill::put_encoded(t, CUT, &[], clock::now());
    t.cut = (t.sequence, t.at);
    WAS_CUT.store(true, Relaxed);
}
