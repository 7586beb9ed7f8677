//! AttributionEventKind is found out about a run's I/O: files, calls, operations below them, and the edges between the two.
//!
//! Facts come in this order: a file before whatever names it; a call and an operation when they are complete and all that is
//! said about them is known; an edge behind both of its ends. An edge says where its ends are, so that who draws it need not
//! remember them.

use blockfile::operation as op;

pub use trace_model::{Actor, Lane};

/// A point of the picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PicturePoint {
    /// Where.
    pub lane: Lane,
    /// When, ns on rank 0's clock.
    pub ns: i64,
}

/// AttributionEventKind a file is to the program.
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

/// A file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenedFile {
    /// Number of the file, counted from 0 over all ranks; handles that several ranks opened together, and files with equal device
    /// and inode, have one.
    pub id: u32,
    /// AttributionEventKind it is.
    pub role: FileRole,
    /// Name of the file, as MPI_File_open was given it where it was.
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
    /// Its name.
    pub name: String,
    /// Where it was made, and when it began.
    pub place: PicturePoint,
    /// When it returned, ns on rank 0's clock.
    pub stop: i64,
    /// When what it began was complete: of nonblocking and split calls the end of the call that completed it, else `stop`.
    pub complete: i64,
    /// Number of the file.
    pub file: u32,
    /// Number among the collective accesses of the file handle; calls of all ranks with one handle and number belong together.
    pub sequence: Option<u64>,
    /// Whether it writes.
    pub writes: bool,
    /// Bytes asked for.
    pub bytes: u64,
    /// First byte in the file and the byte behind the last one; `None` if not known or empty.
    pub bounding_extent: Option<(u64, u64)>,
    /// In how many pieces these bytes lie in the file; 0 if not known.
    pub pieces: u64,
}

/// An operation below MPI.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AttributedOperation {
    /// Number of the operation, different for all operations of a run.
    pub id: u64,
    /// Number of its kind ([`blockfile::operation::KINDS`]).
    pub kind: u16,
    /// Where and when it began.
    pub place: PicturePoint,
    /// When it ended, ns on rank 0's clock; of asynchronous ones when the result was asked for.
    pub stop: i64,
    /// errno, 0 if it succeeded.
    pub error: i32,
    /// Record of the operation.
    pub record: op::OperationRecord,
    /// Number of the file.
    pub file: Option<u32>,
    /// The MPI call during which it happened; of work of servers and devices that on whose behalf it was done.
    pub call: Option<u64>,
    /// Whether it was only waiting or under way somewhere else, as an asynchronous one, and not running on its thread.
    pub outstanding: bool,
    /// Bytes of sieving holes: moved, but asked for by no call (read-modify-write).
    pub hole_bytes: u64,
}

/// How a call and an operation belong together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Relation {
    /// The operation happened during the call, or on its behalf.
    Triggers,
    /// The operation moved bytes that the call had asked to be moved.
    Carries,
}

/// How sure an edge is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Precision {
    /// To the byte.
    Exact,
    /// By pages of 4 KiB of the page cache.
    Page,
    /// By the range between the first and the last byte of the call.
    BoundingExtent,
    /// Several operations read or wrote these bytes; which one served the call or had its bytes is not known.
    Ambiguous,
    /// Several calls of one collective access wrote these bytes; whose the operation moved is not known.
    MayCarry,
}

/// A call caused an operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AttributionEdge {
    /// CallID of the call.
    pub call: u64,
    /// Where the call is drawn and when it began.
    pub from: PicturePoint,
    /// Number of the operation.
    pub operation: u64,
    /// Its kind.
    pub kind: u16,
    /// Where the operation is drawn and when it began.
    pub to: PicturePoint,
    /// How the call and the operation belong together.
    pub relation: Relation,
    /// Bytes of the call that the operation moved; 0 for operations that move none.
    pub bytes: u64,
    /// How exactly the bytes are known.
    pub precision: Precision,
}

/// Something that was found out.
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
