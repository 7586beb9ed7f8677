//! Symbols that libmpe exports for its own wrappers of MPI functions (`spec/clog2.md` section 17.3), for programs that bring
//! such wrappers
//! of their own. Their communicators come from libmpe's private tables, so they are not looked at: what is told stands on
//! MPI_COMM_WORLD. The recorder sees the program's communicators itself.
//!
//! The numbers below 600, which libmpe hands out here, are those of MPI functions in our files; a program that asks for "known"
//! numbers gets such as all others get.

use super::log::{
    MPE_Describe_info_event, MPE_Describe_info_state, MPE_Log_event, MPE_Log_receive, MPE_Log_send,
    numbers, solo_number,
};
use super::{OK, api};
use std::ffi::{c_char, c_int, c_void};
use std::sync::atomic::{AtomicI32, Ordering::Relaxed};

/// A communicator as libmpe knows it.
type CommIds = *const c_void;

/// The next number of a state: nothing but a number, as events tell states apart.
static NEXT_STATE: AtomicI32 = AtomicI32::new(0);

api! {
    /// A number for the event of a state.
    fn MPE_Log_get_known_eventID() -> c_int {
        numbers(1)
    }

    /// A number for a solo event.
    fn MPE_Log_get_known_solo_eventID() -> c_int {
        solo_number()
    }

    /// A number for a state.
    fn MPE_Log_get_known_stateID() -> c_int {
        NEXT_STATE.fetch_add(1, Relaxed)
    }

    /// Describes a state.
    fn MPE_Describe_known_state(_on: CommIds, _thread: c_int, _state: c_int, start: c_int, end: c_int, name: *const c_char, color: *const c_char, format: *const c_char) -> c_int {
        // SAFETY: by the caller.
        unsafe { MPE_Describe_info_state(start, end, name, color, format) }
    }

    /// Describes a solo event.
    fn MPE_Describe_known_event(_on: CommIds, _thread: c_int, event: c_int, name: *const c_char, color: *const c_char, format: *const c_char) -> c_int {
        // SAFETY: by the caller.
        unsafe { MPE_Describe_info_event(event, name, color, format) }
    }

    /// Logs an event, with data unless `data` is NULL.
    fn MPE_Log_commIDs_event(_on: CommIds, _thread: c_int, number: c_int, data: *const c_char) -> c_int {
        // SAFETY: by the caller.
        unsafe { MPE_Log_event(number, 0, data) }
    }

    /// Logs that a message leaves.
    fn MPE_Log_commIDs_send(_on: CommIds, _thread: c_int, receiver: c_int, tag: c_int, size: c_int) -> c_int {
        // SAFETY: numbers.
        unsafe { MPE_Log_send(receiver, tag, size) }
    }

    /// Logs that a message arrives.
    fn MPE_Log_commIDs_receive(_on: CommIds, _thread: c_int, sender: c_int, tag: c_int, size: c_int) -> c_int {
        // SAFETY: numbers.
        unsafe { MPE_Log_receive(sender, tag, size) }
    }

    /// Tells of a new communicator, which the recorder knows.
    fn MPE_Log_commIDs_intracomm(_on: CommIds, _thread: c_int, _what: c_int, _made: CommIds) -> c_int {
        OK
    }

    /// Tells of a new intercommunicator, which the recorder knows.
    fn MPE_Log_commIDs_intercomm(_on: CommIds, _thread: c_int, _what: c_int, _made: CommIds) -> c_int {
        OK
    }

    /// Tells that a process is in no new communicator.
    fn MPE_Log_commIDs_nullcomm(_on: CommIds, _thread: c_int, _what: c_int) -> c_int {
        OK
    }
}
