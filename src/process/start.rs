//! What happens in MPI_Init, after the real one: this process learns its rank. Nothing is sent and nothing is made that MPI would
//! notice: a rank without a recorder makes no call with which the others' could meet. What the ranks must agree on waits for
//! MPI_Finalize ([`crate::finalize::meeting`]).

use crate::blocks::thread::Thread;
use crate::define;
use crate::finalize::clocks;
use crate::mpi::constants::{self, predefined};
use crate::mpi::handles::bits;
use crate::mpi::header::{MPI_Comm, MPI_Group};
use crate::mpi::pmpi;
use crate::platform::clock;
use crate::platform::environment;
use crate::platform::host;
use crate::platform::job;
use crate::platform::own_file;
use crate::process;
use crate::say;
use crate::settings::{ClockSync, Names, Settings, expand};
use parking_lot::Mutex;
use std::ffi::c_int;
use std::sync::atomic::Ordering::Relaxed;

/// What this rank knows of its MPI_COMM_WORLD.
#[derive(Clone, Copy, Debug)]
pub struct World {
    /// Rank in MPI_COMM_WORLD.
    pub rank: i32,
    /// Size of MPI_COMM_WORLD.
    pub size: i32,
    /// Wall-clock second at which this rank came out of MPI_Init, since the epoch. That of rank 0 is part of the names of DUMPI
    /// files.
    pub started: i64,
    /// Process ID of this rank; that of rank 0 stands for `%j` in names.
    pub job: u32,
    /// Identity of the run, the same on all ranks; 0 where the launcher tells nothing.
    pub run: u64,
    /// Whether this MPI_COMM_WORLD was spawned by another one.
    pub spawned: bool,
}

static WORLD: Mutex<Option<World>> = Mutex::new(None);

/// What MPI_Init has told; `None` without MPI_Init.
pub fn known() -> Option<World> {
    *WORLD.lock()
}

/// MPI_COMM_WORLD is there.
pub fn world(t: *mut Thread) {
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
    let settings = process::settings();
    if rank == 0 {
        dump_settings(&settings);
    }
    let world = World {
        rank,
        size,
        started: clock::posix(libc::CLOCK_REALTIME) as i64 / 1_000_000_000,
        job: std::process::id(),
        run: job::identity().unwrap_or(0),
        spawned: bits(parent) != constants::handle("MPI_COMM_NULL"),
    };
    if let Some(store) = process::store() {
        let header = store.header();
        header.rank.store(rank as u32, Relaxed);
        header.size.store(size as u32, Relaxed);
        header.run.store(world.run, Relaxed);
        process::rank_is_known();
    }
    *WORLD.lock() = Some(world);
    // SAFETY: the state of the running thread, which is inside MPI_Init.
    let mut t = unsafe { t.as_mut() };
    if let Some(t) = t.as_deref_mut() {
        define::library(t);
        define::world(t);
        define::messages(t, &settings);
        define::choice(t, &settings);
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
    let (program, host) = (host::program(), host::host());
    let names = Names {
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
