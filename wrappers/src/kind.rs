//! Properties of parameters: what a parameter is ([`Kind`]), how the C binding passes it ([`CType`]) and which way it goes
//! ([`Direction`]).
//!
//! The kinds are closed and each has a fixed C type, so that a decoder of recorded arguments needs no `mpi.h`.

/// An enum whose variants are spelled by a word in `mpi.table`.
macro_rules! words {
    ($(#[$meta:meta])* $name:ident { $($(#[$doc:meta])* $variant:ident = $word:literal),+ $(,)? }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum $name { $($(#[$doc])* $variant),+ }

        impl $name {
            /// Every value, in the order of declaration.
            pub const ALL: &'static [$name] = &[$($name::$variant),+];

            /// The word that `mpi.table` uses.
            pub fn word(self) -> &'static str {
                match self { $($name::$variant => $word),+ }
            }

            /// The name of the variant, for generated Rust code.
            pub fn variant(self) -> &'static str {
                match self { $($name::$variant => stringify!($variant)),+ }
            }

            /// The value spelled by `word`.
            pub fn from_word(word: &str) -> Option<$name> {
                match word { $($word => Some($name::$variant),)+ _ => None }
            }
        }
    };
}
pub(crate) use words;

words! {
    /// Meaning of a parameter or of a result.
    Kind {
        /// Number of elements of a datatype.
        Count = "count",
        /// Number of entries of a list, or a length of text.
        Length = "length",
        /// A position in a list.
        Index = "index",
        /// Number of processes.
        Size = "size",
        /// Rank in a communicator or group.
        Rank = "rank",
        /// Source of a message: a rank, MPI_ANY_SOURCE or MPI_PROC_NULL.
        Source = "source",
        /// Destination of a message: a rank or MPI_PROC_NULL.
        Dest = "dest",
        /// Root of a collective: a rank, MPI_ROOT or MPI_PROC_NULL.
        Root = "root",
        /// Rank in the group of a window.
        Target = "target",
        /// Tag of a message, or MPI_ANY_TAG.
        Tag = "tag",
        /// Colour of MPI_Comm_split, or MPI_UNDEFINED.
        Color = "color",
        /// Key of MPI_Comm_split.
        Key = "key",
        /// A truth value.
        Logical = "logical",
        /// Any other number.
        Int = "int",
        /// Displacement in elements.
        Displ = "displ",
        /// Number of bytes.
        Bytes = "bytes",
        /// Partition of a partitioned operation.
        Partition = "partition",
        /// Weight of an edge.
        Weight = "weight",
        /// Key of an attribute.
        Keyval = "keyval",
        /// Error code or class.
        ErrorCode = "errorcode",
        /// MPI_IDENT, MPI_CONGRUENT, …
        Comparison = "comparison",
        /// MPI_CART, MPI_GRAPH, …
        Topology = "topology",
        /// MPI_COMBINER_….
        Combiner = "combiner",
        /// MPI_TYPECLASS_….
        TypeClass = "typeclass",
        /// MPI_DISTRIBUTE_….
        Distribution = "distribution",
        /// MPI_ORDER_C, MPI_ORDER_FORTRAN.
        Order = "order",
        /// MPI_THREAD_….
        ThreadLevel = "threadlevel",
        /// MPI_COMM_TYPE_….
        SplitType = "splittype",
        /// MPI_LOCK_EXCLUSIVE, MPI_LOCK_SHARED.
        LockType = "locktype",
        /// MPI_SEEK_….
        Whence = "whence",
        /// MPI_MODE_… of a file, a set of flags.
        Amode = "amode",
        /// MPI_MODE_… of a window, a set of flags.
        Assertion = "assertion",
        /// MPI_T_VERBOSITY_….
        TVerbosity = "t_verbosity",
        /// MPI_T_BIND_….
        TBind = "t_bind",
        /// MPI_T_SCOPE_….
        TScope = "t_scope",
        /// MPI_T_PVAR_CLASS_….
        TPvarClass = "t_pvar_class",
        /// MPI_T_CB_REQUIRE_…, a C enum.
        TSafety = "t_safety",
        /// MPI_T_SOURCE_…, a C enum.
        TSourceOrder = "t_source_order",
        /// MPI_Fint.
        Fint = "fint",
        /// MPI_Aint: an address, a displacement or a size in bytes.
        Aint = "aint",
        /// MPI_Offset: a position in or a size of a file; bytes, or etypes of the view.
        Offset = "offset",
        /// MPI_Count in every form of the function.
        MpiCount = "mpicount",
        /// double: seconds.
        Double = "double",
        /// MPI_Comm.
        Comm = "comm",
        /// MPI_Datatype.
        Datatype = "datatype",
        /// MPI_Group.
        Group = "group",
        /// MPI_Op.
        Op = "op",
        /// MPI_Errhandler.
        Errhandler = "errhandler",
        /// MPI_File.
        File = "file",
        /// MPI_Info.
        Info = "info",
        /// MPI_Win.
        Win = "win",
        /// MPI_Request.
        Request = "request",
        /// MPI_Message.
        Message = "message",
        /// MPI_Session.
        Session = "session",
        /// MPI_T_enum.
        TEnum = "t_enum",
        /// MPI_T_cvar_handle.
        TCvar = "t_cvar",
        /// MPI_T_pvar_handle.
        TPvar = "t_pvar",
        /// MPI_T_pvar_session.
        TPvarSession = "t_pvar_session",
        /// MPI_T_event_registration.
        TEventRegistration = "t_event_registration",
        /// MPI_T_event_instance.
        TEventInstance = "t_event_instance",
        /// MPI_Status.
        Status = "status",
        /// A status as Fortran has it, an array of MPI_Fint.
        FStatus = "f_status",
        /// MPI_F08_status.
        F08Status = "f08_status",
        /// Text.
        String = "string",
        /// An array of texts.
        Strings = "strings",
        /// Arguments of a program, an array of texts that ends with NULL.
        Argv = "argv",
        /// An array of [`Kind::Argv`].
        Argvs = "argvs",
        /// The address of an argument vector, as MPI_Init has it.
        Argvp = "argvp",
        /// Number of arguments of a program.
        Argc = "argc",
        /// The user's data.
        Buffer = "buffer",
        /// The address of a pointer that the call sets.
        BasePtr = "baseptr",
        /// Anything else that is an address and is not looked at.
        Pointer = "pointer",
        /// A callback.
        Function = "function",
    }
}

words! {
    /// C type of one element, without the pointers in front of it ([`crate::Param::indirection`] counts those).
    CType {
        /// int, 4 bytes.
        Int = "int",
        /// A C enum declared by the header, 4 bytes.
        Enum = "enum",
        /// MPI_Fint, 4 bytes unless the library was built for 8-byte Fortran integers.
        Fint = "fint",
        /// MPI_Aint, as wide as a pointer.
        Aint = "aint",
        /// MPI_Offset, 8 bytes.
        Offset = "offset",
        /// MPI_Count, 8 bytes.
        Count = "count",
        /// double.
        Double = "double",
        /// A handle: an int (MPICH) or a pointer (Open MPI, standard ABI).
        Handle = "handle",
        /// struct MPI_Status.
        Status = "status",
        /// struct MPI_F08_status.
        F08Status = "f08_status",
        /// char.
        Char = "char",
        /// void, always behind a pointer.
        Void = "void",
        /// Pointer to a function.
        Function = "function",
    }
}

words! {
    /// Which way a parameter goes, in the sense of the standard.
    Direction {
        /// Read by the call.
        In = "in",
        /// Set by the call.
        Out = "out",
        /// Read, and changed by the call.
        InOut = "inout",
    }
}

impl Kind {
    /// C type of one element in the form without `_c`.
    pub fn ctype(self) -> CType {
        use Kind::*;
        match self {
            Count | Length | Index | Size | Rank | Source | Dest | Root | Target | Tag | Color
            | Key | Logical | Int | Displ | Bytes | Partition | Weight | Keyval | ErrorCode
            | Comparison | Topology | Combiner | TypeClass | Distribution | Order | ThreadLevel
            | SplitType | LockType | Whence | Amode | Assertion | TVerbosity | TBind | TScope
            | TPvarClass | Argc => CType::Int,
            TSafety | TSourceOrder => CType::Enum,
            Fint | FStatus => CType::Fint,
            Aint => CType::Aint,
            Offset => CType::Offset,
            MpiCount => CType::Count,
            Double => CType::Double,
            Comm | Datatype | Group | Op | Errhandler | File | Info | Win | Request | Message
            | Session | TEnum | TCvar | TPvar | TPvarSession | TEventRegistration
            | TEventInstance => CType::Handle,
            Status => CType::Status,
            F08Status => CType::F08Status,
            String | Strings | Argv | Argvs | Argvp => CType::Char,
            Buffer | BasePtr | Pointer => CType::Void,
            Function => CType::Function,
        }
    }

    /// Whether it is a handle of an MPI object. A keyval counts as one: it is made and freed like the others.
    pub fn is_handle(self) -> bool {
        self.ctype() == CType::Handle || self == Kind::Keyval
    }

    /// Name of the C type of a handle, `MPI_Comm` for [`Kind::Comm`]; `None` for what is not a handle type.
    pub fn handle_type(self) -> Option<&'static str> {
        Some(match self {
            Kind::Comm => "MPI_Comm",
            Kind::Datatype => "MPI_Datatype",
            Kind::Group => "MPI_Group",
            Kind::Op => "MPI_Op",
            Kind::Errhandler => "MPI_Errhandler",
            Kind::File => "MPI_File",
            Kind::Info => "MPI_Info",
            Kind::Win => "MPI_Win",
            Kind::Request => "MPI_Request",
            Kind::Message => "MPI_Message",
            Kind::Session => "MPI_Session",
            Kind::TEnum => "MPI_T_enum",
            Kind::TCvar => "MPI_T_cvar_handle",
            Kind::TPvar => "MPI_T_pvar_handle",
            Kind::TPvarSession => "MPI_T_pvar_session",
            Kind::TEventRegistration => "MPI_T_event_registration",
            Kind::TEventInstance => "MPI_T_event_instance",
            _ => return None,
        })
    }
}

impl CType {
    /// Bytes of one value where every MPI library on a 64-bit machine agrees; `None` for handles, structs and what
    /// has no value of its own.
    pub fn size(self) -> Option<usize> {
        match self {
            CType::Int | CType::Enum | CType::Fint => Some(4),
            CType::Aint | CType::Offset | CType::Count | CType::Double => Some(8),
            CType::Char => Some(1),
            CType::Handle | CType::Status | CType::F08Status | CType::Void | CType::Function => {
                None
            }
        }
    }
}
