//! Messages to the user on stderr. It must not hurt the program: where nobody reads stderr any more, the line
//! is lost, and the signal that such a write raises does not reach the program.

use crate::platform::launcher;
use std::mem::MaybeUninit;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// Whether the program was started without standard error, or has closed it. The descriptor may then belong to a file of the program's, which
/// must not get our lines.
static IS_SILENT: AtomicBool = AtomicBool::new(false);

/// Notes whether there is a standard error; for when the library is loaded, before the program opens files.
pub fn at_load() {
    // SAFETY: asks for flags of a descriptor that need not be there.
    let flags = unsafe { libc::fcntl(libc::STDERR_FILENO, libc::F_GETFD) };
    IS_SILENT.store(flags == -1, Relaxed);
}

/// The program closes standard error.
#[inline]
pub fn closes_standard_error() {
    IS_SILENT.store(true, Relaxed);
}

/// The program has made standard error a copy of another descriptor.
#[inline]
pub fn is_given_standard_error() {
    IS_SILENT.store(false, Relaxed);
}

/// Whether standard error is that of the program, and not a file that the program opened after it had closed standard error.
pub fn is_heard() -> bool {
    !IS_SILENT.load(Relaxed)
}

/// Prints a line.
pub fn line(text: &str) {
    raw(&format!("{text}\n"));
}

/// Prints text as it is.
pub fn raw(text: &str) {
    if !is_heard() {
        return;
    }
    // SAFETY: signal sets and their places are valid; the write is of our own text.
    unsafe {
        let mut pipe = MaybeUninit::<libc::sigset_t>::uninit();
        let mut before = MaybeUninit::<libc::sigset_t>::uninit();
        let mut pending = MaybeUninit::<libc::sigset_t>::uninit();
        libc::sigemptyset(pipe.as_mut_ptr());
        libc::sigaddset(pipe.as_mut_ptr(), libc::SIGPIPE);
        libc::sigpending(pending.as_mut_ptr());
        let was_pending = libc::sigismember(pending.as_ptr(), libc::SIGPIPE) == 1;
        libc::pthread_sigmask(libc::SIG_BLOCK, pipe.as_ptr(), before.as_mut_ptr());
        let mut rest = text.as_bytes();
        while !rest.is_empty() {
            let n = libc::write(libc::STDERR_FILENO, rest.as_ptr().cast(), rest.len());
            match usize::try_from(n) {
                Ok(n) if n > 0 => rest = &rest[n.min(rest.len())..],
                _ => break,
            }
        }
        if !rest.is_empty() && !was_pending {
            // Takes the signal that the write may have raised, before anybody else gets it.
            let at_once = libc::timespec {
                tv_sec: 0,
                tv_nsec: 0,
            };
            libc::sigtimedwait(pipe.as_ptr(), std::ptr::null_mut(), &at_once);
        }
        libc::pthread_sigmask(libc::SIG_SETMASK, before.as_ptr(), std::ptr::null_mut());
    }
}

/// Prints a line on the first rank only, as far as the environment tells ranks before MPI_Init.
pub fn on_first_rank(text: &str) {
    if launcher::rank().unwrap_or(0) == 0 {
        line(text);
    }
}

/// Prints a line; the arguments are those of `format!`.
macro_rules! say {
    ($($argument:tt)*) => {
        $crate::platform::say::line(&format!($($argument)*))
    };
}
pub(crate) use say;
