//! The process, the host and the launcher, without asking MPI, and messages to the user.

pub(crate) mod cancellation;
pub(crate) mod clock;
pub(crate) mod environment;
pub(crate) mod errno;
pub(crate) mod floating;
pub(crate) mod folder;
pub(crate) mod host;
pub(crate) mod job;
pub(crate) mod jump;
pub(crate) mod launcher;
pub(crate) mod mark;
pub(crate) mod own_file;
pub(crate) mod program;
pub(crate) mod say;
pub(crate) mod signals;
pub(crate) mod stack;
