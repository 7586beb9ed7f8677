//! MPI begins: MPI_Init, and sessions.

use crate::blocks::own;
use crate::lifecycle::state::{BEFORE, INITIALIZED, SESSIONS, STATE};
use crate::lifecycle::{sessions, world};
use crate::platform::mark;
use crate::thread::current;
use crate::thread::within::within;
use std::panic::catch_unwind;
use std::sync::atomic::Ordering::Relaxed;

/// MPI_Init, MPI_Init_thread or MPI_Session_init is about to run: from here on what is recorded shall be found.
pub fn beginning() {
    mark::set(&mark::RECORDS);
    if let Some(store) = own::store() {
        within(|| store.name());
    }
}

/// MPI_Init or MPI_Init_thread has returned.
pub fn initialized() {
    let first = STATE.fetch_update(Relaxed, Relaxed, |state| {
        matches!(state, BEFORE | SESSIONS).then_some(INITIALIZED)
    });
    if first.is_err() {
        return;
    }
    // A mistake of ours must not end the program.
    let _ = catch_unwind(|| within(|| world::begin(current())));
}

/// A session has begun. Programs with sessions only have no MPI_COMM_WORLD that could carry a merge; see [`sessions`].
pub fn session_started() {
    if STATE
        .compare_exchange(BEFORE, SESSIONS, Relaxed, Relaxed)
        .is_err()
    {
        return;
    }
    within(|| sessions::begin(current()));
}
