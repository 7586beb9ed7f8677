//! Errors that error handlers of the program are told of.
//!
//! MPICH 5 gives MPI_SUCCESS of a call that failed, once it has called an error handler of the program's, and leaves unset what the call was to give. Whoever
//! takes it at its word asks MPI about handles that are none: that calls the handler again, or ends the program. So the library gets a function of the
//! recorder's for each function that the program makes an error handler of. It notes the error in the state of the thread and jumps on to the program's, with
//! all arguments where they were: a handler may be one of C, C++ or Fortran.

use crate::call::arg;
use crate::mpi::abi::Abi;
use crate::mpi::slots::{AddressTable, CodeAddress};
use crate::platform::jump::{find_and_jump, jump_with_number};
use crate::thread::current::current;
use crate::thread::state::{HandledError, Thread};
use std::ffi::{c_int, c_void};
use std::ptr::null_mut;
use std::sync::atomic::{
    AtomicPtr,
    Ordering::{AcqRel, Acquire},
};

/// Most functions of a program that are observed as error handlers.
const MAX_HANDLERS: usize = 32;

/// The program's functions, each at the number of the function that stands for it. None is ever taken out: the library may call it as long as it runs.
static HANDLERS: [AtomicPtr<c_void>; MAX_HANDLERS] =
    [const { AtomicPtr::new(null_mut()) }; MAX_HANDLERS];

/// The function that the MPI library shall call for `handler`, a function that the program makes an error handler of.
pub fn observed<A: Abi>(handler: CodeAddress) -> CodeAddress {
    match A::MAY_HIDE_ERRORS {
        true => observer(handler),
        false => handler,
    }
}

/// The function that stands for `handler`; itself where it is one of these, null, or one function too many.
fn observer(handler: CodeAddress) -> CodeAddress {
    if handler.is_null() || OBSERVERS.0.contains(&handler) {
        return handler;
    }
    let new = handler.cast_mut();
    let is_here = |place: &AtomicPtr<c_void>| {
        let before = place.compare_exchange(null_mut(), new, AcqRel, Acquire);
        before.is_ok() || before == Err(new)
    };
    let number = HANDLERS.iter().position(is_here);
    number.map_or(handler, |number| OBSERVERS[number])
}

/// Makes the table of the functions that stand for the program's.
macro_rules! observers {
    ($($number:literal)*) => {
        /// The functions that stand for the program's.
        static OBSERVERS: AddressTable<MAX_HANDLERS> =
            AddressTable([$(observe::<$number> as CodeAddress),*]);
    };
}
observers! { 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 }

/// Stands for function number `N` of the program's.
#[unsafe(naked)]
unsafe extern "C" fn observe<const N: usize>() {
    jump_with_number!(N, note_and_jump);
}

/// Notes the error of which the second argument is the address, and jumps to the program's function whose number is in r11 (x11 on aarch64).
#[unsafe(naked)]
unsafe extern "C" fn note_and_jump() {
    find_and_jump!(noted, vectors);
}

/// Notes the error at `code`. Gives the program's function of this number.
extern "C" fn noted(number: usize, _: CodeAddress, code: *const c_int) -> CodeAddress {
    // SAFETY: the state of the running thread, which is in the MPI library. An error handler is given the address of a code.
    unsafe {
        if let Some(t) = current().as_mut() {
            note(t, arg::value(code));
        }
    }
    HANDLERS[number].load(Acquire)
}

/// Notes that a handler is told of error `code` on the thread. Of two calls, one made inside the other, the error of the outer one stays: the handler
/// that it is told to may make calls that fail, too.
fn note(t: &mut Thread, code: c_int) {
    let depth = t.nested + 1;
    // Of the recorder's own questions none is a call of the program's.
    let is_of_program = t.outer_stack != 0 && t.busy == 0;
    let is_outer = t.handled.depth == 0 || depth <= t.handled.depth;
    if code != 0 && is_of_program && is_outer {
        t.handled = HandledError { depth, code };
    }
}

/// Whether a handler was told of an error of the running call at this depth.
pub fn is_of_call(t: &Thread, depth: u32) -> bool {
    t.handled.depth == depth
}

/// The innermost call that the thread is inside of, which is not recorded, ends.
pub fn call_ends(t: &mut Thread) {
    if t.handled.depth > t.nested {
        t.handled = HandledError::default();
    }
}

/// The calls that are made inside the outermost one have ended.
pub fn nested_calls_end(t: &mut Thread) {
    if t.handled.depth > 1 {
        t.handled = HandledError::default();
    }
}

/// The error code of the outermost call, which gave `code` and has ended.
#[cold]
#[inline(never)]
pub fn outcome(t: &mut Thread, code: c_int) -> c_int {
    let handled = std::mem::take(&mut t.handled);
    match (code, handled.depth) {
        (0, 1) => handled.code,
        _ => code,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    extern "C" fn one() {}
    extern "C" fn other() -> c_int {
        7
    }

    #[test]
    fn a_function_has_one_observer_and_an_observer_has_none() {
        let of_one = observer(one as CodeAddress);
        let of_other = observer(other as CodeAddress);
        assert_ne!(of_one, one as CodeAddress);
        assert_ne!(of_one, of_other);
        assert_eq!(observer(one as CodeAddress), of_one);
        assert_eq!(observer(of_one), of_one);
        assert!(observer(std::ptr::null()).is_null());
    }

    #[test]
    fn an_observer_passes_all_arguments_on() {
        unsafe extern "C" fn sum(
            handle: *const c_int,
            code: *const c_int,
            third: c_int,
            real: f64,
        ) -> f64 {
            // SAFETY: the test passes addresses of numbers.
            unsafe { f64::from(*handle + *code + third) + real }
        }
        type Handler = unsafe extern "C" fn(*const c_int, *const c_int, c_int, f64) -> f64;
        let observed = observer(sum as CodeAddress);
        // SAFETY: it stands for a function of this type.
        let result = unsafe {
            let observed = std::mem::transmute::<CodeAddress, Handler>(observed);
            observed(&1, &20, 300, 0.5)
        };
        assert_eq!(result, 321.5);
    }
}
