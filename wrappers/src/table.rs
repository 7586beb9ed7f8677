//! The parsed table: functions, their parameters, and the numbers by which records name them.

use crate::carrier::Carrier;
use crate::class::{Class, FileAccessKind, Phase};
use crate::kind::{CType, Direction, Kind, words};
use crate::length::LengthRule;
use crate::short::ShortForm;
use std::collections::HashMap;

/// Every function, each large-count form right behind its small one.
#[derive(Clone, Debug)]
pub struct Table {
    /// Functions in the order of the table; [`Function::id`] is the position.
    pub functions: Vec<Function>,
    pub(crate) by_name: HashMap<String, usize>,
}

/// One MPI function.
#[derive(Clone, Debug)]
pub struct Function {
    /// Position in [`Table::functions`]. Records name functions by it; it means something only together with the
    /// table's [`Table::fingerprint`].
    pub id: usize,
    /// `MPI_Send`, `MPI_Send_c`.
    pub name: String,
    /// Id of the small form, if this is a `_c` form.
    pub base: Option<usize>,
    /// Whether this is a `_c` form.
    pub large: bool,
    /// Class of the function.
    pub class: Class,
    /// File access of the function, for [`Class::FileAccess`].
    pub io: Option<FileAccessKind>,
    /// Kind of the return value. [`Kind::ErrorCode`] for nearly all.
    pub returns: Kind,
    /// Whether further arguments follow the listed ones (MPI_Pcontrol).
    pub variadic: bool,
    /// Whether MPI-3.0 removed it.
    pub removed: bool,
    /// Function id in a DUMPI file. `None` for a `_c` form: ask its base, and mind that DUMPI's counts have 32 bits.
    pub dumpi: Option<u16>,
    /// Whether only the bindings variant "3" of the DUMPI library wraps it, not the default build (`spec/dumpi.md` section 8).
    pub dumpi_old: bool,
    /// Fields of its DUMPI record in stream order, in the notation of `spec/dumpi.md` section 8. Empty where the record has none,
    /// where the function has no DUMPI id, and of a `_c` form.
    pub dumpi_fields: String,
    /// Id of MPE's CLOG2 state: its events are twice that, and one more. `None` where MPE has no state.
    pub state: Option<u16>,
    /// Colour of its state, a name of X11's list: MPE's, else that of the class.
    pub color: String,
    /// Parameters in the order of the C binding.
    pub params: Vec<Param>,
    /// Short form of its records, if they have one.
    pub short_form: Option<ShortForm>,
    /// Parameters that the call sets to new handles.
    pub creates: Vec<usize>,
    /// The parameter whose handle the call frees.
    pub frees: Option<usize>,
    /// MPI libraries whose Fortran bindings do not call the C function.
    pub fortran: Fortran,
    /// Line of the entry in `mpi.table`, from 1.
    pub line: usize,
}

/// MPI libraries in which a Fortran procedure does its work without calling the C function.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Fortran {
    /// True for MPICH and its relatives.
    pub mpich: bool,
    /// True for Open MPI.
    pub openmpi: bool,
    /// The module `mpi_f08` does not have it.
    pub not_f08: bool,
}

/// One parameter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Param {
    /// The standard's name of it.
    pub name: String,
    /// Whether the call reads or writes the parameter, or both.
    pub direction: Direction,
    /// Kind of the parameter.
    pub kind: Kind,
    /// C type of one element, in this form of the function.
    pub ctype: CType,
    /// Number of elements; `None` for what is no array. Never `None` for [`Kind::String`].
    pub len: Option<LengthRule>,
    /// Whether the type differs between the small and the `_c` form.
    pub poly: bool,
    /// Significant only at the root; elsewhere it may be garbage.
    pub root_only: bool,
    /// Passed by address although it is an `in` scalar.
    pub by_address: bool,
    /// Amount of data in a buffer, if the arguments tell it.
    pub extent: Option<BufferExtent>,
    /// Constants that may stand in its place.
    pub sentinels: Vec<Sentinel>,
    /// The buffer which, when it is MPI_IN_PLACE, makes this parameter insignificant.
    pub inplace: Option<usize>,
    /// The parameter that tells, after the call, whether this one was set: a logical that is true, or an index that
    /// is not MPI_UNDEFINED.
    pub set_if: Option<usize>,
}

/// Amount of data in a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct BufferExtent {
    /// Number of elements.
    pub count: BufferAmount,
    /// Datatype of the elements (an array of datatypes next to an array of counts); `None` for bytes.
    pub datatype: Option<usize>,
}

/// Number of elements of a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BufferAmount {
    /// One.
    One,
    /// The value of a parameter, or the sum of it if it is an array.
    Param(usize),
}

words! {
    /// A constant that may be passed instead of an address.
    Sentinel {
        /// The data is in the other buffer.
        InPlace = "MPI_IN_PLACE",
        /// The status is not wanted.
        StatusIgnore = "MPI_STATUS_IGNORE",
        /// The statuses are not wanted.
        StatusesIgnore = "MPI_STATUSES_IGNORE",
        /// The error codes are not wanted.
        ErrcodesIgnore = "MPI_ERRCODES_IGNORE",
        /// The graph has no weights.
        Unweighted = "MPI_UNWEIGHTED",
        /// There are no edges that could have a weight.
        WeightsEmpty = "MPI_WEIGHTS_EMPTY",
        /// No arguments.
        ArgvNull = "MPI_ARGV_NULL",
        /// No arguments for any program.
        ArgvsNull = "MPI_ARGVS_NULL",
        /// The value is not wanted.
        Null = "NULL",
    }
}

impl Table {
    /// The function of that name.
    pub fn get(&self, name: &str) -> Option<&Function> {
        self.by_name.get(name).map(|&id| &self.functions[id])
    }
}

/// Sign that a poll was unsuccessful.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PollOutcome {
    /// Every call is as good as the one before: only the time is asked for.
    Always,
    /// This argument, a logical, is false.
    Not(usize),
    /// This argument, a count, is zero, or MPI_UNDEFINED, which is negative.
    No(usize),
}

/// Positions of the arguments of a call that may wait for other ranks by which is told whom it waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WaitArguments {
    /// The communicator.
    pub comm: Option<usize>,
    /// Receiver of the message, or the root.
    pub dest: Option<usize>,
    /// Sender of the message.
    pub source: Option<usize>,
    /// Tag of the message; of a call that sends and receives, that of the receive.
    pub tag: Option<usize>,
    /// Tag of the message that goes out, of a call that sends and receives.
    pub send_tag: Option<usize>,
    /// The request, or the array of requests.
    pub requests: Option<usize>,
    /// The file or window that the ranks have in common.
    pub object: Option<usize>,
}

/// Positions of the arguments by which a running call that synchronises one-sided communication tells whom it waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WindowWaitArguments {
    /// The window.
    pub window: usize,
    /// Rank of the target in the window.
    pub target: Option<usize>,
    /// Whether the lock is exclusive or shared.
    pub lock_type: Option<usize>,
    /// The group of targets.
    pub group: Option<usize>,
}

/// Names of functions of one-sided communication that one rank calls and that may wait for others.
const WAIT_ON_WINDOW: [&str; 11] = [
    "MPI_Win_start",
    "MPI_Win_complete",
    "MPI_Win_wait",
    "MPI_Win_lock",
    "MPI_Win_lock_all",
    "MPI_Win_unlock",
    "MPI_Win_unlock_all",
    "MPI_Win_flush",
    "MPI_Win_flush_all",
    "MPI_Win_flush_local",
    "MPI_Win_flush_local_all",
];

/// Whether a function that makes a communicator, of this name, is called by the members of a group, and of a group only.
pub fn is_called_by_group(name: &str) -> bool {
    matches!(
        name,
        "MPI_Comm_create_group" | "MPI_Comm_create_from_group" | "MPI_Intercomm_create_from_groups"
    )
}

/// Names of functions that the ranks of a file or window call together, as far as their class does not tell.
pub const COLLECTIVE_ON_OBJECTS: [&str; 8] = [
    "MPI_File_set_view",
    "MPI_File_seek_shared",
    "MPI_File_set_size",
    "MPI_File_preallocate",
    "MPI_File_sync",
    "MPI_File_set_atomicity",
    "MPI_File_set_info",
    "MPI_Win_fence",
];

impl Function {
    /// Arguments that a running call tells of itself, as it may wait for other ranks; `None` for a function that does not wait, or has none.
    pub fn waits(&self) -> Option<WaitArguments> {
        let is_nonblocking = self.io.is_some_and(|io| io.phase == Phase::Nonblocking);
        let object = self.collective_object().filter(|_| !is_nonblocking);
        let is_blocking = match self.class {
            Class::Send
            | Class::Recv
            | Class::Sendrecv
            | Class::Complete
            | Class::Collective
            | Class::Neighbor
            | Class::FileOpen
            | Class::WinCreate => true,
            Class::CommCreate => !self.name.starts_with("MPI_Comm_idup"),
            Class::Probe => self.vain().is_none(),
            _ => object.is_some(),
        };
        let requests = self.first(Kind::Request);
        let comm = self.comm();
        let is_told = comm.is_some() || requests.is_some() || object.is_some();
        (is_blocking && is_told).then(|| WaitArguments {
            comm,
            dest: self.first(Kind::Dest).or(self.first(Kind::Root)),
            source: self.first(Kind::Source),
            tag: self.params.iter().rposition(|p| p.kind == Kind::Tag),
            send_tag: self
                .first(Kind::Tag)
                .filter(|_| self.class == Class::Sendrecv),
            requests,
            object,
        })
    }

    /// Arguments that a running call tells of itself, as it may wait for what other ranks do on a window; `None` for a function that all ranks of the window
    /// call, or that does not wait.
    pub fn waits_on_window(&self) -> Option<WindowWaitArguments> {
        if !WAIT_ON_WINDOW.contains(&self.name.as_str()) {
            return None;
        }
        Some(WindowWaitArguments {
            window: self.first(Kind::Win)?,
            target: self.first(Kind::Target),
            lock_type: self.first(Kind::LockType),
            group: self.first(Kind::Group),
        })
    }

    /// Index of the file or window all of whose ranks make this call, in the same order.
    pub fn collective_object(&self) -> Option<usize> {
        let is_collective = match self.class {
            Class::FileClose | Class::WinFree => true,
            Class::FileAccess => self
                .io
                .is_some_and(|io| io.collective && io.phase != Phase::End),
            Class::FileMeta | Class::RmaSync => COLLECTIVE_ON_OBJECTS.contains(&self.name.as_str()),
            _ => false,
        };
        let object = self.first(Kind::File).or_else(|| self.first(Kind::Win));
        object.filter(|_| is_collective)
    }

    /// Whether all ranks of a communicator must make its calls in the same order: operations, and calls that make persistent ones, communicators, files or
    /// windows.
    pub fn is_collective_on_comm(&self) -> bool {
        match self.class {
            Class::Collective | Class::Icollective | Class::CollectiveInit => true,
            Class::Neighbor | Class::Ineighbor | Class::NeighborInit => true,
            Class::CommCreate => {
                self.first(Kind::Comm).is_some() && !is_called_by_group(&self.name)
            }
            Class::FileOpen | Class::WinCreate => true,
            _ => false,
        }
    }

    /// Index of the communicator of a collective call, all of whose ranks must make it in the same order: of blocking and nonblocking operations,
    /// and of calls that make persistent ones. Functions that make communicators are not among them, except for MPI_Comm_idup and its like, which
    /// do not block.
    pub fn collective_comm(&self) -> Option<usize> {
        let is_collective = match self.class {
            Class::Collective | Class::Icollective | Class::CollectiveInit => true,
            Class::CommCreate => self.name.starts_with("MPI_Comm_idup"),
            _ => false,
        };
        self.comm().filter(|_| is_collective)
    }

    /// Positions of count and datatype of the data that every rank passes to a collective function, whether it is the root or not; `None`
    /// where there is one count for each rank.
    pub fn own_amount(&self) -> Option<(usize, usize)> {
        let is = |p: &Param, kind| p.kind == kind && p.len.is_none() && !p.root_only;
        let count = self.params.iter().position(|p| is(p, Kind::Count))?;
        let datatype = self
            .params
            .iter()
            .skip(count)
            .position(|p| is(p, Kind::Datatype))?;
        Some((count, count + datatype))
    }

    /// Positions of counts and datatypes of what a rank passes to a collective function for each rank, and of what it gets from each, where there is
    /// a count for each (MPI_Alltoallv and its kind). MPI_Reduce_scatter has what each rank gets of the result as the second pair.
    pub fn amounts_by_rank(&self) -> [Option<(usize, usize)>; 2] {
        let side = |counts, types: [&str; 2]| {
            let counts = self.param(counts)?;
            self.params.get(counts)?.len.as_ref()?;
            let types = types.into_iter().find_map(|name| self.param(name))?;
            Some((counts, types))
        };
        let got = side("recvcounts", ["recvtype", "recvtypes"]);
        [
            side("sendcounts", ["sendtype", "sendtypes"]),
            got.or_else(|| side("recvcounts", ["datatype", "datatype"])),
        ]
    }

    /// Positions of count and datatype of the data that a one-sided operation moves; one element where there is no count. `None` for all other
    /// functions.
    pub fn remote_amount(&self) -> Option<(Option<usize>, usize)> {
        if !matches!(self.class, Class::Rma | Class::RmaRequest) {
            return None;
        }
        let of_target = |name| self.param(name);
        match of_target("target_count").zip(of_target("target_datatype")) {
            Some((count, datatype)) => Some((Some(count), datatype)),
            None => Some((None, self.first(Kind::Datatype)?)),
        }
    }

    /// Index of the file or window that ranks share, where they call the function together or for each other.
    pub fn shared_handle(&self) -> Option<usize> {
        let shares = match self.class {
            Class::FileOpen | Class::FileClose | Class::FileMeta => true,
            Class::WinCreate | Class::WinFree | Class::RmaSync => true,
            Class::FileAccess => self.io.is_some_and(|io| io.collective),
            _ => false,
        };
        let handle = self.first(Kind::File).or_else(|| self.first(Kind::Win));
        handle.filter(|_| shares)
    }

    /// The position of the parameter of that name.
    pub fn param(&self, name: &str) -> Option<usize> {
        self.params.iter().position(|p| p.name == name)
    }

    /// The communicator a call is made on, the one in whose line a viewer draws it. `None` for calls without one
    /// and for MPI_Comm_compare, which has two (MPE then takes MPI_COMM_WORLD).
    pub fn comm(&self) -> Option<usize> {
        if self.name == "MPI_Comm_compare" {
            return None;
        }
        self.params
            .iter()
            .position(|p| p.kind == Kind::Comm && p.direction != Direction::Out)
    }

    /// Sign that a poll was unsuccessful, for functions that only ask: a program that waits calls them again and again.
    pub fn vain(&self) -> Option<PollOutcome> {
        if matches!(self.name.as_str(), "MPI_Wtime" | "MPI_Wtick") {
            return Some(PollOutcome::Always);
        }
        let asks = matches!(self.class, Class::Test | Class::Probe | Class::RmaSync)
            || self.name == "MPI_Parrived";
        let is_answer = |p: &Param| p.kind == Kind::Logical && p.direction == Direction::Out;
        let flag = self.params.iter().position(is_answer).filter(|_| asks);
        let count = || {
            self.param("outcount")
                .filter(|_| self.name == "MPI_Testsome")
        };
        flag.map(PollOutcome::Not)
            .or_else(|| count().map(PollOutcome::No))
    }

    /// Whether it sends or receives messages, or begins, starts, completes or frees such operations: without all calls of these
    /// functions nobody can tell which send belongs to which receive.
    pub fn moves_messages(&self) -> bool {
        let made = |&i: &usize| self.params[i].kind == Kind::Message;
        match self.class {
            Class::Send
            | Class::Recv
            | Class::Sendrecv
            | Class::Isend
            | Class::Irecv
            | Class::Isendrecv
            | Class::SendInit
            | Class::RecvInit
            | Class::PsendInit
            | Class::PrecvInit
            | Class::Start
            | Class::Complete => true,
            // These only look.
            Class::Test => !self.name.starts_with("MPI_Request_get_status"),
            Class::Probe => self.creates.iter().any(made),
            _ => self
                .frees
                .is_some_and(|i| self.params[i].kind == Kind::Request),
        }
    }

    /// The first parameter of a kind, for kinds of which there is one.
    pub fn first(&self, kind: Kind) -> Option<usize> {
        self.params.iter().position(|p| p.kind == kind)
    }

    /// Whether it sets or clears the atomic mode of a file.
    pub fn sets_atomic_mode(&self) -> bool {
        self.name == "MPI_File_set_atomicity"
    }
}

impl Param {
    /// Form of this argument in a record.
    pub fn carrier(&self) -> Carrier {
        Carrier::of(self.kind, self.ctype, self.direction, self.len.is_some())
    }

    /// Number of pointers in front of the C type: 0 for an `in` scalar, 1 for an `out` scalar, an array, a text or
    /// a buffer, 2 for an array of texts, 3 for `argv` of MPI_Init.
    pub fn indirection(&self) -> usize {
        match self.kind {
            Kind::Strings | Kind::Argv => 2,
            Kind::Argvs | Kind::Argvp => 3,
            Kind::String
            | Kind::Buffer
            | Kind::BasePtr
            | Kind::Pointer
            | Kind::Status
            | Kind::FStatus
            | Kind::F08Status => 1,
            _ if self.len.is_some() || self.direction != Direction::In || self.by_address => 1,
            _ => 0,
        }
    }
}
