//! Helpers of `mpe_misc.h` that start a debugger (`spec/clog2.md` section 17.4). None is started: libmpe opens dbx in a window
//! of X11. The process says where it waits for one, and what is wrong ends the program as without these helpers.

use crate::mpi::handles::Handle;
use crate::mpi::pmpi;
use crate::mpi::types::MPI_Comm;
use crate::platform::launcher;
use crate::platform::say::say;
use std::ffi::{CStr, c_char, c_int, c_void};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

unsafe extern "C" {
    /// The exported function, as the program calls it: it is recorded.
    fn MPI_Abort(comm: MPI_Comm, code: c_int) -> c_int;
}

fn here() -> String {
    let rank = launcher::rank().map_or_else(String::new, |rank| format!(" of rank {rank}"));
    let pid = std::process::id();
    format!("process {pid}{rank} (gdb -p {pid})")
}

/// Says once where a debugger would have to look, should something go wrong.
fn report_once() {
    static REPORTED: AtomicBool = AtomicBool::new(false);
    if !REPORTED.swap(true, Relaxed) && launcher::rank().unwrap_or(0) == 0 {
        say!("trace: no debugger is started at errors and signals, as libmpe does");
    }
}

/// Says which process a debugger is wanted for.
#[unsafe(no_mangle)]
#[allow(non_snake_case, reason = "MPE's name")]
pub extern "C" fn MPE_Start_debugger() {
    say!("trace: MPE_Start_debugger: {}", here());
}

/// Errors go to MPI's handler, which ends the program.
#[unsafe(no_mangle)]
#[allow(non_snake_case, reason = "MPE's name")]
pub extern "C" fn MPE_Errors_call_debugger(
    _program: *mut c_char,
    _debugger: *mut c_char,
    _arguments: *mut *mut c_char,
) {
    report_once();
}

/// Does the same as [`MPE_Errors_call_debugger`].
#[unsafe(no_mangle)]
#[allow(non_snake_case, reason = "MPE's name")]
pub extern "C" fn MPE_Errors_call_xdbx(_program: *mut c_char, _display: *mut c_char) {
    report_once();
}

/// Does the same as [`MPE_Errors_call_debugger`].
#[unsafe(no_mangle)]
#[allow(non_snake_case, reason = "MPE's name")]
pub extern "C" fn MPE_Errors_call_dbx_in_xterm(_program: *mut c_char, _display: *mut c_char) {
    report_once();
}

/// Does the same as [`MPE_Errors_call_debugger`], for signals.
#[unsafe(no_mangle)]
#[allow(non_snake_case, reason = "MPE's name")]
pub extern "C" fn MPE_Signals_call_debugger() {
    report_once();
}

/// An error handler that a program may give to MPI: says what is wrong and where, and ends the program. MPI passes more
/// arguments, of which no two libraries agree.
///
/// # Safety
/// As MPI calls it.
#[unsafe(no_mangle)]
#[allow(non_snake_case, reason = "MPE's name")]
pub unsafe extern "C" fn MPE_Errors_to_dbx(comm: *mut c_void, code: *mut c_int) {
    // Longer than MPI_MAX_ERROR_STRING anywhere.
    let mut text = [0 as c_char; 2048];
    let mut length = 0;
    // SAFETY: by MPI; the text has room for a message and its end. MPI_Abort is our own, as the program would call it.
    unsafe {
        pmpi::MPI_Error_string(*code, text.as_mut_ptr(), &mut length);
        let text = CStr::from_ptr(text.as_ptr()).to_string_lossy();
        say!("trace: {}: {text}", here());
        MPI_Abort(Handle::read(comm), *code);
    }
}
