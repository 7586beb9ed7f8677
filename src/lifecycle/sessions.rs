//! The first session of a program with sessions only.

use crate::blocks::own;
use crate::define;
use crate::lifecycle::apply::rank_is_known;
use crate::platform::job;
use crate::platform::launcher::ProcessEnvironment;
use crate::thread::state::Thread;
use std::sync::atomic::Ordering::Relaxed;

/// The first session is there.
pub fn begin(t: *mut Thread) {
    // SAFETY: the state of the running thread.
    if let Some(t) = unsafe { t.as_mut() } {
        define::library(t);
    }
    if let Some(store) = own::store() {
        let header = store.header();
        let rank = ProcessEnvironment::Own.rank().unwrap_or(0);
        header.rank.store(rank, Relaxed);
        let size = ProcessEnvironment::Own.size();
        header.size.store(size.unwrap_or(1), Relaxed);
        header.run.store(job::identity().unwrap_or(0), Relaxed);
        rank_is_known();
    }
}
