//! MPI_Finalize: merges and writes the trace, and says what stays where that fails.

use super::finish::{KeptForCaller, Unmerged, finish};
use super::first;
use super::leaving::{self, LeavingProcess};
use super::trouble::{Trouble, on_rank};
use crate::blocks::{BlockStore, own};
use crate::exchange::meeting::{self, AbsentRanks, Missed};
use crate::exchange::{giving_up, neighbours, reasons, under_way};
use crate::in_force;
use crate::memory::{self, MergeStopped};
use crate::mpi::world::{self, World};
use crate::platform::host;
use crate::platform::say::say;
use settings::Settings;
use std::collections::BTreeSet;

/// Merges and writes the trace. Collective; called once, before the real MPI_Finalize. A rank that could not record anything
/// takes part like the others.
pub fn run() {
    memory::merging();
    merge();
    memory::merged();
}

fn merge() {
    let store = own::store();
    let Some(world) = world::known() else {
        if let Some(store) = store {
            store.write_out();
            say!(
                "trace: no MPI_COMM_WORLD to merge the ranks with: the calls of this process are in {} on {} (mpitrace recover reads it)",
                store.path().display(),
                host::host()
            );
        }
        return;
    };
    let settings = in_force::copy();
    // Neither a mistake of ours nor want of memory must end the program: it becomes one more reason why there is no merged trace.
    let mut kept = KeptForCaller::default();
    let finished = memory::unless_exhausted(|| finish(&world, &settings, &mut kept))
        .unwrap_or_else(|why| Err(Unmerged::Because(unfinished(why))));
    let failed = finished.as_ref().err();
    let waiting = kept.waiting.filter(|_| failed.is_some());
    if let (Some(Unmerged::Because(why)), Some(line)) = (failed, waiting) {
        // Memory may be what is wrong. Then the others find it out at the deadline.
        let _ = memory::unless_exhausted(|| {
            let first = reasons::reason().unwrap_or_else(|| on_rank(&world, why));
            giving_up::announce(&line, &first);
        });
    }
    drop(kept.claim);
    if let Some(store) = store.filter(|_| finished.is_err() || settings.keep_blocks) {
        store.write_out();
    }
    match finished {
        Ok(()) => {
            under_way::release();
            meeting::part();
            if let Some(store) = store.filter(|_| !settings.keep_blocks) {
                store.remove();
            }
        }
        // Rank 0 has said what is to be done.
        Err(Unmerged::Later) => {
            under_way::release();
            meeting::part();
        }
        Err(Unmerged::Missed(missed)) => go_on_apart(&world, &missed, &settings),
        Err(Unmerged::Because(why)) => files_stay(&world, &why),
    }
    if let Some(line) = waiting {
        giving_up::part(&line, settings.deadline);
    }
    under_way::release();
}

/// Names the block files, which stay. Of all ranks that have come so far and whose files lie together, the lowest one says it.
fn files_stay(world: &World, why: &str) {
    let (rank, host) = (world.rank, host::host());
    match own::store() {
        Some(store) => {
            // Memory may be what is wrong.
            let found = memory::unless_exhausted(|| first::others_if_lowest(store));
            if let Some(others) = found.unwrap_or(Some(0)) {
                let calls = first::where_calls_are(store, others);
                say!("trace: rank {rank} on {host}: {why}; {calls}");
            }
        }
        None if rank == 0 => say!("trace: rank {rank} on {host}: {why}"),
        None => {}
    }
}

/// Merges the ranks that have a recorder without MPI, if all ranks are on this host and their block files in one folder; otherwise the block files
/// stay.
fn go_on_apart(world: &World, missed: &Missed, settings: &Settings) {
    let size = world.size as u32;
    let (who, absent, are_all_here) = match missed {
        Missed::Absent(absent) => {
            let who = said_absent(absent, size);
            (who, &absent.ranks[..], absent.are_all_here)
        }
        Missed::OutOfStep { least, most } => {
            let who = format!(
                "some ranks have made {least} collective calls on MPI_COMM_WORLD, others {most}"
            );
            (who, &[][..], true)
        }
        Missed::Apart => {
            let who = "all ranks are in MPI_Finalize but cannot exchange messages there, for example after a nonblocking collective call that not all of them made";
            (who.to_owned(), &[][..], true)
        }
    };
    let first = (0..size).find(|rank| !absent.contains(rank));
    let is_first = first == Some(world.rank as u32);
    let lie_together = |store: &BlockStore| {
        // Processes that have left already need not run any more.
        let found = match store.path().parent() {
            Some(folder) => neighbours::of_run_with_block_files(folder, world.run),
            None => BTreeSet::new(),
        };
        (0..size).all(|rank| absent.contains(&rank) || found.contains(&rank))
    };
    let can_leave = |store: &&_| are_all_here && world.run != 0 && lie_together(store);
    let Some(store) = own::store().filter(can_leave) else {
        files_stay(world, &format!("{who}: not merged"));
        return;
    };
    if is_first {
        let of = if absent.is_empty() {
            "merged without MPI"
        } else {
            "the trace is of the others"
        };
        say!("trace: {who}: {of}");
    }
    let leaving = LeavingProcess {
        store,
        rank: world.rank as u32,
        world: leaving::world(size, world.run, world.spawned),
        processes: size - absent.len() as u32,
    };
    let left = memory::unless_exhausted(|| leaving.leave(settings));
    if let Err(why) = left.unwrap_or_else(|why| Err(unfinished(why))) {
        files_stay(world, &why);
    }
}

/// Who has no recorder, in words.
fn said_absent(absent: &AbsentRanks, size: u32) -> String {
    let host = host::host();
    let list: Vec<String> = absent.ranks.iter().take(4).map(u32::to_string).collect();
    let more = if absent.ranks.len() > list.len() {
        " …"
    } else {
        ""
    };
    format!(
        "{} of {size} ranks {} no recorder (on {host}: rank {}{more})",
        absent.ranks.len(),
        if absent.ranks.len() == 1 {
            "has"
        } else {
            "have"
        },
        list.join(", "),
    )
}

/// Why there is no merged trace, where the merge did not come to its end.
fn unfinished(why: MergeStopped) -> Trouble {
    match why {
        MergeStopped::Exhausted => "no more memory: not merged".to_owned(),
        MergeStopped::Panicked => "the recorder failed: not merged".to_owned(),
    }
}
