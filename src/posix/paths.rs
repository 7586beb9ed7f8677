//! Names of files: made absolute, and chosen by the settings `posix-include` and `posix-exclude`.

use super::system;
use crate::platform::environment;
use crate::platform::launcher;
use crate::platform::{host, program};
use settings::{NameValues, expand};
use std::ffi::{CStr, c_char, c_int};
use std::io::Write;
use std::sync::atomic::{
    AtomicPtr,
    Ordering::{Acquire, Relaxed, Release},
};
use trace_model::glob::matches_path;

/// Most bytes of a name that are kept; as much as Linux takes.
const MAX_PATH_BYTES: usize = 4096;

/// A name, on the stack.
pub struct Path {
    bytes: [u8; MAX_PATH_BYTES],
    length: usize,
}

impl Path {
    fn empty() -> Path {
        Path {
            bytes: [0; MAX_PATH_BYTES],
            length: 0,
        }
    }

    /// Bytes of the name.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes[..self.length]
    }

    fn push(&mut self, bytes: &[u8]) {
        let room = &mut self.bytes[self.length..];
        let n = bytes.len().min(room.len());
        room[..n].copy_from_slice(&bytes[..n]);
        self.length += n;
    }

    /// The file that `name` means in directory `directory` (a descriptor or AT_FDCWD).
    ///
    /// # Safety
    /// `name` must end with 0; it is what the program has given to libc.
    pub unsafe fn of_name(directory: c_int, name: *const c_char) -> Path {
        let mut path = Path::empty();
        if name.is_null() {
            return path;
        }
        // SAFETY: promised by the caller.
        let name = unsafe { CStr::from_ptr(name) }.to_bytes();
        if !name.starts_with(b"/") {
            if directory == libc::AT_FDCWD {
                path.length = system::working_directory(&mut path.bytes);
            } else {
                path = Path::of_descriptor(directory);
            }
            path.push(b"/");
        }
        path.push(name.strip_prefix(b"./").unwrap_or(name));
        path
    }

    /// The file that a descriptor stands for, as the kernel names it.
    pub fn of_descriptor(fd: c_int) -> Path {
        let mut path = Path::empty();
        let mut link = [0; 32];
        // It is long enough, with a 0 at the end.
        let _ = write!(&mut link[..31], "/proc/self/fd/{fd}");
        if let Ok(link) = CStr::from_bytes_until_nul(&link) {
            path.length = system::link(link, &mut path.bytes);
        }
        path
    }

    /// The file that `name` in `directory` has been opened as, with descriptor `fd`: below /proc and /dev a name can be that of a descriptor,
    /// such as `/dev/stdin` and `/proc/self/fd/3`, and the kernel knows what that stands for.
    ///
    /// # Safety
    /// As for [`Path::of_name`].
    pub unsafe fn of_opened(directory: c_int, name: *const c_char, fd: c_int) -> Path {
        // SAFETY: promised by the caller.
        let path = unsafe { Path::of_name(directory, name) };
        match path.is_of_system() {
            true => Path::of_descriptor(fd),
            false => path,
        }
    }

    /// Whether calls on the file of this name, which need not be there yet, may be wanted. The name may be no address at all.
    pub fn may_be_wanted(directory: c_int, name: *const c_char) -> bool {
        let (may_be, is_there) = match system::status_at(directory, name, 0) {
            Ok(status) => (status.st_mode & libc::S_IFMT == libc::S_IFREG, true),
            Err(error) => (error != libc::EFAULT, false),
        };
        if !may_be {
            return false;
        }
        // SAFETY: the kernel has read the name.
        let path = unsafe { Path::of_name(directory, name) };
        path.is_wanted() || is_there && path.may_name_descriptor()
    }

    /// True for names of what the kernel makes up, and of devices.
    fn is_of_system(&self) -> bool {
        let begins = |with: &[u8]| self.bytes().starts_with(with);
        begins(b"/proc/") || begins(b"/sys/") || begins(b"/dev/") && !begins(b"/dev/shm/")
    }

    /// True for a name of a regular file below /proc or /dev that may be that of a descriptor.
    fn may_name_descriptor(&self) -> bool {
        let path = self.bytes();
        path.starts_with(b"/dev/")
            || path.starts_with(b"/proc/") && path.windows(4).any(|part| part == b"/fd/")
    }

    /// Whether calls on this file are wanted.
    pub fn is_wanted(&self) -> bool {
        if self.is_of_system() {
            return false;
        }
        let path = self.bytes();
        // SAFETY: what is there has been leaked and is never changed.
        let Some(choice) = (unsafe { CHOICE.load(Acquire).as_ref() }) else {
            return true;
        };
        let any = |patterns: &[Vec<u8>]| patterns.iter().any(|p| matches_path(p, path));
        (choice.include.is_empty() || any(&choice.include)) && !any(&choice.exclude)
    }
}

/// Patterns of absolute names of files, as [`matches_path`] takes them.
struct NamePatterns {
    include: Vec<Vec<u8>>,
    exclude: Vec<Vec<u8>>,
}

static CHOICE: AtomicPtr<NamePatterns> = AtomicPtr::new(std::ptr::null_mut());

/// Takes the patterns of the settings.
pub fn choose(include: &[String], exclude: &[String]) {
    if include.is_empty() && exclude.is_empty() && CHOICE.load(Relaxed).is_null() {
        return;
    }
    let (program, host) = (program::name(), host::host());
    let names = NameValues {
        program: &program,
        job: "",
        task: &environment::array_task(),
        date: "",
        host: &host,
        ranks: 0,
        rank: launcher::rank().unwrap_or(0),
        pid: std::process::id(),
    };
    let expanded = |patterns: &[String]| {
        let expand = |p: &String| expand(p, &names).into_bytes();
        patterns.iter().map(expand).collect()
    };
    // The old one may be in use; settings come twice at most.
    let choice = Box::leak(Box::new(NamePatterns {
        include: expanded(include),
        exclude: expanded(exclude),
    }));
    CHOICE.store(choice, Release);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_absolute() {
        let here = std::env::current_dir().unwrap();
        // SAFETY: literals.
        let of = |name: &CStr| unsafe { Path::of_name(libc::AT_FDCWD, name.as_ptr()) };
        assert_eq!(of(c"/a/./b").bytes(), b"/a/./b");
        assert_eq!(
            of(c"b").bytes(),
            here.join("b").as_os_str().as_encoded_bytes()
        );
        assert_eq!(
            of(c"./b").bytes(),
            here.join("b").as_os_str().as_encoded_bytes()
        );
        let file = std::fs::File::open(&here).unwrap();
        let fd = std::os::fd::AsRawFd::as_raw_fd(&file);
        assert_eq!(
            Path::of_descriptor(fd).bytes(),
            here.as_os_str().as_encoded_bytes()
        );
        assert!(!of(c"/proc/cpuinfo").is_wanted());
        let data = std::env::current_exe().unwrap();
        let open = std::fs::File::open(&data).unwrap();
        let fd = std::os::fd::AsRawFd::as_raw_fd(&open);
        for name in ["/proc/self/fd", "/dev/fd"] {
            let name = std::ffi::CString::new(format!("{name}/{fd}")).unwrap();
            // SAFETY: a text of our own.
            let opened = unsafe { Path::of_opened(libc::AT_FDCWD, name.as_ptr(), fd) };
            assert_eq!(opened.bytes(), data.as_os_str().as_encoded_bytes());
            assert!(opened.is_wanted());
            assert!(Path::may_be_wanted(libc::AT_FDCWD, name.as_ptr()));
        }
        assert!(!Path::may_be_wanted(libc::AT_FDCWD, c"/dev/null".as_ptr()));
        assert!(!Path::may_be_wanted(
            libc::AT_FDCWD,
            c"/proc/self/stat".as_ptr()
        ));
        assert!(of(c"/dev/shm/x").is_wanted());
    }
}
