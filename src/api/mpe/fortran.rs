//! The names by which Fortran calls MPE's API: arguments are addresses, the lengths of strings come behind them. Compilers
//! spell external names in several ways; all are here.
//!
//! Blanks at the end of strings are none of theirs. An empty or blank string stands for NULL.

use super::log::*;
use super::pack::MPE_Log_pack;
use std::ffi::{CString, c_char, c_int, c_void};

/// A Fortran string as C has it.
///
/// # Safety
/// `text` has `length` characters.
unsafe fn text(text: *const c_char, length: usize) -> CString {
    if text.is_null() {
        return CString::default();
    }
    // SAFETY: by the caller.
    let text = unsafe { std::slice::from_raw_parts(text.cast::<u8>(), length) };
    let text = text.split(|&b| b == 0).next().unwrap_or_default();
    CString::new(text.trim_ascii_end()).unwrap_or_default()
}

/// The 32 bytes of an event; NULL for an empty string and for one blank.
///
/// # Safety
/// `data` has `length` characters.
unsafe fn bytes(data: *const c_char, length: usize) -> *const c_char {
    // SAFETY: by the caller.
    if length == 0 || length == 1 && unsafe { *data } as u8 == b' ' {
        return std::ptr::null();
    }
    data
}

/// Exports a function by all spellings of its name.
macro_rules! fortran {
    ($(fn $f:ident $f2:ident $f0:ident $upper:ident ($($arg:ident: $type:ty),*) $body:expr;)*) => {$(
        fortran!(@ $f ($($arg: $type),*) $body);
        fortran!(@ $f2 ($($arg: $type),*) $body);
        fortran!(@ $f0 ($($arg: $type),*) $body);
        fortran!(@ $upper ($($arg: $type),*) $body);
    )*};
    (@ $name:ident ($($arg:ident: $type:ty),*) $body:expr) => {
        #[doc(hidden)]
        #[unsafe(no_mangle)]
        #[allow(non_snake_case, reason = "as Fortran compilers spell it")]
        pub unsafe extern "C" fn $name($($arg: $type),*) -> c_int {
            // SAFETY: the program passes what the C function takes, by address, and lengths of its strings.
            unsafe { $body }
        }
    };
}

type Int = *const c_int;
type Str = *const c_char;

fortran! {
    fn mpe_init_log_ mpe_init_log__ mpe_init_log MPE_INIT_LOG () MPE_Init_log();
    fn mpe_initialized_logging_ mpe_initialized_logging__ mpe_initialized_logging MPE_INITIALIZED_LOGGING ()
        MPE_Initialized_logging();
    fn mpe_start_log_ mpe_start_log__ mpe_start_log MPE_START_LOG () MPE_Start_log();
    fn mpe_stop_log_ mpe_stop_log__ mpe_stop_log MPE_STOP_LOG () MPE_Stop_log();
    fn mpe_log_sync_clocks_ mpe_log_sync_clocks__ mpe_log_sync_clocks MPE_LOG_SYNC_CLOCKS () MPE_Log_sync_clocks();
    fn mpe_log_get_event_number_ mpe_log_get_event_number__ mpe_log_get_event_number MPE_LOG_GET_EVENT_NUMBER ()
        MPE_Log_get_event_number();
    fn mpe_log_get_state_eventids_ mpe_log_get_state_eventids__ mpe_log_get_state_eventids MPE_LOG_GET_STATE_EVENTIDS
        (start: *mut c_int, end: *mut c_int) MPE_Log_get_state_eventIDs(start, end);
    fn mpe_log_get_solo_eventid_ mpe_log_get_solo_eventid__ mpe_log_get_solo_eventid MPE_LOG_GET_SOLO_EVENTID
        (event: *mut c_int) MPE_Log_get_solo_eventID(event);
    fn mpe_describe_state_ mpe_describe_state__ mpe_describe_state MPE_DESCRIBE_STATE
        (start: Int, end: Int, name: Str, color: Str, n: usize, c: usize)
        MPE_Describe_state(*start, *end, text(name, n).as_ptr(), text(color, c).as_ptr());
    fn mpe_describe_info_state_ mpe_describe_info_state__ mpe_describe_info_state MPE_DESCRIBE_INFO_STATE
        (start: Int, end: Int, name: Str, color: Str, format: Str, n: usize, c: usize, f: usize)
        MPE_Describe_info_state(*start, *end, text(name, n).as_ptr(), text(color, c).as_ptr(), text(format, f).as_ptr());
    fn mpe_describe_event_ mpe_describe_event__ mpe_describe_event MPE_DESCRIBE_EVENT
        (event: Int, name: Str, color: Str, n: usize, c: usize)
        MPE_Describe_event(*event, text(name, n).as_ptr(), text(color, c).as_ptr());
    fn mpe_describe_info_event_ mpe_describe_info_event__ mpe_describe_info_event MPE_DESCRIBE_INFO_EVENT
        (event: Int, name: Str, color: Str, format: Str, n: usize, c: usize, f: usize)
        MPE_Describe_info_event(*event, text(name, n).as_ptr(), text(color, c).as_ptr(), text(format, f).as_ptr());
    fn mpe_log_event_ mpe_log_event__ mpe_log_event MPE_LOG_EVENT
        (event: Int, unused: Int, data: Str, length: usize) MPE_Log_event(*event, *unused, bytes(data, length));
    fn mpe_log_bare_event_ mpe_log_bare_event__ mpe_log_bare_event MPE_LOG_BARE_EVENT
        (event: Int) MPE_Log_bare_event(*event);
    fn mpe_log_info_event_ mpe_log_info_event__ mpe_log_info_event MPE_LOG_INFO_EVENT
        (event: Int, data: Str, length: usize) MPE_Log_info_event(*event, bytes(data, length));
    fn mpe_log_send_ mpe_log_send__ mpe_log_send MPE_LOG_SEND
        (other: Int, tag: Int, size: Int) MPE_Log_send(*other, *tag, *size);
    fn mpe_log_receive_ mpe_log_receive__ mpe_log_receive MPE_LOG_RECEIVE
        (other: Int, tag: Int, size: Int) MPE_Log_receive(*other, *tag, *size);
    fn mpe_log_pack_ mpe_log_pack__ mpe_log_pack MPE_LOG_PACK
        (buffer: *mut c_char, position: *mut c_int, token: Str, count: Int, data: *const c_void)
        MPE_Log_pack(buffer, position, *token, *count, data);
    fn mpe_finish_log_ mpe_finish_log__ mpe_finish_log MPE_FINISH_LOG
        (name: Str, length: usize) MPE_Finish_log(text(name, length).as_ptr());
    fn mpe_decomp1d_ mpe_decomp1d__ mpe_decomp1d MPE_DECOMP1D
        (n: Int, size: Int, rank: Int, start: *mut c_int, end: *mut c_int)
        super::misc::MPE_Decomp1d(*n, *size, *rank, start, end);
}
