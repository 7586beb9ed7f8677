//! Effect of a call on messages, requests and communicators, derived once per function from the function table.

use super::arguments::Arguments;
use super::completion::Completion;
use super::library::Library;
use blockfile::args::{ArgValue, ArgValues};
use blockfile::encode::MpiStatus;
use blockfile::layout::Family;
use blockfile::record::Record as Call;
use wrappers::{Class, FileAccessKind, Function, Kind, Table};

pub use super::arguments::ParameterIndex;

/// The sending part of a call.
#[derive(Clone, Copy, Debug)]
pub struct SendPart {
    /// Number of elements.
    pub count: ParameterIndex,
    /// Datatype of the elements.
    pub datatype: ParameterIndex,
    /// Rank of the receiver.
    pub dest: ParameterIndex,
    /// Tag.
    pub tag: ParameterIndex,
    /// Number of partitions, where the call has such.
    pub partitions: Option<ParameterIndex>,
}

/// The receiving part of a call.
#[derive(Clone, Copy, Debug)]
pub struct RecvPart {
    /// Number of elements.
    pub count: ParameterIndex,
    /// Datatype of the elements.
    pub datatype: ParameterIndex,
    /// Source and tag; not there where a message is received that was matched before.
    pub envelope: Option<(ParameterIndex, ParameterIndex)>,
    /// Number of partitions, where the call has such.
    pub partitions: Option<ParameterIndex>,
}

/// Role of a call in the merge: its effect on messages, requests, communicators and files.
#[derive(Clone, Copy, Debug)]
pub enum CallRole {
    /// Nothing but a state.
    Plain,
    /// Sends, receives, or both, before it returns.
    Blocking,
    /// Begins to send, to receive, or both; the request stands for it.
    Nonblocking {
        /// The new request.
        request: ParameterIndex,
    },
    /// Makes a persistent operation.
    Init {
        /// The new request.
        request: ParameterIndex,
    },
    /// Starts persistent operations: a request or an array of them.
    Start {
        /// The requests.
        requests: ParameterIndex,
    },
    /// Waits for or tests requests.
    Complete(Completion),
    /// Tells whether operations are complete, and leaves their requests as they are: MPI_Request_get_status and its like.
    Look(Completion),
    /// MPI_Request_free.
    FreeRequest {
        /// The request.
        request: ParameterIndex,
    },
    /// MPI_Cancel.
    Cancel {
        /// The request.
        request: ParameterIndex,
    },
    /// Looks for a message and takes it out of matching.
    Match {
        /// The matched message.
        message: ParameterIndex,
        /// Whether there is one.
        flag: Option<ParameterIndex>,
    },
    /// Makes requests for something that is no message.
    OtherRequest {
        /// The request.
        request: ParameterIndex,
    },
    /// Frees a communicator.
    FreeComm {
        /// The communicator.
        comm: ParameterIndex,
    },
    /// Accesses a file.
    Access {
        /// Kind of access to the file.
        io: FileAccessKind,
        /// The handle.
        file: ParameterIndex,
    },
    /// Opens or closes a file, or moves its pointer.
    File(FileCall),
}

/// Effect of a call on a file handle, other than a data access.
#[derive(Clone, Copy, Debug)]
pub enum FileCall {
    /// Opens a file.
    Open {
        /// The handle.
        file: ParameterIndex,
        /// The access mode.
        amode: ParameterIndex,
    },
    /// Closes a file.
    Close {
        /// The handle.
        file: ParameterIndex,
    },
    /// Sets a view.
    View {
        /// The handle.
        file: ParameterIndex,
        /// The elementary datatype.
        etype: ParameterIndex,
    },
    /// Moves the file pointer.
    Seek {
        /// The handle.
        file: ParameterIndex,
        /// By how many etypes.
        offset: ParameterIndex,
        /// From where.
        whence: ParameterIndex,
    },
    /// Asks for the file pointer.
    Position {
        /// The handle.
        file: ParameterIndex,
        /// The offset that was returned.
        offset: ParameterIndex,
    },
}

impl FileCall {
    /// The file handle.
    pub fn file(self) -> ParameterIndex {
        match self {
            FileCall::Open { file, .. }
            | FileCall::Close { file }
            | FileCall::View { file, .. }
            | FileCall::Seek { file, .. }
            | FileCall::Position { file, .. } => file,
        }
    }
}

/// Everything about one function.
#[derive(Clone, Debug)]
pub struct FunctionPlan<'t> {
    function: &'t Function,
    arguments: Arguments<'t>,
    /// Effect of the call on messages, requests, communicators and files.
    pub role: CallRole,
    /// The communicator the call is drawn on.
    pub comm: Option<ParameterIndex>,
    /// Sender and tag of the message that the call asks for.
    pub envelope: Option<(ParameterIndex, ParameterIndex)>,
    /// The message that the call sends.
    pub send: Option<SendPart>,
    /// The message that the call receives.
    pub recv: Option<RecvPart>,
    /// The parameter with the status of the call, or its first one.
    pub status: Option<ParameterIndex>,
    /// The matched message that is received.
    pub message: Option<ParameterIndex>,
    /// Communicator that the call makes.
    pub new_comm: Option<ParameterIndex>,
    /// Whether the call makes a datatype.
    pub new_type: bool,
    /// The root of a collective call.
    pub root: Option<ParameterIndex>,
    /// Count and datatype of what each rank passes to a collective call.
    pub own_amount: Option<(ParameterIndex, ParameterIndex)>,
    /// Counts and datatypes of what each rank passes to a collective call for each rank, and of what it gets from each.
    pub amounts_by_rank: [Option<(ParameterIndex, ParameterIndex)>; 2],
    /// Count and datatype of what a one-sided operation moves; one element without a count.
    pub remote_amount: Option<(Option<ParameterIndex>, ParameterIndex)>,
    /// The file or window that ranks share, where they call the function together.
    pub shared_handle: Option<ParameterIndex>,
    /// Whether the call makes that file or window.
    pub makes_handle: bool,
    /// Whether the persistent operation that the call makes is collective.
    pub is_collective: bool,
    /// Whether the call may send something at its start.
    pub sends: bool,
    /// Whether its end is about messages, requests, files or communicators.
    pub ends_something: bool,
}

/// Plans of all functions of `table`.
pub fn plans(table: &Table, family: Family) -> Vec<FunctionPlan<'_>> {
    table
        .functions
        .iter()
        .map(|f| FunctionPlan::new(f, family))
        .collect()
}

impl<'t> FunctionPlan<'t> {
    /// Whether a running call of the function tells its communicator.
    pub fn tells_comm_while_running(&self) -> bool {
        let told = self.function.waits();
        told.is_some_and(|told| {
            told.comm.is_some() && told.requests.is_none() && told.object.is_none()
        })
    }

    fn new(function: &'t Function, family: Family) -> FunctionPlan<'t> {
        let first = |kind| function.first(kind);
        let last = |kind| function.params.iter().rposition(|p| p.kind == kind);
        let partitions = match function.class {
            Class::PsendInit | Class::PrecvInit => first(Kind::Length),
            _ => None,
        };
        let count = |a: Option<ParameterIndex>, b: Option<ParameterIndex>| a.or(b);
        let send = (|| {
            Some(SendPart {
                count: count(first(Kind::Count), first(Kind::MpiCount))?,
                datatype: first(Kind::Datatype)?,
                dest: first(Kind::Dest)?,
                tag: first(Kind::Tag)?,
                partitions,
            })
        })();
        let message = function.params.iter().position(|p| p.kind == Kind::Message);
        let envelope = last(Kind::Source).zip(last(Kind::Tag));
        let recv = (|| {
            Some(RecvPart {
                count: count(last(Kind::Count), last(Kind::MpiCount))?,
                datatype: last(Kind::Datatype)?,
                envelope,
                partitions,
            })
        })();
        let request = first(Kind::Request);
        let role = role(function, request).unwrap_or(CallRole::Plain);
        let moves = matches!(
            role,
            CallRole::Blocking | CallRole::Nonblocking { .. } | CallRole::Init { .. }
        );
        let send = send.filter(|_| moves);
        let recv = recv.filter(|_| moves && (envelope.is_some() || message.is_some()));
        FunctionPlan {
            function,
            arguments: Arguments::new(function, family),
            role,
            sends: match role {
                CallRole::Blocking | CallRole::Nonblocking { .. } => send.is_some(),
                _ => matches!(role, CallRole::Start { .. }),
            },
            ends_something: match role {
                CallRole::Blocking => recv.is_some(),
                _ => !matches!(role, CallRole::Plain | CallRole::Start { .. }),
            },
            comm: function.comm(),
            envelope,
            send,
            recv,
            status: first(Kind::Status),
            message,
            new_comm: created(function, Kind::Comm),
            new_type: created(function, Kind::Datatype).is_some(),
            root: first(Kind::Root),
            own_amount: function.own_amount(),
            amounts_by_rank: function.amounts_by_rank(),
            remote_amount: function.remote_amount(),
            shared_handle: function.shared_handle(),
            makes_handle: matches!(function.class, Class::FileOpen | Class::WinCreate),
            is_collective: matches!(function.class, Class::CollectiveInit | Class::NeighborInit),
        }
    }

    /// The function.
    pub fn function(&self) -> &'t Function {
        self.function
    }

    /// Integer argument `i` (after the call).
    #[inline]
    pub fn int(&self, payload: &[u8], i: ParameterIndex) -> Option<i64> {
        self.arguments.int(payload, i)
    }

    /// Handle argument `i`.
    #[inline]
    pub fn handle(&self, payload: &[u8], i: ParameterIndex) -> Option<u64> {
        self.arguments.handle(payload, i)
    }

    /// Status argument `i`.
    #[inline]
    pub fn status(&self, payload: &[u8], i: ParameterIndex) -> Option<MpiStatus> {
        self.arguments.status(payload, i)
    }

    /// Whether a blocking call failed with MPI_ERR_TRUNCATE: it has received a message, longer than the room for it. Of calls that fail otherwise, no
    /// status is recorded.
    pub fn is_cut_short(&self, call: &Call<'_>) -> bool {
        let has_status = || {
            self.status
                .is_some_and(|i| self.status(call.payload, i).is_some())
        };
        call.code != 0 && matches!(self.role, CallRole::Blocking) && has_status()
    }

    /// The first text among the arguments.
    pub fn text<'p>(&self, payload: &'p [u8]) -> Option<&'p [u8]> {
        let arguments = self.arguments.decode(payload)?;
        let at = self.function.first(Kind::String)?;
        match arguments.get(at) {
            ArgValue::Text(text) => *text,
            _ => None,
        }
    }

    /// Count and datatype of the data.
    pub fn amount(&self) -> Option<(ParameterIndex, ParameterIndex)> {
        let first = |kind| self.function.first(kind);
        first(Kind::Count).zip(first(Kind::Datatype))
    }

    /// Whether an argument says nothing in a call whose data stays in place.
    pub fn means_nothing_in_place(&self, i: ParameterIndex) -> bool {
        let parameter = self.function.params.get(i);
        parameter.is_some_and(|parameter| parameter.inplace.is_some())
    }

    /// The rank that the call is directed to.
    pub fn target(&self) -> Option<ParameterIndex> {
        self.function.first(Kind::Target)
    }

    /// The window of a one-sided operation.
    pub fn window(&self) -> Option<ParameterIndex> {
        self.function.first(Kind::Win)
    }

    /// Exclusive or shared.
    pub fn lock_type(&self) -> Option<ParameterIndex> {
        self.function.first(Kind::LockType)
    }

    /// Whether the call sets or clears the atomic mode of a file.
    pub fn atomic_mode(&self) -> Option<ParameterIndex> {
        let flag = self.function.first(Kind::Logical)?;
        self.function.sets_atomic_mode().then_some(flag)
    }

    /// The file offset.
    pub fn offset(&self) -> Option<ParameterIndex> {
        self.function.first(Kind::Offset)
    }

    /// The request that the call makes.
    pub fn request(&self) -> Option<ParameterIndex> {
        self.function.first(Kind::Request)
    }

    /// New individual file pointer after a seek from `position`, etypes; `None` if not known.
    pub fn seek(
        &self,
        payload: &[u8],
        position: Option<i64>,
        offset: ParameterIndex,
        whence: ParameterIndex,
        library: &Library,
    ) -> Option<i64> {
        let is = |name| self.int(payload, whence) == library.constant(name);
        let offset = self.int(payload, offset);
        if is("MPI_SEEK_SET") {
            offset
        } else if is("MPI_SEEK_CUR") {
            position.zip(offset).map(|(a, b)| a.saturating_add(b))
        } else {
            None
        }
    }

    /// All arguments.
    pub fn decode<'p>(&self, payload: &'p [u8]) -> Option<ArgValues<'p>> {
        self.arguments.decode(payload)
    }
}

impl<'t> AsRef<Arguments<'t>> for FunctionPlan<'t> {
    #[inline]
    fn as_ref(&self) -> &Arguments<'t> {
        &self.arguments
    }
}

fn created(function: &Function, kind: Kind) -> Option<ParameterIndex> {
    let is = |&i: &ParameterIndex| function.params.get(i).is_some_and(|p| p.kind == kind);
    function.creates.iter().copied().find(is)
}

fn freed(function: &Function, kind: Kind) -> Option<ParameterIndex> {
    let is = |&i: &ParameterIndex| function.params.get(i).is_some_and(|p| p.kind == kind);
    function.frees.filter(is)
}

fn role(function: &Function, request: Option<ParameterIndex>) -> Option<CallRole> {
    let first = |kind| function.first(kind);
    Some(match function.class {
        Class::Send | Class::Recv | Class::Sendrecv => CallRole::Blocking,
        Class::Isend | Class::Irecv | Class::Isendrecv => {
            CallRole::Nonblocking { request: request? }
        }
        Class::SendInit
        | Class::RecvInit
        | Class::PsendInit
        | Class::PrecvInit
        | Class::CollectiveInit
        | Class::NeighborInit => CallRole::Init { request: request? },
        Class::Start => CallRole::Start { requests: request? },
        Class::Test if function.name.starts_with("MPI_Request_get_status") => {
            CallRole::Look(Completion::new(function)?)
        }
        Class::Complete | Class::Test => CallRole::Complete(Completion::new(function)?),
        Class::Probe => match created(function, Kind::Message) {
            Some(message) => CallRole::Match {
                message,
                flag: first(Kind::Logical),
            },
            None => CallRole::Plain,
        },
        _ if function.name == "MPI_Cancel" => CallRole::Cancel { request: request? },
        Class::FileAccess => CallRole::Access {
            io: function.io?,
            file: first(Kind::File)?,
        },
        Class::FileOpen => CallRole::File(FileCall::Open {
            file: first(Kind::File)?,
            amode: first(Kind::Amode)?,
        }),
        Class::FileClose => CallRole::File(FileCall::Close {
            file: first(Kind::File)?,
        }),
        Class::FileMeta => CallRole::File(file_call(function)?),
        _ => {
            if let Some(request) = freed(function, Kind::Request) {
                CallRole::FreeRequest { request }
            } else if let Some(comm) = freed(function, Kind::Comm) {
                CallRole::FreeComm { comm }
            } else {
                CallRole::OtherRequest {
                    request: created(function, Kind::Request)?,
                }
            }
        }
    })
}

fn file_call(function: &Function) -> Option<FileCall> {
    let file = function.first(Kind::File)?;
    let offset = function.first(Kind::Offset)?;
    match function.name.as_str() {
        "MPI_File_set_view" => Some(FileCall::View {
            file,
            etype: function.first(Kind::Datatype)?,
        }),
        "MPI_File_seek" => Some(FileCall::Seek {
            file,
            offset,
            whence: function.first(Kind::Whence)?,
        }),
        "MPI_File_get_position" => Some(FileCall::Position { file, offset }),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn roles_follow_from_the_table() {
        let table = wrappers::table().unwrap();
        let plans = plans(table, Family::Mpich);
        let plan = |name: &str| &plans[table.get(name).unwrap().id];
        let completes = |name: &str| matches!(plan(name).role, CallRole::Complete(_));
        assert!(completes("MPI_Wait") && completes("MPI_Testsome"));
        for which in ["", "_all", "_any", "_some"] {
            let name = format!("MPI_Request_get_status{which}");
            assert!(matches!(plan(&name).role, CallRole::Look(_)));
        }
        let swap = plan("MPI_Sendrecv_replace");
        let (send, recv) = (swap.send.unwrap(), swap.recv.unwrap());
        assert_eq!((send.count, send.dest, send.tag), (1, 3, 4));
        assert_eq!((recv.count, recv.envelope), (1, Some((5, 6))));
        let both = plan("MPI_Isendrecv_c");
        assert_eq!((both.send.unwrap().count, both.recv.unwrap().count), (1, 6));
        assert!(plan("MPI_Mrecv").recv.unwrap().envelope.is_none());
        assert!(plan("MPI_Send").recv.is_none());
        let at_start_and_end = |name: &str| (plan(name).sends, plan(name).ends_something);
        assert_eq!(at_start_and_end("MPI_Send"), (true, false));
        assert_eq!(at_start_and_end("MPI_Sendrecv"), (true, true));
        assert_eq!(at_start_and_end("MPI_Isend"), (true, true));
        assert_eq!(at_start_and_end("MPI_Irecv"), (false, true));
        assert_eq!(at_start_and_end("MPI_Startall"), (true, false));
        assert_eq!(at_start_and_end("MPI_Wait"), (false, true));
        assert_eq!(at_start_and_end("MPI_Barrier"), (false, false));
        assert_eq!(at_start_and_end("MPI_Comm_free"), (false, true));
        assert_eq!(at_start_and_end("MPI_File_read"), (false, true));
        assert!(plan("MPI_Recv").send.is_none());
        assert!(plan("MPI_Iprobe").recv.is_none());
        assert_eq!(plan("MPI_Psend_init").send.unwrap().count, 2);
        assert!(matches!(
            plan("MPI_Ibcast").role,
            CallRole::OtherRequest { .. }
        ));
        assert!(matches!(
            plan("MPI_Barrier_init").role,
            CallRole::Init { .. }
        ));
        assert!(plan("MPI_Bcast_init").send.is_none() && plan("MPI_Bcast_init").recv.is_none());
        assert!(matches!(
            plan("MPI_Comm_idup").role,
            CallRole::OtherRequest { .. }
        ));
        assert!(matches!(
            plan("MPI_Comm_disconnect").role,
            CallRole::FreeComm { .. }
        ));
        assert!(matches!(
            plan("MPI_File_iread").role,
            CallRole::Access { .. }
        ));
        assert!(matches!(plan("MPI_File_get_size").role, CallRole::Plain));
    }
}
