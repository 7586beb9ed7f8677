//! Printing to a descriptor (dprintf). libc moves the bytes without a call that is seen: the position of the descriptor must be
//! asked for afterwards.

use super::descriptors;
use super::raw::raw_call;
use super::real::{self, RealFunction};
use crate::mpi::library::CodeAddress;
use crate::platform::jump::find_and_jump;
use std::ffi::c_int;

/// There is no system call that prints.
const NONE: i64 = -1;

/// Makes a module for each name: the real function, what finds it, and what is exported.
macro_rules! printing {
    ($($name:ident)+) => {
        $(mod $name {
            use super::*;

            real::real_function!($name, raw);

            #[unsafe(naked)]
            unsafe extern "C" fn raw() {
                raw_call!(NONE);
            }

            /// Notes that descriptor `fd` is about to be moved. Gives the real function.
            extern "C" fn find(fd: usize) -> CodeAddress {
                descriptors::moved_unseen(fd as c_int);
                let target = REAL.target();
                match target == first as CodeAddress {
                    true => real::resolve(&REAL),
                    false => target,
                }
            }

            #[unsafe(naked)]
            unsafe extern "C" fn find_and_go_on() {
                find_and_jump!(find, vectors);
            }

            /// The arguments are a descriptor and others of any kind, which stay where the program has put them.
            #[unsafe(no_mangle)]
            #[unsafe(naked)]
            pub unsafe extern "C" fn $name() {
                #[cfg(target_arch = "x86_64")]
                std::arch::naked_asm!("mov r11, rdi", "jmp {find}", find = sym find_and_go_on);
                #[cfg(target_arch = "aarch64")]
                std::arch::naked_asm!("mov x11, x0", "b {find}", find = sym find_and_go_on);
            }
        })+

        /// All of them.
        static FUNCTIONS: &[&RealFunction] = &[$(&$name::REAL),+];
    };
}

// Those with `chk` are what programs call that were compiled with -D_FORTIFY_SOURCE.
printing! { dprintf vdprintf __dprintf_chk __vdprintf_chk }

/// Finds the real functions when the library is loaded.
pub(super) fn at_load() {
    real::resolve_all(FUNCTIONS);
}
