//! Other processes as the headers of their block files tell of them.

use blockfile::layout::{FILE_MAGIC, FileHeader};
use std::io::Read;
use std::mem::offset_of;
use std::path::Path;
use trace_model::files;

/// Run, rank and end of a process, from the header of its block file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OtherProcess {
    /// Rank in MPI_COMM_WORLD.
    pub rank: u32,
    /// Process ID.
    pub pid: u32,
    /// Identity of the run; 0 until MPI_Init has returned.
    pub run: u64,
    /// How the process ended, a value of [`blockfile::layout::ended`]; 0 as long as it has not.
    pub ended: u32,
}

impl OtherProcess {
    /// Reads the header of the file at `path`; `None` if it is no block file.
    pub fn read(path: &Path) -> Option<OtherProcess> {
        let mut bytes = [0; size_of::<FileHeader>()];
        files::open_found(path).ok()?.read_exact(&mut bytes).ok()?;
        let word = |at: usize| Some(u32::from_ne_bytes(bytes.get(at..at + 4)?.try_into().ok()?));
        let long = |at: usize| Some(u64::from_ne_bytes(bytes.get(at..at + 8)?.try_into().ok()?));
        let is_one = bytes.starts_with(&FILE_MAGIC);
        is_one.then_some(OtherProcess {
            rank: word(offset_of!(FileHeader, rank))?,
            pid: word(offset_of!(FileHeader, pid))?,
            run: long(offset_of!(FileHeader, run))?,
            ended: word(offset_of!(FileHeader, ended))?,
        })
    }
}
