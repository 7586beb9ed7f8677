//! Results of the library's functions as errors.

use std::ffi::CStr;
use std::io;

use super::error::{Otf2Error, Otf2ErrorKind};
use super::library::{self, ErrorCode, Functions};

/// Turns the result of a function, or an error that the library met in it, into an error that names the function.
pub(super) fn check(
    functions: &Functions,
    function: &'static str,
    code: ErrorCode,
) -> Result<(), Otf2Error> {
    let met = library::take_error();
    let Some(code) = met
        .as_ref()
        .map(|met| met.code)
        .or((code > 0).then_some(code))
    else {
        return Ok(());
    };
    if let Some(met) = met
        && is_about_files(&met.of_system)
    {
        return Err(Otf2ErrorKind::Io(met.of_system).into());
    }
    // SAFETY: The function gives a text that stays, or null.
    let text = unsafe { (functions.error_description)(code) };
    let message = match text.is_null() {
        true => format!("error {code}"),
        // SAFETY: The text ends with a zero and stays.
        false => unsafe { CStr::from_ptr(text) }
            .to_string_lossy()
            .into_owned(),
    };
    Err(Otf2ErrorKind::Library { function, message }.into())
}

/// Whether an error of the system tells why a file could not be written. Others may be left over from calls that have nothing to do with it.
fn is_about_files(error: &io::Error) -> bool {
    const ABOUT_FILES: [i32; 7] = [
        libc::ENOSPC,
        libc::EDQUOT,
        libc::EFBIG,
        libc::EIO,
        libc::EMFILE,
        libc::ENFILE,
        libc::EROFS,
    ];
    (error.raw_os_error()).is_some_and(|number| ABOUT_FILES.contains(&number))
}

/// Error of a function that gives no object.
pub(super) fn refused(functions: &Functions, function: &'static str) -> Otf2Error {
    match check(functions, function, 0) {
        Err(error) => error,
        Ok(()) => {
            let message = "it failed".to_owned();
            Otf2ErrorKind::Library { function, message }.into()
        }
    }
}
