//! Programs with sessions only. They have no MPI_COMM_WORLD, and no call that all processes make at the end: one may finalize
//! its sessions early, another begin new ones, a third have none. So nothing is merged over MPI, which could make a
//! program wait for ever that would have ended.
//!
//! Instead each process that exits writes its name into a list beside the block files, and the one that completes the list
//! merges the files of all. That needs all processes on one host, and a launcher that tells how many they are and what they
//! have in common. Elsewhere the block files stay and are named: `mpitrace recover` does the same later.

use crate::blocks::Store;
use crate::blocks::thread::{self, Thread};
use crate::call::constants::predefined;
use crate::define;
use crate::finalize;
use crate::process;
use crate::process::start::{Comm, World};
use crate::say;
use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering::Relaxed;

fn number(name: &str) -> Option<u32> {
    std::env::var(name).ok()?.parse().ok()
}

fn first_number(names: &[&str]) -> Option<u32> {
    names.iter().find_map(|name| number(name))
}

/// The first session is there.
#[allow(dead_code, reason = "called where mpi.h declares sessions")]
pub fn begin(t: *mut Thread) {
    // SAFETY: the state of the running thread.
    if let Some(t) = unsafe { t.as_mut() } {
        define::library(t);
    }
    if let Some(store) = process::store() {
        let header = store.header();
        let rank = define::rank_from_launcher().unwrap_or(0);
        header.rank.store(rank, Relaxed);
        let size = first_number(&["PMI_SIZE", "OMPI_COMM_WORLD_SIZE"]);
        header.size.store(size.unwrap_or(1), Relaxed);
        header.run.store(identity().unwrap_or(0), Relaxed);
        process::rank_is_known();
    }
}

/// What all processes of this start of a launcher have in common, as a number; `None` where nothing tells.
fn identity() -> Option<u64> {
    let text = match std::env::var("PMIX_NAMESPACE") {
        // Numbers of older versions come back after a while; rank 0's start stands behind them in names of files.
        Ok(space) => format!(
            "{space} {}",
            std::env::var("PMIX_SERVER_URI2").unwrap_or_default()
        ),
        Err(_) if number("PMI_SIZE").is_some() => launcher()?,
        Err(_) => format!("{} {}", define::boot_id(), born(std::process::id())?),
    };
    Some(hash(&text) | 1)
}

fn hash(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |h, b| {
        (h ^ u64::from(b)).wrapping_mul(0x0100_0000_01b3)
    })
}

/// Hydra's process on this host that has started the rank, by number and time of start.
fn launcher() -> Option<String> {
    let mut pid = std::process::id();
    // A few shells and tools may be in between.
    for _ in 0..8 {
        pid = parent(pid)?;
        let name = std::fs::read_to_string(format!("/proc/{pid}/comm")).ok()?;
        if name.starts_with("hydra") {
            return Some(format!("{} {pid} {}", define::boot_id(), born(pid)?));
        }
    }
    None
}

/// Field `n` of /proc/PID/stat behind the name, which is in parentheses and may have any character.
fn stat(pid: u32, n: usize) -> Option<u64> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let (_, behind) = stat.rsplit_once(") ")?;
    behind.split(' ').nth(n)?.parse().ok()
}

fn parent(pid: u32) -> Option<u32> {
    u32::try_from(stat(pid, 1)?).ok().filter(|&pid| pid > 1)
}

/// When the process began, ticks since the system did.
fn born(pid: u32) -> Option<u64> {
    stat(pid, 19)
}

/// Whether all processes of the run are on this host.
fn all_are_here(size: u32) -> bool {
    let here = first_number(&["MPI_LOCALNRANKS", "OMPI_COMM_WORLD_LOCAL_SIZE"]);
    size == 1 || here == Some(size)
}

/// The process exits.
pub fn leave(store: &Store) {
    // SAFETY: the state of the running thread.
    if let Some(t) = unsafe { thread::current().as_mut() } {
        define::left_out(t);
        finalize::own_last_words(t);
    }
    store.write_out();
    let header = store.header();
    let (rank, size) = (header.rank.load(Relaxed), header.size.load(Relaxed));
    let run = header.run.load(Relaxed);
    let settings = process::settings();
    let named = |why: &str| {
        // Of thousands of ranks that leave like this, a few lines tell enough.
        if rank < 4 {
            say!(
                "trace: rank {rank} has sessions only and {why}: its calls are in {} (mpitrace recover reads it)",
                store.path().display()
            );
        }
    };
    if run == 0 || !all_are_here(size) {
        named("the ranks are not all on one host");
        return;
    }
    let folder = store.path().parent().unwrap_or(Path::new("."));
    let list = folder.join(format!("libtrace.{run:016x}.leaving"));
    let files = match enter(&list, rank, store.path()) {
        Ok(files) => files,
        Err(e) => {
            named(&format!("{} cannot be written ({e})", list.display()));
            return;
        }
    };
    if files.len() < size as usize {
        if rank == 0 && !settings.quiet {
            say!(
                "trace: sessions only: the last of {size} processes to exit makes the trace; if one does not come so far, mpitrace recover {} does",
                folder.display()
            );
        }
        return;
    }
    let world = World {
        rank: 0,
        size: size as i32,
        comm: Comm(predefined("MPI_COMM_NULL")),
        started: (process::first_reading().realtime / 1_000_000_000) as i64,
        job: std::process::id(),
        run,
        spawned: false,
    };
    match finalize::alone::merge(&files, &world, &settings) {
        Ok(()) if settings.keep_blocks => {}
        Ok(()) => files
            .iter()
            .for_each(|file| drop(std::fs::remove_file(file))),
        Err(why) => say!(
            "trace: {why}; the calls are in {}/libtrace.*.blocks (mpitrace recover reads them)",
            folder.display()
        ),
    }
    drop(std::fs::remove_file(&list));
}

/// Adds this process to those that have left; gives the block files of all of them.
fn enter(list: &Path, rank: u32, own: &Path) -> std::io::Result<Vec<PathBuf>> {
    let mut file = OpenOptions::new()
        .read(true)
        .append(true)
        .create(true)
        .open(list)?;
    lock(&file)?;
    // Names may have any character but 0.
    let mut line = format!("{rank} ").into_bytes();
    line.extend_from_slice(own.as_os_str().as_encoded_bytes());
    line.push(0);
    file.write_all(&line)?;
    let mut text = Vec::new();
    File::open(list)?.read_to_end(&mut text)?;
    let lines = text.split(|&b| b == 0).filter(|line| !line.is_empty());
    Ok(lines.filter_map(path_of).collect())
}

fn path_of(line: &[u8]) -> Option<PathBuf> {
    use std::os::unix::ffi::OsStrExt;
    let at = line.iter().position(|&b| b == b' ')?;
    Some(Path::new(std::ffi::OsStr::from_bytes(line.get(at + 1..)?)).to_path_buf())
}

/// Waits until no other process has the file locked. The lock ends with the file's descriptor.
fn lock(file: &File) -> std::io::Result<()> {
    // SAFETY: a descriptor of ours. Others hold the lock for as long as it takes to write a line.
    match unsafe { libc::flock(file.as_raw_fd(), libc::LOCK_EX) } {
        0 => Ok(()),
        _ => Err(std::io::Error::last_os_error()),
    }
}
