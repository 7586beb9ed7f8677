//! Cancellation of threads (`pthread_cancel`), put off while the recorder works: its system calls are places at which a thread would end that the
//! program has cancelled, and the MPI functions of the program are none.

use std::cell::Cell;
use std::ffi::c_int;

/// glibc's `PTHREAD_CANCEL_DISABLE`.
const DISABLE: c_int = 1;

unsafe extern "C" {
    fn pthread_setcancelstate(state: c_int, before: *mut c_int) -> c_int;
}

thread_local! {
    /// State that the program has chosen for this thread, while the recorder has another one.
    static PROGRAM: Cell<Option<c_int>> = const { Cell::new(None) };
}

/// While this lives the running thread is not cancelled.
pub struct CancellationPutOff {
    /// Whether this is the outermost one of the thread, whose end lets the program's choice hold again.
    is_outermost: bool,
}

impl CancellationPutOff {
    /// Puts the cancellation of the running thread off.
    pub fn new() -> CancellationPutOff {
        let is_outermost = PROGRAM.try_with(|program| {
            if program.get().is_some() {
                return false;
            }
            let mut before = 0;
            // SAFETY: a valid place for the state before.
            unsafe { pthread_setcancelstate(DISABLE, &mut before) };
            program.set(Some(before));
            true
        });
        CancellationPutOff {
            is_outermost: is_outermost.unwrap_or(false),
        }
    }
}

impl Drop for CancellationPutOff {
    fn drop(&mut self) {
        if self.is_outermost {
            restore();
        }
    }
}

/// Lets the program's choice hold again: also when the program has jumped out of whatever the recorder was doing on this thread.
pub fn restore() {
    let program = PROGRAM.try_with(Cell::take).ok().flatten();
    if let Some(state) = program {
        let mut before = 0;
        // SAFETY: a state that the thread had; a valid place for the one before.
        unsafe { pthread_setcancelstate(state, &mut before) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn now() -> c_int {
        let mut before = 0;
        // SAFETY: a valid place; the state is set back at once.
        unsafe {
            pthread_setcancelstate(DISABLE, &mut before);
            let mut ours = 0;
            pthread_setcancelstate(before, &mut ours);
        }
        before
    }

    #[test]
    fn the_choice_of_the_program_comes_back() {
        for program in [0, DISABLE] {
            let mut before = 0;
            // SAFETY: a valid place.
            unsafe { pthread_setcancelstate(program, &mut before) };
            let outer = CancellationPutOff::new();
            assert_eq!(now(), DISABLE);
            drop(CancellationPutOff::new());
            assert_eq!(now(), DISABLE);
            drop(outer);
            assert_eq!(now(), program);
            // A jump ends none of them.
            std::mem::forget(CancellationPutOff::new());
            restore();
            assert_eq!(now(), program);
        }
    }
}
