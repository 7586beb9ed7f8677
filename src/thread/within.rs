//! The recorder at work on a thread: while it is, calls of the thread are its own and not the program's.

use crate::platform::cancellation::{self, CancellationPutOff};
use crate::platform::floating::SetAside;
use crate::platform::signals::HeldBack;
use crate::thread::current::current;
use crate::thread::state::Thread;
use std::cell::Cell;
use std::sync::atomic::Ordering::SeqCst;
use std::sync::atomic::compiler_fence;

/// While this lives the recorder is busy on the thread. Its end restores what was before, whatever a call of a signal handler has left.
pub struct BusyGuard {
    thread: *mut Thread,
    before: u32,
}

impl BusyGuard {
    /// Busy from here on. `t` may be null.
    #[inline(always)]
    pub fn new(t: *mut Thread) -> BusyGuard {
        // SAFETY: null, or the state of the running thread, which nobody else writes.
        let before = unsafe { t.as_mut() }.map_or(0, |t| std::mem::replace(&mut t.busy, 1));
        // Before anything of a record is written, as a signal handler of this thread sees it.
        compiler_fence(SeqCst);
        BusyGuard { thread: t, before }
    }
}

impl Drop for BusyGuard {
    #[inline(always)]
    fn drop(&mut self) {
        compiler_fence(SeqCst);
        // SAFETY: as above; states live until the process ends.
        if let Some(t) = unsafe { self.thread.as_mut() } {
            t.busy = self.before;
        }
    }
}

thread_local! {
    /// Set while this thread is setting things up, so that MPI calls made by that are passed through.
    static INSIDE: Cell<bool> = const { Cell::new(false) };
}

/// Whether the thread is inside the recorder.
pub fn inside() -> bool {
    INSIDE.try_with(Cell::get).unwrap_or(true)
}

/// The program has jumped out of whatever the recorder was doing on this thread.
pub fn leave_recorder() {
    let _ = INSIDE.try_with(|inside| inside.set(false));
    cancellation::restore();
}

/// Runs `f` with the recorder switched off for this thread, the program's floating-point environment set aside, the signal of too large files held
/// back, and the thread's cancellation put off.
pub fn within<T>(f: impl FnOnce() -> T) -> T {
    // What is last here ends last: to give signals back is a place at which a cancelled thread would end.
    let _program = (SetAside::new(), HeldBack::new(), CancellationPutOff::new());
    let _busy = BusyGuard::new(current());
    let before = INSIDE.replace(true);
    let value = f();
    INSIDE.set(before);
    value
}
