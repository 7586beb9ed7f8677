//! Numbers of records: which ranges stand for calls, operations and definitions, and the number of each definition.
//!
//! ```text
//! 0      …        MPI functions, by their position in the function table
//! 0x0C00 …        operations below MPI (FIRST_OPERATION)
//! 0x0E00 …        functions outside the table (FIRST_UNKNOWN)
//! 0x0F80 … 0x0FFF definitions (FIRST_DEFINITION)
//! ```

/// Number of the first kind of operation below MPI; see [`crate::operation`].
pub const FIRST_OPERATION: u16 = 0x0C00;
/// Number of the first function that no table knows. A [`FUNCTION`] record names each of them.
pub const FIRST_UNKNOWN: u16 = 0x0E00;
/// Number of the first definition record.
pub const FIRST_DEFINITION: u16 = 0x0F80;

/// New bases: u64 time in ticks, u64 CallID counter.
pub const TIME_BASE: u16 = 0x0FFF;
/// Part of a record that is larger than a block: u32 total size, u32 offset of this part, bytes. All parts joined give u16
/// function and flags, i32 return code, arguments. Times and CallID are those in the heads of the parts.
pub const FRAGMENT: u16 = 0x0FFE;
/// Name of a function outside the table: u32 number, string.
pub const FUNCTION: u16 = 0x0FFD;
/// A communicator: see [`CommDefinition`](crate::define::CommDefinition).
pub const COMM: u16 = 0x0FFC;
/// A datatype: see [`DatatypeDefinition`](crate::define::DatatypeDefinition).
pub const TYPE: u16 = 0x0FFB;
/// A predefined handle: see [`PredefinedHandle`](crate::define::PredefinedHandle).
pub const PREDEFINED: u16 = 0x0FFA;
/// A constant of the MPI library: string name, i64 value.
pub const CONSTANT: u16 = 0x0FF9;
/// A reading of all clocks: u64 ticks, u64 CLOCK_MONOTONIC ns, u64 CLOCK_REALTIME ns, u64 process CPU ns.
pub const CLOCK: u16 = 0x0FF8;
/// A clock comparison with rank 0: u64 ticks, i64 shift in ns to add to this rank's time, u64 gap (round trip) in ns.
pub const SYNC: u16 = 0x0FF7;
/// The process that writes the file: see [`Process`](crate::define::ProcessDefinition).
pub const PROCESS: u16 = 0x0FF6;
/// Records that were lost at this place: u64 count, string reason.
pub const LOST: u16 = 0x0FF5;
/// Calls of a function that were counted only: u32 function, u64 calls. The last record of a function is valid.
pub const IGNORED: u16 = 0x0FF4;
/// An annotation that the program made by MPI_Pcontrol, at the record's start: u64 key, string text. Its head has CPU times
/// where calls have them.
pub const ANNOTATION: u16 = 0x0FF3;
/// The file that a descriptor stands for from here on: see [`OpenFileDefinition`](crate::define::OpenFileDefinition).
pub const FILE: u16 = 0x0FF2;
/// Position of the individual file pointer before the access that follows: u64 handle of the MPI_File, i64 in etypes.
pub const POSITION: u16 = 0x0FF0;
/// A process or device that is no rank: see [`ServerDefinition`](crate::define::ServerDefinition).
pub const SERVER: u16 = 0x0FEF;
/// Extents of a file on a device: see [`Extents`](crate::define::Extents).
pub const EXTENTS: u16 = 0x0FEE;
/// An event that the program reports: see [`crate::user::UserEvent`].
pub const USER_EVENT: u16 = 0x0FED;
/// A category of such events: see [`crate::user::UserCategory`].
pub const USER_CATEGORY: u16 = 0x0FEC;
/// A function of the program was entered: see [`crate::function`].
pub const ENTER: u16 = 0x0FEB;
/// A function of the program was left: see [`crate::function`].
pub const EXIT: u16 = 0x0FEA;
/// A loaded object whose functions have addresses: see [`Module`](crate::define::Module).
pub const MODULE: u16 = 0x0FE9;
/// Names of the performance counters whose values follow: u32 count, strings.
pub const COUNTERS: u16 = 0x0FE8;
/// Values of the performance counters around the next call of the same thread: see [`crate::counts`].
pub const COUNTS: u16 = 0x0FE7;
/// Polls that were counted at this place and not recorded: see [`Skipped`](crate::define::SkippedPolls).
pub const SKIPPED: u16 = 0x0FE6;
/// A call recorded for message matching only, because the settings leave it out: see [`matching_only_call`](crate::define::matching_only_call). Pictures
/// do not show the call and statistics do not count it.
pub const MATCHING_ONLY: u16 = 0x0FE5;
/// Gap marker: between here and the next record of a call, calls may be missing that send, receive, or begin or complete such
/// operations. No payload.
pub const GAP: u16 = 0x0FE4;
/// Sizes of the messages that are recorded: u64 fewest, u64 most bytes. Calls with other sizes are not in the blocks.
pub const MESSAGES: u16 = 0x0FE3;
/// Functions of the program that are shown: u32 count, strings, patterns of which a shown name matches one; then u32 count,
/// strings, patterns of names that are left out. The record is absent if all functions are shown.
pub const CHOICE: u16 = 0x0FE2;
/// Accesses to a file that were made at this place and not recorded: u64 handle of the MPI_File, u32 number of collective ones
/// that no earlier record has counted, u32 1 if work of some may go on after they have returned.
pub const LEFT_OUT: u16 = 0x0FE1;
/// A view of a file: see [`FileView`](crate::define::FileView).
pub const VIEW: u16 = 0x0FE0;
/// Neighbours in the topology of a communicator: see [`Neighbours`](crate::define::Neighbours). Stands behind the communicator's [`COMM`].
pub const NEIGHBOURS: u16 = 0x0FDF;
/// Members of the group that the next call of the same thread names: ranks in MPI_COMM_WORLD as in [`COMM`].
pub const GROUP: u16 = 0x0FDE;
/// The settings of the run that are not the defaults: string of lines as in `dumpi.conf`.
pub const SETTINGS: u16 = 0x0FDD;
/// The thread has ended, and what it had entered and not left ends here: regions, functions of the program. Records after this one are of another
/// thread, which goes on with the number of the one that has ended. No payload.
pub const THREAD_END: u16 = 0x0FDC;

/// Whether later records may need definitions of this kind, however old they are. Other definitions are about one moment of
/// the run.
pub fn is_lasting(number: u16) -> bool {
    matches!(
        number,
        FUNCTION
            | COMM
            | NEIGHBOURS
            | TYPE
            | PREDEFINED
            | CONSTANT
            | CLOCK
            | SYNC
            | PROCESS
            | LOST
            | IGNORED
            | FILE
            | VIEW
            | SERVER
            | EXTENTS
            | MESSAGES
            | CHOICE
            | SETTINGS
            | USER_CATEGORY
            | MODULE
            | COUNTERS
    )
}
