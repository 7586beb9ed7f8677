//! A `.bin` file on disk that appears under its name only when it is complete.

use std::ops::{Deref, DerefMut};
use std::path::Path;

use super::types::{Offsets, SectionIndex, Trailer};
use super::write::{FileSection, WriteError, Writer};
use trace_model::PendingFile;

/// A [`Writer`] to a [`PendingFile`], which [`FileWriter::finish`] gives its name.
#[derive(Debug)]
pub struct FileWriter {
    writer: Writer<PendingFile>,
}

impl FileWriter {
    /// Creates the temporary file beside `target`.
    pub fn create(target: &Path, offsets: Offsets) -> Result<Self, WriteError> {
        let file = PendingFile::create_regular(target).map_err(|error| WriteError::File {
            path: target.to_owned(),
            error,
        })?;
        Ok(Self {
            writer: Writer::new(file, offsets)?,
        })
    }

    /// Completes the file and gives it its name, in place of an older file of that name.
    pub fn finish(
        self,
        trailer: &Trailer,
        layout: &[FileSection],
    ) -> Result<SectionIndex, WriteError> {
        let (mut file, index) = self.writer.finish(trailer, layout)?;
        file.complete().map_err(|error| WriteError::File {
            path: file.path().to_owned(),
            error,
        })?;
        Ok(index)
    }
}

impl Deref for FileWriter {
    type Target = Writer<PendingFile>;

    fn deref(&self) -> &Self::Target {
        &self.writer
    }
}

impl DerefMut for FileWriter {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.writer
    }
}
