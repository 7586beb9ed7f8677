//! Whether block files are of one run, and the clock that those of one machine share.

use crate::scan::Scan;
use blockfile::layout::{Clock, ended};
use std::fmt;

/// Why files cannot be merged. `file` is the position in the list that was given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RunFilesError {
    /// There is no file of a process whose MPI_Init has returned.
    NoRank,
    /// Two files are of the same rank.
    SameRank {
        /// The second one.
        file: usize,
        /// Their rank.
        rank: u32,
    },
    /// The file is of another run than the ones before.
    OtherRun {
        /// Position of the file in the list.
        file: usize,
    },
    /// The file was written with another version of the function table.
    OtherTable {
        /// Position of the file in the list.
        file: usize,
        /// Fingerprint of the table that it was written with.
        found: u64,
        /// Fingerprint of the table of this program.
        expected: u64,
    },
}

impl fmt::Display for RunFilesError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RunFilesError::NoRank => write!(
                f,
                "no block file of a process that got through MPI_Init: expected at least one"
            ),
            RunFilesError::SameRank { file, rank } => write!(
                f,
                "block file {file} is of rank {rank}, of which there is one already"
            ),
            RunFilesError::OtherRun { file } => {
                write!(f, "block file {file} is of another run than the first one")
            }
            RunFilesError::OtherTable {
                file,
                found,
                expected,
            } => write!(
                f,
                "block file {file} was written by another version of libtrace \
                 (function table {found:016x}, expected {expected:016x})"
            ),
        }
    }
}

impl std::error::Error for RunFilesError {}

/// Whether the times of a process are ticks of the time-stamp counter of the machine that runs under the kernel with the boot id
/// `boot`. All such processes read the same counter, whatever comparisons of their clocks say, and whatever namespaces shift
/// CLOCK_MONOTONIC.
pub fn reads_counter_of(scan: &Scan, boot: &str) -> bool {
    let own = &scan.library.process().boot;
    scan.info.clock == Clock::Tsc && !boot.is_empty() && own == boot
}

/// Puts the times of all processes on one clock, as far as their block files tell. Processes that read the same counter as the first one get one clock.
/// Processes of other hosts whose clocks nobody has compared, as where a run was killed, are placed by the time of day. Gives their number.
pub fn adopt_clocks<'s>(scans: impl Iterator<Item = &'s mut Scan>) -> usize {
    let mut scans: Vec<&mut Scan> = scans.collect();
    adopt_counter(&mut scans);
    place_by_time_of_day(&mut scans)
}

/// Gives all processes that read the same time-stamp counter as the first one the same clock, as MPI_Finalize does: the first one's.
/// If that has not reached MPI_Finalize, in which it reads its clocks last, the one whose readings are farthest apart.
fn adopt_counter(scans: &mut [&mut Scan]) {
    let Some(first) = scans.first() else { return };
    let boot = first.library.process().boot.clone();
    let near = |scan: &Scan| reads_counter_of(scan, &boot);
    if !near(first) {
        return;
    }
    let clock = match first.info.ended {
        ended::FINALIZED => Some(&first.clock),
        _ => {
            let clocks = scans.iter().filter(|scan| near(scan)).map(|s| &s.clock);
            clocks.max_by_key(|clock| clock.span())
        }
    };
    let Some(clock) = clock.cloned() else { return };
    for scan in scans {
        if near(scan) {
            scan.clock.adopt(&clock);
        }
    }
}

/// Places the ranks by the time of day that ran under another kernel than the first process and whose clocks were not compared. CLOCK_MONOTONIC counts
/// from the start of each host. Gives the number of these ranks.
fn place_by_time_of_day(scans: &mut [&mut Scan]) -> usize {
    let Some((first, others)) = scans.split_first_mut() else {
        return 0;
    };
    let boot = first.library.process().boot.clone();
    if boot.is_empty() || first.readings.is_empty() {
        return 0;
    }
    let offset = first.clock.time_of_day_offset();
    let is_apart = |scan: &Scan| {
        let own = &scan.library.process().boot;
        let has_day = !scan.readings.is_empty() && !scan.has_common_clock;
        scan.rank().is_some()
            && has_day
            && !own.is_empty()
            && *own != boot
            && !scan.clock.is_compared()
    };
    let mut placed = 0;
    for scan in others.iter_mut().filter(|scan| is_apart(scan)) {
        scan.clock.place_by_time_of_day(offset);
        placed += 1;
    }
    placed
}
