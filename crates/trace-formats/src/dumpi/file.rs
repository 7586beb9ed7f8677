//! A `.bin` file on disk that appears under its name only when it is complete.

use std::ops::{Deref, DerefMut};
use std::path::Path;

use super::types::{ClockOffsets, DumpiTrailer, SectionIndex};
use super::write::{DumpiWriteError, DumpiWriter, FileSection};
use trace_model::PendingFile;

/// A [`DumpiWriter`] to a [`PendingFile`], which [`FileWriter::finish`] gives its name.
#[derive(Debug)]
pub struct FileWriter {
    writer: DumpiWriter<PendingFile>,
}

impl FileWriter {
    /// Creates the temporary file beside `target`.
    pub fn create(target: &Path, offsets: ClockOffsets) -> Result<Self, DumpiWriteError> {
        let file = PendingFile::create_regular(target).map_err(|error| DumpiWriteError::File {
            path: target.to_owned(),
            error,
        })?;
        Ok(Self {
            writer: DumpiWriter::new(file, offsets)?,
        })
    }

    /// Completes the file and gives it its name, in place of an older file of that name.
    pub fn finish(
        self,
        trailer: &DumpiTrailer,
        layout: &[FileSection],
    ) -> Result<SectionIndex, DumpiWriteError> {
        let (mut file, index) = self.writer.finish(trailer, layout)?;
        file.complete().map_err(|error| DumpiWriteError::File {
            path: file.path().to_owned(),
            error,
        })?;
        Ok(index)
    }
}

impl Deref for FileWriter {
    type Target = DumpiWriter<PendingFile>;

    fn deref(&self) -> &Self::Target {
        &self.writer
    }
}

impl DerefMut for FileWriter {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.writer
    }
}
