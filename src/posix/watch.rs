//! Decides which file calls are recorded.
//!
//! - `posix mpiio`: those on regular files inside MPI_File_* functions; inside other MPI functions those on descriptors that
//!   an MPI_File_* function has opened: work that it has put off.
//! - `posix all`: also all others on regular files, inside MPI and outside, but for what MPI_Init and MPI_Finalize do.
//!
//! Nothing inside MPI calls that are not recorded themselves, in forked children, and while the recorder is busy on the thread.

use super::context::CallContext;
use super::paths::Path;
use super::{descriptors, paths};
use crate::mpi::functions::{COUNT, NAMES, NUMBERS};
use crate::platform::errno::{errno, set_errno};
use crate::thread::begin;
use crate::thread::current;
use crate::thread::wiped::is_alone;
use crate::thread::within::inside;
use blockfile::operation::OUTSIDE;
use blockfile::record::FUNCTION;
use settings::{Posix, Settings};
use std::ffi::{c_char, c_int};
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering::Relaxed};

/// Nothing is recorded.
const NOTHING: u8 = 0;
/// File calls inside MPI_File_* functions.
const MPI_FILE: u8 = 1;
/// Everything on regular files.
const EVERYTHING: u8 = 2;

/// Calls that are recorded now.
static LEVEL: AtomicU8 = AtomicU8::new(NOTHING);
/// Calls that are recorded while recording is on.
static WANTED: AtomicU8 = AtomicU8::new(NOTHING);
/// Whether calls outside MPI are recorded now; exported functions look at it.
pub static ALSO_OUTSIDE: AtomicBool = AtomicBool::new(false);
/// Whether the kernel's counters are read round transfers.
pub static COUNTERS: AtomicBool = AtomicBool::new(false);
/// Calls that came while the recorder was busy on their thread: made by signal handlers.
static INTERRUPTING: AtomicU64 = AtomicU64::new(0);

/// Relation of an MPI function to files.
#[derive(Clone, Copy, PartialEq, Eq)]
enum FileRole {
    /// A function that has nothing to do with files, but may make progress of what others began.
    Other,
    /// MPI_File_*.
    File,
    /// A function that begins or ends MPI.
    Never,
}

/// By number of the function.
static CLASSES: [FileRole; FUNCTION as usize + 1] = {
    const fn begins(name: &[u8], with: &[u8]) -> bool {
        let mut i = 0;
        while i < with.len() {
            if i >= name.len() || name[i] != with[i] {
                return false;
            }
            i += 1;
        }
        true
    }
    let mut classes = [FileRole::Other; FUNCTION as usize + 1];
    let mut i = 0;
    while i < COUNT {
        let name = NAMES[i].to_bytes();
        let number = (NUMBERS[i] & FUNCTION) as usize;
        if begins(name, b"PMPI_File_") {
            classes[number] = FileRole::File;
        } else if begins(name, b"PMPI_Init")
            || begins(name, b"PMPI_Finalize")
            || begins(name, b"PMPI_Session_init")
            || begins(name, b"PMPI_Session_finalize")
        {
            classes[number] = FileRole::Never;
        }
        i += 1;
    }
    classes
};

/// Takes what the settings say; `on` is whether recording is switched on.
pub fn apply(settings: &Settings, on: bool) {
    let level = match settings.posix {
        Posix::Off => NOTHING,
        Posix::Mpiio => MPI_FILE,
        Posix::All => EVERYTHING,
    };
    WANTED.store(level, Relaxed);
    COUNTERS.store(settings.rusage, Relaxed);
    paths::choose(&settings.posix_include, &settings.posix_exclude);
    switch(on);
}

/// Recording is switched on or off.
pub fn switch(on: bool) {
    let level = if on { WANTED.load(Relaxed) } else { NOTHING };
    if LEVEL.swap(level, Relaxed) == NOTHING && level != NOTHING {
        descriptors::all_moved_unseen();
    }
    ALSO_OUTSIDE.store(level == EVERYTHING, Relaxed);
}

/// The process begins to record.
pub fn start() {
    // SAFETY: the handler is a function of this library, which is never unloaded.
    unsafe { libc::pthread_atfork(None, Some(descriptors::share), None) };
}

/// Calls that should have been recorded and were not: how many, and why.
pub fn left_out() -> [(u64, &'static str); 2] {
    [
        (
            INTERRUPTING.load(Relaxed),
            "file calls of signal handlers that interrupted the recorder",
        ),
        (
            descriptors::beyond(),
            "file calls on descriptors from 65536 on",
        ),
    ]
}

/// The state of the running thread, if anything at all may be recorded in it. `fd` is what the call is on, -1 for none.
#[inline(always)]
pub fn context(fd: c_int) -> Option<CallContext> {
    let level = LEVEL.load(Relaxed);
    let t = current();
    if level == NOTHING {
        return None;
    }
    if t.is_null() {
        return context_of_new_thread(level, || descriptors::may_be_watched(fd));
    }
    // SAFETY: the state of the running thread, and the header of its own block.
    let (busy, outer_stack, next, open) = unsafe {
        (
            (*t).busy,
            (*t).outer_stack,
            (*t).next_call,
            (*(*t).block.header()).open_function.load(Relaxed),
        )
    };
    if busy != 0 {
        interrupting(fd);
        return None;
    }
    if !is_alone() {
        return None;
    }
    if outer_stack == 0 {
        return (level == EVERYTHING).then_some(CallContext {
            thread: t,
            call: next,
            flags: OUTSIDE,
            in_file: false,
            put_off: false,
        });
    }
    // No call is open while one is passed through that is not recorded.
    let number = open.checked_sub(1)?;
    let class = CLASSES[(number as u16 & FUNCTION) as usize];
    if class == FileRole::Never {
        return None;
    }
    let in_file = class == FileRole::File;
    Some(CallContext {
        thread: t,
        call: next - 1,
        flags: 0,
        in_file,
        put_off: !in_file && level == MPI_FILE,
    })
}

/// The state of a thread that has never called MPI, which is given one if its call is on a file that is wanted.
#[cold]
#[inline(never)]
fn context_of_new_thread(level: u8, is_wanted: impl Fn() -> bool) -> Option<CallContext> {
    if level != EVERYTHING || !is_alone() || inside() || !is_wanted() {
        return None;
    }
    let saved = errno();
    let t = begin::adopt();
    set_errno(saved);
    if t.is_null() { None } else { context(-1) }
}

/// Context of a call on the file of this name, as [`context`] gives for a descriptor. `name` may be an invalid address.
#[inline(always)]
pub fn context_of_name(directory: c_int, name: *const c_char) -> Option<CallContext> {
    if current().is_null() {
        let is_wanted = || Path::may_be_wanted(directory, name);
        return context_of_new_thread(LEVEL.load(Relaxed), is_wanted);
    }
    context(-1)
}

/// A call while the recorder is busy: its own, whose files are not watched, or a signal handler's.
#[cold]
fn interrupting(fd: c_int) {
    if descriptors::is_watched(fd) {
        INTERRUPTING.fetch_add(1, Relaxed);
    }
}
