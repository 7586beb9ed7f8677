//! inotify: what happens to the names in a directory.

use std::ffi::{CString, OsStr, OsString};
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// Events that are asked for.
const MASK: u32 = libc::IN_CREATE
    | libc::IN_MOVED_TO
    | libc::IN_CLOSE_WRITE
    | libc::IN_DELETE
    | libc::IN_ONLYDIR
    | libc::IN_EXCL_UNLINK;
/// Bytes in front of the name in a message.
const HEAD: usize = size_of::<libc::inotify_event>();

/// Watches directories.
#[derive(Debug)]
pub struct Notify {
    descriptor: OwnedFd,
}

/// A change in a watched directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DirectoryChange {
    /// A name in a watched directory changed.
    Name {
        /// The directory.
        watch: i32,
        /// The name.
        name: OsString,
        /// Whether the name is that of a directory.
        folder: bool,
        /// Whether the name is new in the directory.
        appeared: bool,
        /// Whether the file was closed by a process that could write to it.
        closed: bool,
        /// Whether the name is gone.
        removed: bool,
    },
    /// The directory itself is gone.
    Gone {
        /// The directory.
        watch: i32,
    },
    /// The kernel dropped changes.
    Lost,
}

impl Notify {
    /// Watches nothing yet.
    ///
    /// # Errors
    /// The error of the system.
    pub fn new() -> io::Result<Notify> {
        // SAFETY: a plain call; what it gives is nobody else's.
        unsafe {
            match libc::inotify_init1(libc::IN_NONBLOCK | libc::IN_CLOEXEC) {
                -1 => Err(io::Error::last_os_error()),
                fd => Ok(Notify {
                    descriptor: OwnedFd::from_raw_fd(fd),
                }),
            }
        }
    }

    /// Watches a directory; gives its number, equal if it was watched already.
    ///
    /// # Errors
    /// The error of the system.
    pub fn watch(&mut self, path: &Path) -> io::Result<i32> {
        let path = CString::new(path.as_os_str().as_bytes())?;
        // SAFETY: our descriptor and a string that ends with zero.
        match unsafe { libc::inotify_add_watch(self.descriptor.as_raw_fd(), path.as_ptr(), MASK) } {
            -1 => Err(io::Error::last_os_error()),
            watch => Ok(watch),
        }
    }

    /// Changes since the last call.
    pub fn changes(&mut self) -> Vec<DirectoryChange> {
        let mut changes = Vec::new();
        let mut buffer = [0u8; 16 * 1024];
        // More than this at once is left for the next time.
        for _ in 0..64 {
            // SAFETY: the buffer has as many bytes.
            let read = unsafe {
                libc::read(
                    self.descriptor.as_raw_fd(),
                    buffer.as_mut_ptr().cast(),
                    buffer.len(),
                )
            };
            let Ok(read @ 1..) = usize::try_from(read) else {
                break;
            };
            parse(&buffer[..read], &mut changes);
        }
        changes
    }
}

impl AsRawFd for Notify {
    fn as_raw_fd(&self) -> RawFd {
        self.descriptor.as_raw_fd()
    }
}

fn parse(mut bytes: &[u8], changes: &mut Vec<DirectoryChange>) {
    let word = |bytes: &[u8], at: usize| {
        let word = bytes.get(at..)?.first_chunk()?;
        Some(u32::from_ne_bytes(*word))
    };
    while let (Some(watch), Some(mask), Some(length)) =
        (word(bytes, 0), word(bytes, 4), word(bytes, 12))
    {
        let end = HEAD.saturating_add(length as usize);
        let Some(name) = bytes.get(HEAD..end) else {
            return;
        };
        bytes = &bytes[end..];
        let watch = watch as i32;
        let name = &name[..name.iter().position(|&c| c == 0).unwrap_or(name.len())];
        let has = |flags| mask & flags != 0;
        if has(libc::IN_Q_OVERFLOW) {
            changes.push(DirectoryChange::Lost);
        } else if has(libc::IN_IGNORED) {
            changes.push(DirectoryChange::Gone { watch });
        } else if !name.is_empty() {
            changes.push(DirectoryChange::Name {
                watch,
                name: OsStr::from_bytes(name).to_os_string(),
                folder: has(libc::IN_ISDIR),
                appeared: has(libc::IN_CREATE | libc::IN_MOVED_TO),
                closed: has(libc::IN_CLOSE_WRITE),
                removed: has(libc::IN_DELETE),
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_come_and_go() {
        let folder = tempfile::tempdir().unwrap();
        let mut notify = Notify::new().unwrap();
        let number = notify.watch(folder.path()).unwrap();
        let change = |name: &str, folder, appeared, closed, removed| DirectoryChange::Name {
            watch: number,
            name: name.into(),
            folder,
            appeared,
            closed,
            removed,
        };
        // A child that another test begins has what is open here, for a moment: then it is closed that much later.
        let mut found = Vec::new();
        std::fs::write(folder.path().join("a"), "x").unwrap();
        until("the file is closed", || {
            found.extend(notify.changes());
            found.len() >= 2
        });
        std::fs::remove_file(folder.path().join("a")).unwrap();
        std::fs::create_dir(folder.path().join("b")).unwrap();
        found.extend(notify.changes());
        assert_eq!(
            found,
            [
                change("a", false, true, false, false),
                change("a", false, false, true, false),
                change("a", false, false, false, true),
                change("b", true, true, false, false),
            ]
        );
        drop(folder);
        let gone = DirectoryChange::Gone { watch: number };
        until("the folder is gone", || notify.changes().contains(&gone));
    }

    /// Asks again and again, for as long as a test may take.
    fn until(what: &str, mut is_so: impl FnMut() -> bool) {
        let limit = std::time::Instant::now() + std::time::Duration::from_secs(20);
        while !is_so() {
            assert!(std::time::Instant::now() < limit, "waited until {what}");
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
    }
}
