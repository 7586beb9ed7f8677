//! A file that is held open for the whole life of a process whose program knows nothing of it. Programs close descriptors that they
//! do not know (daemons all of them), and the next file that they open gets the number: what is then written or mapped must not be
//! the program's file.

use std::fs::File;
use std::io;
use std::os::unix::fs::MetadataExt;
use trace_model::files;

/// A file on a descriptor out of the program's way, and what tells that the descriptor is still the file's.
pub struct HeldFile {
    file: File,
    /// Device and inode.
    identity: (u64, u64),
}

fn identity(file: &File) -> io::Result<(u64, u64)> {
    let metadata = file.metadata()?;
    Ok((metadata.dev(), metadata.ino()))
}

impl HeldFile {
    /// Moves the file out of the way.
    ///
    /// # Errors
    /// What the system says.
    pub fn new(file: File) -> io::Result<HeldFile> {
        let file = files::out_of_the_way(file)?;
        let identity = identity(&file)?;
        Ok(HeldFile { file, identity })
    }

    /// The file, to be used at once: a system call more, so not for each call of MPI.
    ///
    /// # Errors
    /// If the program has closed the descriptor.
    pub fn get(&self) -> io::Result<&File> {
        match identity(&self.file) {
            Ok(identity) if identity == self.identity => Ok(&self.file),
            _ => Err(io::Error::other(
                "the program has closed the descriptor of the block file",
            )),
        }
    }
}
