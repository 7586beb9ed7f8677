//! Signals: those that end a command that runs until it is told to end, and one that would end a command that writes.

use std::process::Command;

/// Signals by which people and batch systems end a process.
pub const ENDING: [libc::c_int; 3] = [libc::SIGINT, libc::SIGTERM, libc::SIGHUP];

/// Makes a limit on the size of files an error of who writes, which can be told, and not the end of the process.
pub fn ignore_file_size_limit() {
    // SAFETY: ignoring a signal installs no handler.
    unsafe { libc::signal(libc::SIGXFSZ, libc::SIG_IGN) };
}

/// The signals of [`ENDING`]; held back from all threads, to be waited for by one.
#[derive(Clone, Copy)]
pub struct Signals(libc::sigset_t);

impl Signals {
    /// Holds them back. Call it before there are threads.
    pub fn hold() -> Signals {
        // SAFETY: plain calls that fill in `set`.
        unsafe {
            let mut set = std::mem::zeroed();
            libc::sigemptyset(&mut set);
            for signal in ENDING {
                libc::sigaddset(&mut set, signal);
            }
            libc::pthread_sigmask(libc::SIG_BLOCK, &set, std::ptr::null_mut());
            Signals(set)
        }
    }

    /// Waits for one, and says which.
    pub fn wait(&self) -> i32 {
        let mut signal = 0;
        // SAFETY: a valid set and place for the result.
        while unsafe { libc::sigwait(&self.0, &mut signal) } != 0 {}
        signal
    }

    /// Has a command begin without holding them back.
    pub fn release_in(&self, command: &mut Command) {
        use std::os::unix::process::CommandExt;
        let set = self.0;
        let release = move || {
            // SAFETY: a valid set; the call may be made between fork and exec.
            unsafe { libc::pthread_sigmask(libc::SIG_UNBLOCK, &set, std::ptr::null_mut()) };
            Ok(())
        };
        // SAFETY: what runs between fork and exec is the one call above, which is async-signal-safe.
        unsafe { command.pre_exec(release) };
    }
}
