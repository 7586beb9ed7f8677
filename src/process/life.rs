//! Beginnings and ends: the first call, MPI_Init, sessions, MPI_Pcontrol, MPI_Abort, MPI_Finalize, exit without it, fork.

use crate::api;
use crate::api::annotate::annotate;
use crate::api::functions;
use crate::api::printf::Arguments;
use crate::blocks::{Store, thread};
use crate::call::arg;
use crate::call::filter;
use crate::call::{self, Call, MODE, OFF, Stopped};
use crate::define;
use crate::finalize;
use crate::memory;
use crate::mpi::functions::{HANDLE, NUMBERS, index};
use crate::mpi::header::MPI_Comm;
use crate::mpi::library;
use crate::mpi::pmpi;
use crate::mpi::slots::{self, Code};
use crate::platform::host;
use crate::platform::mark;
use crate::posix;
use crate::process;
use crate::process::first;
use crate::process::sessions;
use crate::process::start;
use crate::say;
use std::ffi::{c_int, c_uint};
use std::panic::catch_unwind;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed};

/// How far the process has come.
static STATE: AtomicU32 = AtomicU32::new(BEFORE);
const BEFORE: u32 = 0;
const INITIALIZED: u32 = 1;
const FINISHED: u32 = 2;
/// There are sessions, and no MPI_COMM_WORLD.
const SESSIONS: u32 = 3;

/// `ended` of a file header.
mod ended {
    pub const FINALIZED: u32 = 1;
    pub const EXITED: u32 = 2;
    pub const ABORTED: u32 = 3;
}

/// Whether MPI_Init has returned and MPI_Finalize has not begun.
pub fn is_running() -> bool {
    STATE.load(Relaxed) == INITIALIZED
}

/// Whether there is nothing more to record.
pub fn is_over() -> bool {
    STATE.load(Relaxed) == FINISHED
}

/// Called once, when the block file has been made.
pub fn at_first_call() {
    // Programs refer to it weakly, which alone would not take it out of an archive.
    std::hint::black_box(api::ALL);
    // SAFETY: the handler is a function of this library, which is never unloaded: the program calls into it.
    unsafe {
        libc::pthread_atfork(None, None, Some(in_forked_child));
    }
    posix::start();
}

/// Runs when the library is loaded: a private MPI library must be made global before anybody looks for one.
extern "C" fn at_load() {
    posix::at_load();
    library::configured();
}

#[used]
#[unsafe(link_section = ".init_array")]
static AT_LOAD: extern "C" fn() = at_load;

/// Runs behind all handlers of the program, one of which may call MPI_Finalize.
#[used]
#[unsafe(link_section = ".fini_array")]
static AT_UNLOAD: extern "C" fn() = at_exit;

/// A child has its parent's memory and must not write to its parent's file: it records nothing.
unsafe extern "C" fn in_forked_child() {
    STATE.store(FINISHED, Relaxed);
    memory::forked();
    MODE.iter().for_each(|m| m.store(OFF, Relaxed));
    posix::switch(false);
    functions::switch(false);
    slots::bypass();
}

/// Exit without MPI_Finalize: the block file stays, if anything of MPI has been going on.
extern "C" fn at_exit() {
    let Some(store) = process::store() else {
        return;
    };
    if store.header().pid != std::process::id() {
        return;
    }
    match STATE.swap(FINISHED, Relaxed) {
        BEFORE => store.remove(),
        SESSIONS => {
            store.header().ended.store(ended::FINALIZED, Relaxed);
            // Neither a mistake of ours nor want of memory must change how the program ends.
            memory::merging();
            let _ = memory::unless_exhausted(|| process::within(|| sessions::leave(store)));
            memory::merged();
        }
        INITIALIZED => {
            // As above.
            let said = memory::unless_exhausted(|| process::within(|| left_early(store)));
            if said.is_err() {
                store.header().ended.store(ended::EXITED, Relaxed);
                store.write_header();
            }
        }
        _ => {}
    }
}

/// A rank has come out of MPI_Init and exits without MPI_Finalize.
fn left_early(store: &Store) {
    store.write_out();
    let header = store.header();
    if !first::is_first_to_end(store, ended::EXITED) {
        return;
    }
    let more = match header.size.load(Relaxed) {
        0 | 1 => "",
        _ => "; so it is with other ranks that end like this, whose files are beside it",
    };
    say!(
        "trace: rank {} on {} exits without MPI_Finalize: {}{more}",
        header.rank.load(Relaxed),
        host::host(),
        first::where_calls_are(store, 0)
    );
}

/// MPI_Init, MPI_Init_thread or MPI_Session_init is about to run: from here on what is recorded shall be found.
pub fn beginning() {
    mark::set(mark::RECORDS);
    if let Some(store) = process::store() {
        process::within(|| store.name());
    }
}

/// MPI_Init or MPI_Init_thread has returned.
pub fn initialized() {
    let first = STATE.fetch_update(Relaxed, Relaxed, |state| {
        matches!(state, BEFORE | SESSIONS).then_some(INITIALIZED)
    });
    if first.is_err() {
        return;
    }
    // A mistake of ours must not end the program.
    let _ = catch_unwind(|| process::within(|| start::world(thread::current())));
}

/// A session has begun. Programs with sessions only have no MPI_COMM_WORLD that could carry a merge; see [`sessions`].
#[allow(dead_code, reason = "called where mpi.h declares sessions")]
pub fn session_started() {
    if STATE
        .compare_exchange(BEFORE, SESSIONS, Relaxed, Relaxed)
        .is_err()
    {
        return;
    }
    process::within(|| sessions::begin(thread::current()));
}

/// MPI_Pcontrol: 0 switches recording off, 1 on, 2 and 3 annotate. It is variadic, which Rust cannot be: the registers that
/// may hold arguments are saved as a C function's prologue does, and a `va_list` is made of them.
#[unsafe(naked)]
pub unsafe extern "C" fn pcontrol<const P: usize>(level: c_int) -> c_int {
    std::arch::naked_asm!(
        "push rbp",
        "mov rbp, rsp",
        "sub rsp, 208",
        "mov [rsp], rdi",
        "mov [rsp + 8], rsi",
        "mov [rsp + 16], rdx",
        "mov [rsp + 24], rcx",
        "mov [rsp + 32], r8",
        "mov [rsp + 40], r9",
        "test al, al",
        "je 2f",
        "movaps [rsp + 48], xmm0",
        "movaps [rsp + 64], xmm1",
        "movaps [rsp + 80], xmm2",
        "movaps [rsp + 96], xmm3",
        "movaps [rsp + 112], xmm4",
        "movaps [rsp + 128], xmm5",
        "movaps [rsp + 144], xmm6",
        "movaps [rsp + 160], xmm7",
        "2:",
        // The list: offsets behind the level, which is in the first register, the caller's stack, the registers.
        "mov dword ptr [rsp + 176], 8",
        "mov dword ptr [rsp + 180], 48",
        "lea rax, [rbp + 16]",
        "mov [rsp + 184], rax",
        "mov [rsp + 192], rsp",
        "lea rsi, [rsp + 176]",
        "call {controlled}",
        "leave",
        "ret",
        controlled = sym controlled::<P>,
    )
}

/// MPI_Pcontrol with its further arguments. The real function gets the level only: what follows it cannot be passed on.
unsafe extern "C" fn controlled<const P: usize>(level: c_int, arguments: &Arguments) -> c_int {
    let obeyed = process::obeys_pcontrol();
    match level {
        _ if !obeyed => {}
        0 => {}
        1 => process::want(true),
        // SAFETY: registers and stack are as the caller left them.
        _ => unsafe { annotate(level, *arguments) },
    }
    // SAFETY: the real function, which is variadic, with the one argument it must have; the wrapper pattern of generated.rs.
    let r = unsafe {
        let real = std::mem::transmute::<Code, unsafe extern "C" fn(c_int, ...) -> c_int>(
            slots::real(2 * index::MPI_Pcontrol + P),
        );
        let call = Call::enter(index::MPI_Pcontrol as u16, P == 0);
        if call.ignored() {
            let r = real(level);
            call.leave();
            r
        } else {
            let number = NUMBERS[index::MPI_Pcontrol];
            let running = call.start(number);
            let r = real(level);
            let stopped = running.stop();
            if is_left_out(index::MPI_Pcontrol, &stopped) {
                stopped.leave_out(index::MPI_Pcontrol as u16);
            } else {
                let mut w = stopped.record(number, r, 0, 4);
                w.args.i32(level);
                w.publish();
            }
            r
        }
    };
    // Last, so that the call that switches recording off is the last one there is.
    if obeyed && level == 0 {
        process::want(false);
    }
    r
}

/// Whether a call without communicator and data is not wanted.
fn is_left_out(index: usize, call: &Stopped) -> bool {
    call.filtered(index as u16) && filter::leaves_out(index, call.number(), None, &[])
}

/// MPI_Abort: recorded before it runs, because nothing comes after.
pub unsafe extern "C-unwind" fn abort<const P: usize>(comm: MPI_Comm, code: c_int) -> c_int {
    // SAFETY: the wrapper pattern of generated.rs.
    unsafe {
        let real = std::mem::transmute::<Code, unsafe extern "C-unwind" fn(MPI_Comm, c_int) -> c_int>(
            slots::real(2 * index::MPI_Abort + P),
        );
        let call = Call::enter(index::MPI_Abort as u16, P == 0);
        if call.ignored() {
            let r = real(comm, code);
            call.leave();
            return r;
        }
        let mut w = call.start(NUMBERS[index::MPI_Abort]).stop().record(
            NUMBERS[index::MPI_Abort],
            0,
            0,
            16,
        );
        w.args.handle::<{ HANDLE }>(arg::bits(comm));
        w.args.i32(code);
        w.publish();
        if let Some(store) = process::store() {
            store.write_out();
            let is_first = || process::within(|| first::is_first_to_end(store, ended::ABORTED));
            if memory::unless_exhausted(is_first).unwrap_or(true) {
                say!(
                    "trace: MPI_Abort of rank {} on {}: what was recorded is in {} and its like (mpitrace recover {})",
                    store.header().rank.load(Relaxed),
                    host::host(),
                    store.path().display(),
                    store.path().parent().unwrap_or(store.path()).display()
                );
            }
        }
        real(comm, code)
    }
}

/// MPI_Finalize: the trace is merged and written first, while there is an MPI to do it with.
pub unsafe extern "C-unwind" fn finalize<const P: usize>() -> c_int {
    // SAFETY: the wrapper pattern of generated.rs.
    unsafe {
        let real = std::mem::transmute::<Code, unsafe extern "C-unwind" fn() -> c_int>(
            slots::real(2 * index::MPI_Finalize + P),
        );
        let call = Call::enter(index::MPI_Finalize as u16, P == 0);
        if !call.ignored() {
            let number = NUMBERS[index::MPI_Finalize];
            let stopped = call.start(number).stop();
            if is_left_out(index::MPI_Finalize, &stopped) {
                stopped.leave_out(index::MPI_Finalize as u16);
            } else {
                stopped.record(number, 0, 0, 0).publish();
            }
        } else if call::is_nested() {
            let r = real();
            call.leave();
            return r;
        } else {
            call.leave();
        }
        static ONCE: AtomicBool = AtomicBool::new(false);
        let mut initialized = 0;
        pmpi::MPI_Initialized(&mut initialized);
        if initialized != 0 && STATE.load(Relaxed) == INITIALIZED && !ONCE.swap(true, Relaxed) {
            // From here on nothing is recorded, whichever thread still calls.
            process::want(false);
            define::left_out(thread::current());
            if let Some(store) = process::store() {
                store.header().ended.store(ended::FINALIZED, Relaxed);
            }
            process::within(finalize::run);
            STATE.store(FINISHED, Relaxed);
            slots::bypass();
        }
        real()
    }
}

/// Version of the interface in `include/trace.h`.
pub const INTERFACE: c_uint = 2;
