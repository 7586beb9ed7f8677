//! Attribution events, the input of the attribution: what one process did to files, made from its records.
//!
//! An event names its process, so events of all processes can go into one stream. It holds everything that only the other records of
//! its process tell: the meaning of a handle, the current view, the call that was running. Numbers of handles, descriptors and
//! threads count within the process; CallIDs and keys of file handles are the same in all processes.
//!
//! Events of one process come in order of time. A data access comes when it begins, with its arguments, although its record is
//! written when it ends; an operation comes when it ends, a large transfer when it begins. So an access comes before the operations that
//! happen in it.

use super::record::{Actor, FileRole};
use blockfile::operation::{self as op, Effect, kind};

/// One event of a process that the attribution needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AttributionEvent {
    /// Process or device of the event.
    pub actor: Actor,
    /// Thread of the event, numbered as in the block file.
    pub thread: u32,
    /// Content of the event.
    pub what: AttributionEventKind,
}

/// Content of an [`AttributionEvent`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AttributionEventKind {
    /// A thread exists.
    Thread {
        /// ID of the thread in the operating system.
        tid: u64,
        /// Identifies a boot of a machine: thread IDs are comparable between processes with the same number.
        machine: u64,
    },
    /// MPI_File_open has succeeded.
    Opened(OpenedHandle),
    /// MPI_File_close has returned.
    Closed {
        /// Number of the handle ([`OpenedHandle::handle`]).
        handle: u32,
    },
    /// A part of the view that applies from now on.
    View(ViewPart),
    /// Accesses through a handle that were not recorded because of filters.
    LeftOut(UnrecordedAccesses),
    /// A data access begins.
    Access(AccessEvent),
    /// A data access is complete: a blocking one has returned, or another call has completed it.
    Complete {
        /// CallID of the access.
        call: u64,
        /// Bytes moved according to the status; `None` if not known.
        moved: Option<u64>,
        /// True if the call that completed it has an error for it.
        failed: bool,
    },
    /// A descriptor refers to a file from now on.
    File(SeenFile),
    /// An asynchronous transfer begins. It comes again as [`AttributionEventKind::Operation`] when its result is asked for.
    Begins(OperationEvent),
    /// An operation has ended, or a large transfer begins: so what it makes servers and devices do comes after it.
    Operation(OperationEvent),
    /// The outermost MPI call on this thread has returned. Comes only if the call contained operations.
    Returned(EnclosingCall),
    /// Positions of parts of a file on a device.
    Extents(ExtentsPart),
}

/// A file handle of MPI.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenedHandle {
    /// Number of the handle among all handles that the process ever got.
    pub handle: u32,
    /// Key of the collective open: equal on all processes that opened the file together, different otherwise. Made of the
    /// communicator and the number of files opened on it before.
    pub key: u128,
    /// Number of processes that opened the file together.
    pub members: u32,
    /// Rank of the process among them.
    pub rank: u32,
    /// Name, as given to MPI_File_open.
    pub name: String,
}

/// Part of a view. The pieces of a view are spread over several events so that no event is large.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ViewPart {
    /// Handle that the view belongs to ([`OpenedHandle::handle`]).
    pub handle: u32,
    /// True for the first part of the view.
    pub first: bool,
    /// True for the last part of the view.
    pub last: bool,
    /// The view with the pieces of this part only.
    pub view: blockfile::define::FileView,
}

/// Start of an access in the view.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AccessPosition {
    /// Offset in the view, in etypes.
    At(i64),
    /// After the accesses of the lower ranks of the group (`MPI_File_write_ordered` and its like).
    Ordered,
    /// Not known when the access begins: set by the shared pointer, or not recorded.
    Unknown,
}

/// Accesses of a process that were made and not recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnrecordedAccesses {
    /// Handle ([`OpenedHandle::handle`]).
    pub handle: u32,
    /// Number of the first collective one among the collective accesses of the handle.
    pub first: u64,
    /// Number of consecutive collective accesses.
    pub collective: u64,
    /// True if some of the accesses may go on after their calls have returned.
    pub outlasts: bool,
}

/// A call that reads or writes data of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AccessEvent {
    /// CallID.
    pub call: u64,
    /// Function number in the function table.
    pub function: u16,
    /// Start of the call, ns on rank 0's clock.
    pub start: i64,
    /// End of the call, ns on rank 0's clock.
    pub stop: i64,
    /// Handle ([`OpenedHandle::handle`]); `None` for a call that never returned, whose arguments are not known.
    pub handle: Option<u32>,
    /// Number of a collective access of the handle, from 0; `None` if not collective.
    pub sequence: Option<u64>,
    /// True for a write, false for a read.
    pub writes: bool,
    /// Start of the access in the view.
    pub position: AccessPosition,
    /// Bytes asked for; `None` if the size of the datatype is not known.
    pub bytes: Option<u64>,
    /// True if the access may go on after the call has returned: it is nonblocking, or begins a split access.
    pub outlasts: bool,
    /// True if the call returned an error.
    pub failed: bool,
}

/// A file that a descriptor refers to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SeenFile {
    /// Number by which operations refer to the file, until another file gets the same number. In a rank it is the descriptor.
    pub seen: u32,
    /// MPI_File handle through which it was opened ([`OpenedHandle::handle`]); `None` if the program opened it without MPI.
    pub handle: Option<u32>,
    /// Role of the file.
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
    /// Start of the call, ns on rank 0's clock.
    pub start: i64,
}

/// An operation below MPI: a file call into libc, a request at a server, or a transfer of a device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OperationEvent {
    /// Number of the operation's kind ([`blockfile::operation::KINDS`]).
    pub kind: u16,
    /// Line of its thread on which it is drawn ([`super::Lane::lane`]).
    pub lane: u32,
    /// Start, ns on rank 0's clock.
    pub start: i64,
    /// End, ns on rank 0's clock.
    pub stop: i64,
    /// errno, 0 if it succeeded.
    pub error: i32,
    /// Fields of the operation's record in the block file.
    pub record: op::OperationRecord,
    /// File ([`SeenFile::seen`]); `None` if not known.
    pub file: Option<u32>,
    /// MPI call in which it happened; `None` outside MPI calls.
    pub inside: Option<EnclosingCall>,
    /// True if the operation did not run on its thread, as an asynchronous one.
    pub outstanding: bool,
    /// Arrival of a request at its server, ns on rank 0's clock.
    pub arrived: i64,
}

impl OperationEvent {
    /// Offsets of the first byte that it moved and of the byte after the last one; `None` if it moves no data. The two are equal
    /// where nothing was moved, as by a read at the end of the file.
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

    /// True for a write and for the begin of an asynchronous write.
    pub(crate) fn writes(&self) -> bool {
        let effect = kind(self.kind).map(|k| k.effect);
        matches!(effect, Some(Effect::Write | Effect::StartWrite))
    }
}

/// Positions of parts of a file on a device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExtentsPart {
    /// The file and some of its extents.
    pub extents: blockfile::define::Extents,
    /// Time at which the extents were read, ns on rank 0's clock.
    pub ns: i64,
}
