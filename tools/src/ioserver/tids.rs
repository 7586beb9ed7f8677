//! The table in shared memory by which ranks tell in which MPI call each of their threads is ([`records::tids`]). The server
//! makes it; ranks find it through the environment variable TRACE_TIDS.

use memmap2::{Mmap, MmapOptions};
use records::tids::{self, SLOTS, Slot, TIDS_HEADER, TIDS_MAGIC, TIDS_SIZE};
use std::fs::OpenOptions;
use std::io::{self, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// The table as the server sees it.
pub struct Tids {
    map: Mmap,
    path: PathBuf,
    /// Whether this process has made the file, and so removes it.
    is_own: bool,
}

impl Tids {
    /// Makes the table, or takes the one that is there.
    ///
    /// # Errors
    /// When it cannot be made, or the file is something else.
    pub fn create(path: &Path) -> io::Result<Tids> {
        let mut options = OpenOptions::new();
        options.read(true).write(true).mode(0o600);
        let (file, is_own) = match options.clone().create_new(true).open(path) {
            Ok(mut file) => {
                // Ranks of any user may use a file system that is mounted for all of them.
                if rustix::process::geteuid().is_root() {
                    file.set_permissions(PermissionsExt::from_mode(0o666))?;
                }
                file.set_len(TIDS_SIZE as u64)?;
                file.write_all(&TIDS_MAGIC)?;
                (file, true)
            }
            Err(e) if e.kind() == io::ErrorKind::AlreadyExists => (options.open(path)?, false),
            Err(e) => return Err(e),
        };
        if file.metadata()?.len() != TIDS_SIZE as u64 {
            return Err(io::Error::other("exists and is no table of threads"));
        }
        // SAFETY: ranks change the slots behind our back, which are read as atomics only; nobody makes the file shorter.
        let map = unsafe { MmapOptions::new().len(TIDS_SIZE).map(&file)? };
        if map.get(..TIDS_MAGIC.len()) != Some(&TIDS_MAGIC[..]) {
            return Err(io::Error::other("exists and is no table of threads"));
        }
        Ok(Tids {
            map,
            path: path.to_owned(),
            is_own,
        })
    }

    /// CallID of the MPI call that thread `tid` is in; `None` when it is in none, or unknown.
    pub fn call_of(&self, tid: u32) -> Option<u64> {
        tids::call_of(self.slots(), tid).filter(|&call| call != 0)
    }

    fn slots(&self) -> &[Slot] {
        // SAFETY: the mapping has room for header and slots, begins at a page, and slots consist of atomics that may have
        // any value.
        unsafe {
            let first = self.map.as_ptr().add(TIDS_HEADER).cast::<Slot>();
            std::slice::from_raw_parts(first, SLOTS)
        }
    }
}

impl Drop for Tids {
    fn drop(&mut self) {
        if self.is_own {
            drop(std::fs::remove_file(&self.path));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::Ordering::Relaxed;

    #[test]
    fn ranks_and_server_see_the_same_table() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("table");
        let server = Tids::create(&path).unwrap();
        let rank = Tids::create(&path).unwrap();
        assert!(server.is_own && !rank.is_own);
        // The rank's side needs a writable mapping; what it does with it is the recorder's affair.
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .open(&path)
            .unwrap();
        // SAFETY: of the size of the file, which stays.
        let map = unsafe { MmapOptions::new().len(TIDS_SIZE).map_mut(&file).unwrap() };
        // SAFETY: as in `slots`.
        let slots = unsafe {
            std::slice::from_raw_parts(map.as_ptr().add(TIDS_HEADER).cast::<Slot>(), SLOTS)
        };
        tids::claim(slots, 4711).unwrap().call.store(77, Relaxed);
        assert_eq!(server.call_of(4711), Some(77));
        assert_eq!(server.call_of(4712), None);
        drop(rank);
        assert!(path.exists());
        drop(server);
        assert!(!path.exists());
        std::fs::write(&path, "something else").unwrap();
        assert!(Tids::create(&path).is_err());
    }
}
