//! The table by which a server on this machine sees which MPI call a thread is in ([`blockfile::tids`]): `TRACE_TIDS` names it.
//! Without one the threads store to places of their own that nobody reads.

use crate::platform::environment;
use crate::platform::say;
use blockfile::tids::{SLOTS, TIDS_HEADER, TIDS_MAGIC, TIDS_SIZE, TidSlot, claim};
use std::fs::OpenOptions;
use std::io::Error;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::sync::OnceLock;
use std::sync::atomic::AtomicU64;

static TABLE: OnceLock<Option<&'static [TidSlot]>> = OnceLock::new();

/// Whether somebody looks threads up by their numbers.
pub fn in_use() -> bool {
    matches!(TABLE.get(), Some(Some(_)))
}

/// The place in which thread `tid` says which call it is in; `own` where nobody looks.
pub fn place(tid: u32, own: &'static AtomicU64) -> &'static AtomicU64 {
    let table = TABLE.get_or_init(|| {
        let path = environment::var_os("TRACE_TIDS").filter(|path| !path.is_empty())?;
        map(path.as_ref())
            .inspect_err(|e| {
                say::on_first_rank(&format!(
                    "trace: TRACE_TIDS: {}: {e}; the server cannot see which call a request belongs to",
                    path.display()
                ));
            })
            .ok()
    });
    table
        .and_then(|slots| claim(slots, tid))
        .map_or(own, |slot| &slot.call)
}

/// Maps the table, which has to be memory whose size nobody can change any more, of this user or root: a file that becomes
/// shorter would end the program, and other users are not to see what it does.
fn map(path: &std::path::Path) -> std::io::Result<&'static [TidSlot]> {
    let file = OpenOptions::new()
        .read(true)
        .write(true)
        .custom_flags(libc::O_NONBLOCK | libc::O_NOCTTY)
        .open(path)?;
    // SAFETY: asks about an open descriptor.
    let seals = unsafe { libc::fcntl(file.as_raw_fd(), libc::F_GET_SEALS) };
    if seals == -1 || seals & libc::F_SEAL_SHRINK == 0 {
        return Err(Error::other(
            "is no sealed memory, which mpitrace ioserver makes",
        ));
    }
    let found = file.metadata()?;
    // SAFETY: asks for a number.
    let user = unsafe { libc::geteuid() };
    if found.uid() != user && found.uid() != 0 {
        return Err(Error::other(format!(
            "belongs to user {}, not to {user} or root",
            found.uid()
        )));
    }
    if found.len() != TIDS_SIZE as u64 {
        return Err(Error::other("is not a table of thread IDs"));
    }
    // SAFETY: a new mapping of a file of that size, which its seal keeps; a child must not write to it.
    unsafe {
        let table = libc::mmap(
            std::ptr::null_mut(),
            TIDS_SIZE,
            libc::PROT_READ | libc::PROT_WRITE,
            libc::MAP_SHARED,
            file.as_raw_fd(),
            0,
        );
        if table == libc::MAP_FAILED {
            return Err(Error::last_os_error());
        }
        let table = table.cast::<u8>().cast_const();
        if std::slice::from_raw_parts(table, TIDS_MAGIC.len()) != TIDS_MAGIC {
            return Err(Error::other("is not a table of thread IDs"));
        }
        // Slots are atomics, which any process may change.
        Ok(std::slice::from_raw_parts(
            table.add(TIDS_HEADER).cast::<TidSlot>(),
            SLOTS,
        ))
    }
}
