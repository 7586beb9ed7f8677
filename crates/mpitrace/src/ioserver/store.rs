//! Storage of the bytes of files: the directory itself, or data servers. Names and attributes are always in the
//! directory.

use super::inodes::KnownFile;
use super::recording::{RequestWork, Result};
use blockfile::operation;
use rustix::fs::{self, FallocateFlags};
use rustix::io::{self, Errno};
use std::os::fd::OwnedFd;
use std::path::Path;
use std::sync::Arc;

/// A file that a program has open.
pub struct OpenFile {
    /// The file.
    pub node: Arc<KnownFile>,
    /// Descriptor of the file in the directory.
    pub fd: OwnedFd,
}

/// Contents of files.
pub trait FileStore: Send + Sync {
    /// A file that nobody had open has been opened. `seen` are device and name by which programs know it; `is_new` says that
    /// it was made, and is empty.
    fn opened(
        &self,
        work: &RequestWork<'_>,
        node: &KnownFile,
        seen: (u64, &Path),
        is_new: bool,
    ) -> Result<()>;
    /// Reads to the end of `buffer` or of the file. Gives the bytes read.
    fn read(
        &self,
        work: &RequestWork<'_>,
        file: &OpenFile,
        buffer: &mut [u8],
        at: u64,
    ) -> Result<usize>;
    /// Writes all of `data`. Gives the bytes written.
    fn write(&self, work: &RequestWork<'_>, file: &OpenFile, data: &[u8], at: u64)
    -> Result<usize>;
    /// Makes the file longer or shorter. `file` is there when a program has it open for that.
    fn resize(
        &self,
        work: &RequestWork<'_>,
        node: &KnownFile,
        file: Option<&OpenFile>,
        size: u64,
    ) -> Result<()>;
    /// Does what fallocate(2) does.
    fn allocate(
        &self,
        work: &RequestWork<'_>,
        file: &OpenFile,
        mode: FallocateFlags,
        at: u64,
        length: u64,
    ) -> Result<()>;
    /// Brings what was written to the disk.
    fn sync(&self, work: &RequestWork<'_>, file: &OpenFile, data_only: bool) -> Result<()>;
    /// Nobody has the file open any more.
    fn closed(&self, work: &RequestWork<'_>, node: &KnownFile) -> Result<()>;
    /// The file has no name, and nobody has it open. `inode` is that in the directory.
    fn removed(&self, work: &RequestWork<'_>, inode: u64) -> Result<()>;
    /// Whether the file in the directory has the contents, and so tells how much of the disk they take.
    fn is_local(&self) -> bool;
}

/// The directory itself.
pub struct PlainDirectory;

impl FileStore for PlainDirectory {
    fn opened(&self, _: &RequestWork<'_>, _: &KnownFile, _: (u64, &Path), _: bool) -> Result<()> {
        Ok(())
    }

    fn read(
        &self,
        work: &RequestWork<'_>,
        file: &OpenFile,
        buffer: &mut [u8],
        at: u64,
    ) -> Result<usize> {
        let range = (at as i64, buffer.len() as i64);
        let (inode, fd) = (file.node.key.1, Some(&file.fd as _));
        // Less than was asked for is the end of the file.
        work.disk(operation::PREAD, inode, fd, range, || {
            io::pread(&file.fd, buffer, at)
        })
    }

    fn write(
        &self,
        work: &RequestWork<'_>,
        file: &OpenFile,
        data: &[u8],
        at: u64,
    ) -> Result<usize> {
        let mut done = 0;
        while done < data.len() {
            let (offset, rest) = (at + done as u64, &data[done..]);
            let range = (offset as i64, rest.len() as i64);
            let (inode, fd) = (file.node.key.1, Some(&file.fd as _));
            match work.disk(operation::PWRITE, inode, fd, range, || {
                io::pwrite(&file.fd, rest, offset)
            }) {
                Ok(0) => break,
                Ok(moved) => done += moved,
                Err(Errno::INTR) => {}
                Err(e) if done == 0 => return Err(e),
                Err(_) => break,
            }
        }
        Ok(done)
    }

    fn resize(
        &self,
        work: &RequestWork<'_>,
        node: &KnownFile,
        file: Option<&OpenFile>,
        size: u64,
    ) -> Result<()> {
        resize_here(work, node, file, size)
    }

    fn allocate(
        &self,
        work: &RequestWork<'_>,
        file: &OpenFile,
        mode: FallocateFlags,
        at: u64,
        length: u64,
    ) -> Result<()> {
        let range = (at as i64, length as i64);
        let fd = Some(&file.fd as _);
        work.disk(operation::FALLOCATE, file.node.key.1, fd, range, || {
            fs::fallocate(&file.fd, mode, at, length)
        })
    }

    fn sync(&self, work: &RequestWork<'_>, file: &OpenFile, data_only: bool) -> Result<()> {
        sync_here(work, file, data_only)
    }

    fn closed(&self, _: &RequestWork<'_>, _: &KnownFile) -> Result<()> {
        Ok(())
    }

    fn removed(&self, _: &RequestWork<'_>, _: u64) -> Result<()> {
        Ok(())
    }

    fn is_local(&self) -> bool {
        true
    }
}

/// Gives the file in the directory this size.
pub fn resize_here(
    work: &RequestWork<'_>,
    node: &KnownFile,
    file: Option<&OpenFile>,
    size: u64,
) -> Result<()> {
    let range = (0, size as i64);
    let inode = node.key.1;
    match file {
        Some(file) => work.disk(
            operation::FTRUNCATE,
            inode,
            Some(&file.fd as _),
            range,
            || fs::ftruncate(&file.fd, size),
        ),
        None => {
            let fd = node.open(fs::OFlags::WRONLY)?;
            work.disk(operation::FTRUNCATE, inode, Some(&fd as _), range, || {
                fs::ftruncate(&fd, size)
            })
        }
    }
}

/// Brings the file in the directory to the disk.
pub fn sync_here(work: &RequestWork<'_>, file: &OpenFile, data_only: bool) -> Result<()> {
    let (inode, fd) = (file.node.key.1, Some(&file.fd as _));
    let range = (-1, -1);
    if data_only {
        work.disk(operation::FDATASYNC, inode, fd, range, || {
            fs::fdatasync(&file.fd)
        })
    } else {
        work.disk(operation::FSYNC, inode, fd, range, || fs::fsync(&file.fd))
    }
}
