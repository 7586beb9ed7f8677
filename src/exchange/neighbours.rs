//! Finding out without MPI which ranks of this host have a recorder: each process of the same start of the launcher is looked at
//! in /proc. Used when a rank does not come to the merge: one that has no recorder never will.

use crate::blocks::OtherProcess;
use crate::platform::job;
use crate::platform::launcher::{self, ProcessEnvironment};
use crate::platform::mark;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Knowledge about the recorder of a rank of this host.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum NeighbourRecorder {
    /// Nothing tells: it has not called MPI yet, or MPI is linked into the program, or another user's.
    Unknown,
    /// There is none, or one for another MPI.
    Absent,
    /// There is one.
    Present,
    /// There is one, which waits in MPI_Finalize for the communicator of all ranks.
    Waits,
}

/// The ranks of MPI_COMM_WORLD that run on this host, as far as this process can see.
#[derive(Clone, Debug, Default)]
pub struct Neighbours {
    ranks: BTreeMap<u32, NeighbourRecorder>,
}

impl Neighbours {
    /// Looks at all processes; `size` is the number of ranks of MPI_COMM_WORLD.
    pub fn now(size: u32) -> Neighbours {
        if is_of_other_launcher(size) {
            return Neighbours::default();
        }
        let mut ranks = BTreeMap::new();
        let Some(own_job) = job::job(&ProcessEnvironment::Own, std::process::id()) else {
            return Neighbours::default();
        };
        for entry in std::fs::read_dir("/proc").into_iter().flatten().flatten() {
            let pid = entry
                .file_name()
                .to_str()
                .and_then(|name| name.parse().ok());
            let Some((pid, environment)) = pid.and_then(|p| Some((p, ProcessEnvironment::of(p)?)))
            else {
                continue;
            };
            let Some(rank) = environment.rank() else {
                continue;
            };
            if job::job(&environment, pid).as_ref() == Some(&own_job) {
                let maps = std::fs::read_to_string(format!("/proc/{pid}/maps"));
                let known = ranks.entry(rank).or_insert(NeighbourRecorder::Unknown);
                // Shells and tools between launcher and program have the same rank, and no MPI.
                *known = (*known).max(recorder(&maps.unwrap_or_default()));
            }
        }
        Neighbours { ranks }
    }

    /// Ranks of this host that have no recorder for sure.
    pub fn without_recorder(&self) -> Vec<u32> {
        let absent = |(_, known): &(&u32, &NeighbourRecorder)| **known == NeighbourRecorder::Absent;
        let ranks = self.ranks.iter().filter(absent);
        ranks.map(|(rank, _)| *rank).collect()
    }

    /// Number of the `size` ranks of the run that are not known to have a recorder, and the first few of them: they run elsewhere,
    /// or nothing tells.
    pub fn uncertain(&self, size: u32) -> (usize, Vec<u32>) {
        const MAX_NAMED: usize = 2;
        let present = Some(&NeighbourRecorder::Present);
        let is_sure = |rank: &u32| self.ranks.get(rank) >= present;
        let uncertain = || (0..size).filter(|rank| !is_sure(rank));
        (uncertain().count(), uncertain().take(MAX_NAMED).collect())
    }

    /// Whether all `size` ranks run on this host, and each waits in MPI_Finalize for the communicator of all ranks.
    pub fn all_wait(&self, size: u32) -> bool {
        (0..size).all(|rank| self.ranks.get(&rank) == Some(&NeighbourRecorder::Waits))
    }

    /// Whether all `size` ranks run on this host, and of each it is known whether it has a recorder.
    pub fn are_all_known(&self, size: u32) -> bool {
        let known = |rank| {
            self.ranks
                .get(&rank)
                .is_some_and(|r| *r != NeighbourRecorder::Unknown)
        };
        (0..size).all(known)
    }
}

/// Whether the launcher counts other ranks than the `size` of MPI_COMM_WORLD. The MPI is none of its own then, and each process
/// that it has started is a world by itself.
fn is_of_other_launcher(size: u32) -> bool {
    launcher::size().is_some_and(|counted| counted != size)
}

/// Number of processes that the launcher has started on this host, of `size` ranks of MPI_COMM_WORLD, if `folder` holds the block files of as many of
/// this `run`: all of them have a recorder then. A quick answer, which spares the look at every process. All ranks must come to the same one: so a
/// process that has not left MPI_Init yet counts, too, which does not know its run.
pub fn all_with_block_files(folder: &Path, size: u32, run: u64) -> Option<u32> {
    if run == 0 || is_of_other_launcher(size) {
        return None;
    }
    let expected = ProcessEnvironment::Own.local_size()?;
    let is_alive = |pid: u32| Path::new("/proc").join(pid.to_string()).exists();
    let may_be = |found: &OtherProcess| [run, 0].contains(&found.run) && is_alive(found.pid);
    // Nor need it know its rank.
    let pids = with_block_files(folder).filter(may_be).map(|one| one.pid);
    (BTreeSet::from_iter(pids).len() >= expected as usize).then_some(expected)
}

/// Ranks of this `run` that have a block file in `folder`. Without an identity of the run, which is 0 then, nothing tells whose the files are: there is
/// none.
pub fn of_run_with_block_files(folder: &Path, run: u64) -> BTreeSet<u32> {
    let of_run = |found: &OtherProcess| run != 0 && found.run == run;
    let ranks = with_block_files(folder).filter(of_run).map(|one| one.rank);
    ranks.collect()
}

/// Processes of any run with a block file in `folder`.
fn with_block_files(folder: &Path) -> impl Iterator<Item = OtherProcess> {
    let names = std::fs::read_dir(folder).into_iter().flatten().flatten();
    names.filter_map(|entry| {
        let name = entry.file_name();
        let name = name.to_str()?;
        // Other files are not opened.
        let is_block_file = name.starts_with("libtrace.") && name.ends_with(".blocks");
        is_block_file.then(|| OtherProcess::read(&entry.path()))?
    })
}

/// Looks for a recorder in the mappings of a process, the text of /proc/PID/maps.
fn recorder(maps: &str) -> NeighbourRecorder {
    let files = || maps.lines().filter_map(|line| line.split_once('/'));
    let has = |names: &[&str]| {
        files().any(|(_, rest)| {
            let name = rest.rsplit('/').next().unwrap_or_default();
            names.iter().any(|start| name.starts_with(start))
        })
    };
    let has_none = || has(&["libmpi"]) && !has(&["libtrace", "liblmpe", "libmpe"]);
    if mark::WAITS.is_in(maps) {
        NeighbourRecorder::Waits
    } else if mark::RECORDS.is_in(maps) {
        NeighbourRecorder::Present
    } else if mark::STEPS_ASIDE.is_in(maps) || has_none() {
        NeighbourRecorder::Absent
    } else {
        // With a recorder and no mark, it has not called MPI_Init yet.
        NeighbourRecorder::Unknown
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use blockfile::layout::{FILE_MAGIC, FileHeader};
    use std::mem::offset_of;

    #[test]
    fn ranks_that_are_not_seen_to_record_are_uncertain() {
        let known = [
            (0, NeighbourRecorder::Present),
            (2, NeighbourRecorder::Unknown),
            (3, NeighbourRecorder::Present),
        ];
        let neighbours = Neighbours {
            ranks: known.into(),
        };
        assert_eq!(neighbours.uncertain(6), (4, vec![1, 2]));
        assert_eq!(neighbours.uncertain(1), (0, vec![]));
        assert!(!neighbours.all_wait(1));
    }

    #[test]
    fn block_files_of_other_runs_do_not_count() {
        let folder = std::env::temp_dir().join(format!("neighbours-{}", std::process::id()));
        drop(std::fs::remove_dir_all(&folder));
        std::fs::create_dir(&folder).unwrap();
        for (rank, pid, run) in [(0_u32, 11_u32, 7_u64), (1, 12, 8), (2, 13, 7), (3, 14, 0)] {
            let mut header = vec![0; size_of::<FileHeader>()];
            let mut put =
                |at: usize, value: &[u8]| header[at..at + value.len()].copy_from_slice(value);
            put(0, &FILE_MAGIC);
            put(offset_of!(FileHeader, rank), &rank.to_ne_bytes());
            put(offset_of!(FileHeader, pid), &pid.to_ne_bytes());
            put(offset_of!(FileHeader, run), &run.to_ne_bytes());
            let name = format!("libtrace.a.b.{rank}.{pid}.blocks");
            std::fs::write(folder.join(name), header).unwrap();
        }
        let ranks = |run| Vec::from_iter(of_run_with_block_files(&folder, run));
        assert_eq!(ranks(7), [0, 2]);
        assert_eq!(ranks(8), [1]);
        assert_eq!(ranks(0), [0; 0]);
        assert_eq!(with_block_files(&folder).count(), 4);
        std::fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn mappings_tell_whether_there_is_a_recorder() {
        let mpi = "7f00-7f10 r-xp 00000000 08:01 42   /usr/lib/libmpich.so.12.2.2\n";
        let trace = "7f20-7f30 r-xp 00000000 08:01 43   /opt/my trace/libtrace.so\n";
        let marked = "7f40-7f50 ---s 00000000 00:01 44  /memfd:libtrace-records (deleted)\n";
        let aside = "7f40-7f50 ---s 00000000 00:01 44   /memfd:libtrace-steps-aside (deleted)\n";
        assert_eq!(recorder(mpi), NeighbourRecorder::Absent);
        assert_eq!(
            recorder(&format!("{mpi}{trace}")),
            NeighbourRecorder::Unknown
        );
        assert_eq!(
            recorder(&format!("{mpi}{trace}{marked}")),
            NeighbourRecorder::Present
        );
        assert_eq!(
            recorder(&format!("{mpi}{trace}{aside}")),
            NeighbourRecorder::Absent
        );
        assert_eq!(recorder(marked), NeighbourRecorder::Present);
        let waits = "7f50-7f60 ---s 00000000 00:01 45  /memfd:libtrace-waits (deleted)\n";
        assert_eq!(
            recorder(&format!("{mpi}{trace}{marked}{waits}")),
            NeighbourRecorder::Waits
        );
        assert_eq!(
            recorder("7f00-7f10 r-xp 00000000 08:01 42   /bin/sh\n"),
            NeighbourRecorder::Unknown
        );
        assert_eq!(recorder(""), NeighbourRecorder::Unknown);
    }
}
