//! The running thread's state, reached through one thread-local pointer with the initial-exec model: a load from the thread
//! control block instead of a function call. Rust has no stable way to choose the model, so the variable is declared in
//! assembler.

use crate::thread::state::Thread;
use std::sync::atomic::Ordering::Relaxed;

std::arch::global_asm!(
    ".section .tbss.trace_current_thread,\"awT\",@nobits",
    ".hidden trace_current_thread",
    ".globl trace_current_thread",
    ".type trace_current_thread,@object",
    ".size trace_current_thread,8",
    ".balign 8",
    "trace_current_thread:",
    ".zero 8",
    ".text",
);

/// The running thread's state; null before its first call that is recorded.
#[inline(always)]
pub fn current() -> *mut Thread {
    let t: *mut Thread;
    // SAFETY: reads the variable declared above; no memory is written.
    unsafe {
        #[cfg(target_arch = "x86_64")]
        std::arch::asm!(
            "mov {t}, qword ptr [rip + trace_current_thread@GOTTPOFF]",
            "mov {t}, qword ptr fs:[{t}]",
            t = out(reg) t,
            options(nostack, preserves_flags, readonly),
        );
        #[cfg(target_arch = "aarch64")]
        std::arch::asm!(
            "mrs {block}, tpidr_el0",
            "adrp {t}, :gottprel:trace_current_thread",
            "ldr {t}, [{t}, :gottprel_lo12:trace_current_thread]",
            "ldr {t}, [{block}, {t}]",
            block = out(reg) _,
            t = out(reg) t,
            options(nostack, preserves_flags, readonly),
        );
    }
    t
}

/// Makes `t` the running thread's state.
pub fn set_current(t: *mut Thread) {
    // SAFETY: writes the variable declared above, which only this thread sees.
    unsafe {
        #[cfg(target_arch = "x86_64")]
        std::arch::asm!(
            "mov {p}, qword ptr [rip + trace_current_thread@GOTTPOFF]",
            "mov qword ptr fs:[{p}], {t}",
            p = out(reg) _,
            t = in(reg) t,
            options(nostack, preserves_flags),
        );
        #[cfg(target_arch = "aarch64")]
        std::arch::asm!(
            "mrs {block}, tpidr_el0",
            "adrp {p}, :gottprel:trace_current_thread",
            "ldr {p}, [{p}, :gottprel_lo12:trace_current_thread]",
            "str {t}, [{block}, {p}]",
            block = out(reg) _,
            p = out(reg) _,
            t = in(reg) t,
            options(nostack, preserves_flags),
        );
    }
}

/// The running call's CallID without its rank field; 0 outside MPI.
pub fn running_call() -> u64 {
    let t = current();
    if t.is_null() {
        return 0;
    }
    // SAFETY: the state of the running thread and its own block.
    unsafe {
        let header = (*t).block.header();
        if (*header).open_function.load(Relaxed) == 0 {
            0
        } else {
            (*header).open_call.load(Relaxed)
        }
    }
}
