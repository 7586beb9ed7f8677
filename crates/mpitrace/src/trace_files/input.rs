//! The file a subcommand reads, and what it is.

use crate::failure::Failure;
use crate::system::torn_pages::PageGuard;
use crate::trace_files::folder;
use memmap2::{Mmap, UncheckedAdvice};
use rustix::fs::{SeekFrom, seek};
use rustix::io::Errno;
use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read};
use std::ops::{Deref, Range};
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::Path;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

/// All bytes of a file: mapped where that is possible, since a trace may be larger than memory.
pub enum OpenedInput {
    /// With the parts of the file that are no holes, ascending.
    Mapped(Mmap, Vec<Range<usize>>),
    Read(Vec<u8>),
}

impl OpenedInput {
    /// The bytes of `path` as they are.
    pub fn open_raw(path: &Path) -> Result<Self, Failure> {
        let failed = |error: io::Error| Failure::file(shown(path), error);
        let mut bytes = Vec::new();
        if path == OsStr::new("-") {
            io::stdin().lock().read_to_end(&mut bytes).map_err(failed)?;
            return Ok(OpenedInput::Read(bytes));
        }
        let path = &folder::file_of(path);
        let mut file = open_pipe_or_file(path).map_err(failed)?;
        let metadata = file.metadata().map_err(failed)?;
        if metadata.is_file() && metadata.len() > 0 {
            return map(&file).map_err(failed);
        }
        if let Some(kind) = folder::kind(path).filter(|_| metadata.is_dir()) {
            let name = shown(path).display();
            let what = "which mpitrace writes and does not read";
            return Err(Failure::Data(format!("{name}: {}, {what}", kind.name)));
        }
        let kind = metadata.file_type();
        if kind.is_char_device() || kind.is_block_device() {
            let what = "a device; expected a file or a pipe";
            return Err(Failure::Data(format!("{}: {what}", shown(path).display())));
        }
        file.read_to_end(&mut bytes).map_err(failed)?;
        Ok(OpenedInput::Read(bytes))
    }
}

impl OpenedInput {
    /// The bytes of a file that has to be a regular one: a block file, or what another file names. Nothing else is waited for.
    pub fn open_regular(path: &Path) -> Result<Self, Failure> {
        let failed = |error: io::Error| Failure::file(path, error);
        let file = trace_model::files::open_regular(path).map_err(failed)?;
        match file.metadata().map_err(failed)?.len() {
            0 => Ok(OpenedInput::Read(Vec::new())),
            _ => map(&file).map_err(failed),
        }
    }
}

/// Longest wait for a writer of a pipe.
const MAX_WRITER_WAIT: Duration = Duration::from_secs(2);

/// Opens a file. A pipe needs somebody who has it open for writing, or gets one within two seconds.
fn open_pipe_or_file(path: &Path) -> io::Result<File> {
    if !std::fs::metadata(path)?.file_type().is_fifo() {
        return File::open(path);
    }
    let (opened, file) = mpsc::channel();
    let pipe = path.to_owned();
    // Without a writer the thread waits in vain until the command has ended.
    thread::Builder::new().spawn(move || opened.send(File::open(pipe)))?;
    file.recv_timeout(MAX_WRITER_WAIT)
        .unwrap_or_else(|_| Err(io::Error::other("a pipe to which nobody writes")))
}

/// Maps a file that has content.
pub fn map(file: &File) -> io::Result<OpenedInput> {
    let data = data(file)?;
    // SAFETY: the map is only read. Should somebody shorten the file meanwhile, the process is ended by SIGBUS, unless a guard looks after the map; the
    // readers never write through it nor rely on two reads giving the same bytes for memory safety.
    Ok(OpenedInput::Mapped(unsafe { Mmap::map(file) }?, data))
}

/// The parts of a file that are no holes, ascending; one for all of a file that has none.
fn data(file: &File) -> io::Result<Vec<Range<usize>>> {
    let metadata = file.metadata()?;
    let offset = |at: u64| usize::try_from(at).unwrap_or(usize::MAX);
    let (length, stored) = (metadata.len(), metadata.blocks().saturating_mul(512));
    let mut parts: Vec<Range<usize>> = Vec::new();
    let mut at = 0;
    while stored < length && at < length {
        let start = match seek(file, SeekFrom::Data(at)) {
            Ok(start) => start,
            // Nothing but a hole is left.
            Err(Errno::NXIO) => return Ok(parts),
            // The file system does not tell.
            Err(_) => break,
        };
        let Ok(end) = seek(file, SeekFrom::Hole(start)) else {
            break;
        };
        parts.push(offset(start)..offset(end));
        at = end.max(start + 1);
    }
    if at < length {
        parts.push(offset(at)..offset(length));
    }
    Ok(parts)
}

impl OpenedInput {
    /// Gives back the memory of a part of a mapped file that will not be read again soon. It can be read all the same.
    pub fn release(&self, part: Range<usize>) {
        if let OpenedInput::Mapped(map, _) = self
            && part.end <= map.len()
            && !part.is_empty()
        {
            // SAFETY: the map is shared and read only, so its pages come back from the file as they were.
            let released = unsafe {
                map.unchecked_advise_range(UncheckedAdvice::DontNeed, part.start, part.len())
            };
            // It is but advice: what is not taken costs memory and nothing else.
            drop(released);
        }
    }
}

impl OpenedInput {
    /// A guard that keeps the process alive if somebody shortens the mapped file, and tells it; it has to be dropped before this. `None` for bytes that
    /// nobody else can change, and where there are too many guards.
    pub fn guard(&self) -> Option<PageGuard> {
        match self {
            OpenedInput::Mapped(map, _) => PageGuard::of(map),
            OpenedInput::Read(_) => None,
        }
    }

    /// The input as a block file. Walks over a mapped one release the memory of the part that they have passed.
    ///
    /// # Errors
    /// If it is none of this version.
    pub fn blocks(
        &self,
    ) -> Result<blockfile::file::BlockFile<'_>, blockfile::file::BlockFileError> {
        match self {
            // SAFETY: whole files are mapped, shared, and nobody writes through a map that is for reading.
            OpenedInput::Mapped(map, data) => unsafe {
                blockfile::file::BlockFile::mapped(map, data)
            },
            OpenedInput::Read(bytes) => blockfile::file::BlockFile::new(bytes),
        }
    }
}

impl Deref for OpenedInput {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            OpenedInput::Mapped(map, _) => map,
            OpenedInput::Read(bytes) => bytes,
        }
    }
}

/// The name of an input for messages.
pub fn shown(path: &Path) -> &Path {
    if path == OsStr::new("-") {
        Path::new("stdin")
    } else {
        path
    }
}
