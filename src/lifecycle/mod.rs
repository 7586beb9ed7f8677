//! Start of the recorder in a process: its first call ([`open`]), MPI_Init ([`world`]) and sessions ([`sessions`]), settings
//! that
//! the program changes ([`asked`], [`apply`]), forked children ([`fork`]). How it ends is in [`crate::finalize`].

pub(crate) mod apply;
pub(crate) mod asked;
pub(crate) mod dump;
pub(crate) mod fork;
pub(crate) mod init;
pub(crate) mod open;
pub(crate) mod sessions;
pub(crate) mod state;
pub(crate) mod world;
