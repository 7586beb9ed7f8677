//! Work in MPI_Init, after the real one: this process learns its rank. Nothing is sent and nothing is made that MPI would
//! notice: a rank without a recorder makes no call with which the others' could meet. What the ranks must agree on waits for
//! MPI_Finalize ([`crate::exchange::meeting`]).

use crate::blocks::own;
use crate::call::world_collectives;
use crate::define;
use crate::exchange::clocks;
use crate::in_force;
use crate::lifecycle::apply::rank_is_known;
use crate::mpi::constants::{self, predefined};
use crate::mpi::pmpi;
use crate::mpi::types::{MPI_Comm, MPI_Group};
use crate::mpi::world::{self, World};
use crate::platform::clock;
use crate::platform::environment;
use crate::platform::job;
use crate::platform::own_file;
use crate::platform::say::say;
use crate::platform::{host, program};
use crate::thread::state::Thread;
use settings::{ClockSync, NameValues, Settings, expand};
use std::ffi::c_int;
use std::sync::atomic::Ordering::Relaxed;

/// MPI_COMM_WORLD is there.
pub fn begin(t: *mut Thread) {
    crate::memory::hold();
    let all: MPI_Comm = predefined("MPI_COMM_WORLD");
    let (mut rank, mut size): (c_int, c_int) = (0, 1);
    let mut parent: MPI_Comm = predefined("MPI_COMM_NULL");
    // SAFETY: MPI is initialised. None of these calls involves another rank.
    unsafe {
        pmpi::MPI_Comm_rank(all, &mut rank);
        pmpi::MPI_Comm_size(all, &mut size);
        let mut group: MPI_Group = predefined("MPI_GROUP_NULL");
        pmpi::MPI_Comm_group(all, &mut group);
        define::set_world_group(group);
        pmpi::MPI_Comm_get_parent(&mut parent);
    }
    let settings = in_force::copy();
    if rank == 0 {
        dump_settings(&settings);
    }
    let world = World {
        rank,
        size,
        started: (clock::first_reading().realtime / 1_000_000_000) as i64,
        job: std::process::id(),
        run: job::identity().unwrap_or(0),
        spawned: parent.bits() != constants::handle("MPI_COMM_NULL"),
    };
    if let Some(store) = own::store() {
        let header = store.header();
        header.rank.store(rank as u32, Relaxed);
        header.size.store(size as u32, Relaxed);
        header.run.store(world.run, Relaxed);
        rank_is_known();
    }
    world::set(world);
    world_collectives::count_on(all.bits());
    // SAFETY: the state of the running thread, which is inside MPI_Init.
    let mut t = unsafe { t.as_mut() };
    if let Some(t) = t.as_deref_mut() {
        define::library(t);
        define::world(t);
        define::messages(t, &settings);
        define::choice(t, &settings);
        define::settings(t, &settings);
    }
    if settings.clock_sync == ClockSync::Twice {
        // A comparison that fails is missed at MPI_Finalize, not here: the program must go on.
        let _ = clocks::compare_now(t.as_deref_mut(), &world);
    }
    if let Some(t) = t {
        // A second reading, far enough from the first to tell the rate of the counter if the process does not end well.
        define::clocks(t);
    }
}

/// Writes the settings in force where the setting `settings-dump` wants them.
fn dump_settings(settings: &Settings) {
    let Some(path) = &settings.settings_dump else {
        return;
    };
    let text = settings.to_text();
    if path == "-" {
        crate::platform::say::raw(&text);
        return;
    }
    let (program, host) = (program::name(), host::host());
    let names = NameValues {
        program: &program,
        job: &std::process::id().to_string(),
        task: &environment::array_task(),
        date: "",
        host: &host,
        ranks: 0,
        rank: 0,
        pid: std::process::id(),
    };
    let path = environment::home().join(expand(path, &names));
    let is_dump = |beginning: &str| beginning.starts_with(Settings::FIRST_LINE);
    if let Err(e) = own_file::replace(&path, &text, &is_dump) {
        say!("trace: {}: {e}", path.display());
    }
}
