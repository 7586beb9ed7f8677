//! The functions that `include/trace.h` declares, for programs and for lower layers that want to know which call they serve.

pub(crate) mod annotate;
pub(crate) mod arguments;
pub(crate) mod dumpi;
pub(crate) mod fortran;
pub(crate) mod functions;
pub(crate) mod libraries;
pub(crate) mod mpe;
pub(crate) mod pcontrol;
pub(crate) mod printf;
pub(crate) mod user;

use crate::api::user::names::EventName;
use crate::call::modes;
use crate::posix;
use crate::thread::callids::callid;
use crate::thread::current::running_call;
use blockfile::user::{UserCategoryKind, what};
use std::ffi::{c_char, c_int, c_uint};

/// Version of the interface in `include/trace.h`.
const INTERFACE: c_uint = 2;

/// All functions of `trace.h`.
pub static ALL: &[ExportedFunction] = &[
    ExportedFunction(trace_callid as *const ()),
    ExportedFunction(trace_on as *const ()),
    ExportedFunction(trace_off as *const ()),
    ExportedFunction(trace_is_on as *const ()),
    ExportedFunction(trace_version as *const ()),
    ExportedFunction(libtrace_begin as *const ()),
    ExportedFunction(libtrace_end as *const ()),
    ExportedFunction(libtrace_region as *const ()),
    ExportedFunction(libtrace_region_begin as *const ()),
    ExportedFunction(libtrace_region_end as *const ()),
    ExportedFunction(libtrace_mark as *const ()),
    ExportedFunction(libtrace_mark_double as *const ()),
    ExportedFunction(libtrace_text as *const ()),
];

/// Calls and events that should have been recorded and could not be: how many, and why.
pub fn lost_calls() -> impl Iterator<Item = (u64, &'static str)> {
    posix::left_out().into_iter().chain(user::left_out())
}

/// Address of a function.
#[derive(Clone, Copy)]
pub struct ExportedFunction(
    #[allow(dead_code, reason = "its address is all that is wanted")] *const (),
);
// SAFETY: addresses of functions are valid in every thread.
unsafe impl Sync for ExportedFunction {}

/// CallID of the MPI call that is running on this thread, 0 outside MPI: the rank in the high bits, the call's number in
/// the others (40 unless configured). Before MPI_Init the rank counts as 0.
#[unsafe(no_mangle)]
pub extern "C" fn trace_callid() -> u64 {
    let number = running_call();
    if number == 0 {
        return 0;
    }
    callid(number)
}

/// Switches recording on.
#[unsafe(no_mangle)]
pub extern "C" fn trace_on() {
    modes::want(true);
}

/// Switches recording off; calls are then counted only.
#[unsafe(no_mangle)]
pub extern "C" fn trace_off() {
    modes::want(false);
}

/// Whether recording is switched on.
#[unsafe(no_mangle)]
pub extern "C" fn trace_is_on() -> c_int {
    c_int::from(modes::wanted())
}

/// Version of this interface; a header of a later version may declare more.
#[unsafe(no_mangle)]
pub extern "C" fn trace_version() -> c_uint {
    INTERFACE
}

/// Text that names the binary interfaces of MPI that this library knows. Recorders know each other by the symbol.
#[allow(non_upper_case_globals, reason = "a symbol of the C interface")]
#[unsafe(no_mangle)]
pub static trace_abi: [u8; 33] = *b"libtrace abi=mpich,openmpi,mpi-5\0";

/// The string at `text`, at most `most` bytes of it; empty where there is none.
///
/// # Safety
/// `text` is NULL or points to a string that ends with NUL.
unsafe fn bytes<'a>(text: *const c_char, most: usize) -> &'a [u8] {
    if text.is_null() {
        return &[];
    }
    // SAFETY: as above.
    unsafe { std::slice::from_raw_parts(text.cast(), libc::strnlen(text, most)) }
}

/// Longest name that is looked at, bytes.
const MAX_NAME_BYTES: usize = 1000;

/// The number of a region, by which it is begun and ended at the least cost. 0 where there is no room for more names.
///
/// # Safety
/// `name` is NULL or a string that ends with NUL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn libtrace_region(name: *const c_char) -> u32 {
    // SAFETY: by the caller.
    let name = unsafe { bytes(name, MAX_NAME_BYTES) };
    EventName::find(UserCategoryKind::Region, name).map_or(0, |name| name.number() as u32)
}

/// A region begins on this thread.
#[unsafe(no_mangle)]
pub extern "C" fn libtrace_region_begin(region: u32) {
    if let Some(name) = EventName::of_number(region) {
        user::named(what::ENTER, name, 0, |_| {});
    }
}

/// A region ends on this thread: the last one of its name that has begun.
#[unsafe(no_mangle)]
pub extern "C" fn libtrace_region_end(region: u32) {
    if let Some(name) = EventName::of_number(region) {
        user::named(what::EXIT, name, 0, |_| {});
    }
}

/// Begins a region with this name; see [`libtrace_region_begin`].
///
/// # Safety
/// As [`libtrace_region`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn libtrace_begin(name: *const c_char) {
    // SAFETY: by the caller.
    libtrace_region_begin(unsafe { libtrace_region(name) });
}

/// Ends a region with this name; see [`libtrace_region_end`].
///
/// # Safety
/// As [`libtrace_region`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn libtrace_end(name: *const c_char) {
    // SAFETY: by the caller.
    libtrace_region_end(unsafe { libtrace_region(name) });
}

/// A marker with an integer.
///
/// # Safety
/// As [`libtrace_region`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn libtrace_mark(name: *const c_char, value: i64) {
    // SAFETY: by the caller.
    mark(
        UserCategoryKind::Integer,
        unsafe { bytes(name, MAX_NAME_BYTES) },
        value as u64,
    );
}

/// A marker with a double.
///
/// # Safety
/// As [`libtrace_region`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn libtrace_mark_double(name: *const c_char, value: f64) {
    // SAFETY: by the caller.
    mark(
        UserCategoryKind::Real,
        unsafe { bytes(name, MAX_NAME_BYTES) },
        value.to_bits(),
    );
}

fn mark(kind: UserCategoryKind, name: &[u8], bits: u64) {
    if let Some(name) = EventName::find(kind, name) {
        user::named(what::MARK, name, 8, |out| out.i64(bits as i64));
    }
}

/// A text: its first 4000 bytes.
///
/// # Safety
/// `text` is NULL or a string that ends with NUL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn libtrace_text(text: *const c_char) {
    // SAFETY: by the caller.
    let text = unsafe { bytes(text, user::MAX_TEXT_BYTES) };
    if let Some(name) = EventName::find(UserCategoryKind::Text, b"text") {
        user::named(what::TEXT, name, 4 + text.len(), |out| {
            out.u32(text.len() as u32);
            // SAFETY: the bytes of a slice.
            unsafe { out.bytes(text.as_ptr(), text.len()) };
        });
    }
}
