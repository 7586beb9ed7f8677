//! What is 0 in every child of the process, however it was forked: a page that the kernel wipes in children.
//!
//! The C library tells of children that fork makes, and of no others: those of `_Fork` and of the system calls fork and clone run none of
//! its handlers. But a child has its parent's memory, and with it the blocks, which are a file that both have mapped. So whatever lets a
//! call be recorded is said by numbers other than 0 in this page. In a child no function's calls are recorded, no time is read the short
//! way, and the part of the run that is to be recorded has not begun: each of these leads out of the hot path, to who asks whether this
//! is a child.

use crate::memory::page;
use crate::mpi::functions::COUNT;
use std::sync::atomic::{
    AtomicBool, AtomicI64, AtomicU8,
    Ordering::{Relaxed, Release},
};

/// The page. What is in it must lie in memory that no file backs, which the system gives to variables that are 0 at first.
#[repr(C)]
#[cfg_attr(target_arch = "x86_64", repr(align(4096)))]
#[cfg_attr(target_arch = "aarch64", repr(align(65536)))]
pub struct WipedPage {
    /// Mode of each function's calls ([`crate::call::mode`]).
    pub modes: [AtomicU8; COUNT],
    /// Whether nothing is read round a call but ticks of the time-stamp counter ([`crate::call::path`]).
    pub only_ticks: AtomicBool,
    /// State of the part of the run that is to be recorded ([`crate::call::filter`]).
    pub window: AtomicU8,
    /// The kind of process that this is: one of the numbers below, and 0 in children and before recording begins.
    process: AtomicU8,
}

/// Value of [`WipedPage::process`]: this is the process that records.
const RECORDER: u8 = 1;
/// Value of [`WipedPage::process`]: the kernel wipes nothing, so the number of the process tells which one it is.
const UNKNOWN: u8 = 2;

/// The page of this process.
pub static WIPED: WipedPage = WipedPage {
    modes: [const { AtomicU8::new(0) }; COUNT],
    only_ticks: AtomicBool::new(false),
    window: AtomicU8::new(0),
    process: AtomicU8::new(0),
};

/// Number of the process that records; 0 before recording begins.
static RECORDING_PROCESS: AtomicI64 = AtomicI64::new(0);

/// Called where this process begins to record: the page is wiped in the children that it has from now on. Linux before 4.14 cannot do that.
pub fn begin() {
    RECORDING_PROCESS.store(process_number(), Relaxed);
    let start = &raw const WIPED;
    let is_whole = (start as usize).is_multiple_of(page::bytes())
        && size_of::<WipedPage>().is_multiple_of(page::bytes());
    // SAFETY: whole pages that belong to the variable. In this process nothing of them changes.
    let is_wiped = is_whole
        && unsafe {
            libc::madvise(
                start.cast_mut().cast(),
                size_of::<WipedPage>(),
                libc::MADV_WIPEONFORK,
            )
        } == 0;
    let process = if is_wiped { RECORDER } else { UNKNOWN };
    WIPED.process.store(process, Release);
}

/// Whether this is the process that records, or will, and no child that has its memory.
#[inline(always)]
pub fn is_alone() -> bool {
    WIPED.process.load(Relaxed) == RECORDER || is_alone_by_number()
}

/// Whether this is a child of the process that records, as far as the page tells: where the kernel wipes nothing it never does.
pub fn is_wiped() -> bool {
    WIPED.process.load(Relaxed) == 0 && RECORDING_PROCESS.load(Relaxed) != 0
}

/// Whether this is a child that runs in the memory of the process that records, as one of vfork does until it ends or becomes another program. The page
/// cannot tell it: what it would change is its parent's. This asks the kernel.
#[cold]
#[inline(never)]
pub fn is_in_parents_memory() -> bool {
    let recording = RECORDING_PROCESS.load(Relaxed);
    recording != 0 && WIPED.process.load(Relaxed) != 0 && process_number() != recording
}

#[cold]
#[inline(never)]
fn is_alone_by_number() -> bool {
    let recording = RECORDING_PROCESS.load(Relaxed);
    recording == 0 || WIPED.process.load(Relaxed) == UNKNOWN && process_number() == recording
}

/// Number of this process, from the kernel: old C libraries remember that of the parent.
fn process_number() -> i64 {
    // SAFETY: a system call without arguments, which cannot fail.
    unsafe { libc::syscall(libc::SYS_getpid) }
}
