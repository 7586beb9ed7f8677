//! Marks by which other ranks of this host see whether a process has a recorder: mappings that /proc/PID/maps shows. Each takes a page of
//! address space, no descriptor and no file of ours, and goes with the process.

use std::ffi::CStr;
use std::fs::File;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// What a mark says, and how it looks.
pub struct Mark {
    /// Name of an anonymous file that is mapped.
    name: &'static CStr,
    /// Linux before 3.17 has no such files: then /dev/zero is mapped, and this is where in it, which is nowhere that anyone else maps.
    place: u64,
}

/// The process records, or would if it had room, and comes to the merge.
pub const RECORDS: Mark = Mark {
    name: c"libtrace-records",
    place: 0x6C74_7263_0000,
};
/// The recorder is loaded and passes everything through, as it is built for another MPI.
pub const STEPS_ASIDE: Mark = Mark {
    name: c"libtrace-steps-aside",
    place: 0x6C74_7363_0000,
};
/// The process waits in MPI_Finalize for the communicator of all ranks.
pub const WAITS: Mark = Mark {
    name: c"libtrace-waits",
    place: 0x6C74_7763_0000,
};

/// Sets the first mark that is asked for: [`RECORDS`] or [`STEPS_ASIDE`].
pub fn set(mark: &Mark) {
    static SET: AtomicBool = AtomicBool::new(false);
    if !SET.swap(true, Relaxed) {
        mark.map();
    }
}

/// Sets [`WAITS`], beside the first mark.
pub fn wait() {
    static SET: AtomicBool = AtomicBool::new(false);
    if !SET.swap(true, Relaxed) {
        WAITS.map();
    }
}

impl Mark {
    /// Whether a process has the mark, by its mappings: the text of /proc/PID/maps.
    pub fn is_in(&self, maps: &str) -> bool {
        let name = self.name.to_str().unwrap_or_default();
        maps.lines().any(|line| {
            let mut words = line.split_ascii_whitespace();
            let place = words.nth(2).and_then(|w| u64::from_str_radix(w, 16).ok());
            match words.nth(2) {
                Some("/dev/zero") => place == Some(self.place),
                Some(file) => file.strip_prefix("/memfd:") == Some(name),
                None => false,
            }
        })
    }

    /// Where the system has no mappings of either kind, nothing happens: the process then counts as unknown.
    fn map(&self) {
        if !self.map_named() {
            self.map_zero();
        }
    }

    /// Maps an anonymous file with the name. Says whether there are any.
    fn map_named(&self) -> bool {
        let (name, flags) = (self.name.as_ptr(), libc::MFD_CLOEXEC);
        // SAFETY: a system call with a text that ends.
        let file = unsafe { libc::syscall(libc::SYS_memfd_create, name, flags) };
        let Ok(file @ 0..) = i32::try_from(file) else {
            return false;
        };
        // SAFETY: a descriptor that was made just now, and that nobody else has.
        let file = unsafe { OwnedFd::from_raw_fd(file) };
        map_page(&file, 0);
        true
    }

    /// Maps the place in /dev/zero.
    fn map_zero(&self) {
        if let Ok(zero) = File::open("/dev/zero") {
            map_page(&zero, self.place);
        }
    }
}

/// Maps a page of a file for as long as the process lives. Nobody may touch it.
fn map_page(file: &impl AsRawFd, place: u64) {
    const PAGE: usize = 4096;
    let (nowhere, protection, flags) = (std::ptr::null_mut(), libc::PROT_NONE, libc::MAP_SHARED);
    // SAFETY: a new mapping at an address of the kernel's choice touches nothing that exists.
    unsafe {
        libc::mmap(
            nowhere,
            PAGE,
            protection,
            flags,
            file.as_raw_fd(),
            place as i64,
        )
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_told_apart() {
        let is_marked = |line: &str| [RECORDS, STEPS_ASIDE, WAITS].map(|mark| mark.is_in(line));
        let of_file = "7f40-7f50 ---s 00000000 00:01 44  /memfd:libtrace-records (deleted)\n";
        assert_eq!(is_marked(of_file), [true, false, false]);
        let of_zero = "7f40-7f50 ---s 6c7477630000 00:06 4  /dev/zero (deleted)\n";
        assert_eq!(is_marked(of_zero), [false, false, true]);
        assert_eq!(
            is_marked("7f40-7f50 ---s 00000000 00:06 4  /dev/zero\n"),
            [false; 3]
        );
        assert_eq!(is_marked("7f40-7f50 rw-p 00000000 00:00 0\n"), [false; 3]);
    }

    #[test]
    fn both_kinds_are_seen() {
        let maps = || std::fs::read_to_string("/proc/self/maps").expect("Linux");
        let mark = |name, place| Mark { name, place };
        let zero = mark(c"libtrace-test-zero", 0x6C74_7465_0000);
        assert!(!zero.is_in(&maps()));
        zero.map_zero();
        assert!(zero.is_in(&maps()));
        let named = mark(c"libtrace-test-named", 0);
        assert!(!named.map_named() || named.is_in(&maps()));
    }
}
