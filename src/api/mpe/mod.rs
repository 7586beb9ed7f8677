//! MPE's logging API (`include/mpe.h`): a program written for libmpe tells the recorder instead, and its states, events and
//! messages stand in the trace among the MPI calls.
//!
//! [`log`] records, [`pack`] lays out the data of events, [`known`] is what libmpe has for wrappers of MPI functions,
//! [`misc`] and [`debugger`] are the helpers that have nothing to do with logging, [`fortran`] the names by which Fortran calls.
//!
//! Where a real libmpe is loaded behind us it goes on working: each function records, then calls the next one of its name.
//! Numbers are those that it gives then.

mod debugger;
mod fortran;
mod known;
mod log;
mod misc;
mod pack;

use crate::lifecycle::state;
use crate::thread::wiped::is_alone;
use crate::thread::within::within;
use parking_lot::Mutex;
use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::path::{Path, PathBuf};
use std::sync::atomic::{
    AtomicBool, AtomicPtr,
    Ordering::{Acquire, Relaxed, Release},
};

/// Return codes.
const OK: c_int = 0;
const NOT_INITIALIZED: c_int = 4;
const PACK_FAIL: c_int = 5;

/// The program has called MPE_Finish_log.
static FINISHED: AtomicBool = AtomicBool::new(false);
/// The name that it gave to MPE_Finish_log, without ending.
static PREFIX: Mutex<Option<PathBuf>> = Mutex::new(None);
/// Result of MPE_Log_merged_logfilename; never freed, as the program may have kept it.
static MERGED: AtomicPtr<c_char> = AtomicPtr::new(c"0".as_ptr().cast_mut());

/// Whether events are logged: between MPI_Init and MPE_Finish_log.
fn is_logging() -> bool {
    state::is_running() && !FINISHED.load(Relaxed) && is_alone()
}

/// The name that the program has given the log, relative to the directory of the files.
pub fn prefix() -> Option<PathBuf> {
    PREFIX.lock().clone()
}

/// The name of the merged files is known: `base` and an ending.
pub fn merged(base: &Path) {
    let mut name = base.as_os_str().as_encoded_bytes().to_vec();
    name.extend_from_slice(b".clog2");
    if let Ok(name) = CString::new(name) {
        MERGED.store(name.into_raw(), Release);
    }
}

/// A function of the next library in line, looked for once.
struct NextFunction(AtomicPtr<c_void>);

impl NextFunction {
    const fn new() -> NextFunction {
        NextFunction(AtomicPtr::new(std::ptr::null_mut()))
    }

    /// Address of the function; `None` if no library after this one has it, as usual.
    #[inline]
    fn get(&self, name: &CStr) -> Option<*mut c_void> {
        let mut found = self.0.load(Acquire);
        if found.is_null() {
            found = within(|| {
                // SAFETY: a valid name.
                unsafe { libc::dlsym(libc::RTLD_NEXT, name.as_ptr()) }
            });
            if found.is_null() {
                found = std::ptr::dangling_mut::<c_int>().cast();
            }
            self.0.store(found, Release);
        }
        (found != std::ptr::dangling_mut::<c_int>().cast()).then_some(found)
    }
}

/// Exports functions of MPE's API in front of those of the same name in a library behind us: each first does what its body
/// says, then what the next one does, whose answer is given where there is one.
macro_rules! api {
    ($($(#[$doc:meta])* fn $name:ident($($arg:ident: $type:ty),*) -> c_int $body:block)*) => {$(
        $(#[$doc])*
        ///
        /// # Safety
        /// Pointers must be what MPE asks for.
        #[unsafe(no_mangle)]
        #[allow(non_snake_case, reason = "MPE's name")]
        pub unsafe extern "C" fn $name($($arg: $type),*) -> c_int {
            static NEXT: $crate::api::mpe::NextFunction = $crate::api::mpe::NextFunction::new();
            let answer: c_int = $body;
            let name = concat!(stringify!($name), "\0");
            let name = std::ffi::CStr::from_bytes_with_nul(name.as_bytes()).unwrap_or_default();
            match NEXT.get(name) {
                None => answer,
                // SAFETY: a function of this name has this signature; the arguments are the program's.
                Some(next) => unsafe {
                    std::mem::transmute::<
                        *mut std::ffi::c_void,
                        unsafe extern "C" fn($($type),*) -> c_int,
                    >(next)($($arg),*)
                },
            }
        }
    )*};
}
use api;

/// The string at `text`; empty for NULL.
///
/// # Safety
/// `text` is NULL or a string that ends with NUL.
unsafe fn string(text: *const c_char) -> String {
    if text.is_null() {
        return String::new();
    }
    // SAFETY: as above.
    unsafe { CStr::from_ptr(text) }
        .to_string_lossy()
        .into_owned()
}
