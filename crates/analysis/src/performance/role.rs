//! What the categories of a trace mean for waiting: which calls send, receive, complete or come together, and which states are the program's own.

use super::end_marks::is_mark;
use crate::io::Doing;
use io_attribution::draw::{Shows, is_message, shows};
use std::collections::HashMap;
use trace_model::{Category, Topology};
use wrappers::{COLLECTIVE_ON_OBJECTS, Class, CollectiveOperation, Function, Phase};

/// Ranks whose coming the ranks of a collective call need.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Needs {
    /// Everyone needs everyone.
    All,
    /// Everyone needs the root.
    Root,
    /// The root needs everyone.
    AtRoot,
    /// Everyone needs the ranks below.
    Lower,
    /// Everyone needs its neighbours in the topology of the communicator.
    Neighbours,
}

/// A collective operation, blocking or begun.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct CollectiveRole {
    pub needs: Needs,
    pub pattern: super::WaitPattern,
    pub members: Members,
    /// What it does with a file or window.
    pub shared: SharedUse,
}

/// Whose ranks make a collective call together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Members {
    /// Ranks of the communicator, file or window of the call.
    ItsOwn,
    /// Ranks of the communicator that the call makes; of its own one where the trace does not tell that.
    Made,
    /// Ranks of the communicator that the call makes, and of no other one.
    MadeOnly,
    /// Ranks of both sides of the intercommunicator of the call.
    BothSides,
}

/// What a collective call does with a file or window that ranks share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SharedUse {
    /// The call is about no file and no window.
    Nothing,
    Makes,
    Uses,
    Frees,
}

/// What a call of one-sided communication does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OneSidedStep {
    /// Lets a group of origins access the window.
    Post,
    /// Begins to access a group of targets.
    Start,
    /// Ends that.
    Complete,
    /// Waits until a group of origins has ended its accesses.
    Wait,
    Lock,
    /// Locks the windows of all ranks for itself and others.
    LockAll,
    Unlock,
    UnlockAll,
    /// Waits until its own accesses are done.
    Flush,
    Access,
}

/// What a category of states or arrows stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CategoryRole {
    /// The program's own state: a region, a function, what MPE's API logged.
    Region,
    /// File operation below MPI or beside it that moves no data.
    FileOperation,
    /// File operation below MPI or beside it that moves data, or begins to.
    FileTransfer,
    /// MPI_Init and the like.
    Init,
    /// MPI_Finalize.
    Finalize,
    /// Sends, receives or both before it returns.
    BlockingTransfer,
    /// Begins a transfer.
    StartsTransfer,
    /// Waits for a message without receiving it.
    Probe,
    /// Completes requests: MPI_Wait, MPI_Test and their families.
    Completes,
    /// Comes together with other ranks.
    Collective(CollectiveRole),
    /// Begins a collective operation that another call completes.
    StartsCollective(CollectiveRole),
    /// Makes a persistent collective operation that another call begins.
    PreparesCollective(CollectiveRole),
    /// Says that parts of a partitioned send are ready.
    MarksParts,
    /// One-sided communication that ranks do not come together for.
    OneSided(OneSidedStep),
    /// MPI-IO that ranks do not come together for.
    FileCall,
    /// Any other MPI function.
    OtherCall,
    /// A message.
    Message,
    /// Nothing that matters here.
    Ignored,
}

impl CategoryRole {
    /// Whether its states are MPI calls.
    pub(super) fn is_call(self) -> bool {
        !matches!(
            self,
            CategoryRole::Region
                | CategoryRole::FileOperation
                | CategoryRole::FileTransfer
                | CategoryRole::Message
                | CategoryRole::Ignored
        )
    }

    /// Whether its states are file operations below MPI or beside it.
    pub(super) fn is_file_operation(self) -> bool {
        matches!(
            self,
            CategoryRole::FileOperation | CategoryRole::FileTransfer
        )
    }

    /// Whether its states are calls that post receives or look for messages, and so ask for messages that come later.
    pub(super) fn asks_for_message(self) -> bool {
        matches!(self, CategoryRole::StartsTransfer | CategoryRole::Probe)
    }

    /// Whether its states are calls of MPI-IO.
    pub(super) fn is_file_call(self) -> bool {
        match self {
            CategoryRole::FileCall => true,
            CategoryRole::Collective(role) | CategoryRole::StartsCollective(role) => {
                role.pattern == super::WaitPattern::FileCollective
            }
            _ => false,
        }
    }
}

/// Finds the roles of categories by their names.
pub(super) struct RoleFinder {
    functions: HashMap<String, CategoryRole>,
    operations: HashMap<String, CollectiveOperation>,
}

impl RoleFinder {
    /// With the functions of the table that the wrappers are made of.
    pub(super) fn new() -> Self {
        // The tests read the table; there is always one.
        let table = wrappers::table().ok();
        let functions = || table.iter().flat_map(|table| &table.functions);
        let roles = functions().map(|function| (function.name.clone(), role_of(function)));
        let operations = functions().filter_map(|function| {
            Some((function.name.clone(), CollectiveOperation::of(function)?))
        });
        RoleFinder {
            functions: roles.collect(),
            operations: operations.collect(),
        }
    }

    /// The collective operation whose calls a category has.
    pub(super) fn operation(&self, category: &Category) -> Option<CollectiveOperation> {
        let is_state = category.topology == Topology::State;
        let found = || self.operations.get(category.function_name().as_str());
        is_state.then(found).flatten().copied()
    }

    /// Role of a category.
    pub(super) fn of(&self, category: &Category) -> CategoryRole {
        match category.topology {
            Topology::Arrow if is_message(category) => return CategoryRole::Message,
            Topology::Arrow | Topology::Event => return CategoryRole::Ignored,
            Topology::State => {}
        }
        match shows(category) {
            Some(Shows::Operation(kind)) if Doing::of(kind).is_transfer() => {
                return CategoryRole::FileTransfer;
            }
            Some(_) => return CategoryRole::FileOperation,
            None => {}
        }
        if is_mark(category) {
            return CategoryRole::Ignored;
        }
        let name = category.function_name();
        let name = name.as_str();
        match self.functions.get(name) {
            Some(&role) => role,
            None if name.starts_with("MPI_") || name.starts_with("MPIX_") => {
                CategoryRole::OtherCall
            }
            None => CategoryRole::Region,
        }
    }
}

/// Role of an MPI function.
fn role_of(function: &Function) -> CategoryRole {
    use super::WaitPattern as Pattern;
    let name = function.name.as_str();
    let together = |pattern| {
        let shared = match function.class {
            Class::FileOpen | Class::WinCreate => SharedUse::Makes,
            Class::FileClose | Class::WinFree => SharedUse::Frees,
            _ if matches!(pattern, Pattern::FileCollective | Pattern::Window) => SharedUse::Uses,
            _ => SharedUse::Nothing,
        };
        CollectiveRole {
            needs: Needs::All,
            pattern,
            members: members(name),
            shared,
        }
    };
    let all = |pattern| CategoryRole::Collective(together(pattern));
    let comes_together = match function.io {
        Some(io) => io.collective && matches!(io.phase, Phase::Blocking | Phase::Begin),
        None => comes_together(name),
    };
    let begins_together =
        (function.io).is_some_and(|io| io.collective && io.phase == Phase::Nonblocking);
    match function.class {
        Class::Init => CategoryRole::Init,
        Class::Finalize => CategoryRole::Finalize,
        Class::Send | Class::Recv | Class::Sendrecv => CategoryRole::BlockingTransfer,
        Class::Isend | Class::Irecv | Class::Isendrecv | Class::Start => {
            CategoryRole::StartsTransfer
        }
        // These only look.
        Class::Test if name.starts_with("MPI_Request_get_status") => CategoryRole::OtherCall,
        Class::Complete | Class::Test => CategoryRole::Completes,
        Class::Probe => CategoryRole::Probe,
        Class::Collective | Class::Neighbor => CategoryRole::Collective(operation(name, "MPI_")),
        Class::Icollective | Class::Ineighbor => {
            CategoryRole::StartsCollective(operation(name, "MPI_I"))
        }
        Class::CollectiveInit | Class::NeighborInit => {
            CategoryRole::PreparesCollective(operation(name, "MPI_"))
        }
        Class::Partition if name.starts_with("MPI_Pready") => CategoryRole::MarksParts,
        Class::CommCreate if name.starts_with("MPI_Comm_idup") => {
            CategoryRole::StartsCollective(together(Pattern::Communicator))
        }
        Class::CommCreate | Class::Spawn if comes_together => all(Pattern::Communicator),
        Class::FileOpen | Class::FileClose => all(Pattern::FileCollective),
        Class::FileAccess | Class::FileMeta if comes_together => all(Pattern::FileCollective),
        Class::FileAccess if begins_together => {
            CategoryRole::StartsCollective(together(Pattern::FileCollective))
        }
        Class::FileAccess | Class::FileMeta => CategoryRole::FileCall,
        Class::WinCreate | Class::WinFree => all(Pattern::Window),
        Class::RmaSync if comes_together => all(Pattern::Window),
        Class::RmaSync => one_sided(name).map_or(CategoryRole::OtherCall, CategoryRole::OneSided),
        Class::Rma | Class::RmaRequest => CategoryRole::OneSided(OneSidedStep::Access),
        _ => CategoryRole::OtherCall,
    }
}

/// What a function that synchronises one-sided communication does; `None` for MPI_Win_test, which does not wait, and MPI_Win_sync, which is about memory.
fn one_sided(name: &str) -> Option<OneSidedStep> {
    Some(match name {
        "MPI_Win_post" => OneSidedStep::Post,
        "MPI_Win_start" => OneSidedStep::Start,
        "MPI_Win_complete" => OneSidedStep::Complete,
        "MPI_Win_wait" => OneSidedStep::Wait,
        "MPI_Win_lock" => OneSidedStep::Lock,
        "MPI_Win_lock_all" => OneSidedStep::LockAll,
        "MPI_Win_unlock" => OneSidedStep::Unlock,
        "MPI_Win_unlock_all" => OneSidedStep::UnlockAll,
        _ if name.starts_with("MPI_Win_flush") => OneSidedStep::Flush,
        _ => return None,
    })
}

/// The operation of a collective function, whose name begins with `prefix`.
fn operation(name: &str, prefix: &str) -> CollectiveRole {
    use super::WaitPattern as Pattern;
    let bare = name.strip_prefix(prefix).unwrap_or(name);
    let bare = bare.strip_suffix("_c").unwrap_or(bare);
    let bare = bare.strip_suffix("_init").unwrap_or(bare);
    let bare = bare.to_ascii_lowercase();
    let (needs, pattern) = match bare.as_str() {
        _ if bare.starts_with("neighbor") => (Needs::Neighbours, Pattern::NxN),
        "barrier" => (Needs::All, Pattern::Barrier),
        "bcast" | "scatter" | "scatterv" => (Needs::Root, Pattern::LateBroadcast),
        "reduce" | "gather" | "gatherv" => (Needs::AtRoot, Pattern::EarlyReduce),
        "scan" | "exscan" => (Needs::Lower, Pattern::EarlyScan),
        _ => (Needs::All, Pattern::NxN),
    };
    CollectiveRole {
        needs,
        pattern,
        members: Members::ItsOwn,
        shared: SharedUse::Nothing,
    }
}

/// Whose ranks call a function together, if it makes a communicator.
fn members(name: &str) -> Members {
    match name {
        "MPI_Intercomm_create" => Members::Made,
        "MPI_Comm_create_group"
        | "MPI_Comm_create_from_group"
        | "MPI_Intercomm_create_from_groups" => Members::MadeOnly,
        "MPI_Intercomm_merge" => Members::BothSides,
        _ => Members::ItsOwn,
    }
}

/// Whether the ranks of a communicator, a file or a window make this call together, as far as the class does not tell.
fn comes_together(name: &str) -> bool {
    const NAMES: [&str; 16] = [
        "MPI_Comm_dup",
        "MPI_Comm_dup_with_info",
        "MPI_Comm_split",
        "MPI_Comm_split_type",
        "MPI_Comm_create",
        "MPI_Cart_create",
        "MPI_Cart_sub",
        "MPI_Graph_create",
        "MPI_Dist_graph_create",
        "MPI_Dist_graph_create_adjacent",
        "MPI_Intercomm_merge",
        "MPI_Intercomm_create",
        "MPI_Comm_spawn",
        "MPI_Comm_spawn_multiple",
        "MPI_Comm_accept",
        "MPI_Comm_connect",
    ];
    NAMES.contains(&name)
        || COLLECTIVE_ON_OBJECTS.contains(&name)
        || members(name) == Members::MadeOnly
}

#[cfg(test)]
mod tests {
    use super::super::WaitPattern as Pattern;
    use super::*;
    use trace_model::Color;

    #[test]
    fn roles_follow_from_names() {
        let roles = RoleFinder::new();
        let of = |name: &str| {
            roles.of(&Category::new(
                1,
                name.into(),
                Topology::State,
                Color::WHITE,
            ))
        };
        let needs = |name: &str| match of(name) {
            CategoryRole::Collective(role)
            | CategoryRole::StartsCollective(role)
            | CategoryRole::PreparesCollective(role) => (role.needs, role.pattern),
            other => panic!("{name}: {other:?}"),
        };
        assert_eq!(of("MPI_Recv"), CategoryRole::BlockingTransfer);
        assert_eq!(of("MPI_Waitsome"), CategoryRole::Completes);
        assert_eq!(of("MPI_Request_get_status"), CategoryRole::OtherCall);
        assert_eq!(of("step"), CategoryRole::Region);
        assert_eq!(of("MPI_Not_yet"), CategoryRole::OtherCall);
        assert_eq!(of("MPI_File_read_at"), CategoryRole::FileCall);
        assert_eq!(needs("MPI_Barrier"), (Needs::All, Pattern::Barrier));
        assert_eq!(needs("MPI_Ibarrier"), (Needs::All, Pattern::Barrier));
        assert_eq!(needs("MPI_Allreduce_c"), (Needs::All, Pattern::NxN));
        assert_eq!(needs("MPI_Ialltoallw"), (Needs::All, Pattern::NxN));
        assert_eq!(
            needs("MPI_Iscatterv"),
            (Needs::Root, Pattern::LateBroadcast)
        );
        assert_eq!(
            needs("MPI_Gatherv_c"),
            (Needs::AtRoot, Pattern::EarlyReduce)
        );
        assert_eq!(needs("MPI_Exscan"), (Needs::Lower, Pattern::EarlyScan));
        assert_eq!(needs("MPI_Iscan"), (Needs::Lower, Pattern::EarlyScan));
        assert_eq!(
            needs("MPI_Reduce_scatter_block"),
            (Needs::All, Pattern::NxN)
        );
        assert_eq!(
            needs("MPI_File_write_at_all"),
            (Needs::All, Pattern::FileCollective)
        );
        for name in ["MPI_File_seek_shared", "MPI_File_preallocate"] {
            assert_eq!(needs(name), (Needs::All, Pattern::FileCollective));
        }
        assert_eq!(needs("MPI_Win_fence"), (Needs::All, Pattern::Window));
        assert_eq!(
            needs("MPI_File_iwrite_all"),
            (Needs::All, Pattern::FileCollective)
        );
        assert_eq!(of("MPI_Comm_get_parent"), CategoryRole::OtherCall);
        for name in [
            "MPI_Comm_idup",
            "MPI_Comm_create_group",
            "MPI_Cart_sub",
            "MPI_Comm_spawn_multiple",
        ] {
            assert_eq!(needs(name), (Needs::All, Pattern::Communicator));
        }
        for name in ["MPI_Neighbor_alltoallw", "MPI_Ineighbor_allgather"] {
            assert_eq!(needs(name), (Needs::Neighbours, Pattern::NxN));
        }
        assert_eq!(needs("MPI_Neighbor_alltoall_init").0, Needs::Neighbours);
        assert_eq!(needs("MPI_Barrier_init"), (Needs::All, Pattern::Barrier));
        assert_eq!(
            needs("MPI_Reduce_init_c"),
            (Needs::AtRoot, Pattern::EarlyReduce)
        );
        let one_sided = |name| match of(name) {
            CategoryRole::OneSided(step) => step,
            other => panic!("{name}: {other:?}"),
        };
        assert_eq!(one_sided("MPI_Win_start"), OneSidedStep::Start);
        assert_eq!(one_sided("MPI_Win_flush_local_all"), OneSidedStep::Flush);
        assert_eq!(one_sided("MPI_Rput"), OneSidedStep::Access);
        assert_eq!(one_sided("MPI_Win_lock_all"), OneSidedStep::LockAll);
        assert_eq!(of("MPI_Win_test"), CategoryRole::OtherCall);
        assert_eq!(of("MPI_Pready_range"), CategoryRole::MarksParts);
    }
}
