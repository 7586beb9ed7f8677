//! A call of an MPI function as the checks see it, whatever format it was recorded in.

use wrappers::{Function, Kind};

/// Number of a communicator on which all its members agree; see [`super::CorrectnessPass::define_comm`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CommKey(pub u32);

/// Number of a function's name; see [`super::CorrectnessPass::function`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FunctionKey(pub u32);

/// Who made a call, and when.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CallPlace {
    /// Rank in MPI_COMM_WORLD.
    pub rank: u32,
    /// Number of the thread.
    pub thread: u32,
    /// The function.
    pub function: FunctionKey,
    /// Begin, seconds in the time of the trace.
    pub start: f64,
}

/// Partner in a message, as a call names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Peer {
    /// MPI_PROC_NULL: there is no message.
    Nobody,
    /// MPI_ANY_SOURCE.
    Anybody,
    /// This rank in the communicator; of an intercommunicator, in its remote group.
    Rank(i32),
}

/// Tag of a message as a call names it; `None` is MPI_ANY_TAG.
pub type AskedTag = Option<i32>;

/// A message that a call asks for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AskedMessage {
    /// Communicator of the message.
    pub comm: CommKey,
    /// Whom it comes from or goes to.
    pub peer: Peer,
    /// The tag.
    pub tag: AskedTag,
    /// Bytes that are sent, or that there is room for.
    pub bytes: Option<u64>,
}

/// What a status says of a message that was received.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReceivedStatus {
    /// Rank of the sender in the communicator; below 0 it is none.
    pub source: i32,
    /// Whether it is the status of a receive from MPI_PROC_NULL: there was no message.
    pub is_from_nobody: bool,
    /// The tag.
    pub tag: i32,
    /// Whether the operation was cancelled.
    pub cancelled: bool,
}

/// An operation that a call has completed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CompletedOperation {
    /// Handle of the request before the call.
    pub request: u64,
    /// Status of the operation, where the trace has it.
    pub status: Option<ReceivedStatus>,
    /// Whether the operation worked.
    pub worked: bool,
}

/// Number of a group of ranks; see [`super::CorrectnessPass::define_group`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct GroupKey(pub u32);

/// What a call of one-sided communication says besides the window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WindowCall {
    /// Rank of the target in the window, where the call names one.
    pub target: Option<i32>,
    /// Whether it asks for an exclusive lock.
    pub is_exclusive: bool,
    /// The group that it names, if its members are known.
    pub group: Option<GroupKey>,
}

/// Kinds of objects that a program makes and has to free.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ObjectKind {
    /// Request.
    Request,
    /// Communicator.
    Communicator,
    /// Group.
    Group,
    /// Datatype.
    Datatype,
    /// Window.
    Window,
    /// File.
    File,
    /// Info object.
    Info,
    /// Reduction operation.
    Reduction,
    /// Key of attributes.
    Keyval,
    /// Error handler.
    ErrorHandler,
}

impl ObjectKind {
    /// Kind of objects that parameters of a kind are.
    pub fn of(kind: Kind) -> Option<ObjectKind> {
        Some(match kind {
            Kind::Request => ObjectKind::Request,
            Kind::Comm => ObjectKind::Communicator,
            Kind::Group => ObjectKind::Group,
            Kind::Datatype => ObjectKind::Datatype,
            Kind::Win => ObjectKind::Window,
            Kind::File => ObjectKind::File,
            Kind::Info => ObjectKind::Info,
            Kind::Op => ObjectKind::Reduction,
            Kind::Keyval => ObjectKind::Keyval,
            Kind::Errhandler => ObjectKind::ErrorHandler,
            _ => return None,
        })
    }

    /// Name for people, for one of them.
    pub fn name(self) -> &'static str {
        match self {
            ObjectKind::Request => "request",
            ObjectKind::Communicator => "communicator",
            ObjectKind::Group => "group",
            ObjectKind::Datatype => "datatype",
            ObjectKind::Window => "window",
            ObjectKind::File => "file",
            ObjectKind::Info => "info object",
            ObjectKind::Reduction => "reduction operation",
            ObjectKind::Keyval => "keyval",
            ObjectKind::ErrorHandler => "error handler",
        }
    }
}

/// Bytes that a rank moves in a collective operation. All ranks of a communicator together send what all of them expect.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct ExchangedBytes {
    /// Bytes that go to all ranks together. What several ranks get counts for each of them.
    pub sent: u64,
    /// Bytes that are to come from all ranks together.
    pub expected: u64,
}

impl ExchangedBytes {
    /// Both sums; `None` if they are too large.
    pub(super) fn checked_add(self, other: ExchangedBytes) -> Option<ExchangedBytes> {
        Some(ExchangedBytes {
            sent: self.sent.checked_add(other.sent)?,
            expected: self.expected.checked_add(other.expected)?,
        })
    }
}

/// What a rank passes to a collective call that must fit what the others pass.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Signature {
    /// Rank of the root in the communicator, where the function has one and the trace tells.
    pub root: Option<i32>,
    /// The reduction operation, where it is a predefined one: see [`super::CorrectnessPass::function`].
    pub operation: Option<FunctionKey>,
    /// Bytes of data of each rank.
    pub bytes: Option<u64>,
    /// What the rank sends and expects, where the function moves data from rank to rank and the trace tells.
    pub exchanged: Option<ExchangedBytes>,
}

/// A finished call.
#[derive(Clone, Debug)]
pub struct Call<'a> {
    /// Who made it, and when.
    pub place: CallPlace,
    /// When it returned, seconds in the time of the trace.
    pub end: f64,
    /// The function in the function table.
    pub function: &'a Function,
    /// Error code; 0 is success, `None` where the trace does not tell.
    pub code: Option<i64>,
    /// Communicator of the call.
    pub comm: Option<CommKey>,
    /// The message that it sends or begins to send.
    pub send: Option<AskedMessage>,
    /// The message that it receives or begins to receive.
    pub receive: Option<AskedMessage>,
    /// Status of a blocking receive, or of a probe that has found a message.
    pub status: Option<ReceivedStatus>,
    /// Handle of the matched message that it makes or receives.
    pub message: Option<u64>,
    /// Requests that it starts, where it starts persistent ones.
    pub starts: Vec<u64>,
    /// Operations that it completes.
    pub completes: Vec<CompletedOperation>,
    /// Objects that it makes, with their handles; requests too.
    pub creates: Vec<(ObjectKind, u64)>,
    /// Handle of the request whose operation it cancels.
    pub cancels: Option<u64>,
    /// The object that it frees.
    pub frees: Option<(ObjectKind, u64)>,
    /// Handle of the file or window that it works on.
    pub on: Option<(ObjectKind, u64)>,
    /// Of a call of one-sided communication that worked, what it says besides the window.
    pub window: Option<WindowCall>,
    /// What has to fit the calls of other ranks.
    pub signature: Signature,
}

impl<'a> Call<'a> {
    /// A call that does nothing.
    pub fn new(place: CallPlace, function: &'a Function) -> Call<'a> {
        Call {
            place,
            end: place.start,
            function,
            code: Some(0),
            comm: None,
            send: None,
            receive: None,
            status: None,
            message: None,
            starts: Vec::new(),
            completes: Vec::new(),
            creates: Vec::new(),
            cancels: None,
            frees: None,
            on: None,
            window: None,
            signature: Signature::default(),
        }
    }

    /// Whether it worked, as far as is known.
    pub fn worked(&self) -> bool {
        self.code.unwrap_or(0) == 0
    }
}

/// What is known of a call that has not ended.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct UnfinishedCall {
    /// Communicator of the call.
    pub comm: Option<CommKey>,
    /// The file or window on which all its ranks make the call, or on which it waits for others, with its handle.
    pub on: Option<(ObjectKind, u64)>,
    /// What it says besides the window, where it synchronises one-sided communication.
    pub window: Option<WindowCall>,
    /// The message that it sends.
    pub send: Option<AskedMessage>,
    /// The message that it receives or looks for.
    pub receive: Option<AskedMessage>,
    /// Number of requests that it waits for, where it is known.
    pub request_count: Option<u32>,
    /// Handles of the first of these requests.
    pub requests: [Option<u64>; 3],
    /// What has to fit the calls of other ranks.
    pub signature: Signature,
}
