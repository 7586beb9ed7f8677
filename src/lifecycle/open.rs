//! The process's first call: its settings are read, and its block file is made.

use crate::blocks::{BlockStore, own};
use crate::call::hooks::{self, Hooks};
use crate::call::{modes, path};
use crate::define;
use crate::lifecycle::apply::apply;
use crate::lifecycle::{dump, fork};
use crate::mpi::family;
use crate::mpi::functions::{FINGERPRINT, NAMES};
use crate::platform::folder::Folders;
use crate::platform::{clock, environment, host, launcher, program};
use crate::posix;
use crate::thread::state::Thread;
use crate::thread::within::within;
use crate::thread::{begin, wiped};
use blockfile::layout::{BLOCK_SIZE, FILE_MAGIC, FileHeader, VERSION};
use settings::{self, AtLimit, Settings};
use std::ffi::CStr;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering::Relaxed;

/// Functions of this floor and of those between that calls need.
static HOOKS: Hooks = Hooks {
    start_thread,
    switched: posix::switch,
    forked: fork::stop,
};

/// Registers what calls need: before any of them is made, and before settings are in force.
pub fn register_hooks() {
    hooks::register(&HOOKS);
}

/// Makes the state of the running thread, and of the process at its first call. Null when nothing can be recorded.
pub fn start_thread() -> *mut Thread {
    if !wiped::is_alone() {
        fork::stop();
        return std::ptr::null_mut();
    }
    within(|| {
        let store = own::store_or(|| {
            register_hooks();
            let store = open();
            if store.is_some() {
                wiped::begin();
                fork::watch();
                posix::start();
            }
            store
        });
        store.map_or(std::ptr::null_mut(), |store| {
            begin::start(store, define::process)
        })
    })
}

/// Loads this process's own settings and opens the block file, at the first MPI call.
fn open() -> Option<BlockStore> {
    if environment::is_untrusted() {
        give_up("a program with rights that its user has not");
        return None;
    }
    clock::init();
    path::choose();
    clock::read_first();
    environment::set_home();
    let loaded = Settings::of_process(&is_known);
    for complaint in &loaded.complaints {
        crate::platform::say::on_first_rank(&complaint.to_string());
    }
    let tmpdir_is_ordered = loaded.is_ordered("tmpdir");
    let settings = loaded.settings;
    apply(settings.clone());
    let fill = |header: &mut FileHeader| {
        header.magic = FILE_MAGIC;
        header.version = VERSION;
        header.family.store(family::family() as u32, Relaxed);
        header.table = FINGERPRINT;
        header.clock = clock::source() as u32;
        header.counter_bits.store(64 - settings.rank_bits, Relaxed);
        header.pid = std::process::id();
        header.rank.store(u32::MAX, Relaxed);
    };
    let newest = settings.at_disk_limit == AtLimit::Newest;
    // A process that has executed another program keeps its number, and its file is there.
    let make = |folder: &PathBuf| {
        let path = block_path(folder)?;
        let tries = (0..100).map(|n| match n {
            0 => path.clone(),
            n => path.with_extension(format!("{n}.blocks")),
        });
        let mut result = Err(format!("{}: exists", path.display()));
        for path in tries {
            match BlockStore::create(&path, settings.blocks / BLOCK_SIZE as u64, newest, fill) {
                Err(e) if e.kind() == ErrorKind::AlreadyExists => {}
                made => {
                    result = made.map_err(|e| format!("{}: {e}", path.display()));
                    break;
                }
            }
        }
        result
    };
    let folders = Folders::of(&settings, tmpdir_is_ordered);
    let mut made = Err(String::new());
    for folder in &folders.choice {
        made = make(folder);
        if made.is_ok() {
            break;
        }
    }
    match made {
        Ok(store) => {
            let folder = store.path().parent().unwrap_or(Path::new(""));
            if let Some(notice) = folders.notice(folder).filter(|_| !settings.quiet) {
                crate::platform::say::on_first_rank(&notice);
            }
            store.set_limit(settings.disk_limit.unwrap_or(u64::MAX));
            dump::install(settings.dump_signal);
            Some(store)
        }
        Err(why) => {
            // Rank 0 says it at the end, if there is an end; this rank says it now, if it is the first one.
            crate::platform::say::on_first_rank(&format!(
                "trace: {why} (on {}): nothing is recorded, the program runs on",
                host::host()
            ));
            give_up(&why);
            None
        }
    }
}

/// Notes the family of the MPI library in the block file, which may have been made before there was an MPI library.
pub fn tell_family() {
    if let Some(store) = own::store() {
        store
            .header()
            .family
            .store(family::family() as u32, Relaxed);
    }
}

/// Nothing is recorded in this process, for the reason that MPI_Finalize tells.
fn give_up(why: &str) {
    own::set_why_no_store(why);
    modes::stop();
}

/// Whether a function of this name exists in the table, or as an extension of an MPI library.
pub fn is_known(name: &str) -> bool {
    let is_it = |known: &&CStr| known.to_bytes().strip_prefix(b"P") == Some(name.as_bytes());
    NAMES.iter().any(is_it) || name.starts_with("MPIO_")
}

fn block_path(folder: &Path) -> Result<PathBuf, String> {
    let rank = launcher::rank().unwrap_or(0);
    let program = program::name().replace(|c: char| c.is_control(), "_");
    let name = format!(
        "libtrace.{}.{rank}.{}.blocks",
        settings::shortened(&program),
        std::process::id()
    );
    let path = folder.join(name);
    // Made absolute now, because the program may change its directory.
    std::path::absolute(&path).map_err(|e| format!("{}: {e}", path.display()))
}
