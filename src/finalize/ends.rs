//! Ends: MPI_Finalize, MPI_Abort, and exit without either.

use crate::api::{libraries, lost_calls};
use crate::blocks::{BlockStore, own};
use crate::call::{self, Call, arg, modes};
use crate::define;
use crate::finalize::run::run;
use crate::finalize::{first, sessions};
use crate::lifecycle::state::{BEFORE, FINISHED, INITIALIZED, SESSIONS, STATE};
use crate::memory;
use crate::mpi::abi::Abi;
use crate::mpi::functions::{NUMBERS, index};
use crate::mpi::handles::HandleBits;
use crate::mpi::pmpi;
use crate::mpi::slots::{self, CodeAddress};
use crate::platform::host;
use crate::platform::say::{self, say};
use crate::thread::current;
use crate::thread::wiped::is_alone;
use crate::thread::within::within;
use blockfile::layout::ended;
use std::ffi::{c_int, c_void};
use std::fmt::{self, Write};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// Runs behind all handlers of the program, one of which may call MPI_Finalize.
#[used]
#[unsafe(link_section = ".fini_array")]
static AT_UNLOAD: extern "C" fn() = at_exit;

/// Exit without MPI_Finalize: the block file stays, if anything of MPI has been going on.
extern "C" fn at_exit() {
    let Some(store) = own::store() else {
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
            let _ = memory::unless_exhausted(|| within(|| sessions::leave(store)));
            memory::merged();
        }
        // MPICH's MPI_Abort ends the process by exit.
        INITIALIZED if store.header().ended.load(Relaxed) == ended::ABORTED => store.write_out(),
        INITIALIZED => {
            // As above.
            let said = memory::unless_exhausted(|| within(|| left_early(store)));
            if said.is_err() {
                store.header().ended.store(ended::EXITED, Relaxed);
                store.write_header();
            }
        }
        _ => {}
    }
}

unsafe extern "C" {
    /// Registers a handler of quick_exit for the object that owns `object`: it goes when the object is unloaded.
    fn __cxa_at_quick_exit(handler: extern "C" fn(*mut c_void), object: *const c_void) -> c_int;
    /// Identity of this library, or of the program that it is linked into.
    static __dso_handle: c_void;
}

/// Has quick_exit, which runs no other handler of the recorder's, note in the block file that the process ended by itself. At load, so
/// that it runs behind all handlers of the program.
pub fn watch_quick_exit() {
    // SAFETY: the handler has the signature asked for and is there as long as this object.
    let failed = unsafe { __cxa_at_quick_exit(at_quick_exit, &raw const __dso_handle) };
    // Without memory for the note such an end is told as a death.
    let _ = failed;
}

/// A line without memory from an allocator.
struct StackLine {
    bytes: [u8; 1024],
    used: usize,
}

impl fmt::Write for StackLine {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let rest = &mut self.bytes[self.used..];
        let room = rest.get_mut(..text.len()).ok_or(fmt::Error)?;
        room.copy_from_slice(text.as_bytes());
        self.used += text.len();
        Ok(())
    }
}

/// The end by quick_exit. Programs call it from signal handlers and while other threads hold locks, so nothing is allocated,
/// waited for or merged here.
extern "C" fn at_quick_exit(_: *mut c_void) {
    let Some(store) = own::store() else {
        return;
    };
    let header = store.header();
    if header.pid != std::process::id() {
        return;
    }
    match STATE.swap(FINISHED, Relaxed) {
        BEFORE => store.remove(),
        INITIALIZED | SESSIONS => {
            header.ended.store(ended::EXITED, Relaxed);
            store.try_write_out();
            let rank = header.rank.load(Relaxed);
            let mut line = StackLine {
                bytes: [0; 1024],
                used: 0,
            };
            let written = writeln!(
                line,
                "trace: rank {rank} calls quick_exit without MPI_Finalize: its calls are in {} (mpitrace recover reads it)",
                store.path().display()
            );
            let text = std::str::from_utf8(&line.bytes[..line.used]);
            if let (Ok(()), Ok(text), true) = (written, text, rank < first::FIRST_RANKS) {
                say::raw(text);
            }
        }
        _ => {}
    }
}

/// A rank has come out of MPI_Init and exits without MPI_Finalize.
fn left_early(store: &BlockStore) {
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

/// MPI_Abort: recorded before it runs, because nothing comes after.
pub unsafe extern "C-unwind" fn abort<A: Abi, const P: usize>(
    comm: A::Handle,
    code: c_int,
) -> c_int {
    // SAFETY: the wrapper pattern of the generated `wrappers.rs`.
    unsafe {
        let real = std::mem::transmute::<
            CodeAddress,
            unsafe extern "C-unwind" fn(A::Handle, c_int) -> c_int,
        >(slots::real(2 * index::MPI_Abort + P));
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
        arg::put_handle::<A::Handle>(&mut w.args, comm.bits());
        w.args.i32(code);
        w.publish();
        if let Some(store) = own::store() {
            store.write_out();
            let is_first = || within(|| first::is_first_to_end(store, ended::ABORTED));
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
    // SAFETY: the wrapper pattern of the generated `wrappers.rs`.
    unsafe {
        let real = std::mem::transmute::<CodeAddress, unsafe extern "C-unwind" fn() -> c_int>(
            slots::real(2 * index::MPI_Finalize + P),
        );
        if STATE.load(Relaxed) == INITIALIZED && is_alone() {
            libraries::tell();
        }
        let call = Call::enter(index::MPI_Finalize as u16, P == 0);
        if !call.ignored() {
            let number = NUMBERS[index::MPI_Finalize];
            let stopped = call.start(number).stop();
            if stopped.is_filtered_out(index::MPI_Finalize) {
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
            modes::want(false);
            if let Some(t) = current().as_mut() {
                define::left_out(t, lost_calls());
            }
            if let Some(store) = own::store() {
                store.header().ended.store(ended::FINALIZED, Relaxed);
            }
            within(run);
            STATE.store(FINISHED, Relaxed);
            slots::bypass();
        }
        real()
    }
}
