//! Classes of functions by what they do ([`Class`]), and the kinds of file access ([`FileAccessKind`]).

use crate::kind::words;

words! {
    /// Class of a function. The table's header says what each stands for and which colour it has.
    Class {
        /// Blocking send.
        Send = "send",
        /// Blocking receive, also of a matched message.
        Recv = "recv",
        /// Blocking send and receive in one.
        Sendrecv = "sendrecv",
        /// Nonblocking send.
        Isend = "isend",
        /// Nonblocking receive, also of a matched message.
        Irecv = "irecv",
        /// Nonblocking send and receive in one.
        Isendrecv = "isendrecv",
        /// Makes a persistent send.
        SendInit = "send_init",
        /// Makes a persistent receive.
        RecvInit = "recv_init",
        /// Makes a partitioned send.
        PsendInit = "psend_init",
        /// Makes a partitioned receive.
        PrecvInit = "precv_init",
        /// Marks or asks for parts of a partitioned operation.
        Partition = "partition",
        /// Starts persistent operations.
        Start = "start",
        /// Waits for requests.
        Complete = "complete",
        /// Tests requests; MPI_Request_get_status* does not free them.
        Test = "test",
        /// Looks for a message.
        Probe = "probe",
        /// Other work on requests.
        Request = "request",
        /// Reads or changes a status.
        Status = "status",
        /// Buffers of buffered sends.
        Buffer = "buffer",
        /// Makes, commits or frees a datatype.
        TypeCreate = "type_create",
        /// Asks about a datatype.
        TypeInfo = "type_info",
        /// Packs and unpacks.
        Pack = "pack",
        /// Blocking collective.
        Collective = "collective",
        /// Nonblocking collective.
        Icollective = "icollective",
        /// Makes a persistent collective.
        CollectiveInit = "collective_init",
        /// Reduction operations.
        Op = "op",
        /// Groups.
        Group = "group",
        /// Makes a communicator.
        CommCreate = "comm_create",
        /// Frees a communicator.
        CommFree = "comm_free",
        /// Asks about or names a communicator.
        CommInfo = "comm_info",
        /// Keyvals and attributes.
        Attr = "attr",
        /// Asks about topologies.
        Topo = "topo",
        /// Blocking neighbourhood collective.
        Neighbor = "neighbor",
        /// Nonblocking neighbourhood collective.
        Ineighbor = "ineighbor",
        /// Makes a persistent neighbourhood collective.
        NeighborInit = "neighbor_init",
        /// One-sided communication.
        Rma = "rma",
        /// One-sided communication with a request.
        RmaRequest = "rma_request",
        /// Makes a window.
        WinCreate = "win_create",
        /// Frees a window.
        WinFree = "win_free",
        /// Asks about or changes a window.
        WinInfo = "win_info",
        /// Synchronises one-sided communication.
        RmaSync = "rma_sync",
        /// Opens a file.
        FileOpen = "file_open",
        /// Closes a file.
        FileClose = "file_close",
        /// Everything else about files but data access.
        FileMeta = "file_meta",
        /// Reads or writes a file; [`crate::Function::io`] is set.
        FileAccess = "file_access",
        /// MPI_Init, MPI_Init_thread.
        Init = "init",
        /// MPI_Finalize.
        Finalize = "finalize",
        /// MPI_Abort.
        Abort = "abort",
        /// Sessions and process sets.
        Session = "session",
        /// Makes, joins and leaves other process groups.
        Spawn = "spawn",
        /// Ports and names.
        Port = "port",
        /// Versions, names, clocks, state of the library.
        Env = "env",
        /// Memory and addresses.
        Memory = "memory",
        /// Error handlers, classes, codes and texts.
        Errhandler = "errhandler",
        /// Info objects.
        Info = "info",
        /// MPI_Pcontrol.
        Pcontrol = "pcontrol",
        /// MPI_T.
        Tool = "tool",
        /// Handle conversions, not recorded unless asked for.
        Convert = "convert",
    }
}

words! {
    /// The position at which a file function accesses its file.
    Pointer {
        /// The offset is an argument.
        Explicit = "explicit",
        /// The process's own pointer.
        Individual = "individual",
        /// The pointer that all processes share.
        Shared = "shared",
    }
}

words! {
    /// Which part of an access a call is.
    Phase {
        /// All of it.
        Blocking = "blocking",
        /// Start of an access; a request completes it.
        Nonblocking = "nonblocking",
        /// The start of a split collective access.
        Begin = "begin",
        /// The end of a split collective access. It has neither count nor offset.
        End = "end",
    }
}

/// Kind of access of a function of [`Class::FileAccess`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FileAccessKind {
    /// Whether the function writes; otherwise it reads.
    pub write: bool,
    /// File pointer or offset that the access uses.
    pub pointer: Pointer,
    /// All processes that opened the file take part.
    pub collective: bool,
    /// Whether the call is all of the access.
    pub phase: Phase,
}

impl FileAccessKind {
    /// Reads the value of `io=`, words separated by commas.
    pub(crate) fn parse(words: &str) -> Result<FileAccessKind, String> {
        let mut words = words.split(',');
        let write = match words.next() {
            Some("read") => false,
            Some("write") => true,
            other => return Err(format!("io: expected read or write, not {other:?}")),
        };
        let pointer = words
            .next()
            .and_then(Pointer::from_word)
            .ok_or("io: expected explicit, individual or shared")?;
        let mut io = FileAccessKind {
            write,
            pointer,
            collective: false,
            phase: Phase::Blocking,
        };
        for word in words {
            match (word, Phase::from_word(word)) {
                ("collective", _) => io.collective = true,
                (_, Some(phase)) => io.phase = phase,
                _ => return Err(format!("io: unknown word {word}")),
            }
        }
        Ok(io)
    }
}
