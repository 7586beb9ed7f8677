//! Places on the processor's stack, which grows towards lower addresses.

use crate::memory::main_end_and_limit;
use std::ffi::c_void;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// Largest distance of two places that are taken to be on the same stack wherever they are, bytes: the usual limit of a main thread's stack.
const MAX_STACK_BYTES: usize = 8 << 20;

/// The stack pointer of the function that this is inlined into.
#[inline(always)]
pub fn pointer() -> usize {
    let pointer;
    // SAFETY: a register is read.
    unsafe {
        #[cfg(target_arch = "x86_64")]
        std::arch::asm!("mov {}, rsp", out(reg) pointer, options(nomem, nostack, preserves_flags));
        #[cfg(target_arch = "aarch64")]
        std::arch::asm!("mov {}, sp", out(reg) pointer, options(nomem, nostack, preserves_flags));
    }
    pointer
}

/// The stack pointer that `longjmp` to `environment`, a `jmp_buf`, goes to. glibc keeps it as the seventh word, mixed with a
/// secret of the process and rotated (`PTR_MANGLE` of its sysdeps for x86-64).
///
/// # Safety
/// `setjmp` has filled `environment`.
#[cfg(target_arch = "x86_64")]
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

/// The stack pointer that `longjmp` to `environment`, a `jmp_buf`, goes to; 0 while [`learn_secret`] has not found out how it is kept.
/// glibc keeps it as the 14th word, mixed with a secret of the process (`PTR_MANGLE` of its sysdeps for aarch64).
///
/// # Safety
/// `setjmp` has filled `environment`.
#[cfg(target_arch = "aarch64")]
pub unsafe fn pointer_in(environment: *const c_void) -> usize {
    let Some(secret) = SECRET.get() else { return 0 };
    // SAFETY: a `jmp_buf` has 39 words, by the caller.
    unsafe { environment.cast::<usize>().add(STACK_POINTER).read() ^ secret }
}

/// Where the stack pointer is in a `jmp_buf`, words.
#[cfg(target_arch = "aarch64")]
const STACK_POINTER: usize = 13;

/// What glibc mixes stack pointers with; nothing where they are not kept as [`pointer_in`] takes it.
#[cfg(target_arch = "aarch64")]
static SECRET: std::sync::OnceLock<usize> = std::sync::OnceLock::new();

/// Finds out what glibc mixes stack pointers with, which it keeps to itself, by having known ones mixed.
#[cfg(target_arch = "aarch64")]
pub fn learn_secret() {
    unsafe extern "C" {
        fn _setjmp();
    }
    /// Has `_setjmp` fill `environment`; gives the stack pointer that it was called with.
    #[unsafe(naked)]
    unsafe extern "C" fn fill(environment: *mut usize) -> usize {
        std::arch::naked_asm!(
            "stp x29, x30, [sp, -16]!",
            "mov x29, sp",
            "bl {setjmp}",
            "mov x0, sp",
            "ldp x29, x30, [sp], 16",
            "ret",
            setjmp = sym _setjmp,
        )
    }
    #[inline(never)]
    fn secret<const ROOM: usize>() -> usize {
        let mut room = std::hint::black_box([0; ROOM]);
        // SAFETY: the room is larger than a `jmp_buf`; nobody jumps there.
        let pointer = unsafe { fill(room.as_mut_ptr()) };
        std::hint::black_box(&room)[STACK_POINTER] ^ pointer
    }
    // From two places on the stack: another form of the words would not give one secret.
    let (near, far) = (secret::<64>(), secret::<128>());
    if near == far {
        let _ = SECRET.set(near);
    }
}

/// Lowest address that the main thread's stack may grow down to, and where it began; 0 until [`learn_main`].
static MAIN: [AtomicUsize; 2] = [const { AtomicUsize::new(0) }; 2];

/// Address space below the beginning of the main thread's stack in which Linux maps nothing else, with hardly an exception.
const MIN_MAIN_BYTES: usize = 128 << 20;
/// As much where the size of the stack is not limited: Linux then maps other things from far below upwards.
const UNLIMITED_MAIN_BYTES: usize = 1 << 40;

/// Finds out where the main thread's stack is. For when the library is loaded: what the limit was when the program began decides how much space is
/// kept free for the stack.
pub fn learn_main() {
    let (end, limit) = main_end_and_limit();
    let room = limit.clamp(MIN_MAIN_BYTES, UNLIMITED_MAIN_BYTES);
    // The first frames lie at and above that place.
    MAIN[0].store(end.saturating_sub(room), Relaxed);
    MAIN[1].store(end.saturating_add(MAX_STACK_BYTES), Relaxed);
}

/// Whether a frame at `inner` is gone once the stack pointer of the same stack is `outer`. How large the stacks of other threads are, and of what else
/// a program may run on, nobody knows: places that lie far apart count as places of two stacks there.
pub fn is_below(inner: usize, outer: usize) -> bool {
    let [first, end] = MAIN.each_ref().map(|place| place.load(Relaxed));
    let main = first..end;
    let is_one_stack = || main.contains(&inner) && main.contains(&outer);
    inner < outer && (outer - inner <= MAX_STACK_BYTES || is_one_stack())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_main_stack_is_one_however_large() {
        learn_main();
        let end = MAIN[1].load(Relaxed) - MAX_STACK_BYTES;
        let mib = |n: usize| n << 20;
        assert!(is_below(end - mib(100), end - mib(1)));
        assert!(!is_below(end - mib(1), end - mib(100)));
        assert!(is_below(mib(50), mib(57)));
        assert!(!is_below(mib(50), mib(66)));
        // A thread's stack, and the main one.
        let thread = std::hint::black_box(0_u8);
        assert!(!is_below((&raw const thread) as usize, end - mib(1)));
    }
}
