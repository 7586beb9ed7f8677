//! Effect of a call on messages, requests and communicators, derived once per function from the function table.

use super::arguments::Arguments;
use super::completion::Completion;
use super::library::Library;
use blockfile::args::ArgValues;
use blockfile::encode::MpiStatus;
use blockfile::layout::Family;
use wrappers::{Class, FileAccessKind, Function, Kind, Table};

pub use super::arguments::Param;

/// The sending part of a call.
#[derive(Clone, Copy, Debug)]
pub struct SendPart {
    /// Number of elements.
    pub count: Param,
    /// Datatype of the elements.
    pub datatype: Param,
    /// Rank of the receiver.
    pub dest: Param,
    /// Tag.
    pub tag: Param,
    /// Number of partitions, where the call has such.
    pub partitions: Option<Param>,
}

/// The receiving part of a call.
#[derive(Clone, Copy, Debug)]
pub struct RecvPart {
    /// Number of elements.
    pub count: Param,
    /// Datatype of the elements.
    pub datatype: Param,
    /// Source and tag; not there where a message is received that was matched before.
    pub envelope: Option<(Param, Param)>,
    /// Number of partitions, where the call has such.
    pub partitions: Option<Param>,
}

/// Role of a call in the merge: its effect on messages, requests, communicators and files.
#[derive(Clone, Copy, Debug)]
pub enum Role {
    /// Nothing but a state.
    Plain,
    /// Sends, receives, or both, before it returns.
    Blocking,
    /// Begins to send, to receive, or both; the request stands for it.
    Nonblocking {
        /// The new request.
        request: Param,
    },
    /// Makes a persistent operation.
    Init {
        /// The new request.
        request: Param,
    },
    /// Starts persistent operations: a request or an array of them.
    Start {
        /// The requests.
        requests: Param,
    },
    /// Waits for or tests requests.
    Complete(Completion),
    /// MPI_Request_free.
    FreeRequest {
        /// The request.
        request: Param,
    },
    /// Looks for a message and takes it out of matching.
    Match {
        /// The matched message.
        message: Param,
        /// Whether there is one.
        flag: Option<Param>,
    },
    /// Makes requests for something that is no message.
    OtherRequest {
        /// The request.
        request: Param,
    },
    /// Frees a communicator.
    FreeComm {
        /// The communicator.
        comm: Param,
    },
    /// Accesses a file.
    Access {
        /// How it accesses the file.
        io: FileAccessKind,
        /// The handle.
        file: Param,
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
        file: Param,
        /// The access mode.
        amode: Param,
    },
    /// Closes a file.
    Close {
        /// The handle.
        file: Param,
    },
    /// Sets a view.
    View {
        /// The handle.
        file: Param,
        /// The elementary datatype.
        etype: Param,
    },
    /// Moves the file pointer.
    Seek {
        /// The handle.
        file: Param,
        /// By how many etypes.
        offset: Param,
        /// From where.
        whence: Param,
    },
    /// Asks for the file pointer.
    Position {
        /// The handle.
        file: Param,
        /// The offset that was returned.
        offset: Param,
    },
}

impl FileCall {
    /// The file handle.
    pub fn file(self) -> Param {
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
pub struct Plan<'t> {
    function: &'t Function,
    arguments: Arguments<'t>,
    /// Effect of the call on messages, requests, communicators and files.
    pub role: Role,
    /// The communicator the call is drawn on.
    pub comm: Option<Param>,
    /// The message that the call sends.
    pub send: Option<SendPart>,
    /// The message that the call receives.
    pub recv: Option<RecvPart>,
    /// The parameter with the status of the call, or its first one.
    pub status: Option<Param>,
    /// The matched message that is received.
    pub message: Option<Param>,
    /// Communicator that the call makes.
    pub new_comm: Option<Param>,
    /// Whether the call makes a datatype.
    pub new_type: bool,
}

/// Plans of all functions of `table`.
pub fn plans(table: &Table, family: Family) -> Vec<Plan<'_>> {
    table
        .functions
        .iter()
        .map(|f| Plan::new(f, family))
        .collect()
}

impl<'t> Plan<'t> {
    fn new(function: &'t Function, family: Family) -> Plan<'t> {
        let first = |kind| function.first(kind);
        let last = |kind| function.params.iter().rposition(|p| p.kind == kind);
        let partitions = match function.class {
            Class::PsendInit | Class::PrecvInit => first(Kind::Length),
            _ => None,
        };
        let count = |a: Option<Param>, b: Option<Param>| a.or(b);
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
        let role = role(function, request).unwrap_or(Role::Plain);
        let moves = matches!(
            role,
            Role::Blocking | Role::Nonblocking { .. } | Role::Init { .. }
        );
        Plan {
            function,
            arguments: Arguments::new(function, family),
            role,
            comm: function.comm(),
            send: send.filter(|_| moves),
            recv: recv.filter(|_| moves && (envelope.is_some() || message.is_some())),
            status: first(Kind::Status),
            message,
            new_comm: created(function, Kind::Comm),
            new_type: created(function, Kind::Datatype).is_some(),
        }
    }

    /// Integer argument `i` (after the call).
    #[inline]
    pub fn int(&self, payload: &[u8], i: Param) -> Option<i64> {
        self.arguments.int(payload, i)
    }

    /// Handle argument `i`.
    #[inline]
    pub fn handle(&self, payload: &[u8], i: Param) -> Option<u64> {
        self.arguments.handle(payload, i)
    }

    /// Status argument `i`.
    #[inline]
    pub fn status(&self, payload: &[u8], i: Param) -> Option<MpiStatus> {
        self.arguments.status(payload, i)
    }

    /// Count and datatype of the data.
    pub fn amount(&self) -> Option<(Param, Param)> {
        let first = |kind| self.function.first(kind);
        first(Kind::Count).zip(first(Kind::Datatype))
    }

    /// The file offset.
    pub fn offset(&self) -> Option<Param> {
        self.function.first(Kind::Offset)
    }

    /// The request that the call makes.
    pub fn request(&self) -> Option<Param> {
        self.function.first(Kind::Request)
    }

    /// New individual file pointer after a seek from `position`, etypes; `None` if not known.
    pub fn seek(
        &self,
        payload: &[u8],
        position: Option<i64>,
        offset: Param,
        whence: Param,
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

impl<'t> AsRef<Arguments<'t>> for Plan<'t> {
    #[inline]
    fn as_ref(&self) -> &Arguments<'t> {
        &self.arguments
    }
}

fn created(function: &Function, kind: Kind) -> Option<Param> {
    let is = |&i: &Param| function.params.get(i).is_some_and(|p| p.kind == kind);
    function.creates.iter().copied().find(is)
}

fn freed(function: &Function, kind: Kind) -> Option<Param> {
    let is = |&i: &Param| function.params.get(i).is_some_and(|p| p.kind == kind);
    function.frees.filter(is)
}

fn role(function: &Function, request: Option<Param>) -> Option<Role> {
    let first = |kind| function.first(kind);
    Some(match function.class {
        Class::Send | Class::Recv | Class::Sendrecv => Role::Blocking,
        Class::Isend | Class::Irecv | Class::Isendrecv => Role::Nonblocking { request: request? },
        Class::SendInit | Class::RecvInit | Class::PsendInit | Class::PrecvInit => {
            Role::Init { request: request? }
        }
        Class::Start => Role::Start { requests: request? },
        // These only look.
        Class::Test if function.name.starts_with("MPI_Request_get_status") => Role::Plain,
        Class::Complete | Class::Test => Role::Complete(Completion::new(function)?),
        Class::Probe => match created(function, Kind::Message) {
            Some(message) => Role::Match {
                message,
                flag: first(Kind::Logical),
            },
            None => Role::Plain,
        },
        Class::FileAccess => Role::Access {
            io: function.io?,
            file: first(Kind::File)?,
        },
        Class::FileOpen => Role::File(FileCall::Open {
            file: first(Kind::File)?,
            amode: first(Kind::Amode)?,
        }),
        Class::FileClose => Role::File(FileCall::Close {
            file: first(Kind::File)?,
        }),
        Class::FileMeta => Role::File(file_call(function)?),
        _ => {
            if let Some(request) = freed(function, Kind::Request) {
                Role::FreeRequest { request }
            } else if let Some(comm) = freed(function, Kind::Comm) {
                Role::FreeComm { comm }
            } else {
                Role::OtherRequest {
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
        let plans = plans(&table, Family::Mpich);
        let plan = |name: &str| &plans[table.get(name).unwrap().id];
        let completes = |name: &str| matches!(plan(name).role, Role::Complete(_));
        assert!(completes("MPI_Wait") && completes("MPI_Testsome"));
        assert!(!completes("MPI_Request_get_status_all"));
        let swap = plan("MPI_Sendrecv_replace");
        let (send, recv) = (swap.send.unwrap(), swap.recv.unwrap());
        assert_eq!((send.count, send.dest, send.tag), (1, 3, 4));
        assert_eq!((recv.count, recv.envelope), (1, Some((5, 6))));
        let both = plan("MPI_Isendrecv_c");
        assert_eq!((both.send.unwrap().count, both.recv.unwrap().count), (1, 6));
        assert!(plan("MPI_Mrecv").recv.unwrap().envelope.is_none());
        assert!(plan("MPI_Send").recv.is_none());
        assert!(plan("MPI_Recv").send.is_none());
        assert!(plan("MPI_Iprobe").recv.is_none());
        assert_eq!(plan("MPI_Psend_init").send.unwrap().count, 2);
        assert!(matches!(plan("MPI_Ibcast").role, Role::OtherRequest { .. }));
        assert!(matches!(
            plan("MPI_Comm_idup").role,
            Role::OtherRequest { .. }
        ));
        assert!(matches!(
            plan("MPI_Comm_disconnect").role,
            Role::FreeComm { .. }
        ));
        assert!(matches!(plan("MPI_File_iread").role, Role::Access { .. }));
        assert!(matches!(plan("MPI_File_get_size").role, Role::Plain));
    }
}
