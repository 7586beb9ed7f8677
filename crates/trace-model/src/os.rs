//! Differences between Unix, where file names are bytes and files may be pipes, and WebAssembly, where there are no files.

use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::path::Path;

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

/// Opens a regular file for reading, without ever waiting for what else may have its name.
#[cfg(unix)]
pub fn open_regular(path: &Path) -> io::Result<File> {
    crate::files::open_regular(path)
}

/// Opens a file for reading.
#[cfg(not(unix))]
pub fn open_regular(path: &Path) -> io::Result<File> {
    File::open(path)
}

/// Opens a device, or a pipe that somebody reads, for writing.
#[cfg(unix)]
pub fn open_device(path: &Path) -> io::Result<File> {
    crate::files::open_device(path)
}

/// Opens a device for writing.
#[cfg(not(unix))]
pub fn open_device(path: &Path) -> io::Result<File> {
    File::options().write(true).open(path)
}

/// Whether nothing, or a regular file, has the name `path`.
#[cfg(unix)]
pub fn may_replace(path: &Path) -> io::Result<()> {
    crate::files::may_replace(path)
}

/// Pages have no files.
#[cfg(not(unix))]
pub fn may_replace(_: &Path) -> io::Result<()> {
    Ok(())
}
