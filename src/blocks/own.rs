//! The block file of this process, once its first MPI call has made it.

use crate::blocks::store::BlockStore;
use crate::platform::launcher;
use parking_lot::Mutex;
use std::sync::OnceLock;
use std::sync::atomic::Ordering::Relaxed;

static STORE: OnceLock<Option<BlockStore>> = OnceLock::new();
/// Why there is no block file.
static NO_STORE: Mutex<String> = Mutex::new(String::new());

/// The block file; `None` when nothing can be recorded.
pub fn store() -> Option<&'static BlockStore> {
    STORE.get().and_then(Option::as_ref)
}

/// The block file, made by `open` the first time that it is asked for.
pub fn store_or(open: impl FnOnce() -> Option<BlockStore>) -> Option<&'static BlockStore> {
    STORE.get_or_init(open).as_ref()
}

/// Notes why there is no block file.
pub fn set_why_no_store(why: &str) {
    why.clone_into(&mut NO_STORE.lock());
}

/// Why there is no block file.
pub fn why_no_store() -> String {
    NO_STORE.lock().clone()
}

/// The rank in MPI_COMM_WORLD, before MPI_Init as the launcher tells it.
pub fn rank() -> Option<u32> {
    let known = store().map(|store| store.header().rank.load(Relaxed));
    known
        .filter(|&rank| rank != u32::MAX)
        .or_else(launcher::rank)
}
