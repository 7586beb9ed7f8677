//! The table in shared memory by which ranks tell in which MPI call each of their threads is ([`blockfile::tids`]). The server
//! makes it; ranks find it through the environment variable TRACE_TIDS.

use blockfile::tids::{self, SLOTS, TIDS_HEADER, TIDS_MAGIC, TIDS_SIZE, TidSlot};
use memmap2::{Mmap, MmapOptions};
use rustix::fs::{MemfdFlags, SealFlags, fchmod, fcntl_add_seals, memfd_create};
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::AsRawFd;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

/// The table as the server sees it: memory without a name in any folder, sealed so that nobody can change its size, which
/// would end every process that has mapped it.
pub struct Tids {
    map: Mmap,
    /// The memory, kept open because ranks open it through this process.
    file: File,
    /// The link that this process has made to it.
    link: Option<PathBuf>,
}

impl Tids {
    /// Makes the table, and a link to it at `link`, where nothing may be yet.
    ///
    /// # Errors
    /// When it cannot be made, or something has the link's name.
    pub fn create(link: Option<&Path>) -> io::Result<Tids> {
        let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
        let mut file = File::from(memfd_create("mpitrace-tids", flags)?);
        fchmod(&file, rustix::fs::Mode::from_raw_mode(0o600))?;
        file.set_len(TIDS_SIZE as u64)?;
        file.write_all(&TIDS_MAGIC)?;
        fcntl_add_seals(&file, SealFlags::SHRINK | SealFlags::GROW | SealFlags::SEAL)?;
        // SAFETY: ranks change the slots behind our back, which are read as atomics only; the seals keep the size.
        let map = unsafe { MmapOptions::new().len(TIDS_SIZE).map(&file)? };
        let mut table = Tids {
            map,
            file,
            link: None,
        };
        if let Some(link) = link {
            symlink(table.opened(), link)?;
            table.link = Some(link.to_owned());
        }
        Ok(table)
    }

    /// Path under which ranks find the table: the link, else [`Tids::opened`].
    pub fn path(&self) -> PathBuf {
        self.link.clone().unwrap_or_else(|| self.opened())
    }

    /// The memory as a descriptor of this process. The system lets only the same user and root open it.
    fn opened(&self) -> PathBuf {
        let fd = self.file.as_raw_fd();
        PathBuf::from(format!("/proc/{}/fd/{fd}", std::process::id()))
    }

    /// CallID of the MPI call that thread `tid` is in; `None` when it is in none, or unknown.
    pub fn call_of(&self, tid: u32) -> Option<u64> {
        tids::call_of(self.slots(), tid).filter(|&call| call != 0)
    }

    fn slots(&self) -> &[TidSlot] {
        // SAFETY: the mapping has room for header and slots, begins at a page, and slots consist of atomics that may have
        // any value.
        unsafe {
            let first = self.map.as_ptr().add(TIDS_HEADER).cast::<TidSlot>();
            std::slice::from_raw_parts(first, SLOTS)
        }
    }
}

impl Drop for Tids {
    fn drop(&mut self) {
        // Another server may have the name by now.
        if let Some(link) = &self.link
            && std::fs::read_link(link).is_ok_and(|to| to == self.opened())
        {
            drop(std::fs::remove_file(link));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::OpenOptions;
    use std::os::unix::fs::PermissionsExt;
    use std::sync::atomic::Ordering::Relaxed;

    fn open(path: &Path) -> File {
        OpenOptions::new()
            .read(true)
            .write(true)
            .open(path)
            .unwrap()
    }

    #[test]
    fn ranks_and_server_see_the_same_table() {
        let folder = tempfile::tempdir().unwrap();
        let link = folder.path().join("table");
        let server = Tids::create(Some(&link)).unwrap();
        assert_eq!(server.path(), link);
        let file = open(&link);
        // SAFETY: of the size of the file, which stays.
        let map = unsafe { MmapOptions::new().len(TIDS_SIZE).map_mut(&file).unwrap() };
        // SAFETY: as in `slots`.
        let slots = unsafe {
            std::slice::from_raw_parts(map.as_ptr().add(TIDS_HEADER).cast::<TidSlot>(), SLOTS)
        };
        tids::claim(slots, 4711).unwrap().call.store(77, Relaxed);
        assert_eq!(server.call_of(4711), Some(77));
        assert_eq!(server.call_of(4712), None);
        drop(server);
        assert!(link.symlink_metadata().is_err(), "the link is removed");
    }

    #[test]
    fn nobody_can_change_its_size() {
        let server = Tids::create(None).unwrap();
        let file = open(&server.path());
        for size in [0, 1, TIDS_SIZE as u64 * 2] {
            assert!(file.set_len(size).is_err(), "{size} bytes");
        }
        let truncating = OpenOptions::new()
            .write(true)
            .truncate(true)
            .open(server.path());
        assert!(truncating.is_err());
        assert_eq!(file.metadata().unwrap().len(), TIDS_SIZE as u64);
        assert_eq!(file.metadata().unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(server.call_of(1), None);
    }

    #[test]
    fn what_has_the_name_already_is_not_taken() {
        let folder = tempfile::tempdir().unwrap();
        let name = folder.path().join("table");
        std::fs::write(&name, vec![0; TIDS_SIZE]).unwrap();
        let Err(error) = Tids::create(Some(&name)) else {
            panic!("it is taken");
        };
        assert_eq!(error.kind(), io::ErrorKind::AlreadyExists);
        assert!(name.symlink_metadata().unwrap().is_file());
    }
}
