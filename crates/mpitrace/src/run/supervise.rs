//! Runs a command as if it had taken the place of this process: it keeps the terminal, its process group and stdin, gets the
//! signals that are meant for it, and its end becomes ours. Only then something can be said behind it.

use rustix::process::{Resource, Rlimit, setrlimit};
use std::io;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Command, ExitStatus};
use std::sync::atomic::{AtomicI32, Ordering::Relaxed};

/// Signals by which others tell a launcher something; those that stop a process go to the whole group and need no help.
const SIGNALS: [libc::c_int; 8] = [
    libc::SIGHUP,
    libc::SIGINT,
    libc::SIGQUIT,
    libc::SIGTERM,
    libc::SIGUSR1,
    libc::SIGUSR2,
    libc::SIGALRM,
    libc::SIGWINCH,
];

/// The process that a signal to this one is meant for.
static CHILD: AtomicI32 = AtomicI32::new(0);
/// A signal that came before there was one; 0 if none did.
static EARLY: AtomicI32 = AtomicI32::new(0);

/// Hands a signal on. What a terminal sends goes to the command by itself, which is in the same group.
extern "C" fn forward(signal: libc::c_int, about: *mut libc::siginfo_t, _: *mut libc::c_void) {
    // SAFETY: the system passes a valid pointer with SA_SIGINFO.
    let by_kernel = unsafe { (*about).si_code } > 0;
    let child = CHILD.load(Relaxed);
    if child == 0 {
        EARLY.store(signal, Relaxed);
    } else if !by_kernel {
        // SAFETY: async-signal-safe.
        unsafe { libc::kill(child, signal) };
    }
}

/// Takes the signals that are not ignored: those that are, the command ignores as well. A handler does not outlive exec.
fn watch() {
    for signal in SIGNALS {
        // SAFETY: plain numbers, for which zero is a value; the handler calls nothing but kill.
        unsafe {
            let mut before: libc::sigaction = std::mem::zeroed();
            libc::sigaction(signal, std::ptr::null(), &mut before);
            if before.sa_sigaction == libc::SIG_IGN {
                continue;
            }
            let mut ours: libc::sigaction = std::mem::zeroed();
            ours.sa_sigaction = forward as *const () as libc::sighandler_t;
            ours.sa_flags = libc::SA_SIGINFO | libc::SA_RESTART;
            libc::sigaction(signal, &ours, std::ptr::null_mut());
        }
    }
}

/// Runs a command to its end.
///
/// # Errors
/// When the command cannot be started.
pub fn to_the_end(command: &mut Command) -> io::Result<ExitStatus> {
    watch();
    let parent = std::process::id();
    let as_before = move || {
        // SAFETY: async-signal-safe calls that touch no memory.
        unsafe {
            // Whoever kills this process means the command.
            libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
            if libc::getppid() as u32 != parent {
                libc::_exit(128 + libc::SIGKILL);
            }
        }
        Ok(())
    };
    // SAFETY: what runs between fork and exec is async-signal-safe.
    unsafe { command.pre_exec(as_before) };
    let mut child = command.spawn()?;
    let pid = i32::try_from(child.id()).unwrap_or(0);
    CHILD.store(pid, Relaxed);
    let early = EARLY.swap(0, Relaxed);
    if early != 0 {
        // SAFETY: a child of ours that nobody has waited for.
        unsafe { libc::kill(pid, early) };
    }
    let status = child.wait();
    CHILD.store(0, Relaxed);
    status
}

/// Ends this process as the command has ended: with its exit code, or of the same signal.
pub fn end_like(status: ExitStatus) -> ! {
    if let Some(signal) = status.signal() {
        // The command's own core, if there is one, is not to be written over.
        let none = Rlimit {
            current: Some(0),
            maximum: Some(0),
        };
        let _ = setrlimit(Resource::Core, none);
        // SAFETY: plain calls; the second ends this process, where that is what the signal does.
        unsafe {
            libc::signal(signal, libc::SIG_DFL);
            libc::raise(signal);
        }
        std::process::exit(128 + signal);
    }
    std::process::exit(status.code().unwrap_or(1));
}
