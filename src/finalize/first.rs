//! Who says what concerns many ranks of a run: of thousands of ranks that end alike, one says it for all whose block files lie in the
//! same folder. Nothing is sent between the ranks for that: the headers of the block files tell how their processes have ended.

use crate::blocks::{BlockStore, OtherProcess};
use crate::platform::clock;
use std::fs::File;
use std::os::fd::AsRawFd;
use std::path::Path;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

/// Most tries to lock the folder, a millisecond apart, while another rank looks into it.
const MAX_LOCK_TRIES: u32 = 50;

/// Processes of this run, other than this one, whose block files lie in the same folder as this one's.
fn others(store: &BlockStore) -> impl Iterator<Item = OtherProcess> {
    let header = store.header();
    let (run, own) = (header.run.load(Relaxed), header.pid);
    let own_rank = header.rank.load(Relaxed);
    let folder = store.path().parent().unwrap_or(Path::new("."));
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    // Without a name for the run nothing tells who belongs to it.
    let entries = entries.take_while(move |_| run != 0);
    let is_block_file = |path: &Path| path.extension().is_some_and(|e| e == "blocks");
    let paths = entries.map(|entry| entry.path());
    let found = paths.filter(move |path| is_block_file(path));
    let found = found.filter_map(|path| OtherProcess::read(&path));
    found.filter(move |other| other.run == run && (other.pid, other.rank) != (own, own_rank))
}

/// Locks a folder against the other ranks, for a moment. `None` if that cannot be had in time.
fn locked(folder: &Path) -> Option<File> {
    let file = File::open(folder).ok()?;
    (0..MAX_LOCK_TRIES)
        .any(|_| {
            // SAFETY: a descriptor of ours; it is unlocked when it is closed.
            let is_ours =
                unsafe { libc::flock(file.as_raw_fd(), libc::LOCK_EX | libc::LOCK_NB) } == 0;
            if !is_ours {
                clock::nap(Duration::from_millis(1));
            }
            is_ours
        })
        .then_some(file)
}

/// Ranks of a run of which nothing tells who belongs to it that speak for themselves: a few lines tell enough.
pub const FIRST_RANKS: u32 = 4;

/// Whether this rank may speak, where nothing can be known of the others.
fn speaks_anyway(store: &BlockStore) -> bool {
    let header = store.header();
    header.run.load(Relaxed) != 0 || header.rank.load(Relaxed) < FIRST_RANKS
}

/// Notes in the block file that its process ends like this, and tells whether it is the first one of its run to do so.
pub fn is_first_to_end(store: &BlockStore, ended: u32) -> bool {
    let folder = store.path().parent().unwrap_or(Path::new("."));
    let _lock = locked(folder);
    let is_first = speaks_anyway(store) && !others(store).any(|other| other.ended == ended);
    store.header().ended.store(ended, Relaxed);
    store.write_header();
    is_first
}

/// Of the processes of this run that have ended like this one: how many others there are, if none of them has a lower rank.
pub fn others_if_lowest(store: &BlockStore) -> Option<usize> {
    let header = store.header();
    let (rank, ended) = (header.rank.load(Relaxed), header.ended.load(Relaxed));
    if !speaks_anyway(store) {
        return None;
    }
    let mut count = 0;
    for other in others(store).filter(|other| other.ended == ended) {
        if other.rank < rank {
            return None;
        }
        count += 1;
    }
    Some(count)
}

/// Text that says where the calls of this process and of so many `others` are, and how to read them.
pub fn where_calls_are(store: &BlockStore, others: usize) -> String {
    let path = store.path().display();
    let folder = store.path().parent().unwrap_or(Path::new(".")).display();
    match others {
        0 => format!("its calls are in {path} (mpitrace recover reads it)"),
        1 => format!(
            "its calls are in {path}, those of 1 other rank beside it (mpitrace recover {folder} reads them)"
        ),
        n => format!(
            "its calls are in {path}, those of {n} other ranks beside it (mpitrace recover {folder} reads them)"
        ),
    }
}
