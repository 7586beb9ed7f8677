//! A `.bin` file on disk that appears under its name only when it is complete.

use std::fs::{self, File};
use std::ops::{Deref, DerefMut};
use std::path::{Path, PathBuf};

use super::types::{Index, Offsets, Trailer};
use super::write::{Section, WriteError, Writer};

/// A [`Writer`] to `<name>.part`, renamed to `<name>` by [`FileWriter::finish`] and removed if that is not reached.
#[derive(Debug)]
pub struct FileWriter {
    writer: Writer<File>,
    part: Part,
    target: PathBuf,
}

/// The temporary file; removed when dropped unless it was renamed.
#[derive(Debug)]
struct Part {
    path: PathBuf,
    renamed: bool,
}

impl Drop for Part {
    fn drop(&mut self) {
        if !self.renamed {
            // Nothing can be done about a failure here, and the file is of no use to anybody.
            let _ = fs::remove_file(&self.path);
        }
    }
}

impl FileWriter {
    /// Creates the temporary file beside `target`.
    pub fn create(target: &Path, offsets: Offsets) -> Result<Self, WriteError> {
        let mut path = target.as_os_str().to_owned();
        path.push(".part");
        let path = PathBuf::from(path);
        let file = File::create(&path).map_err(|error| WriteError::File {
            path: path.clone(),
            error,
        })?;
        let part = Part {
            path,
            renamed: false,
        };
        Ok(Self {
            writer: Writer::new(file, offsets)?,
            part,
            target: target.to_owned(),
        })
    }

    /// Completes the file and gives it its name, in place of an older file of that name.
    pub fn finish(mut self, trailer: &Trailer, layout: &[Section]) -> Result<Index, WriteError> {
        let (_file, index) = self.writer.finish(trailer, layout)?;
        fs::rename(&self.part.path, &self.target).map_err(|error| WriteError::File {
            path: self.target,
            error,
        })?;
        self.part.renamed = true;
        Ok(index)
    }
}

impl Deref for FileWriter {
    type Target = Writer<File>;

    fn deref(&self) -> &Self::Target {
        &self.writer
    }
}

impl DerefMut for FileWriter {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.writer
    }
}
