//! Life cycle, descriptions and events (`spec/clog2.md` sections 17.1 to 17.3).
//!
//! Events stand on the thread that logs them; the `local_thread` of the forms with a communicator, which the program counts, is
//! not looked at. What is logged before MPI_Init and after MPE_Finish_log is refused.

use super::{FINISHED, MERGED, NOT_INITIALIZED, OK, PREFIX, api, is_logging, merged, string};
use crate::api::user;
use crate::call::modes;
use crate::exchange::clocks;
use crate::lifecycle::{open, state};
use crate::mpi::pmpi;
use crate::mpi::types::MPI_Comm;
use crate::mpi::world;
use crate::platform::environment;
use crate::platform::say::say;
use crate::thread::current;
use crate::thread::records::put_definition;
use crate::thread::within::within;
use blockfile::define::Definition;
use blockfile::user::{CARGO, CARGO_SIZE, UserCategory, UserCategoryKind, what};
use std::ffi::{c_char, c_int};
use std::path::Path;
use std::sync::atomic::{AtomicI32, Ordering::Acquire, Ordering::Relaxed};

/// The next numbers that are handed out.
static NEXT_STATE: AtomicI32 = AtomicI32::new(600);
static NEXT_SOLO: AtomicI32 = AtomicI32::new(5000);

/// First number given out after the last one of a range, so that no number comes twice.
const FIRST_FAR_NUMBER: i32 = 1_000_000;

/// The next numbers for states: `count` of them in a row.
pub(super) fn numbers(count: i32) -> i32 {
    let first = NEXT_STATE.fetch_add(count, Relaxed);
    if first + count <= 5000 {
        first
    } else {
        first - 5000 + FIRST_FAR_NUMBER
    }
}

/// The next number for a solo event.
pub(super) fn solo_number() -> i32 {
    NEXT_SOLO.fetch_add(1, Relaxed)
}

/// Writes a description into the running thread's block.
fn describe(category: UserCategory) -> c_int {
    if !is_logging() {
        return NOT_INITIALIZED;
    }
    within(|| {
        let t = match current() {
            // The thread has called nothing yet.
            t if t.is_null() => open::start_thread(),
            t => t,
        };
        // SAFETY: the state of the running thread; no record of it is half written, as this is no signal handler's.
        if let Some(t) = unsafe { t.as_mut() } {
            put_definition(t, &Definition::UserCategory(category));
        }
    });
    OK
}

/// # Safety
/// The strings are NULL or end with NUL.
unsafe fn category(
    kind: UserCategoryKind,
    (number, end): (c_int, c_int),
    [name, color, format]: [*const c_char; 3],
) -> UserCategory {
    // SAFETY: by the caller.
    unsafe {
        UserCategory {
            kind,
            number,
            end,
            name: string(name),
            color: string(color),
            format: string(format),
        }
    }
}

/// # Safety
/// `data` is NULL or 32 bytes.
#[inline]
unsafe fn event(comm: Option<u64>, number: c_int, data: *const c_char) -> c_int {
    if !is_logging() {
        return NOT_INITIALIZED;
    }
    if data.is_null() {
        user::event(what::MPE, number, comm, 0, |_| {});
    } else {
        user::event(what::MPE | CARGO, number, comm, CARGO_SIZE, |out| {
            // SAFETY: by the caller.
            unsafe { out.bytes(data.cast(), CARGO_SIZE) };
        });
    }
    OK
}

fn message(what: u32, comm: Option<u64>, partner: c_int, tag: c_int, size: c_int) -> c_int {
    if !is_logging() {
        return NOT_INITIALIZED;
    }
    user::event(what, 0, comm, 16, |out| {
        out.i32(partner);
        out.i32(tag);
        out.i64(size.into());
    });
    OK
}

unsafe extern "C" {
    /// The exported function, as the program calls it: it is recorded.
    fn MPI_Init(argc: *mut c_int, argv: *mut *mut *mut c_char) -> c_int;
}

api! {
    /// Begins to log. MPI_Init does it for traced programs; before it, this calls MPI_Init.
    fn MPE_Init_log() -> c_int {
        let mut initialized = 0;
        // SAFETY: may be called at any time.
        unsafe { pmpi::MPI_Initialized(&mut initialized) };
        if initialized == 0 {
            say!("trace: MPE_Init_log before MPI_Init: MPI is initialized now");
            // SAFETY: called as the program would call it; MPI allows NULL for both.
            unsafe { MPI_Init(std::ptr::null_mut(), std::ptr::null_mut()) };
        }
        modes::want(true);
        OK
    }

    /// 0 before MPI_Init, 1 while events are logged, 2 after MPE_Finish_log.
    fn MPE_Initialized_logging() -> c_int {
        if FINISHED.load(Relaxed) || state::is_over() {
            2
        } else {
            c_int::from(state::is_running())
        }
    }

    /// Goes on recording calls and events.
    fn MPE_Start_log() -> c_int {
        if !is_logging() {
            NOT_INITIALIZED
        } else {
            modes::want(true);
            OK
        }
    }

    /// Records no calls and no events until MPE_Start_log.
    fn MPE_Stop_log() -> c_int {
        if !is_logging() {
            NOT_INITIALIZED
        } else {
            modes::want(false);
            OK
        }
    }

    /// Compares clocks once more. Collective over MPI_COMM_WORLD.
    fn MPE_Log_sync_clocks() -> c_int {
        if let Some(world) = world::known().filter(|_| is_logging()) {
            within(|| {
                // SAFETY: the state of the running thread. A comparison that fails is missed, nothing else.
                let t = unsafe { current().as_mut() };
                let _ = clocks::compare_now(t, &world);
            });
        }
        OK
    }

    /// Ends the program's own logging and names the merged files, unless the setting `output` does. They are written in
    /// MPI_Finalize.
    fn MPE_Finish_log(filename: *const c_char) -> c_int {
        if !FINISHED.swap(true, Relaxed) && !filename.is_null() {
            // SAFETY: by the caller.
            let name = unsafe { string(filename) };
            if !name.is_empty() {
                if environment::var_os("MPE_LOGFILE_PREFIX").is_none() {
                    merged(Path::new(&name));
                }
                *PREFIX.lock() = Some(name.into());
            }
        }
        OK
    }

    /// Two numbers for a state.
    fn MPE_Log_get_state_eventIDs(start: *mut c_int, end: *mut c_int) -> c_int {
        let first = numbers(2);
        // SAFETY: by the caller.
        unsafe {
            start.write(first);
            end.write(first + 1);
        }
        OK
    }

    /// A number for a solo event.
    fn MPE_Log_get_solo_eventID(event: *mut c_int) -> c_int {
        // SAFETY: by the caller.
        unsafe { event.write(solo_number()) };
        OK
    }

    /// A number of the range for states.
    fn MPE_Log_get_event_number() -> c_int {
        numbers(1)
    }

    /// Describes a state.
    fn MPE_Describe_state(start: c_int, end: c_int, name: *const c_char, color: *const c_char) -> c_int {
        // SAFETY: by the caller.
        describe(unsafe { category(UserCategoryKind::State, (start, end), [name, color, std::ptr::null()]) })
    }

    /// Describes a state with data.
    fn MPE_Describe_info_state(start: c_int, end: c_int, name: *const c_char, color: *const c_char, format: *const c_char) -> c_int {
        // SAFETY: by the caller.
        describe(unsafe { category(UserCategoryKind::State, (start, end), [name, color, format]) })
    }

    /// Describes a state with data; on which communicator makes no difference.
    fn MPE_Describe_comm_state(_comm: MPI_Comm, _thread: c_int, start: c_int, end: c_int, name: *const c_char, color: *const c_char, format: *const c_char) -> c_int {
        // SAFETY: by the caller.
        describe(unsafe { category(UserCategoryKind::State, (start, end), [name, color, format]) })
    }

    /// Describes a solo event.
    fn MPE_Describe_event(event: c_int, name: *const c_char, color: *const c_char) -> c_int {
        // SAFETY: by the caller.
        describe(unsafe { category(UserCategoryKind::Event, (event, 0), [name, color, std::ptr::null()]) })
    }

    /// Describes a solo event with data.
    fn MPE_Describe_info_event(event: c_int, name: *const c_char, color: *const c_char, format: *const c_char) -> c_int {
        // SAFETY: by the caller.
        describe(unsafe { category(UserCategoryKind::Event, (event, 0), [name, color, format]) })
    }

    /// Describes a solo event with data; on which communicator makes no difference.
    fn MPE_Describe_comm_event(_comm: MPI_Comm, _thread: c_int, event: c_int, name: *const c_char, color: *const c_char, format: *const c_char) -> c_int {
        // SAFETY: by the caller.
        describe(unsafe { category(UserCategoryKind::Event, (event, 0), [name, color, format]) })
    }

    /// Logs an event, with data unless `data` is NULL.
    fn MPE_Log_event(number: c_int, _unused: c_int, data: *const c_char) -> c_int {
        // SAFETY: by the caller.
        unsafe { event(None, number, data) }
    }

    /// Logs an event without data.
    fn MPE_Log_bare_event(number: c_int) -> c_int {
        // SAFETY: there is no data.
        unsafe { event(None, number, std::ptr::null()) }
    }

    /// Logs an event with data.
    fn MPE_Log_info_event(number: c_int, data: *const c_char) -> c_int {
        // SAFETY: by the caller.
        unsafe { event(None, number, data) }
    }

    /// Logs an event on a communicator.
    fn MPE_Log_comm_event(comm: MPI_Comm, _thread: c_int, number: c_int, data: *const c_char) -> c_int {
        // SAFETY: by the caller.
        unsafe { event(Some(comm.as_passed().bits()), number, data) }
    }

    /// Logs that a message leaves.
    fn MPE_Log_send(receiver: c_int, tag: c_int, size: c_int) -> c_int {
        message(what::SEND, None, receiver, tag, size)
    }

    /// Logs that a message arrives.
    fn MPE_Log_receive(sender: c_int, tag: c_int, size: c_int) -> c_int {
        message(what::RECEIVE, None, sender, tag, size)
    }

    /// Logs that a message leaves on a communicator.
    fn MPE_Log_comm_send(comm: MPI_Comm, _thread: c_int, receiver: c_int, tag: c_int, size: c_int) -> c_int {
        message(what::SEND, Some(comm.as_passed().bits()), receiver, tag, size)
    }

    /// Logs that a message arrives on a communicator.
    fn MPE_Log_comm_receive(comm: MPI_Comm, _thread: c_int, sender: c_int, tag: c_int, size: c_int) -> c_int {
        message(what::RECEIVE, Some(comm.as_passed().bits()), sender, tag, size)
    }

    /// MPE's agreement on the number of threads: the recorder counts them itself.
    fn MPE_Log_thread_sync(_threads: c_int) -> c_int {
        OK
    }
}

/// Name of the merged CLOG2 file.
#[unsafe(no_mangle)]
#[allow(non_snake_case, reason = "MPE's name")]
pub extern "C" fn MPE_Log_merged_logfilename() -> *const c_char {
    MERGED.load(Acquire)
}
