//! An output file that gets its name only when it is complete.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io::{self, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use crate::fault::{Fault, FaultKind};
use crate::{Complete, Stop, temporary};

/// Temporary names that are tried.
const ATTEMPTS: u32 = 1000;
/// Bytes of the buffer of a file that a [`Sink`](crate::Sink) writes.
const SINK_BUFFER_BYTES: usize = 1 << 18;
/// Most bytes of a file name.
const LONGEST: usize = 255;

/// A temporary name for a file that is to be called `name`, its end left out where both together would be too long. `attempt` counts the
/// names that others had.
pub fn temporary_name(name: &OsStr, attempt: u32) -> OsString {
    let ending = match attempt {
        0 => format!(".{}.tmp", std::process::id()),
        n => format!(".{}-{n}.tmp", std::process::id()),
    };
    let mut bytes = name.as_encoded_bytes().to_vec();
    bytes.truncate(LONGEST - ending.len());
    bytes.extend_from_slice(ending.as_bytes());
    crate::os::name(bytes)
}

/// The file of a [`Sink`](crate::Sink): its buffer, and what gives it its name.
pub type SinkFile = (BufWriter<PendingFile>, Complete<BufWriter<PendingFile>>);

/// A file under a temporary name beside its final one. [`PendingFile::persist`] gives it its name; if that is never
/// called, the file is removed, so that a reader never sees half a file and an older file survives a failure.
#[derive(Debug)]
pub struct PendingFile {
    file: File,
    /// `None` when it has its name: from the start on if it is a device or a pipe, which no file must replace.
    temporary: Option<PathBuf>,
    path: PathBuf,
}

impl PendingFile {
    /// Creates the temporary file, in the directory of `path`. Nobody else has it: a process on another host may have this
    /// one's number, and what a killed process left is not touched.
    pub fn create(path: impl AsRef<Path>) -> io::Result<Self> {
        let path = path.as_ref().to_path_buf();
        if fs::metadata(&path).is_ok_and(|found| !found.is_file()) {
            return Ok(PendingFile {
                file: crate::os::open_device(&path)?,
                temporary: None,
                path,
            });
        }
        PendingFile::beside(&path)
    }

    /// Creates the file that a [`Sink`](crate::Sink) writes, which gets its name when all is written.
    ///
    /// # Errors
    /// When it cannot be created, with its name.
    pub fn create_for_sink<K>(path: &Path) -> Result<SinkFile, Fault<K>>
    where
        K: FaultKind + From<io::Error>,
        Fault<K>: Into<Stop>,
    {
        let pending = PendingFile::create(path).map_err(|error| Fault::io(0, error).in_file(path));
        let out = BufWriter::with_capacity(SINK_BUFFER_BYTES, pending?);
        let named = path.to_path_buf();
        let complete = |out| {
            let done = PendingFile::persist_buffered(out);
            done.map_err(|error| Fault::<K>::io(0, error).in_file(named).into())
        };
        Ok((out, Box::new(complete)))
    }

    /// Creates the temporary file beside `path`, whatever has that name: [`PendingFile::take_name`] takes one that is free.
    pub fn beside(path: &Path) -> io::Result<Self> {
        let path = path.to_path_buf();
        let name = path.file_name().ok_or(io::ErrorKind::InvalidInput)?;
        temporary::begin();
        for n in 0..ATTEMPTS {
            let name = path.with_file_name(temporary_name(name, n));
            let mut options = File::options();
            match options.read(true).write(true).create_new(true).open(&name) {
                Ok(file) => {
                    temporary::made(&name);
                    return Ok(PendingFile {
                        file,
                        temporary: Some(name),
                        path,
                    });
                }
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
        Err(io::ErrorKind::AlreadyExists.into())
    }

    /// Begins a file for a name that nobody has given as that of a device or a pipe, because it is made of parts: what has it is
    /// not opened, which could take for ever, nor replaced.
    pub fn create_regular(path: impl AsRef<Path>) -> io::Result<Self> {
        crate::os::may_replace(path.as_ref())?;
        PendingFile::beside(path.as_ref())
    }

    /// The name that it gets.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The path at which others can open it now.
    pub fn current_path(&self) -> &Path {
        self.temporary.as_deref().unwrap_or(&self.path)
    }

    /// The open file, for who writes a part of it.
    pub fn file(&self) -> &File {
        &self.file
    }

    /// Gives the file its name, in place of what had it before.
    pub fn persist(mut self) -> io::Result<()> {
        self.complete()
    }

    /// Writes out the buffer and gives the file its name.
    pub fn persist_buffered(out: BufWriter<Self>) -> io::Result<()> {
        out.into_inner()
            .map_err(|error| error.into_error())?
            .persist()
    }

    /// Gives the file its name, where something else owns it.
    pub fn complete(&mut self) -> io::Result<()> {
        if let Some(name) = &self.temporary {
            fs::rename(name, &self.path)?;
            temporary::gone(name);
            self.temporary = None;
        }
        Ok(())
    }

    /// Gives the file the name `path`, in its own directory, if nothing has it: else the error is `AlreadyExists`, and another
    /// name may be tried. Of several processes that try at the same time one gets it.
    pub fn take_name(&mut self, path: &Path) -> io::Result<()> {
        let Some(name) = &self.temporary else {
            return Ok(());
        };
        match fs::hard_link(name, path) {
            // The temporary name goes with the value.
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => return Err(error),
            // Some file systems know no second name of a file.
            Err(_) => {
                drop(File::options().write(true).create_new(true).open(path)?);
                fs::rename(name, path)?;
                temporary::gone(name);
                self.temporary = None;
            }
        }
        path.clone_into(&mut self.path);
        Ok(())
    }

    /// Takes back the name that [`PendingFile::take_name`] gave.
    pub fn give_name_back(&mut self) -> io::Result<()> {
        if self.temporary.is_some() {
            return fs::remove_file(&self.path);
        }
        let name = self.path.file_name().unwrap_or_default();
        let name = self.path.with_file_name(temporary_name(name, ATTEMPTS));
        fs::rename(&self.path, &name)?;
        temporary::made(&name);
        self.temporary = Some(name);
        Ok(())
    }
}

impl Read for PendingFile {
    /// Reads back what was written; not from a device.
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        self.file.read(bytes)
    }
}

impl Write for PendingFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Seek for PendingFile {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.file.seek(to)
    }
}

impl Drop for PendingFile {
    fn drop(&mut self) {
        if let Some(name) = &self.temporary {
            // Nobody is left to tell if this fails, and the name says that the file is a temporary one.
            let _ = fs::remove_file(name);
            temporary::gone(name);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_has_its_name_when_it_is_complete() {
        let folder = std::env::temp_dir().join(format!("pending-{}", std::process::id()));
        fs::create_dir_all(&folder).expect("temporary folder");
        let names = || fs::read_dir(&folder).expect("folder").count();
        let path = folder.join("log.slog2");

        let mut file = PendingFile::create(&path).expect("created");
        file.write_all(b"half").expect("written");
        assert!(!path.exists() && names() == 1);
        drop(file);
        assert_eq!(names(), 0);

        let mut file = PendingFile::create(&path).expect("created");
        file.write_all(b"whole").expect("written");
        file.persist().expect("renamed");
        assert_eq!(fs::read(&path).expect("there"), b"whole");
        assert_eq!(names(), 1);
        fs::remove_dir_all(&folder).expect("removed");
    }

    #[test]
    fn a_name_is_given_once() {
        let folder = std::env::temp_dir().join(format!("pending-once-{}", std::process::id()));
        fs::create_dir_all(&folder).expect("temporary folder");
        let path = folder.join("log.slog2");
        let [mut a, mut b] = [(), ()].map(|()| PendingFile::create(&path).expect("two of them"));
        a.write_all(b"a").expect("written");
        b.write_all(b"b").expect("written");
        b.take_name(&path).expect("free");
        let taken = a.take_name(&path).expect_err("taken");
        assert_eq!(taken.kind(), io::ErrorKind::AlreadyExists);
        b.give_name_back().expect("had it");
        a.take_name(&path).expect("free again");
        drop((a, b));
        assert_eq!(fs::read(&path).expect("there"), b"a");
        assert_eq!(fs::read_dir(&folder).expect("folder").count(), 1);
        fs::remove_dir_all(&folder).expect("removed");
    }

    #[test]
    fn long_names_have_temporary_ones() {
        let path = std::env::temp_dir().join(format!("{}.slog2", "ü".repeat(124)));
        let mut file = PendingFile::create(&path).expect("created");
        file.write_all(b"whole").expect("written");
        file.persist().expect("renamed");
        fs::remove_file(&path).expect("there");
    }
}
