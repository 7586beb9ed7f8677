//! This process in its MPI_COMM_WORLD.

use parking_lot::Mutex;

/// This process in its MPI_COMM_WORLD: rank, size, start, and identity of the run.
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

/// Notes what MPI_Init has told.
pub fn set(world: World) {
    *WORLD.lock() = Some(world);
}

/// The world after MPI_Init; `None` before it.
pub fn known() -> Option<World> {
    *WORLD.lock()
}
