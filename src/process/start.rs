//! What happens in MPI_Init, after the real one: every rank learns who it is, takes rank 0's settings, gets a communicator of
//! the recorder's own, and compares its clock with rank 0's.

use crate::blocks::thread::Thread;
use crate::call::arg::bits;
use crate::call::constants::{self, predefined};
use crate::define;
use crate::finalize::clocks;
use crate::interpose::generated::{MPI_Comm, MPI_Datatype, MPI_Group, pmpi};
use crate::process;
use crate::process::clock;
use crate::say;
use crate::settings::{Names, Settings, expand};
use parking_lot::Mutex;
use std::ffi::c_int;
use std::sync::atomic::Ordering::Relaxed;

/// What the ranks agreed on in MPI_Init.
#[derive(Clone, Copy, Debug)]
pub struct World {
    /// Rank in MPI_COMM_WORLD.
    pub rank: i32,
    /// Size of MPI_COMM_WORLD.
    pub size: i32,
    /// Duplicate of MPI_COMM_WORLD for the recorder alone.
    pub comm: Comm,
    /// Wall-clock second at which rank 0 started, since the epoch: part of the names of DUMPI files.
    pub started: i64,
    /// Process ID of rank 0.
    pub job: u32,
    /// Identity of the run.
    pub run: u64,
    /// Whether this MPI_COMM_WORLD was spawned by another one.
    pub spawned: bool,
}

/// A communicator handle.
#[derive(Clone, Copy, Debug)]
pub struct Comm(pub MPI_Comm);
// SAFETY: a handle, valid in every thread.
unsafe impl Send for Comm {}

static WORLD: Mutex<Option<World>> = Mutex::new(None);

/// What the ranks agreed on; `None` without MPI_Init.
pub fn agreed() -> Option<World> {
    *WORLD.lock()
}

/// Frees the recorder's communicator. Collective.
pub fn free(Comm(mut comm): Comm) {
    // SAFETY: all ranks are in MPI_Finalize, and no message is under way on it.
    unsafe { pmpi::MPI_Comm_free(&mut comm) };
}

/// Start of the run, as rank 0 tells it to all.
#[repr(C)]
#[derive(Clone, Copy, Default)]
struct Greeting {
    started: i64,
    run: u64,
    job: u64,
    settings: u64,
}

/// MPI_COMM_WORLD is there.
pub fn world(t: *mut Thread) {
    crate::blocks::reserve::hold();
    let all: MPI_Comm = predefined("MPI_COMM_WORLD");
    let byte: MPI_Datatype = predefined("MPI_BYTE");
    let (mut rank, mut size): (c_int, c_int) = (0, 1);
    let mut comm: MPI_Comm = predefined("MPI_COMM_NULL");
    let mut parent = comm;
    // SAFETY: MPI is initialised, and all ranks are in MPI_Init.
    unsafe {
        pmpi::MPI_Comm_rank(all, &mut rank);
        pmpi::MPI_Comm_size(all, &mut size);
        let mut group: MPI_Group = predefined("MPI_GROUP_NULL");
        pmpi::MPI_Comm_group(all, &mut group);
        define::set_world_group(group);
        pmpi::MPI_Comm_get_parent(&mut parent);
        pmpi::MPI_Comm_dup(all, &mut comm);
        pmpi::MPI_Comm_set_errhandler(comm, predefined("MPI_ERRORS_RETURN"));
    }
    let text = process::settings().to_text();
    let mut greeting = Greeting {
        started: clock::posix(libc::CLOCK_REALTIME) as i64 / 1_000_000_000,
        run: clock::posix(libc::CLOCK_REALTIME) ^ (u64::from(std::process::id()) << 40) | 1,
        job: u64::from(std::process::id()),
        settings: text.len() as u64,
    };
    let mut text = text.into_bytes();
    // SAFETY: rank 0's greeting tells how long the text is; all ranks take part.
    unsafe {
        let greeting_at = (&raw mut greeting).cast();
        pmpi::MPI_Bcast(greeting_at, size_of::<Greeting>() as c_int, byte, 0, comm);
        text.resize(greeting.settings as usize, 0);
        pmpi::MPI_Bcast(text.as_mut_ptr().cast(), text.len() as c_int, byte, 0, comm);
    }
    if rank != 0 {
        let (settings, _) = Settings::from_text(&String::from_utf8_lossy(&text));
        process::apply(settings);
    }
    if rank == 0 {
        dump_settings(&process::settings());
    }
    if let Some(store) = process::store() {
        let header = store.header();
        header.rank.store(rank as u32, Relaxed);
        header.size.store(size as u32, Relaxed);
        header.run.store(greeting.run, Relaxed);
        process::rank_is_known();
    }
    let world = World {
        rank,
        size,
        comm: Comm(comm),
        started: greeting.started,
        job: greeting.job as u32,
        run: greeting.run,
        spawned: bits(parent) != constants::handle("MPI_COMM_NULL"),
    };
    *WORLD.lock() = Some(world);
    // SAFETY: the state of the running thread, which is inside MPI_Init.
    let mut t = unsafe { t.as_mut() };
    if let Some(t) = t.as_deref_mut() {
        define::library(t);
        define::world(t);
        let settings = process::settings();
        define::messages(t, &settings);
        define::choice(t, &settings);
    }
    clocks::plan(&world);
    // A comparison that fails is missed at MPI_Finalize, not here: the program must go on.
    let _ = clocks::compare(t.as_deref_mut(), &world);
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
        crate::process::say::raw(&text);
        return;
    }
    let (program, host) = (define::program(), define::host());
    let names = Names {
        program: &program,
        job: &std::process::id().to_string(),
        date: "",
        host: &host,
        ranks: 0,
        rank: 0,
        pid: std::process::id(),
    };
    let path = process::home().join(expand(path, &names));
    if let Err(e) = std::fs::write(&path, text) {
        say!("trace: {}: {e}", path.display());
    }
}
