//! Programs with sessions only. They have no MPI_COMM_WORLD, and no call that all processes make at the end: one may finalize
//! its sessions early, another begin new ones, a third have none. So nothing is merged over MPI, which could make a
//! program wait for ever that would have ended.
//!
//! Instead the process that exits last merges the block files of all ([`leaving`]). That needs all processes on one host, and
//! a launcher that tells how many they are and what they have in common. Elsewhere the block files stay and are named:
//! `mpitrace recover` does the same later.

use crate::blocks::Store;
use crate::blocks::thread::{self, Thread};
use crate::define;
use crate::finalize;
use crate::finalize::leaving::{self, Leaving, Left};
use crate::platform::host;
use crate::platform::job;
use crate::platform::launcher::Environment;
use crate::process;
use crate::process::first;
use crate::say;
use std::path::Path;
use std::sync::atomic::Ordering::Relaxed;

/// The first session is there.
#[allow(dead_code, reason = "called where mpi.h declares sessions")]
pub fn begin(t: *mut Thread) {
    // SAFETY: the state of the running thread.
    if let Some(t) = unsafe { t.as_mut() } {
        define::library(t);
    }
    if let Some(store) = process::store() {
        let header = store.header();
        let rank = Environment::Own.rank().unwrap_or(0);
        header.rank.store(rank, Relaxed);
        let size = Environment::Own.size();
        header.size.store(size.unwrap_or(1), Relaxed);
        header.run.store(job::identity().unwrap_or(0), Relaxed);
        process::rank_is_known();
    }
}

/// Whether all processes of the run are on this host.
fn all_are_here(size: u32) -> bool {
    size == 1 || Environment::Own.local_size() == Some(size)
}

/// The process exits.
pub fn leave(store: &Store) {
    // SAFETY: the state of the running thread.
    if let Some(t) = unsafe { thread::current().as_mut() } {
        define::left_out(t);
        finalize::own_last_words(t);
    }
    store.write_out();
    let header = store.header();
    let (rank, size) = (header.rank.load(Relaxed), header.size.load(Relaxed));
    let run = header.run.load(Relaxed);
    let settings = process::settings();
    let left = if run == 0 || !all_are_here(size) {
        Err("the ranks are not all on one host".to_owned())
    } else {
        let leaving = Leaving {
            store,
            rank,
            world: leaving::world(size, run, false),
            processes: size,
        };
        leaving.leave(&settings)
    };
    match left {
        Ok(Left::Last) => {}
        Ok(Left::BeforeOthers) if rank == 0 && !settings.quiet => say!(
            "trace: sessions only: the last of {size} processes to exit makes the trace; if one does not come so far, mpitrace recover {} does",
            store.path().parent().unwrap_or(Path::new(".")).display()
        ),
        Ok(Left::BeforeOthers) => {}
        Err(why) => {
            if let Some(others) = first::others_if_lowest(store) {
                say!(
                    "trace: rank {rank} on {} has sessions only and {why}: {}",
                    host::host(),
                    first::where_calls_are(store, others)
                );
            }
        }
    }
}
