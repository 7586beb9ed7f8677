//! Merging without MPI: each process that ends writes the name of its block file into a list beside the block files, and the one
//! that completes the list merges the files of all. It is the way of programs with sessions only, and of ranks some of whose
//! neighbours have no recorder. All processes must be on one host; elsewhere the block files stay and are named.
//!
//! The list lies in a folder that others may write to, under a name that can be guessed. So it counts only if it is a regular
//! file of this user that nobody else may write to, and what it names are plain file names in the same folder.

use crate::blocks::BlockStore;
use crate::finalize::alone;
use crate::mpi::world::World;
use crate::platform::clock;
use crate::platform::host;
use crate::platform::say::say;
use blockfile::arrivals;
use settings::{MergeWay, Settings};
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::AsRawFd;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use trace_model::files;

/// Longest wait for the lock of the list. Others hold it for as long as it takes to write a line.
const MAX_LOCK_WAIT: Duration = Duration::from_secs(10);

/// The processes that end one after another.
pub struct LeavingProcess<'a> {
    /// This process's block file.
    pub store: &'a BlockStore,
    /// This process's rank.
    pub rank: u32,
    /// The whole run.
    pub world: World,
    /// Number of its processes that write block files.
    pub processes: u32,
}

/// Way in which a process has left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LeaveOutcome {
    /// Others will come: one of them merges.
    BeforeOthers,
    /// As the last one. What it merged, or could not, has been said.
    Last,
}

impl LeavingProcess<'_> {
    /// Enters this process into the list and merges, if it is the last one and the merge is not left to a later command.
    ///
    /// # Errors
    /// In words: the list cannot be used. The block file stays, and nothing has been said.
    pub fn leave(&self, settings: &Settings) -> Result<LeaveOutcome, String> {
        let path = self.store.path();
        let folder = path.parent().unwrap_or(Path::new("."));
        let user = files::user();
        let list = folder.join(arrivals::leaving_name(self.world.run, user));
        let files = enter(&list, self.rank, path)
            .map_err(|e| format!("{} cannot be used ({e})", list.display()))?;
        if files.len() < self.processes as usize {
            return Ok(LeaveOutcome::BeforeOthers);
        }
        let merged = match settings.merge {
            MergeWay::Later => alone::later(&files, &self.world, settings),
            _ => alone::merge(&files, &self.world, settings),
        };
        match merged {
            Ok(()) if settings.keep_blocks || settings.merge == MergeWay::Later => {}
            Ok(()) => files
                .iter()
                .for_each(|file| drop(std::fs::remove_file(file))),
            Err(why) => say!(
                "trace: {why}; the calls are in {}/libtrace.*.blocks on {} (mpitrace recover reads them)",
                folder.display(),
                host::host()
            ),
        }
        drop(std::fs::remove_file(&list));
        Ok(LeaveOutcome::Last)
    }
}

/// World of a run in which no rank could tell the others anything.
pub fn world(size: u32, run: u64, spawned: bool) -> World {
    World {
        rank: 0,
        size: size as i32,
        started: (clock::first_reading().realtime / 1_000_000_000) as i64,
        job: std::process::id(),
        run,
        spawned,
    }
}

/// Adds this process to those that have left; gives the block files of all of them.
fn enter(list: &Path, rank: u32, own: &Path) -> io::Result<Vec<PathBuf>> {
    let mut file = files::open_shared(list, true, 0o600)?;
    lock(&file)?;
    let Some(name) = own.file_name() else {
        return Err(io::Error::other("the block file has no name"));
    };
    // Names may have any character but 0.
    let mut line = format!("{rank} ").into_bytes();
    line.extend_from_slice(name.as_bytes());
    line.push(0);
    file.write_all(&line)?;
    let mut text = Vec::new();
    io::Seek::rewind(&mut file)?;
    file.read_to_end(&mut text)?;
    let lines = text.split(|&b| b == 0).filter(|line| !line.is_empty());
    let folder = list.parent().unwrap_or(Path::new("."));
    lines
        .map(|line| block_file(folder, line))
        .collect::<io::Result<_>>()
}

/// The block file that a line of the list names.
fn block_file(folder: &Path, line: &[u8]) -> io::Result<PathBuf> {
    let wrong = || {
        let line = String::from_utf8_lossy(line).escape_debug().to_string();
        io::Error::other(format!("it names '{line}', which is no block file"))
    };
    let at = line.iter().position(|&b| b == b' ').ok_or_else(wrong)?;
    let name = line.get(at + 1..).unwrap_or_default();
    let fits = name.starts_with(b"libtrace.") && name.ends_with(b".blocks");
    if !fits || name.contains(&b'/') {
        return Err(wrong());
    }
    let path = folder.join(std::ffi::OsString::from_vec(name.to_vec()));
    files::open_found(&path)?;
    Ok(path)
}

/// Waits until no other process has the file locked. The lock ends with the file's descriptor.
fn lock(file: &File) -> io::Result<()> {
    let begun = Instant::now();
    loop {
        // SAFETY: a descriptor of ours.
        if unsafe { libc::flock(file.as_raw_fd(), libc::LOCK_EX | libc::LOCK_NB) } == 0 {
            return Ok(());
        }
        let e = io::Error::last_os_error();
        if e.kind() != io::ErrorKind::WouldBlock || begun.elapsed() > MAX_LOCK_WAIT {
            return Err(e);
        }
        clock::nap(Duration::from_millis(1));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::{PermissionsExt, symlink};

    fn folder(name: &str) -> PathBuf {
        let folder = std::env::temp_dir().join(format!("leaving-{name}-{}", std::process::id()));
        drop(std::fs::remove_dir_all(&folder));
        std::fs::create_dir(&folder).unwrap();
        folder
    }

    /// A block file in `folder` that only its owner may write to.
    fn block(folder: &Path, name: &str) -> PathBuf {
        let path = folder.join(name);
        std::fs::write(&path, "").unwrap();
        std::fs::set_permissions(&path, PermissionsExt::from_mode(0o600)).unwrap();
        path
    }

    #[test]
    fn whoever_leaves_finds_those_before() {
        let folder = folder("list");
        let list = folder.join("list");
        let (a, b) = (
            block(&folder, "libtrace.a.0.1.blocks"),
            block(&folder, "libtrace.a b.1.2.blocks"),
        );
        assert_eq!(enter(&list, 0, &a).unwrap().len(), 1);
        assert_eq!(enter(&list, 1, &b).unwrap(), [a, b]);
        std::fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn a_list_that_others_made_is_refused() {
        let folder = folder("foreign");
        let own_file = block(&folder, "libtrace.a.0.1.blocks");
        let target = block(&folder, "target");
        let list = folder.join("list");
        let refused = || enter(&list, 0, &own_file).is_err();
        symlink(&target, &list).unwrap();
        assert!(refused(), "a link");
        std::fs::remove_file(&list).unwrap();
        std::fs::hard_link(&target, &list).unwrap();
        assert!(refused(), "a second name");
        std::fs::remove_file(&list).unwrap();
        let path = std::ffi::CString::new(list.as_os_str().as_bytes()).unwrap();
        // SAFETY: a path that ends with a zero.
        assert_eq!(unsafe { libc::mkfifo(path.as_ptr(), 0o600) }, 0);
        assert!(refused(), "a FIFO");
        std::fs::remove_file(&list).unwrap();
        block(&folder, "list");
        std::fs::set_permissions(&list, PermissionsExt::from_mode(0o666)).unwrap();
        assert!(refused(), "everybody writes");
        assert_eq!(std::fs::read(&target).unwrap(), b"");
        std::fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn a_list_names_nothing_but_block_files_beside_it() {
        let folder = folder("names");
        block(&folder, "notes.txt");
        symlink("/etc/passwd", folder.join("libtrace.link.blocks")).unwrap();
        for line in [
            &b"1 ../libtrace.x.blocks"[..],
            b"1 /etc/libtrace.x.blocks",
            b"1 notes.txt",
            b"1 libtrace.link.blocks",
            b"1 libtrace.none.blocks",
            b"libtrace.x.blocks",
        ] {
            assert!(block_file(&folder, line).is_err(), "{line:?}");
        }
        std::fs::remove_dir_all(folder).unwrap();
    }
}
