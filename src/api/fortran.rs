//! External names of `trace.h`'s regions, markers and texts for Fortran without modules: `call trace_begin('name')`. Arguments
//! are addresses, the lengths of strings come behind them.

use crate::api;
use crate::api::user::MAX_TEXT_BYTES;
use std::ffi::{CString, c_char, c_int};

/// A Fortran string as C has it: without the blanks at its end.
///
/// # Safety
/// `text` has `length` characters.
unsafe fn string(text: *const c_char, length: usize) -> CString {
    // SAFETY: by the caller.
    let text = unsafe { std::slice::from_raw_parts(text.cast::<u8>(), length.min(MAX_TEXT_BYTES)) };
    let text = text.split(|&b| b == 0).next().unwrap_or_default();
    CString::new(text.trim_ascii_end()).unwrap_or_default()
}

/// Exports functions whose first argument is a string, by the spellings of Fortran compilers.
macro_rules! fortran {
    ($(fn $name:ident $other:ident $upper:ident ($text:ident $(, $arg:ident: $type:ty)*) $body:expr;)*) => {$(
        fortran!(@ $name $text ($($arg: $type),*) $body);
        fortran!(@ $other $text ($($arg: $type),*) $body);
        fortran!(@ $upper $text ($($arg: $type),*) $body);
    )*};
    (@ $name:ident $text:ident ($($arg:ident: $type:ty),*) $body:expr) => {
        #[doc(hidden)]
        #[unsafe(no_mangle)]
        #[allow(non_snake_case, reason = "as Fortran compilers spell it")]
        pub unsafe extern "C" fn $name($text: *const c_char, $($arg: *const $type,)* length: usize) {
            // SAFETY: the program passes a string with its length, and the address of a value.
            unsafe {
                let $text = string($text, length);
                let $text = $text.as_ptr();
                $(let $arg = *$arg;)*
                $body
            }
        }
    };
}

fortran! {
    fn trace_begin_ trace_begin__ TRACE_BEGIN (name) api::libtrace_begin(name);
    fn trace_end_ trace_end__ TRACE_END (name) api::libtrace_end(name);
    fn trace_text_ trace_text__ TRACE_TEXT (text) api::libtrace_text(text);
    fn trace_mark_int_ trace_mark_int__ TRACE_MARK_INT (name, value: c_int) api::libtrace_mark(name, value.into());
    fn trace_mark_real_ trace_mark_real__ TRACE_MARK_REAL (name, value: f64) api::libtrace_mark_double(name, value);
}
