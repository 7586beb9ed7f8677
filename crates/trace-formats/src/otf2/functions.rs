//! What the regions of a category do: roles, paradigms, and which events stand in them.

use trace_model::{Category, value_names};
use wrappers::{Class, CollectiveOperation, FileAccessKind, Function, Table, ToldBytes};

use super::numbers::{atomic as atomic_way, collective, io_mode, paradigm, role};
use super::window_event::OneSidedKind;

/// Events that stand in a region besides its start and its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RegionCall {
    /// Messages at most.
    Plain,
    /// Begins a send.
    Isend,
    /// Begins a receive.
    Irecv,
    /// Begins a send and a receive with one request.
    Isendrecv,
    /// Starts persistent operations.
    Start,
    /// Blocking collective operation, by its number.
    Collective(u8),
    /// Collective operation that a request completes.
    Icollective(u8),
    /// Makes a persistent collective operation.
    CollectiveInit(u8),
    /// Makes or frees a window, or does something on it with all its ranks.
    Window(WindowCall),
    FileOpen,
    FileClose,
    FileAccess(FileAccessKind),
    /// Call into the C library on a file.
    Disk(DiskEffect),
}

/// What a call does with a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WindowCall {
    Make,
    Free,
    Fence,
    OneSided(OneSidedKind),
    Lock,
    Unlock,
    /// Locks or unlocks the window on all ranks, which is shared.
    LockAll,
    UnlockAll,
    /// Waits for operations: those to one rank or to all of them; at the origin (`is_local`), or at the target, too.
    Flush {
        is_of_all: bool,
        is_local: bool,
    },
    /// Gives it a name.
    Name,
    /// Names the ranks that may come (`true`), or to which the rank goes.
    BeginEpoch(bool),
    /// Waits for the ranks that have come (`true`), or leaves those to which the rank went.
    EndEpoch(bool),
}

/// Effect of an operation below MPI.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DiskEffect {
    Open,
    Close,
    /// Moves data, in a mode of [`io_mode`].
    Transfer(u8),
    /// Something else on a file.
    Other,
}

/// Role and paradigm of the regions of a category.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct RegionKind {
    pub role: u8,
    pub paradigm: u8,
    pub call: RegionCall,
}

impl RegionKind {
    /// The kind of a category of states or events.
    pub(super) fn of(category: &Category, table: Option<&Table>) -> RegionKind {
        let name = category.name.to_str();
        if let Some(function) = table.and_then(|table| table.get(&name)) {
            return RegionKind::of_function(function);
        }
        let names = value_names(category);
        let has = |wanted: &str| names.iter().any(|name| name == wanted);
        let (role, paradigm, call) = if name.starts_with("MPI_File_") {
            (role::FILE_IO_METADATA, paradigm::MPI, RegionCall::Plain)
        } else if name.starts_with("MPI_") {
            (role::FUNCTION, paradigm::MPI, RegionCall::Plain)
        } else if has("operation") && has("fd") && has("file") {
            let effect = disk_effect(&name);
            let role = match effect {
                Some(DiskEffect::Transfer(_)) => role::FILE_IO,
                _ => role::FILE_IO_METADATA,
            };
            let call = effect.map_or(RegionCall::Plain, RegionCall::Disk);
            (role, paradigm::NONE, call)
        } else {
            (role::FUNCTION, paradigm::USER, RegionCall::Plain)
        };
        RegionKind {
            role,
            paradigm,
            call,
        }
    }

    fn of_function(function: &Function) -> RegionKind {
        let (role, call) = match function.class {
            Class::Isend => (role::POINT_TO_POINT, RegionCall::Isend),
            Class::Irecv => (role::POINT_TO_POINT, RegionCall::Irecv),
            Class::Isendrecv => (role::POINT_TO_POINT, RegionCall::Isendrecv),
            Class::Start => (role::POINT_TO_POINT, RegionCall::Start),
            Class::Send
            | Class::Recv
            | Class::Sendrecv
            | Class::SendInit
            | Class::RecvInit
            | Class::PsendInit
            | Class::PrecvInit
            | Class::Partition
            | Class::Complete
            | Class::Test
            | Class::Probe
            | Class::Request
            | Class::Buffer => (role::POINT_TO_POINT, RegionCall::Plain),
            Class::Collective | Class::Icollective | Class::CollectiveInit => {
                collective_kind(function)
            }
            Class::CommCreate => {
                let call = match is_collective_over_comm(&function.name) {
                    true => RegionCall::Collective(collective::CREATE_HANDLE),
                    false => RegionCall::Plain,
                };
                (role::OTHER_COLLECTIVE, call)
            }
            Class::CommFree => {
                let call = RegionCall::Collective(collective::DESTROY_HANDLE);
                (role::OTHER_COLLECTIVE, call)
            }
            Class::Neighbor | Class::Ineighbor | Class::NeighborInit => {
                (role::OTHER_COLLECTIVE, RegionCall::Plain)
            }
            Class::Rma | Class::RmaRequest | Class::RmaSync | Class::WinCreate | Class::WinFree => {
                let call = window_call(function).map_or(RegionCall::Plain, RegionCall::Window);
                (role::RMA, call)
            }
            Class::WinInfo if function.name == "MPI_Win_set_name" => {
                (role::FUNCTION, RegionCall::Window(WindowCall::Name))
            }
            Class::FileOpen => (role::FILE_IO_METADATA, RegionCall::FileOpen),
            Class::FileClose => (role::FILE_IO_METADATA, RegionCall::FileClose),
            Class::FileMeta => (role::FILE_IO_METADATA, RegionCall::Plain),
            Class::FileAccess => {
                let call = function
                    .io
                    .map_or(RegionCall::Plain, RegionCall::FileAccess);
                (role::FILE_IO, call)
            }
            _ => (role::FUNCTION, RegionCall::Plain),
        };
        RegionKind {
            role,
            paradigm: paradigm::MPI,
            call,
        }
    }
}

/// Communicators are made by all ranks of the one that the call is about. Those functions are left out that only the ranks of a group call, that make
/// intercommunicators, or that only begin it.
fn is_collective_over_comm(name: &str) -> bool {
    !name.contains("group") && !name.contains("Intercomm") && !name.contains("idup")
}

/// What a function does with a window, if events tell it.
fn window_call(function: &Function) -> Option<WindowCall> {
    let atomic = |way, fetches| WindowCall::OneSided(OneSidedKind::Atomic { way, fetches });
    let flush = |is_of_all, is_local| WindowCall::Flush {
        is_of_all,
        is_local,
    };
    let name = function.name.trim_start_matches("MPI_");
    Some(match (function.class, name.trim_end_matches("_c")) {
        (Class::WinCreate, _) => WindowCall::Make,
        (Class::WinFree, _) => WindowCall::Free,
        (_, "Put" | "Rput") => WindowCall::OneSided(OneSidedKind::Put),
        (_, "Get" | "Rget") => WindowCall::OneSided(OneSidedKind::Get),
        (_, "Accumulate" | "Raccumulate") => atomic(atomic_way::ACCUMULATE, false),
        (_, "Get_accumulate" | "Rget_accumulate" | "Fetch_and_op") => {
            atomic(atomic_way::FETCH_AND_ACCUMULATE, true)
        }
        (_, "Compare_and_swap") => atomic(atomic_way::COMPARE_AND_SWAP, true),
        (_, "Win_fence") => WindowCall::Fence,
        (_, "Win_lock") => WindowCall::Lock,
        (_, "Win_unlock") => WindowCall::Unlock,
        (_, "Win_lock_all") => WindowCall::LockAll,
        (_, "Win_unlock_all") => WindowCall::UnlockAll,
        (_, "Win_flush") => flush(false, false),
        (_, "Win_flush_all") => flush(true, false),
        (_, "Win_flush_local") => flush(false, true),
        (_, "Win_flush_local_all") => flush(true, true),
        (_, "Win_post") => WindowCall::BeginEpoch(true),
        (_, "Win_start") => WindowCall::BeginEpoch(false),
        (_, "Win_wait") => WindowCall::EndEpoch(true),
        (_, "Win_complete") => WindowCall::EndEpoch(false),
        _ => return None,
    })
}

/// Number and role of each collective operation.
const COLLECTIVES: [(CollectiveOperation, u8, u8); 17] = [
    (
        CollectiveOperation::Barrier,
        collective::BARRIER,
        role::BARRIER,
    ),
    (
        CollectiveOperation::Bcast,
        collective::BCAST,
        role::ONE_TO_ALL,
    ),
    (
        CollectiveOperation::Scatter,
        collective::SCATTER,
        role::ONE_TO_ALL,
    ),
    (
        CollectiveOperation::Scatterv,
        collective::SCATTERV,
        role::ONE_TO_ALL,
    ),
    (
        CollectiveOperation::Gather,
        collective::GATHER,
        role::ALL_TO_ONE,
    ),
    (
        CollectiveOperation::Gatherv,
        collective::GATHERV,
        role::ALL_TO_ONE,
    ),
    (
        CollectiveOperation::Reduce,
        collective::REDUCE,
        role::ALL_TO_ONE,
    ),
    (
        CollectiveOperation::Allgather,
        collective::ALLGATHER,
        role::ALL_TO_ALL,
    ),
    (
        CollectiveOperation::Allgatherv,
        collective::ALLGATHERV,
        role::ALL_TO_ALL,
    ),
    (
        CollectiveOperation::Alltoall,
        collective::ALLTOALL,
        role::ALL_TO_ALL,
    ),
    (
        CollectiveOperation::Alltoallv,
        collective::ALLTOALLV,
        role::ALL_TO_ALL,
    ),
    (
        CollectiveOperation::Alltoallw,
        collective::ALLTOALLW,
        role::ALL_TO_ALL,
    ),
    (
        CollectiveOperation::Allreduce,
        collective::ALLREDUCE,
        role::ALL_TO_ALL,
    ),
    (
        CollectiveOperation::ReduceScatter,
        collective::REDUCE_SCATTER,
        role::ALL_TO_ALL,
    ),
    (
        CollectiveOperation::ReduceScatterBlock,
        collective::REDUCE_SCATTER_BLOCK,
        role::ALL_TO_ALL,
    ),
    (
        CollectiveOperation::Scan,
        collective::SCAN,
        role::OTHER_COLLECTIVE,
    ),
    (
        CollectiveOperation::Exscan,
        collective::EXSCAN,
        role::OTHER_COLLECTIVE,
    ),
];

/// Role and call of a collective function.
fn collective_kind(function: &Function) -> (u8, RegionCall) {
    let operation = CollectiveOperation::of(function);
    let found = COLLECTIVES
        .iter()
        .find(|(known, ..)| Some(*known) == operation);
    let Some(&(_, op, role)) = found else {
        return (role::OTHER_COLLECTIVE, RegionCall::Plain);
    };
    let call = match function.class {
        Class::Icollective => RegionCall::Icollective(op),
        Class::CollectiveInit => RegionCall::CollectiveInit(op),
        _ => RegionCall::Collective(op),
    };
    (role, call)
}

/// Bytes that a rank gives to a collective operation and gets from it, of what its call tells; 0 where that does not tell it.
pub(super) fn collective_bytes(op: u8, told: ToldBytes, is_root: bool, ranks: u64) -> (u64, u64) {
    let found = COLLECTIVES.iter().find(|(_, number, _)| *number == op);
    let moved = found.map(|(operation, ..)| operation.moved(told, is_root, ranks));
    let [given, got] = moved.unwrap_or_default().map(Option::unwrap_or_default);
    (given, got)
}

/// Bytes that the root of an operation between two groups gives and gets. Its counts do not matter where the others' do, and are not known then.
pub(super) fn bytes_of_remote_root(op: u8, bytes: u64) -> (u64, u64) {
    match op {
        collective::BCAST => (bytes, 0),
        collective::REDUCE => (0, bytes),
        _ => (0, 0),
    }
}

/// Effect of a function of the C library, with or without ` (no call)` after its name.
fn disk_effect(name: &str) -> Option<DiskEffect> {
    let name = name.split(" (").next().unwrap_or(name);
    Some(match name {
        "open" | "openat" | "creat" => DiskEffect::Open,
        "close" => DiskEffect::Close,
        "read" | "pread" | "readv" | "preadv" | "preadv2" | "aio_read" => {
            DiskEffect::Transfer(io_mode::READ)
        }
        "write" | "pwrite" | "writev" | "pwritev" | "pwritev2" | "aio_write"
        | "copy_file_range" | "sendfile" => DiskEffect::Transfer(io_mode::WRITE),
        "fsync" | "fdatasync" | "sync_file_range" | "aio_fsync" | "msync" => {
            DiskEffect::Transfer(io_mode::FLUSH)
        }
        "lseek" | "ftruncate" | "truncate" | "fallocate" | "posix_fallocate" => DiskEffect::Other,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use trace_model::{Color, Topology};

    fn kind(name: &str, format: &str) -> RegionKind {
        let table = wrappers::table().expect("table");
        let mut category = Category::new(1, name.into(), Topology::State, Color::WHITE);
        category.set_info_format(format.as_bytes());
        RegionKind::of(&category, Some(table))
    }

    #[test]
    fn functions_have_roles() {
        let role_of = |name| kind(name, "").role;
        assert_eq!(role_of("MPI_Send"), role::POINT_TO_POINT);
        assert_eq!(role_of("MPI_Waitall"), role::POINT_TO_POINT);
        assert_eq!(role_of("MPI_Barrier"), role::BARRIER);
        assert_eq!(role_of("MPI_Bcast_c"), role::ONE_TO_ALL);
        assert_eq!(role_of("MPI_Ireduce"), role::ALL_TO_ONE);
        assert_eq!(role_of("MPI_Alltoallw"), role::ALL_TO_ALL);
        assert_eq!(role_of("MPI_Comm_split"), role::OTHER_COLLECTIVE);
        assert_eq!(role_of("MPI_Put"), role::RMA);
        assert_eq!(role_of("MPI_File_iwrite_at"), role::FILE_IO);
        assert_eq!(role_of("MPI_File_seek"), role::FILE_IO_METADATA);
        assert_eq!(role_of("MPI_Init"), role::FUNCTION);
        assert_eq!(kind("solve", "step=%d").paradigm, paradigm::USER);
        let operation = kind("pwrite (no call)", "file=%d, fd=%d, operation=%l");
        assert_eq!(operation.paradigm, paradigm::NONE);
        let write = DiskEffect::Transfer(io_mode::WRITE);
        assert_eq!(operation.call, RegionCall::Disk(write));
    }

    #[test]
    fn every_collective_operation_is_known() {
        let table = wrappers::table().expect("table");
        let mut numbers = Vec::new();
        for function in &table.functions {
            let of = match function.class {
                Class::Collective | Class::Icollective | Class::CollectiveInit => {
                    collective_kind(function).1
                }
                _ => continue,
            };
            match of {
                RegionCall::Collective(op)
                | RegionCall::Icollective(op)
                | RegionCall::CollectiveInit(op) => numbers.push(op),
                _ => assert!(function.name.contains("local"), "{}", function.name),
            }
        }
        numbers.sort_unstable();
        numbers.dedup();
        assert_eq!(numbers, (0..=16).collect::<Vec<u8>>());
    }
}
