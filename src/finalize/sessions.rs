//! Programs with sessions only. They have no MPI_COMM_WORLD, and no call that all processes make at the end: one may finalize
//! its sessions early, another begin new ones, a third have none. So nothing is merged over MPI, which could make a
//! program wait for ever that would have ended.
//!
//! Instead the process that exits last merges the block files of all ([`leaving`]). That needs all processes on one host, and
//! a launcher that tells how many they are and what they have in common. Elsewhere the block files stay and are named:
//! `mpitrace recover` does the same later.

use super::first;
use super::last_words::own_last_words;
use crate::api::lost_calls;
use crate::blocks::BlockStore;
use crate::define;
use crate::finalize::leaving::{self, LeaveOutcome, LeavingProcess};
use crate::in_force;
use crate::platform::host;
use crate::platform::launcher::ProcessEnvironment;
use crate::platform::say::say;
use crate::thread::current;
use settings::MergeWay;
use std::path::Path;
use std::sync::atomic::Ordering::Relaxed;

/// Whether all processes of the run are on this host.
fn all_are_here(size: u32) -> bool {
    size == 1 || ProcessEnvironment::Own.local_size() == Some(size)
}

/// The process exits.
pub fn leave(store: &BlockStore) {
    // SAFETY: the state of the running thread.
    if let Some(t) = unsafe { current().as_mut() } {
        define::left_out(t, lost_calls());
        own_last_words(t);
    }
    store.write_out();
    let header = store.header();
    let (rank, size) = (header.rank.load(Relaxed), header.size.load(Relaxed));
    let run = header.run.load(Relaxed);
    let settings = in_force::copy();
    let left = if run == 0 || !all_are_here(size) {
        Err("the ranks are not all on one host".to_owned())
    } else {
        let leaving = LeavingProcess {
            store,
            rank,
            world: leaving::world(size, run, false),
            processes: size,
        };
        leaving.leave(&settings)
    };
    match left {
        Ok(LeaveOutcome::Last) => {}
        Ok(LeaveOutcome::BeforeOthers) if settings.merge == MergeWay::Later => {}
        Ok(LeaveOutcome::BeforeOthers) if rank == 0 && !settings.quiet => say!(
            "trace: sessions only: the last of {size} processes to exit makes the trace; if one does not come so far, mpitrace recover {} does",
            store.path().parent().unwrap_or(Path::new(".")).display()
        ),
        Ok(LeaveOutcome::BeforeOthers) => {}
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
