//! This process's block file as MPI_Finalize reads it.

use super::trouble::Trouble;
use crate::blocks::{StoreContents, own};
use crate::in_force;
use crate::lifecycle::apply::rank_bits;
use crate::mpi::family;
use crate::mpi::functions::FINGERPRINT;
use crate::mpi::world::World;
use crate::platform::{clock, own_file};
use blockfile::file::BlockFile;
use blockfile::layout::{BLOCK_SIZE, FILE_MAGIC, FileHeader, VERSION};
use std::path::Path;
use std::sync::atomic::{AtomicU32, AtomicU64};

/// Why MPI_Finalize does not read this process's block file.
pub enum Unread {
    /// There is no memory to map it. It can be read later.
    NoMemory,
    /// Anything else.
    Because(Trouble),
}

/// This process's block file, or an empty one.
pub enum OwnBlocks {
    /// The file that this process has written.
    Own(StoreContents),
    /// A file without calls.
    Empty(Vec<u8>),
}

impl OwnBlocks {
    /// Reads the file back. Without one, the reason goes to rank 0, and the rank counts as one without calls.
    pub fn open(world: &World) -> (OwnBlocks, Option<Unread>) {
        let read = || {
            let store = own::store().ok_or_else(|| Unread::Because(own::why_no_store()))?;
            let named = |e: std::io::Error| match store.has_name() {
                _ if e.raw_os_error() == Some(libc::ENOMEM) => Unread::NoMemory,
                true => Unread::Because(format!("{}: {e}", store.path().display())),
                false => Unread::Because(format!("{e} before MPI_Init gave it a name")),
            };
            // By its descriptor, as its folder may have gone meanwhile.
            // SAFETY: the file is this process's own; what changes in it while it is read are blocks of threads that
            // still call, and those are only read up to what they have committed.
            let bytes = unsafe { store.read() }.map_err(named)?;
            let damaged = |e| Unread::Because(format!("{}: {e}", store.path().display()));
            of_contents(&bytes).map_err(damaged)?;
            Ok(bytes)
        };
        match read() {
            Ok(bytes) => (OwnBlocks::Own(bytes), None),
            Err(why) => (OwnBlocks::Empty(empty_file(world)), Some(why)),
        }
    }

    /// The block file, decoded.
    pub fn file(&self) -> Result<BlockFile<'_>, Trouble> {
        match self {
            OwnBlocks::Own(bytes) => of_contents(bytes),
            OwnBlocks::Empty(bytes) => BlockFile::new(bytes),
        }
        .map_err(|e| e.to_string())
    }
}

/// This process's block file.
fn of_contents(contents: &StoreContents) -> Result<BlockFile<'_>, blockfile::file::BlockFileError> {
    match contents {
        StoreContents::File(bytes) => of_mapping(bytes),
        StoreContents::Copy(bytes) => BlockFile::new(bytes),
    }
}

/// Writes, beside the block file `blocks` that stays, the path `base` of the merged files without their endings. It is for who makes something
/// else of the blocks; without it, a name of its own is found.
///
/// # Errors
/// In words: the file cannot be made.
pub fn name_trace(blocks: &Path, base: &Path) -> Result<(), String> {
    let path = blocks.with_extension("trace");
    let written = own_file::create(&path, base.as_os_str().as_encoded_bytes());
    written.map_err(|e| format!("{}: {e}", path.display()))
}

/// A block file of any size, read in little memory.
pub fn of_mapping(bytes: &memmap2::Mmap) -> Result<BlockFile<'_>, blockfile::file::BlockFileError> {
    // SAFETY: memmap2 maps whole files shared, and nobody writes through a map that is for reading.
    unsafe { BlockFile::mapped(bytes, std::slice::from_ref(&(0..bytes.len()))) }
}

/// Contents of the block file of a process without calls.
fn empty_file(world: &World) -> Vec<u8> {
    let mut header = FileHeader {
        magic: FILE_MAGIC,
        version: VERSION,
        family: AtomicU32::new(family::family() as u32),
        table: FINGERPRINT,
        clock: clock::source() as u32,
        counter_bits: AtomicU32::new(64 - rank_bits(&in_force::copy(), world.size as u32)),
        pid: std::process::id(),
        rank: AtomicU32::new(world.rank as u32),
        size: AtomicU32::new(world.size as u32),
        ended: AtomicU32::new(1),
        blocks: AtomicU64::new(0),
        lost: AtomicU64::new(0),
        run: AtomicU64::new(world.run),
        dropped: AtomicU64::new(0),
        lost_since: AtomicU64::new(0),
    };
    let mut file = vec![0; BLOCK_SIZE];
    // SAFETY: a header consists of numbers, and the file is longer.
    unsafe {
        std::ptr::copy_nonoverlapping(
            (&raw mut header).cast::<u8>(),
            file.as_mut_ptr(),
            size_of::<FileHeader>(),
        );
    }
    file
}
