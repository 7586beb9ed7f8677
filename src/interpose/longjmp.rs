//! `longjmp` and its like: a jump out of an MPI call ends the call. An error handler of the program may jump, and so may a signal
//! handler that ends a wait. Without this the thread would stay inside that call for ever, and later calls would be counted only.

use crate::call;
use crate::platform::stack;
use crate::posix::real::{self, RealFunction};
use crate::thread::state::Thread;
use std::ffi::c_void;
use std::mem::offset_of;

/// Exports functions that look where a jump goes to, if the thread is inside MPI, and jump on to the real one.
macro_rules! export {
    ($($name:ident)+) => {
        $(mod $name {
            use super::*;

            real::real_function!($name, missing);

            #[unsafe(no_mangle)]
            #[unsafe(naked)]
            pub unsafe extern "C" fn $name() {
                #[cfg(target_arch = "x86_64")]
                std::arch::naked_asm!(
                    "mov r11, qword ptr [rip + trace_current_thread@GOTTPOFF]",
                    "mov r11, qword ptr fs:[r11]",
                    "test r11, r11",
                    "je 2f",
                    "cmp qword ptr [r11 + {outer_stack}], 0",
                    "je 2f",
                    "push rdi",
                    "push rsi",
                    "sub rsp, 8",
                    "call {look}",
                    "add rsp, 8",
                    "pop rsi",
                    "pop rdi",
                    "2:",
                    "jmp qword ptr [rip + {real}]",
                    outer_stack = const offset_of!(Thread, outer_stack),
                    look = sym look,
                    real = sym REAL,
                );
                #[cfg(target_arch = "aarch64")]
                std::arch::naked_asm!(
                    "mrs x16, tpidr_el0",
                    "adrp x17, :gottprel:trace_current_thread",
                    "ldr x17, [x17, :gottprel_lo12:trace_current_thread]",
                    "ldr x16, [x16, x17]",
                    "cbz x16, 2f",
                    "ldr x16, [x16, {outer_stack}]",
                    "cbz x16, 2f",
                    "stp x29, x30, [sp, -32]!",
                    "mov x29, sp",
                    "stp x0, x1, [sp, 16]",
                    "bl {look}",
                    "ldp x0, x1, [sp, 16]",
                    "ldp x29, x30, [sp], 32",
                    "2:",
                    "adrp x16, {real}",
                    "ldr x16, [x16, :lo12:{real}]",
                    "br x16",
                    outer_stack = const offset_of!(Thread, outer_stack),
                    look = sym look,
                    real = sym REAL,
                );
            }
        })+

        /// All of them.
        static FUNCTIONS: &[&RealFunction] = &[$(&$name::REAL),+];
    };
}

export! { longjmp _longjmp siglongjmp __longjmp_chk }

/// A C library that has no such function never gets here: a program that calls it does not start.
unsafe extern "C" fn missing() {
    std::process::abort()
}

/// Ends the MPI call that a jump to `environment`, a `jmp_buf`, leaves.
extern "C" fn look(environment: *const c_void) {
    // SAFETY: the program is about to jump there.
    call::jump_out(unsafe { stack::pointer_in(environment) });
}

/// Finds the real functions when the library is loaded, so that a signal handler need not.
pub fn at_load() {
    stack::learn_main();
    #[cfg(target_arch = "aarch64")]
    stack::learn_secret();
    real::resolve_all(FUNCTIONS);
}
