//! AttributionEventKind is found in one process's records, made ready for the attribution: an item says what happened, who did it, and all that
//! only this process's other records could have told (what a handle stood for, which view held, which call was running).
//!
//! An item carries who did it, so items of all processes can go into one stream. Numbers of handles, of files seen and of
//! threads are the process's own; CallIDs, and keys of file handles, are equal for all.
//!
//! Items of one process come in order of time. A data access comes when it begins, with its arguments, though these are
//! recorded when it ends; an operation comes when it ends. So an access is known before the operations that happen in it.

use super::fact::{Actor, FileRole};
use blockfile::operation::{self as op, Effect, kind};

/// Something that happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AttributionEvent {
    /// Who did it.
    pub actor: Actor,
    /// On which of its threads, numbered as in the block file.
    pub thread: u32,
    /// AttributionEventKind.
    pub what: AttributionEventKind,
}

/// AttributionEventKind happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AttributionEventKind {
    /// There is a thread.
    Thread {
        /// ID of the thread in the system.
        tid: u64,
        /// Stands for the machine and its boot: thread IDs mean something among processes with the same one.
        machine: u64,
    },
    /// MPI_File_open has succeeded.
    Opened(OpenedHandle),
    /// MPI_File_close has returned.
    Closed {
        /// Which of the process's MPI_File handles ([`OpenedHandle::handle`]).
        handle: u32,
    },
    /// Part of the view that holds from now on.
    View(ViewPart),
    /// Accesses through a handle that filters left out.
    LeftOut(UnrecordedAccesses),
    /// A data access begins.
    Access(AccessEvent),
    /// An access is complete: it has returned, or what it began has been waited for.
    Complete {
        /// CallID of the access.
        call: u64,
        /// Bytes moved, if a status told.
        moved: Option<u64>,
    },
    /// A descriptor stands for a file.
    File(SeenFile),
    /// An asynchronous transfer begins; it comes again as [`AttributionEventKind::Operation`] when its result has been asked for.
    Begins(OperationEvent),
    /// An operation has ended.
    Operation(OperationEvent),
    /// The outermost MPI call on this thread, in which there were operations, has returned: none comes any more.
    Returned(EnclosingCall),
    /// Where parts of a file lie on a device.
    Extents(ExtentsPart),
}

/// A file handle of MPI.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenedHandle {
    /// Number of the handle among all handles that the process ever got.
    pub handle: u32,
    /// Equal on all processes that opened it together, different for all else: made of the communicator and the number of
    /// files opened on it before.
    pub key: u128,
    /// How many processes opened it together.
    pub members: u32,
    /// Rank of the process among them.
    pub rank: u32,
    /// Name, as given to MPI_File_open.
    pub name: String,
}

/// Part of a view: pieces are sent in parts so that no item is large.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ViewPart {
    /// Handle that it is a view of.
    pub handle: u32,
    /// Whether this is the first part.
    pub first: bool,
    /// Whether it is the last one.
    pub last: bool,
    /// The view; of its pieces those of this part.
    pub view: blockfile::define::FileView,
}

/// Where an access begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AccessPosition {
    /// At this many etypes in the view.
    At(i64),
    /// Behind the accesses of the lower ranks of its group.
    Ordered,
    /// Not known beforehand: the shared pointer decides, or nothing tells.
    Unknown,
}

/// Accesses of a process that were made and not recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnrecordedAccesses {
    /// Handle ([`OpenedHandle::handle`]).
    pub handle: u32,
    /// Number of the first collective one among the collective accesses of the handle.
    pub first: u64,
    /// How many collective ones follow each other.
    pub collective: u64,
    /// Whether work of some may go on when they have returned.
    pub outlasts: bool,
}

/// A data access.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AccessEvent {
    /// CallID.
    pub call: u64,
    /// Function number in the function table.
    pub function: u16,
    /// When it was called, ns on rank 0's clock.
    pub start: i64,
    /// When it returned.
    pub stop: i64,
    /// Handle; `None` where a call never returned, of which arguments are not known.
    pub handle: Option<u32>,
    /// Number among the collective accesses of the handle.
    pub sequence: Option<u64>,
    /// Whether it writes.
    pub writes: bool,
    /// Where it begins.
    pub position: AccessPosition,
    /// Bytes asked for; `None` if the size of the datatype is not known.
    pub bytes: Option<u64>,
    /// Whether work may go on when it has returned: it is nonblocking, or the first half of a split access.
    pub outlasts: bool,
}

/// A file as a descriptor stands for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SeenFile {
    /// AttributionEventKind operations name it by, until another file is seen with the same number: of a rank the descriptor.
    pub seen: u32,
    /// Handle of MPI through which it was opened.
    pub handle: Option<u32>,
    /// AttributionEventKind it is.
    pub role: FileRole,
    /// `st_dev`, 0 if not known.
    pub device: u64,
    /// `st_ino`, 0 if not known.
    pub inode: u64,
    /// Name, absolute or as given to MPI_File_open.
    pub name: String,
}

/// The MPI call in which an operation happens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EnclosingCall {
    /// CallID.
    pub call: u64,
    /// Function number in the function table.
    pub function: u16,
    /// When it was called, ns on rank 0's clock.
    pub start: i64,
}

/// An operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OperationEvent {
    /// Number of its kind ([`blockfile::operation::KINDS`]).
    pub kind: u16,
    /// Which of the lines of its thread it is drawn on ([`super::Lane::lane`]).
    pub lane: u32,
    /// When it began, ns on rank 0's clock.
    pub start: i64,
    /// When it ended.
    pub stop: i64,
    /// errno.
    pub error: i32,
    /// Record of the operation.
    pub record: op::OperationRecord,
    /// File, by [`SeenFile::seen`].
    pub file: Option<u32>,
    /// MPI call around it.
    pub inside: Option<EnclosingCall>,
    /// Whether it was under way somewhere else and not running on its thread.
    pub outstanding: bool,
    /// Of requests, when they arrived, ns on rank 0's clock.
    pub arrived: i64,
}

impl OperationEvent {
    /// Bytes of the file that it moved: none, but at some place, behind the end of a file.
    pub(crate) fn moved(&self) -> Option<(u64, u64)> {
        use Effect::{Read, StartRead, StartWrite, Write};
        let effect = kind(self.kind)?.effect;
        if !matches!(effect, Read | Write | StartRead | StartWrite) {
            return None;
        }
        let start = u64::try_from(self.record.offset).ok()?;
        let bytes = u64::try_from(self.record.result).ok()?;
        Some((start, start.checked_add(bytes)?))
    }

    /// Whether it writes, or begins to.
    pub(crate) fn writes(&self) -> bool {
        let effect = kind(self.kind).map(|k| k.effect);
        matches!(effect, Some(Effect::Write | Effect::StartWrite))
    }
}

/// Where parts of a file lie on a device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExtentsPart {
    /// The file and some of its extents.
    pub extents: blockfile::define::Extents,
    /// When that was found, ns on rank 0's clock.
    pub ns: i64,
}
