//! Operations of the C library on files, drawn as the recorder draws them, and the files that they are about.

use trace_model::hash::Map;

use super::super::files::UNKNOWN;
use super::calls::RegionVisit;
use super::definitions::GlobalDefinitions;

/// Values of an operation, in the order and with the letters of the recorder's. Those that archives do not tell are nothing.
pub(super) const OPERATION_VALUES: [(&str, u8); 9] = [
    ("file", b'd'),
    ("fd", b'd'),
    ("offset", b'l'),
    ("size", b'l'),
    ("result", b'l'),
    ("filler", b'l'),
    ("errno", b'd'),
    ("details", b's'),
    ("operation", b'l'),
];

/// Values of an event that names a file, with their letters.
pub(super) const FILE_VALUES: [(&str, u8); 5] = [
    ("file", b'd'),
    ("role", b's'),
    ("path", b's'),
    ("device", b'X'),
    ("inode", b'l'),
];

/// What stands behind the name of an operation of which the call of MPI around it is not told.
const NO_CALL: &str = " (no call)";

/// Functions of the C library that are drawn as operations.
const OPERATIONS: [&str; 22] = [
    "open",
    "openat",
    "creat",
    "close",
    "read",
    "write",
    "pread",
    "pwrite",
    "readv",
    "writev",
    "preadv",
    "pwritev",
    "preadv2",
    "pwritev2",
    "lseek",
    "ftruncate",
    "truncate",
    "fallocate",
    "posix_fallocate",
    "fsync",
    "fdatasync",
    "sync_file_range",
];

/// The name by which a region of another tool is drawn as an operation, if it is one: `pwrite64` is `pwrite (no call)`. `has_call` says that the call
/// around it is told.
pub(super) fn operation_name(region: &str, has_call: bool) -> Option<String> {
    let name = region.strip_suffix("64").unwrap_or(region);
    let name = OPERATIONS.iter().find(|operation| **operation == name)?;
    Some(own_operation_name(name, has_call))
}

/// The name by which a region that mpitrace has written of an operation is drawn.
pub(super) fn own_operation_name(region: &str, has_call: bool) -> String {
    let name = region.strip_suffix(NO_CALL).unwrap_or(region);
    let behind = if has_call { "" } else { NO_CALL };
    format!("{name}{behind}")
}

/// Name of the file that a call is about; empty if nothing tells it.
pub(super) fn path<'a>(source: &'a GlobalDefinitions, visit: &RegionVisit) -> &'a str {
    let handle = visit.facts.handle;
    let handle = handle.and_then(|handle| source.io_handles.get(&handle));
    let file = handle.and_then(|handle| source.files.get(&handle.file));
    let path = file.map_or("", |&name| source.text(name));
    match path.starts_with(UNKNOWN) {
        true => "",
        false => path,
    }
}

/// Number of the file that a call is about.
pub(super) fn number(source: &GlobalDefinitions, visit: &RegionVisit) -> Option<u32> {
    let handle = source.io_handles.get(&visit.facts.handle?)?;
    source
        .files
        .contains_key(&handle.file)
        .then_some(handle.file)
}

/// Files that have been named.
#[derive(Debug, Default)]
pub(super) struct NamedFiles {
    numbers: Map<u32, ()>,
}

impl NamedFiles {
    /// Whether a file has not been named yet; then it is now.
    pub(super) fn is_new(&mut self, number: u32) -> bool {
        self.numbers.insert(number, ()).is_none()
    }
}
