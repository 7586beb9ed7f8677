//! The signal that a write beyond the limit of file sizes (`ulimit -f`) raises, held back while the recorder writes: what
//! the trace has no room for must not end the program. The write itself fails, and that is reported.

use std::mem::MaybeUninit;
use std::ptr;

/// While this lives SIGXFSZ is blocked in this thread; what came of it is forgotten.
pub struct HeldBack {
    own: libc::sigset_t,
    /// Mask of the program; `None` where it could not be changed.
    program: Option<libc::sigset_t>,
}

impl HeldBack {
    /// Holds the signal back.
    pub fn new() -> HeldBack {
        let mut own = MaybeUninit::uninit();
        let mut program = MaybeUninit::uninit();
        // SAFETY: sigemptyset fills the first set; pthread_sigmask the second one if it succeeds.
        unsafe {
            libc::sigemptyset(own.as_mut_ptr());
            let mut own = own.assume_init();
            libc::sigaddset(&mut own, libc::SIGXFSZ);
            let failed = libc::pthread_sigmask(libc::SIG_BLOCK, &own, program.as_mut_ptr());
            let program = (failed == 0).then(|| program.assume_init());
            HeldBack { own, program }
        }
    }
}

impl Drop for HeldBack {
    fn drop(&mut self) {
        let Some(program) = &self.program else {
            return;
        };
        let now = libc::timespec {
            tv_sec: 0,
            tv_nsec: 0,
        };
        // SAFETY: sets made by the system. If the program has blocked the signal, one may be waiting for it and stays.
        unsafe {
            if libc::sigismember(program, libc::SIGXFSZ) == 0 {
                while libc::sigtimedwait(&self.own, ptr::null_mut(), &now) > 0 {}
            }
            libc::pthread_sigmask(libc::SIG_SETMASK, program, ptr::null_mut());
        }
    }
}
