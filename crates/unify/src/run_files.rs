//! Whether block files are of one run, and the clock that those of one machine share.

use crate::scan::Scan;
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

/// Gives processes on the first one's machine one clock, the best known: it is the same, whatever the comparisons say.
pub fn adopt_clocks<'s>(scans: impl Iterator<Item = &'s mut Scan>) {
    let mut scans: Vec<&mut Scan> = scans.collect();
    let Some(first) = scans.first() else { return };
    let boot = first.library.process().boot.clone();
    let source = first.info.clock;
    let near = |scan: &Scan| {
        !boot.is_empty() && scan.library.process().boot == boot && scan.info.clock == source
    };
    let clocks = scans.iter().filter(|scan| near(scan)).map(|s| &s.clock);
    let Some(clock) = clocks.max_by_key(|clock| clock.span()).cloned() else {
        return;
    };
    for scan in &mut scans {
        if near(scan) {
            scan.clock.adopt(&clock);
        }
    }
}
