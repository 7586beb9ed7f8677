//! Attribution records, the result of the attribution: files, MPI-IO calls, operations below them, and edges from calls to operations.
//!
//! Records come in this order: a file before the records that name it; a call or an operation when all its fields are known; an
//! edge after its call and its operation. An edge holds the points that it connects, so a consumer need not remember them.

use blockfile::operation as op;
use std::sync::Arc;

pub use trace_model::{Actor, Lane};

/// A point of the picture: a lane and a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PicturePoint {
    /// Thread of a rank, server or device.
    pub lane: Lane,
    /// Time, ns on rank 0's clock.
    pub ns: i64,
}

/// Role of a file in the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum FileRole {
    /// Opened by MPI_File_open: it holds the program's data.
    Data,
    /// The MPI library's shared file pointer.
    SharedPointer,
    /// Another file of the MPI library beside the data file (lock probe, memory shared by the ranks).
    Side,
    /// A file that the program uses without MPI.
    Other,
}

/// A file that the run used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenedFile {
    /// Number of the file in the run, from 0. Handles that several ranks opened together share one number, as do files with
    /// equal device and inode.
    pub id: u32,
    /// Role of the file.
    pub role: FileRole,
    /// Name of the file: as given to MPI_File_open, if it was opened by that.
    pub name: String,
    /// `st_dev`, 0 if not known.
    pub device: u64,
    /// `st_ino`, 0 if not known.
    pub inode: u64,
}

/// An MPI call that asks for data of a file to be read or written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DataAccessCall {
    /// CallID.
    pub call: u64,
    /// Function number in the function table.
    pub function: u16,
    /// Name of the function.
    pub name: Arc<str>,
    /// Lane and start of the call.
    pub place: PicturePoint,
    /// End of the call, ns on rank 0's clock.
    pub stop: i64,
    /// Completion of the access, ns on rank 0's clock. A nonblocking or split access is complete at the end of the call that
    /// completes it; for other accesses this equals `stop`.
    pub complete: i64,
    /// Number of the file.
    pub file: u32,
    /// Number of a collective access of the file, from 0, whatever handle it is made through; `None` if not collective. Calls of all
    /// ranks with the same file and number belong together.
    pub sequence: Option<u64>,
    /// True for a write, false for a read.
    pub writes: bool,
    /// Bytes asked for.
    pub bytes: u64,
    /// Offset of the first byte of the access in the file, and of the byte after its last one; `None` if not known or empty.
    pub bounding_extent: Option<(u64, u64)>,
    /// Number of contiguous pieces of the file that the access covers; 0 if not known.
    pub pieces: u64,
    /// True if another call of the same collective access writes some of its bytes, too.
    pub overlaps: bool,
    /// True if the call failed, or the one that completed its access has an error for it.
    pub failed: bool,
}

impl DataAccessCall {
    /// Time in the call, ns.
    pub fn duration(&self) -> u64 {
        u64::try_from(self.stop.saturating_sub(self.place.ns)).unwrap_or(0)
    }

    /// Time from the return of the call until what it began was complete, ns.
    pub fn pending(&self) -> u64 {
        u64::try_from(self.complete.saturating_sub(self.stop)).unwrap_or(0)
    }

    /// Whether the call returned when all was done, and others of its group may have waited in it.
    pub fn is_blocking_collective(&self) -> bool {
        self.sequence.is_some() && self.complete <= self.stop
    }
}

/// An operation below MPI.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AttributedOperation {
    /// Number of the operation, different for all operations of a run.
    pub id: u64,
    /// Number of the operation's kind ([`blockfile::operation::KINDS`]).
    pub kind: u16,
    /// Lane and start of the operation.
    pub place: PicturePoint,
    /// End, ns on rank 0's clock. An asynchronous operation ends when its result is asked for.
    pub stop: i64,
    /// errno, 0 if it succeeded.
    pub error: i32,
    /// Fields of the operation's record in the block file.
    pub record: op::OperationRecord,
    /// Number of the file; `None` if not known.
    pub file: Option<u32>,
    /// CallID of the MPI call that triggered it: the call during which a rank did it, or on whose behalf a server or device did
    /// it; `None` if not known.
    pub call: Option<u64>,
    /// True if the operation did not run on its thread: it waited, or was asynchronous.
    pub outstanding: bool,
    /// Bytes of sieving holes: moved, but asked for by no call (read-modify-write).
    pub hole_bytes: u64,
}

/// Relation between a call and an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Relation {
    /// The operation happened during the call, or on its behalf.
    Triggers,
    /// The operation moved bytes that the call had asked to be moved.
    Carries,
}

/// Precision of the bytes of an edge, from exact to doubtful.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Precision {
    /// Exact to the byte.
    Exact,
    /// Exact to pages of the page cache, 4 KiB each.
    Page,
    /// Only the range between the first and the last byte of the call is known.
    BoundingExtent,
    /// Several operations read or wrote these bytes, and which of them served the call is not known.
    Ambiguous,
    /// Several calls of one collective access wrote these bytes, and whose bytes the operation moved is not known.
    MayCarry,
}

/// A call triggered an operation, or an operation carried bytes of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AttributionEdge {
    /// CallID of the call.
    pub call: u64,
    /// Lane and start of the call.
    pub from: PicturePoint,
    /// Number of the operation.
    pub operation: u64,
    /// Kind of the operation ([`blockfile::operation::KINDS`]).
    pub kind: u16,
    /// Lane and start of the operation.
    pub to: PicturePoint,
    /// Relation between the call and the operation.
    pub relation: Relation,
    /// Bytes of the call that the operation moved; 0 for operations that move none.
    pub bytes: u64,
    /// Precision of the number of bytes.
    pub precision: Precision,
}

/// One attribution record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AttributionRecord {
    /// A file.
    File(OpenedFile),
    /// A data access call.
    Call(DataAccessCall),
    /// An operation.
    Operation(AttributedOperation),
    /// An edge.
    Edge(AttributionEdge),
}
