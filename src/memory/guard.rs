//! Giving up where no memory is left. An allocation must not fail, as that would end the program, and an allocator must not unwind.
//! So work that may need any amount of memory is begun through a frame that is known; where memory ends, the processor's stack
//! goes back to that frame, as `longjmp` does.

use super::MappedBytes;
use std::ffi::c_void;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// Stack that such work may need, with what MPI and the C library need below it, bytes.
const STACK_BYTES: usize = 2 << 20;

/// Frame that the stack goes back to; 0 while no such work is done.
static FRAME: AtomicUsize = AtomicUsize::new(0);
/// The thread that does it.
static THREAD: AtomicUsize = AtomicUsize::new(0);

/// Reason for which work was stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MergeStopped {
    /// There was no more memory.
    Exhausted,
    /// The work panicked.
    Panicked,
}

/// Does `work`, on a stack of its own where that of the caller may be too small for it: a thread's, a coroutine's, one under a low limit. What it owned when memory ended is leaked, and locks that it held stay locked: nothing of it may be used again.
pub fn unless_exhausted<T>(work: impl FnOnce() -> T) -> Result<T, MergeStopped> {
    struct GuardedWork<F, T> {
        work: Option<F>,
        done: Result<T, MergeStopped>,
    }
    extern "C" fn run<F: FnOnce() -> T, T>(state: *mut c_void) {
        // SAFETY: the state below, which nobody else has while this runs.
        let state = unsafe { &mut *state.cast::<GuardedWork<F, T>>() };
        if let Some(work) = state.work.take() {
            let done = catch_unwind(AssertUnwindSafe(work));
            state.done = done.map_err(|_| MergeStopped::Panicked);
        }
    }
    fn runner<F: FnOnce() -> T, T>(_: &F) -> extern "C" fn(*mut c_void) {
        run::<F, T>
    }
    let run = runner(&work);
    let mut state = GuardedWork {
        work: Some(work),
        done: Err(MergeStopped::Exhausted),
    };
    // SAFETY: a plain question about the running thread.
    THREAD.store(unsafe { libc::pthread_self() } as usize, Relaxed);
    let room = room_below((&raw const state) as usize);
    let is_small = room.is_none_or(|room| room < STACK_BYTES);
    let mut own = is_small.then(|| MappedBytes::new(STACK_BYTES)).flatten();
    let top = own.as_mut().map_or(std::ptr::null_mut(), |stack| {
        stack.bytes().as_mut_ptr_range().end
    });
    // SAFETY: the function gets the state that it is for. If it comes back early, the state is as it was when memory ended: its
    // work has been taken, and nothing is done. The other stack is there until all is over.
    unsafe { begin(run, (&raw mut state).cast(), FRAME.as_ptr(), top) };
    FRAME.store(0, Relaxed);
    state.done
}

/// Where the main thread's stack began, and how large it may grow by the limit of this moment (RLIMIT_STACK), bytes; `usize::MAX` without a limit.
pub fn main_end_and_limit() -> (usize, usize) {
    unsafe extern "C" {
        /// Where the main thread's stack began, as the loader met it.
        static __libc_stack_end: *const c_void;
    }
    let mut limit = libc::rlimit {
        rlim_cur: 0,
        rlim_max: 0,
    };
    // SAFETY: a valid place for the limit; the loader has set its variable before anything ran.
    let end = unsafe {
        libc::getrlimit(libc::RLIMIT_STACK, &mut limit);
        __libc_stack_end as usize
    };
    (end, usize::try_from(limit.rlim_cur).unwrap_or(usize::MAX))
}

/// Bytes that the main thread's stack may still grow by below a place on it; `None` for a place on another stack, of which nobody knows where it ends.
fn room_below(place: usize) -> Option<usize> {
    /// The most that the main thread's stack is taken to grow to, if there is no limit.
    const MAX_GROWN: usize = 64 << 20;
    let (end, limit) = main_end_and_limit();
    let grown = end.checked_sub(place)?;
    limit.min(MAX_GROWN).checked_sub(grown)
}

/// Ends the work that this thread does, if it does such work; otherwise comes back.
pub fn give_up() {
    // SAFETY: a plain question about the running thread.
    let is_own = THREAD.load(Relaxed) == unsafe { libc::pthread_self() } as usize;
    let frame = if is_own { FRAME.swap(0, Relaxed) } else { 0 };
    if frame != 0 {
        // SAFETY: the frame of `begin`, which has not returned, on this thread's stack.
        unsafe { back_to(frame) };
    }
}

/// Calls `run(state)`, having stored at `frame` what [`back_to`] needs to come back from here. The call has the stack that ends at `top`, a multiple of 16,
/// or goes on with this one if `top` is null.
#[unsafe(naked)]
unsafe extern "C" fn begin(
    run: extern "C" fn(*mut c_void),
    state: *mut c_void,
    frame: *mut usize,
    top: *mut u8,
) {
    #[cfg(target_arch = "x86_64")]
    std::arch::naked_asm!(
        "push rbp",
        "push rbx",
        "push r12",
        "push r13",
        "push r14",
        "push r15",
        "sub rsp, 8",
        "mov [rdx], rsp",
        "mov rbp, rsp",
        "test rcx, rcx",
        "cmovne rsp, rcx",
        "mov rax, rdi",
        "mov rdi, rsi",
        "call rax",
        "mov rsp, rbp",
        "add rsp, 8",
        "pop r15",
        "pop r14",
        "pop r13",
        "pop r12",
        "pop rbx",
        "pop rbp",
        "ret",
    );
    #[cfg(target_arch = "aarch64")]
    std::arch::naked_asm!(
        "stp x29, x30, [sp, -160]!",
        "stp x19, x20, [sp, 16]",
        "stp x21, x22, [sp, 32]",
        "stp x23, x24, [sp, 48]",
        "stp x25, x26, [sp, 64]",
        "stp x27, x28, [sp, 80]",
        "stp d8, d9, [sp, 96]",
        "stp d10, d11, [sp, 112]",
        "stp d12, d13, [sp, 128]",
        "stp d14, d15, [sp, 144]",
        "mov x29, sp",
        "str x29, [x2]",
        "cbz x3, 2f",
        "mov sp, x3",
        "2:",
        "mov x8, x0",
        "mov x0, x1",
        "blr x8",
        "mov sp, x29",
        "ldp d14, d15, [sp, 144]",
        "ldp d12, d13, [sp, 128]",
        "ldp d10, d11, [sp, 112]",
        "ldp d8, d9, [sp, 96]",
        "ldp x27, x28, [sp, 80]",
        "ldp x25, x26, [sp, 64]",
        "ldp x23, x24, [sp, 48]",
        "ldp x21, x22, [sp, 32]",
        "ldp x19, x20, [sp, 16]",
        "ldp x29, x30, [sp], 160",
        "ret",
    );
}

/// Comes back from [`begin`].
#[unsafe(naked)]
unsafe extern "C" fn back_to(frame: usize) -> ! {
    #[cfg(target_arch = "x86_64")]
    std::arch::naked_asm!(
        "mov rsp, rdi",
        "add rsp, 8",
        "pop r15",
        "pop r14",
        "pop r13",
        "pop r12",
        "pop rbx",
        "pop rbp",
        "ret",
    );
    #[cfg(target_arch = "aarch64")]
    std::arch::naked_asm!(
        "mov sp, x0",
        "ldp d14, d15, [sp, 144]",
        "ldp d12, d13, [sp, 128]",
        "ldp d10, d11, [sp, 112]",
        "ldp d8, d9, [sp, 96]",
        "ldp x27, x28, [sp, 80]",
        "ldp x25, x26, [sp, 64]",
        "ldp x23, x24, [sp, 48]",
        "ldp x21, x22, [sp, 32]",
        "ldp x19, x20, [sp, 16]",
        "ldp x29, x30, [sp], 160",
        "ret",
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One test, as there is one frame.
    #[test]
    fn work_ends_where_memory_does() {
        assert_eq!(unless_exhausted(|| 7), Ok(7));
        let text = String::from("kept");
        let deep = unless_exhausted(|| {
            fn down(n: u32) -> u32 {
                if n == 0 {
                    give_up();
                    return 0;
                }
                std::hint::black_box(down(n - 1)) + 1
            }
            down(100)
        });
        assert_eq!(deep, Err(MergeStopped::Exhausted));
        assert_eq!(text, "kept");
        let hook = std::panic::take_hook();
        std::panic::set_hook(Box::new(|_| {}));
        let panicked = unless_exhausted(|| panic!("as a mistake would"));
        std::panic::set_hook(hook);
        assert_eq!(panicked.map(|()| 0), Err(MergeStopped::Panicked));
        // A thread has a small stack.
        let small = std::thread::Builder::new().stack_size(64 << 10);
        let deep = small.spawn(|| {
            unless_exhausted(|| {
                let room = std::hint::black_box([7_u8; STACK_BYTES / 8]);
                room.iter().map(|&byte| usize::from(byte)).sum::<usize>()
            })
        });
        let deep = deep.expect("a thread").join().expect("it ends well");
        assert_eq!(deep, Ok(7 * STACK_BYTES / 8));
        // Outside such work nothing happens.
        give_up();
        assert_eq!(unless_exhausted(|| 8), Ok(8));
    }
}
