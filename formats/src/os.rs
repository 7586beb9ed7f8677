//! Names of files from bytes, which they are made of on Unix. In a page, where there are no files, they are text.

use std::ffi::OsString;

/// The name that these bytes are.
#[cfg(unix)]
pub fn name(bytes: Vec<u8>) -> OsString {
    std::os::unix::ffi::OsStringExt::from_vec(bytes)
}

/// The name that these bytes are.
#[cfg(not(unix))]
pub fn name(bytes: Vec<u8>) -> OsString {
    String::from_utf8_lossy(&bytes).into_owned().into()
}
