//! Configuration files: where they are, how they are read, and folders as they name them.

use std::{
    ffi::{CString, OsStr},
    fs::{Metadata, OpenOptions},
    io,
    io::Read,
    os::unix::{
        ffi::OsStrExt,
        fs::{FileTypeExt, MetadataExt, OpenOptionsExt},
    },
    path::{Path, PathBuf},
};

/// Largest configuration file that is read, in bytes; what is larger is something else.
pub const MAX_FILE_BYTES: u64 = 1 << 20;

/// Configuration file of the whole machine.
pub const SITE_FILE: &str = "/etc/libtrace.conf";

/// A configuration file that settings were looked for in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigurationFile {
    /// The file, as it was opened.
    pub path: PathBuf,
    /// Whether it was read.
    pub state: FileState,
}

/// Whether a configuration file was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FileState {
    /// The file was read.
    Read,
    /// There is no such file, and nobody has named it.
    NotThere,
    /// The file was not read, for this reason.
    Unreadable(String),
}

/// Configuration file of the user: `libtrace.conf` in `$XDG_CONFIG_HOME`, or in `.config` at home where that names no folder by its
/// full path. Nothing where there is no home either.
pub fn of_user(env: &dyn Fn(&str) -> Option<String>) -> Option<PathBuf> {
    let full = |name: &str| {
        env(name)
            .map(PathBuf::from)
            .filter(|path| path.is_absolute())
    };
    let folder = full("XDG_CONFIG_HOME").or_else(|| Some(full("HOME")?.join(".config")))?;
    Some(folder.join("libtrace.conf"))
}

/// Why a configuration file is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConfigurationOrigin {
    /// The user has named the file.
    ByName,
    /// The file has a usual name, in a folder where somebody else may have put it.
    ByNobody,
}

/// Whether files can be made in this folder.
pub fn is_usable_folder(path: &OsStr) -> bool {
    let Ok(name) = CString::new(path.as_bytes()) else {
        return false;
    };
    // SAFETY: a NUL-terminated path.
    Path::new(path).is_dir() && unsafe { libc::access(name.as_ptr(), libc::W_OK | libc::X_OK) } == 0
}

/// The bytes of a configuration file of sensible size. What is no file may make whoever opens or reads it wait for ever, so it
/// is opened without waiting, and only a regular file is read (or the null device, which stands for an empty one).
pub fn read_file(path: &Path, origin: ConfigurationOrigin) -> io::Result<Vec<u8>> {
    if origin == ConfigurationOrigin::ByNobody {
        // Nobody has asked for the file: in a folder that is shut, it is not there. A link counts as what its owner says; what it
        // leads to is looked at below.
        let there = path.symlink_metadata();
        let there = there.map_err(|error| io::Error::new(io::ErrorKind::NotFound, error))?;
        is_own(&there, false).map_err(untrusted)?;
    }
    let mut bytes = Vec::new();
    let file = OpenOptions::new()
        .read(true)
        .custom_flags(libc::O_NONBLOCK | libc::O_NOCTTY)
        .open(path)?;
    let metadata = file.metadata()?;
    let is_null = metadata.file_type().is_char_device() && metadata.rdev() == libc::makedev(1, 3);
    if !metadata.is_file() && !is_null {
        let error = "a pipe, a device or a folder, not a configuration file";
        return Err(io::Error::new(io::ErrorKind::InvalidInput, error));
    }
    if origin == ConfigurationOrigin::ByNobody {
        is_own(&metadata, true).map_err(untrusted)?;
    }
    file.take(MAX_FILE_BYTES + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MAX_FILE_BYTES {
        let error = "larger than 1 MiB, not a configuration file";
        return Err(io::Error::new(io::ErrorKind::InvalidData, error));
    }
    Ok(bytes)
}

fn untrusted(why: &str) -> io::Error {
    let error = format!("{why}: it counts only if TRACE_CONF names it");
    io::Error::new(io::ErrorKind::PermissionDenied, error)
}

/// Whether a file is this user's own or root's, and nobody else can have `written` it. A group of the user's number is taken
/// for the user's own, as systems that give everyone a group number them.
fn is_own(metadata: &Metadata, written: bool) -> Result<(), &'static str> {
    // SAFETY: asks for numbers, and cannot fail.
    let (user, group) = unsafe { (libc::geteuid(), libc::getegid()) };
    let own_group = group == user && metadata.gid() == group;
    let others = if own_group { 0o002 } else { 0o022 };
    match () {
        () if metadata.uid() != user && metadata.uid() != 0 => Err("another user's file"),
        () if written && metadata.mode() & others != 0 => Err("a file that others can write to"),
        () => Ok(()),
    }
}
