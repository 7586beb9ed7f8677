//! The program's own file calls, outside of MPI.

use super::calls::HashMap;
use super::kinds::{Doing, duration, moved};
use super::pattern::Part;
use blockfile::operation::{self as op, Effect};
use io_attribution::AttributedOperation;

/// File calls of the program outside of MPI (`posix all`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OwnFileCalls {
    /// Reads.
    pub read: Part,
    /// Writes.
    pub written: Part,
    /// Opens and closes.
    pub opens: Part,
    /// Waits for the device.
    pub sync: Part,
    /// Positions, names, attributes, sizes, locks.
    pub others: Part,
    /// Files that the program opened, but for those that it only locked.
    pub files: u64,
    /// Files among these that no seen call has read or written.
    pub unseen_files: u64,
}

/// What is known of the files that the program opened.
#[derive(Debug, Default)]
pub(super) struct OwnFiles {
    seen: HashMap<u32, FileUse>,
}

/// What calls did with a file that the program opened.
#[derive(Clone, Copy, Debug, Default)]
struct FileUse {
    /// Whether they read or wrote it.
    moved: bool,
    /// Whether they locked it.
    locked: bool,
}

impl FileUse {
    /// Whether nothing but locks is asked of the file.
    fn is_lock_only(&self) -> bool {
        self.locked && !self.moved
    }
}

/// Files that are told apart.
const FILES: usize = 1 << 16;

fn is_open(kind: u16) -> bool {
    op::kind(kind).is_some_and(|kind| kind.effect == Effect::Open)
}

impl OwnFileCalls {
    pub(super) fn add(&mut self, operation: &AttributedOperation, files: &mut OwnFiles) {
        let (bytes, ns) = (moved(operation), duration(operation));
        let doing = Doing::of(operation.kind);
        let part = match doing {
            Doing::Read => &mut self.read,
            Doing::Write => &mut self.written,
            Doing::Open => &mut self.opens,
            Doing::Sync => &mut self.sync,
            Doing::Lock | Doing::Other => &mut self.others,
        };
        part.add(bytes, ns);
        let Some(file) = operation.file else {
            return;
        };
        if operation.error != 0 {
            return;
        }
        let known = &mut files.seen;
        // A file that is only removed or renamed was not opened.
        let is_opened = doing.is_transfer() || is_open(operation.kind);
        if known.contains_key(&file) || is_opened && known.len() < FILES {
            let used = known.entry(file).or_default();
            used.moved |= doing.is_transfer();
            used.locked |= doing == Doing::Lock;
        }
    }

    pub(super) fn finish(&mut self, files: &OwnFiles) {
        let all = files.seen.values().filter(|file| !file.is_lock_only());
        self.files = all.clone().count() as u64;
        self.unseen_files = all.filter(|file| !file.moved).count() as u64;
    }
}
