//! Classes of categories, by name: summaries, the minimap and the palette by class tell them apart.

use io_attribution::draw::{Shows, is_message, shows};
use std::collections::HashMap;
use trace_formats::slog2::{Category, Topology};

/// Activity that the time of a category is spent on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ActivityClass {
    /// No state at all: the program itself.
    Compute,
    /// Point-to-point calls but for those that wait.
    P2p,
    /// Collective calls, also of neighbourhoods.
    Collective,
    /// Calls that wait for requests or test them.
    Wait,
    /// MPI-IO.
    Io,
    /// One-sided communication and its windows.
    Rma,
    /// The rest of MPI.
    Mpi,
    /// Starting MPI and ending it, which no analysis counts.
    Start,
    /// Logged by the program itself.
    User,
    /// Operations below MPI, and the arrows to them.
    Disk,
    /// Arrows between ranks.
    Message,
    /// Not defined in the trace.
    Other,
}

impl ActivityClass {
    /// All of them, in the order in which pictures and tables show them.
    pub const ALL: [ActivityClass; 12] = [
        ActivityClass::Compute,
        ActivityClass::P2p,
        ActivityClass::Collective,
        ActivityClass::Wait,
        ActivityClass::Io,
        ActivityClass::Rma,
        ActivityClass::Mpi,
        ActivityClass::Start,
        ActivityClass::User,
        ActivityClass::Disk,
        ActivityClass::Message,
        ActivityClass::Other,
    ];

    /// Name of the class in answers.
    pub fn name(self) -> &'static str {
        match self {
            ActivityClass::Compute => "compute",
            ActivityClass::P2p => "p2p",
            ActivityClass::Collective => "collective",
            ActivityClass::Wait => "wait",
            ActivityClass::Io => "io",
            ActivityClass::Rma => "rma",
            ActivityClass::Mpi => "mpi",
            ActivityClass::Start => "start",
            ActivityClass::User => "user",
            ActivityClass::Disk => "disk",
            ActivityClass::Message => "message",
            ActivityClass::Other => "other",
        }
    }
}

/// Functions that start MPI or end it.
const START_AND_END: [&str; 5] = [
    "MPI_Init",
    "MPI_Init_thread",
    "MPI_Finalize",
    "MPI_Session_init",
    "MPI_Session_finalize",
];

/// The MPI functions of each class but [`ActivityClass::Mpi`] and [`ActivityClass::Start`], with blanks between them: from the table that the wrappers are made of.
const FUNCTIONS: &[(ActivityClass, &str)] = include!(concat!(env!("OUT_DIR"), "/functions.rs"));

/// The calls below MPI-IO that the recorder sees, without `64`, `_chk` and `_2`. They carry a CallID in traces; a state of the
/// program's own that is named `read` does not.
const SYSTEM_CALLS: &str = "open openat creat close read write pread pwrite readv writev preadv pwritev preadv2 pwritev2 \
    copy_file_range sendfile lseek ftruncate truncate fallocate posix_fallocate fsync fdatasync sync_file_range flock fcntl \
    unlink remove unlinkat rename aio_read aio_write aio_fsync aio_error aio_return aio_suspend aio_cancel lio_listio mmap \
    munmap msync fopen fclose fread fwrite fseek fseeko ftell fflush stat fstat lstat fstatat statx access faccessat statfs fstatfs ftw";

/// Whether this is the name of such a call.
fn is_system_call(name: &str) -> bool {
    let bare = name
        .trim_start_matches('_')
        .replace("64v2", "2")
        .replace("64", "");
    let bare = bare.trim_end_matches("_chk").trim_end_matches("_2");
    SYSTEM_CALLS.split(' ').any(|call| call == bare)
}

/// Finds classes.
pub(crate) struct ClassFinder {
    functions: HashMap<&'static str, ActivityClass>,
}

impl ClassFinder {
    pub fn new() -> Self {
        let functions = FUNCTIONS.iter().flat_map(|&(class, names)| {
            let names = names.split(' ');
            names.map(move |name| (name, class))
        });
        ClassFinder {
            functions: functions.collect(),
        }
    }

    pub fn of(&self, category: &Category) -> ActivityClass {
        match shows(category) {
            Some(Shows::Access) => return ActivityClass::Io,
            Some(_) => return ActivityClass::Disk,
            None => {}
        }
        if category.topology == Topology::Arrow {
            return match is_message(category) {
                true => ActivityClass::Message,
                false => ActivityClass::Disk,
            };
        }
        let name = category.function_name();
        let name = name.as_str();
        match self.functions.get(name) {
            Some(&class) => class,
            None if START_AND_END.contains(&name) => ActivityClass::Start,
            None if name.starts_with("MPI_File_") => ActivityClass::Io,
            None if name.starts_with("MPI_") || name.starts_with("MPIX_") => ActivityClass::Mpi,
            None if is_system_call(name) && has_callid(category) => ActivityClass::Disk,
            None => ActivityClass::User,
        }
    }
}

/// Whether drawables of this category say which call they belong to.
fn has_callid(category: &Category) -> bool {
    let mut keys = category.info_keys.iter();
    keys.any(|key| std::str::from_utf8(&key.0).is_ok_and(super::info::is_callid))
}

#[cfg(test)]
mod tests {
    use super::*;
    use trace_formats::slog2::Color;

    #[test]
    fn by_name() {
        let classes = ClassFinder::new();
        let of = |name: &str, topology| {
            classes.of(&Category::new(1, name.into(), topology, Color::WHITE))
        };
        let state = |name| of(name, Topology::State);
        assert_eq!(state("MPI_Send"), ActivityClass::P2p);
        assert_eq!(state("MPI_Waitall"), ActivityClass::Wait);
        assert_eq!(state("MPI_Barrier"), ActivityClass::Collective);
        assert_eq!(state("MPI_File_write_at_all"), ActivityClass::Io);
        assert_eq!(state("MPI_Win_fence"), ActivityClass::Rma);
        assert_eq!(state("MPI_Comm_rank"), ActivityClass::Mpi);
        assert_eq!(state("MPI_Init_thread"), ActivityClass::Start);
        assert_eq!(state("MPI_Finalize"), ActivityClass::Start);
        assert_eq!(state("MPI_Not_yet"), ActivityClass::Mpi);
        assert_eq!(state("step"), ActivityClass::User);
        assert_eq!(of("message", Topology::Arrow), ActivityClass::Message);
        let mut write = Category::new(1, "pwrite64".into(), Topology::State, Color::WHITE);
        assert_eq!(classes.of(&write), ActivityClass::User);
        write.info_keys = vec!["CallID=".into(), ", bytes=".into()];
        assert_eq!(classes.of(&write), ActivityClass::Disk);
        for name in [
            "__open64_2",
            "__pread64_chk",
            "preadv64v2",
            "close",
            "mmap64",
        ] {
            assert!(is_system_call(name), "{name}");
        }
        assert!(!is_system_call("step") && !is_system_call("") && !is_system_call("64"));
    }
}
