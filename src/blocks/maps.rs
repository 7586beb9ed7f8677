//! Mapped memory for blocks, and what the file system says of the space for it.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::ptr::NonNull;

/// Most bytes that a file of this process may have. Going beyond would raise SIGXFSZ in the program.
pub(super) fn size_limit() -> u64 {
    let mut limit = libc::rlimit {
        rlim_cur: 0,
        rlim_max: 0,
    };
    // SAFETY: a valid place for the result.
    match unsafe { libc::getrlimit(libc::RLIMIT_FSIZE, &mut limit) } {
        0 => limit.rlim_cur,
        _ => u64::MAX,
    }
}

/// Whether a store into a mapped page may want space that is not there, however much was reserved: a change is written to a new
/// place.
pub(super) fn needs_more_space_to_change(file: &File) -> bool {
    const BTRFS: i64 = 0x9123_683E;
    const ZFS: i64 = 0x2FC1_2FC1;
    const BCACHEFS: i64 = 0xCA45_1A4E;
    // SAFETY: numbers, for which zero is a value.
    let mut about: libc::statfs = unsafe { std::mem::zeroed() };
    // SAFETY: a descriptor of ours, a place for the result.
    let known = unsafe { libc::fstatfs(file.as_raw_fd(), &mut about) } == 0;
    known && [BTRFS, ZFS, BCACHEFS].contains(&(about.f_type as i64 & 0xFFFF_FFFF))
}

/// Zeroed memory of the system's that is never given back, wherever the running thread is; `None` if there is none.
pub fn memory(bytes: usize) -> Option<NonNull<u8>> {
    // A forked child has a copy, or what its parent was doing would change under both; where a limit counts that, it has the same.
    let made = map_as(libc::MAP_PRIVATE, None, 0, bytes);
    made.or_else(|_| map(None, 0, bytes)).ok()
}

/// Makes sure that the file has disk space for these bytes.
pub(super) fn reserve(file: &File, offset: u64, bytes: usize) -> io::Result<()> {
    if offset + bytes as u64 > size_limit() {
        return Err(io::Error::from_raw_os_error(libc::EFBIG));
    }
    let reserved = || {
        // SAFETY: plain system call on our own descriptor.
        unsafe { libc::posix_fallocate(file.as_raw_fd(), offset as i64, bytes as i64) }
    };
    match unless_interrupted(reserved) {
        0 => Ok(()),
        error => Err(io::Error::from_raw_os_error(error)),
    }
}

/// Most times that space is asked for anew after a signal: where signals come faster than space, the program must go on.
const MAX_TRIES: usize = 1000;

/// The answer of `ask`, an error number or 0, which is asked anew where a signal has cut it short: tmpfs of Linux before 6.6 takes any signal of the
/// program, a profiler's timer say, for a reason to stop.
fn unless_interrupted(mut ask: impl FnMut() -> i32) -> i32 {
    let mut answers = (0..MAX_TRIES).map(|_| ask());
    let answer = answers.find(|&error| error != libc::EINTR);
    answer.unwrap_or(libc::EINTR)
}

/// Maps a part of the file for reading and writing, or memory, its pages faulted in: the writer is not to be held up by that.
pub(super) fn map(file: Option<&File>, offset: u64, bytes: usize) -> io::Result<NonNull<u8>> {
    map_as(libc::MAP_SHARED, file, offset, bytes)
}

fn map_as(kind: i32, file: Option<&File>, offset: u64, bytes: usize) -> io::Result<NonNull<u8>> {
    // SAFETY: a new mapping at an address of the kernel's choice touches nothing that exists.
    let address = unsafe {
        libc::mmap(
            std::ptr::null_mut(),
            bytes,
            libc::PROT_READ | libc::PROT_WRITE,
            kind | file.map_or(libc::MAP_ANONYMOUS, |_| 0),
            file.map_or(-1, |file| file.as_raw_fd()),
            file.map_or(0, |_| offset as i64),
        )
    };
    if address == libc::MAP_FAILED {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the mapping just made. Kernels before 5.14 do not know this; pages then fault when they are first written to.
    unsafe { libc::madvise(address, bytes, libc::MADV_POPULATE_WRITE) };
    NonNull::new(address.cast()).ok_or_else(|| io::Error::other("mapped at address 0"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn space_is_asked_for_again_after_a_signal() {
        let mut answers = [libc::EINTR, libc::EINTR, 0].into_iter();
        assert_eq!(unless_interrupted(|| answers.next().unwrap()), 0);
        let mut answers = [libc::EINTR, libc::ENOSPC].into_iter();
        assert_eq!(unless_interrupted(|| answers.next().unwrap()), libc::ENOSPC);
        assert_eq!(unless_interrupted(|| libc::EINTR), libc::EINTR);
    }
}
