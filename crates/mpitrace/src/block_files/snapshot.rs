//! The block file of a process that is still writing to it, as it is at one moment.
//!
//! A block changes under the reader in one way only: when it is full, its contents are written behind the others, and it begins
//! anew with a higher number. So blocks are copied in the order of the file, up to where it then ends: what moves meanwhile is
//! met again farther on. A block that began anew while it was copied is copied again.

use crate::trace_files::input::{self, OpenedInput};
use blockfile::layout::{BLOCK_HEADER, BLOCK_SIZE};
use rustix::fs::{SeekFrom, seek};
use rustix::io::Errno;
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::Path;

/// Bytes of a block's header that say whose block it is, and its number; behind them stands what grows.
const IDENTITY_BYTES: usize = 16;
/// Most tries to copy a block.
const MAX_COPY_ATTEMPTS: usize = 100;

/// Copies what process `pid` of this machine writes, if it has `file` mapped; `None` if it has not.
///
/// # Errors
/// The file or its copy cannot be read or written.
pub fn of_running(path: &Path, pid: u32) -> io::Result<Option<OpenedInput>> {
    if !is_writing(pid, path) {
        return Ok(None);
    }
    let file = trace_model::files::open_regular(path)?;
    let copy = tempfile::tempfile()?;
    let mut block = vec![0; BLOCK_SIZE];
    let mut offset = 0;
    // Holes stay holes: a block that nobody has touched yet has nothing to copy.
    loop {
        match seek(&file, SeekFrom::Data(offset)) {
            Ok(data) => offset = data - data % BLOCK_SIZE as u64,
            Err(Errno::NXIO) => break,
            // The file system does not tell of holes.
            Err(_) => {}
        }
        if !read_block(&file, &mut block, offset)? {
            break;
        }
        copy.write_all_at(&block, offset)?;
        offset += BLOCK_SIZE as u64;
    }
    copy.set_len(offset)?;
    input::map(&copy).map(Some)
}

/// Reads the block at `offset`; false at the end of the file.
fn read_block(file: &File, block: &mut [u8], offset: u64) -> io::Result<bool> {
    for _ in 0..MAX_COPY_ATTEMPTS {
        // The header first: what it says is committed stands in the block when that is read.
        let (header, body) = block.split_at_mut(BLOCK_HEADER);
        let mut after = [0; IDENTITY_BYTES];
        let read = file
            .read_exact_at(header, offset)
            .and_then(|()| file.read_exact_at(body, offset + BLOCK_HEADER as u64))
            .and_then(|()| file.read_exact_at(&mut after, offset));
        match read {
            Ok(()) if after == header[..IDENTITY_BYTES] => return Ok(true),
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(false),
            Err(error) => return Err(error),
        }
    }
    // It is in nobody's hands for long enough; what follows it is met without it.
    block.fill(0);
    Ok(true)
}

/// Whether process `pid` of this machine has the file mapped.
pub fn is_writing(pid: u32, path: &Path) -> bool {
    let (Ok(maps), Ok(data), Ok(name)) = (
        fs::read_to_string(format!("/proc/{pid}/maps")),
        fs::metadata(path),
        fs::canonicalize(path),
    ) else {
        return false;
    };
    let (major, minor) = (libc::major(data.dev()), libc::minor(data.dev()));
    let device = format!("{major:02x}:{minor:02x}");
    let inode = data.ino().to_string();
    let name = name.display().to_string();
    // Address, rights, offset, device, inode, name. Some file systems tell another device here than with the file.
    maps.lines().any(|line| {
        let mut fields = line.split_ascii_whitespace().skip(3);
        let same_device = fields.next() == Some(&device);
        fields.next() == Some(&inode) && (same_device || line.ends_with(&name))
    })
}
