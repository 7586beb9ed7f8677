//! Places on the processor's stack, which grows towards lower addresses.

use std::ffi::c_void;

/// Largest distance of two places that are taken to be on the same stack, bytes: the usual limit of a main thread's stack.
const MAX_STACK_BYTES: usize = 8 << 20;

/// The stack pointer of the function that this is inlined into.
#[inline(always)]
pub fn pointer() -> usize {
    let pointer;
    // SAFETY: a register is read.
    unsafe {
        std::arch::asm!("mov {}, rsp", out(reg) pointer, options(nomem, nostack, preserves_flags));
    }
    pointer
}

/// The stack pointer that `longjmp` to `environment`, a `jmp_buf`, goes to. glibc keeps it as the seventh word, mixed with a
/// secret of the process and rotated (`PTR_MANGLE` of its sysdeps for x86-64).
///
/// # Safety
/// `setjmp` has filled `environment`.
pub unsafe fn pointer_in(environment: *const c_void) -> usize {
    const STACK_POINTER: usize = 6;
    // SAFETY: a `jmp_buf` has eight words, by the caller.
    let mut word = unsafe { environment.cast::<usize>().add(STACK_POINTER).read() };
    // SAFETY: the secret is at this offset of the thread control block of every thread; no memory is written.
    unsafe {
        std::arch::asm!(
            "ror {word}, 0x11",
            "xor {word}, qword ptr fs:[0x30]",
            word = inout(reg) word,
            options(nostack, readonly),
        );
    }
    word
}

/// Whether a frame at `inner` is gone once the stack pointer of the same stack is `outer`.
pub fn is_below(inner: usize, outer: usize) -> bool {
    inner < outer && outer - inner <= MAX_STACK_BYTES
}
