//! What `include/trace.h` declares: for programs and for lower layers that want to know which call they serve.

use crate::process;
use std::ffi::{c_int, c_uint};

/// CallID of the MPI call that is running on this thread, 0 outside MPI: the rank in the high bits, the call's number in
/// the others (40 unless configured). Before MPI_Init the rank counts as 0.
#[unsafe(no_mangle)]
pub extern "C" fn trace_callid() -> u64 {
    let number = process::running_call();
    if number == 0 {
        return 0;
    }
    process::callid(number)
}

/// Switches recording on.
#[unsafe(no_mangle)]
pub extern "C" fn trace_on() {
    process::want(true);
}

/// Switches recording off; calls are then counted only.
#[unsafe(no_mangle)]
pub extern "C" fn trace_off() {
    process::want(false);
}

/// Whether recording is switched on.
#[unsafe(no_mangle)]
pub extern "C" fn trace_is_on() -> c_int {
    c_int::from(process::wanted())
}

/// Version of this interface; a header of a later version may declare more.
#[unsafe(no_mangle)]
pub extern "C" fn trace_version() -> c_uint {
    crate::life::INTERFACE
}
