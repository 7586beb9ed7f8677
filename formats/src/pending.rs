//! An output file that gets its name only when it is complete.

use std::fs::{self, File};
use std::io::{self, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

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
    /// Creates the temporary file, in the directory of `path`.
    pub fn create(path: impl AsRef<Path>) -> io::Result<Self> {
        let path = path.as_ref().to_path_buf();
        let temporary = if fs::metadata(&path).is_ok_and(|found| !found.is_file()) {
            None
        } else {
            let mut name = path
                .file_name()
                .ok_or(io::ErrorKind::InvalidInput)?
                .to_os_string();
            name.push(format!(".{}.tmp", std::process::id()));
            Some(path.with_file_name(name))
        };
        let mut options = File::options();
        options.write(true);
        let file = match &temporary {
            Some(temporary) => options
                .read(true)
                .create(true)
                .truncate(true)
                .open(temporary),
            None => options.open(&path),
        }?;
        Ok(PendingFile {
            file,
            temporary,
            path,
        })
    }

    /// The name that it gets.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Gives the file its name, in place of what had it before.
    pub fn persist(mut self) -> io::Result<()> {
        self.complete()
    }

    /// The same behind a buffer, which is written out first.
    pub fn persist_buffered(out: BufWriter<Self>) -> io::Result<()> {
        out.into_inner()
            .map_err(|error| error.into_error())?
            .persist()
    }

    /// The same for a file that something else owns.
    pub fn complete(&mut self) -> io::Result<()> {
        if let Some(temporary) = &self.temporary {
            fs::rename(temporary, &self.path)?;
            self.temporary = None;
        }
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
        if let Some(temporary) = &self.temporary {
            // Nobody is left to tell if this fails, and the name says that the file is a temporary one.
            let _ = fs::remove_file(temporary);
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
}
