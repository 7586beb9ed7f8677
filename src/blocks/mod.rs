//! The block file of this process, on a local disk. A few of its blocks are mapped and go round among the threads
//! ([`blockfile::handover`]); what a full one holds is written behind the others before the block is used again. So all that
//! was recorded is in the file at any moment, for whoever reads it after the process was killed.
//!
//! Where only the newest calls are kept, a full disk or the limit does not end recording: a full block is then written over
//! the oldest one of the file. Definitions that later records may need stand in blocks of their own besides, which stay.
//!
//! Space is reserved on the disk before it is mapped, because a store into a mapped page without a disk block behind it
//! would kill the program with SIGBUS. File systems that write each change to a new place (btrfs, ZFS) need more space for such a store
//! whatever is reserved: there the blocks lie in memory and come into the file when they are full, or when the process ends.

pub(crate) mod block;
mod held_file;
pub(crate) mod maps;
mod other_process;
pub(crate) mod own;
pub(crate) mod store;

pub use block::Block;
pub use maps::memory;
pub use other_process::OtherProcess;
pub use store::{BlockStore, StoreContents};
