//! Definitions that the recorder writes into the blocks: who the process is, what the MPI library calls things, and each
//! communicator and datatype when it is made.

mod datatypes;
pub(crate) mod modules;
pub(crate) mod process_set;
mod topology;
pub(crate) mod views;

use crate::mpi::constants::{self, integers, predefined};
use crate::mpi::functions::{NAMES, NUMBERS, UNKNOWN};
use crate::mpi::handles::Handle;
use crate::mpi::pmpi;
use crate::mpi::types::{MPI_Comm, MPI_Group};
use crate::platform::clock;
use crate::platform::environment;
use crate::platform::host;
use crate::platform::program;
use crate::thread::records::put_definition;
use crate::thread::state::Thread;
use blockfile::define::{
    CommCreation, CommDefinition, CommDefinitionKind, DatatypeDefinition, Definition, Neighbours,
    PredefinedHandle, ProcessDefinition,
};
pub use datatypes::{datatype, frees_datatype, uses_datatype};
use parking_lot::Mutex;
use settings::Settings;
use std::ffi::c_int;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// Way in which a communicator is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CommOrigin {
    /// Collectively over its parent.
    FromParent,
    /// As `FromParent`, and it may not be used before a request completes.
    LaterFromParent,
    /// By its members alone.
    ByMembers,
    /// Together with processes outside MPI_COMM_WORLD.
    Outside,
}

/// Writes the definitions known before MPI_Init: the process, its clock, and the names of functions that no table has.
pub fn process(t: &mut Thread) {
    put_definition(
        t,
        &Definition::Process(ProcessDefinition {
            host: host::host(),
            program: program::name(),
            user: environment::var("LOGNAME").unwrap_or_default(),
            boot: host::boot_id(),
        }),
    );
    put_definition(t, &Definition::Clock(clock::first_reading()));
    for i in UNKNOWN {
        let name = NAMES[i].to_string_lossy();
        put_definition(
            t,
            &Definition::Function {
                number: NUMBERS[i],
                name: name.trim_start_matches('P').to_owned(),
            },
        );
    }
}

/// Writes down the sizes of messages that are recorded. A message of another size is not drawn, even where one of its two calls is there.
pub fn messages(t: &mut Thread, settings: &Settings) {
    if let Some((least, most)) = settings.message_size {
        put_definition(t, &Definition::Messages { least, most });
    }
}

/// Writes down which functions of the program are shown, for whoever reads the blocks of a process that was killed.
pub fn choice(t: &mut Thread, settings: &Settings) {
    let (include, exclude) = (&settings.functions_include, &settings.functions_exclude);
    if !include.is_empty() || !exclude.is_empty() {
        let (include, exclude) = (include.clone(), exclude.clone());
        put_definition(t, &Definition::Choice { include, exclude });
    }
}

/// Writes down the settings that are not the defaults, for whoever makes the files of the blocks.
pub fn settings(t: &mut Thread, settings: &Settings) {
    let lines = settings.changes();
    if !lines.is_empty() {
        put_definition(t, &Definition::Settings(lines));
    }
}

/// A reading of all clocks.
pub fn clocks(t: &mut Thread) {
    put_definition(t, &Definition::Clock(clock::reading()));
}

/// File calls and events that should have been recorded and could not be: how many, and why.
pub fn left_out(t: &mut Thread, calls: impl Iterator<Item = (u64, &'static str)>) {
    for (count, reason) in calls {
        if count > 0 {
            let reason = reason.to_owned();
            put_definition(t, &Definition::Lost { count, reason });
        }
    }
}

/// The constants, the predefined handles, and sizes of predefined datatypes: once MPI is initialised.
pub fn library(t: &mut Thread) {
    static DONE: AtomicBool = AtomicBool::new(false);
    if DONE.swap(true, Relaxed) {
        return;
    }
    let table = constants::table();
    for (name, value) in table.integers {
        put_definition(
            t,
            &Definition::Constant {
                name: (*name).to_owned(),
                value: *value,
            },
        );
    }
    let null: u64 = constants::handle("MPI_DATATYPE_NULL");
    let handles = table.handles.iter().map(|known| (known, false));
    let datatypes = table.datatypes.iter().map(|known| (known, true));
    for ((name, place), is_datatype) in handles.chain(datatypes) {
        let handle = place.value();
        if handle == 0 && !name.ends_with("_NULL") {
            continue;
        }
        let name = (*name).to_owned();
        put_definition(
            t,
            &Definition::Predefined(PredefinedHandle {
                handle,
                name: name.clone(),
            }),
        );
        if is_datatype && handle != null {
            let (size, extent) = datatypes::sizes(Handle::from_bits(handle));
            if size >= 0 {
                datatypes::has_been_defined(handle);
                put_definition(
                    t,
                    &Definition::Type(DatatypeDefinition {
                        handle,
                        size,
                        extent,
                        name,
                    }),
                );
            }
        }
    }
}

/// Group of MPI_COMM_WORLD, kept for translating ranks.
static WORLD_GROUP: Mutex<Option<MPI_Group>> = Mutex::new(None);

/// Takes `group` as that of all processes.
pub fn set_world_group(group: MPI_Group) {
    WORLD_GROUP.lock().get_or_insert(group);
}

/// World ranks of a group's members, −1 for those that are none; frees the group.
fn members(mut group: MPI_Group) -> Vec<i32> {
    let ranks = world_ranks(group);
    // SAFETY: the group is ours.
    unsafe { pmpi::MPI_Group_free(&mut group) };
    ranks
}

/// World ranks of a group's members, −1 for those that are none.
fn world_ranks(group: MPI_Group) -> Vec<i32> {
    let mut n: c_int = 0;
    // SAFETY: a group that is valid here.
    unsafe { pmpi::MPI_Group_size(group, &mut n) };
    let ranks: Vec<c_int> = (0..n).collect();
    let mut world = vec![integers().undefined; ranks.len()];
    let mut translate = |all: MPI_Group| {
        // SAFETY: both arrays have n elements.
        unsafe {
            pmpi::MPI_Group_translate_ranks(group, n, ranks.as_ptr(), all, world.as_mut_ptr());
        }
    };
    match &*WORLD_GROUP.lock() {
        Some(all) => translate(*all),
        None => drop(process_set::with_world(translate)),
    }
    world
        .into_iter()
        .map(|r| if r == integers().undefined { -1 } else { r })
        .collect()
}

/// Describes a communicator as this process sees it.
fn describe(comm: MPI_Comm, handle: u64, parent: u64, origin: CommCreation) -> CommDefinition {
    let (mut rank, mut inter) = (0, 0);
    let mut group: MPI_Group = predefined("MPI_GROUP_NULL");
    let mut remote = Vec::new();
    // SAFETY: a communicator that is valid here.
    unsafe {
        pmpi::MPI_Comm_rank(comm, &mut rank);
        pmpi::MPI_Comm_test_inter(comm, &mut inter);
        pmpi::MPI_Comm_group(comm, &mut group);
        if inter != 0 {
            let mut other: MPI_Group = predefined("MPI_GROUP_NULL");
            pmpi::MPI_Comm_remote_group(comm, &mut other);
            remote = members(other);
        }
    }
    CommDefinition {
        handle,
        parent,
        kind: if inter != 0 {
            CommDefinitionKind::Inter
        } else {
            CommDefinitionKind::Intra
        },
        origin,
        rank,
        members: members(group),
        remote,
    }
}

/// MPI_COMM_WORLD and MPI_COMM_SELF.
pub fn world(t: &mut Thread) {
    for (name, origin) in [
        ("MPI_COMM_WORLD", CommCreation::World),
        ("MPI_COMM_SELF", CommCreation::SelfComm),
    ] {
        let handle = constants::handle(name);
        let comm = describe(Handle::from_bits(handle), handle, 0, origin);
        put_definition(t, &Definition::Comm(comm));
    }
}

/// A communicator that a call has made.
pub fn comm(t: &mut Thread, comm: MPI_Comm, parent: Option<MPI_Comm>, made: CommOrigin) {
    if comm.bits() == constants::handle("MPI_COMM_NULL") {
        return;
    }
    static PARENT_SEEN: Mutex<Option<u64>> = Mutex::new(None);
    let origin = match made {
        CommOrigin::FromParent | CommOrigin::LaterFromParent => CommCreation::Parent,
        CommOrigin::ByMembers => CommCreation::Members,
        CommOrigin::Outside => CommCreation::Outside,
    };
    if origin == CommCreation::Outside {
        let mut first: MPI_Comm = predefined("MPI_COMM_NULL");
        // SAFETY: MPI is initialised; a place for the result.
        unsafe { pmpi::MPI_Comm_get_parent(&mut first) };
        if first.bits() == comm.bits() {
            // It is given every time that it is asked for.
            let mut seen = PARENT_SEEN.lock();
            if *seen == Some(comm.bits()) {
                return;
            }
            *seen = Some(comm.bits());
        }
    }
    let ask = match (made, parent) {
        (CommOrigin::LaterFromParent, Some(parent)) => parent,
        _ => comm,
    };
    let definition = describe(ask, comm.bits(), parent.map_or(0, Handle::bits), origin);
    let is_intra = definition.kind == CommDefinitionKind::Intra;
    put_definition(t, &Definition::Comm(definition));
    if let Some(sources) = is_intra.then(|| topology::sources(ask)).flatten() {
        let comm = comm.bits();
        put_definition(t, &Definition::Neighbours(Neighbours { comm, sources }));
    }
}

/// The group that a call names.
pub fn group(t: &mut Thread, group: MPI_Group) {
    put_definition(t, &Definition::Group(world_ranks(group)));
}
