//! A trace as drawables, whatever its format.

use crate::failure::Failure;
use crate::trace_files::format::Format;
use crate::trace_files::trace::TraceInput;
use crate::trace_files::{dumpi, folder, mpe1};
use std::path::Path;
use trace_formats::{alog, clog2, otf2, paje, slog1, slog2};
use trace_model::Source;
use trace_model::{Fault, FaultKind};

impl TraceInput {
    /// The trace as drawables.
    pub fn source(&self) -> Result<Box<dyn Source + '_>, Failure> {
        let (bytes, name) = (self.bytes(), self.name());
        self.tell_damage();
        match self.format {
            Format::Slog2 => opened(slog2::Slog2Source::new(bytes), name),
            Format::Paje => opened(
                paje::PajeSource::new(crate::trace_files::paje::trace(bytes, name)),
                name,
            ),
            Format::Alog => opened(alog::AlogSource::new(bytes), name),
            Format::Clog1 => Ok(Box::new(mpe1::source(bytes, name)?)),
            Format::Clog2 => opened(clog2::Clog2Source::new(bytes), name),
            Format::Slog1 => opened(slog1::Slog1Source::new(bytes), name),
            Format::Dumpi => dumpi::source(self),
            Format::DumpiText => dumpi::text_source(self),
            Format::Blocks => blocks_source(self),
            Format::Otf2 => archive_source(name),
            Format::Perfetto | Format::Chrome | Format::Parquet | Format::Arrow => {
                Err(Failure::Data(self.format.refusal(name)))
            }
        }
    }
}

/// A source that was opened, or what is wrong with the file of this name.
fn opened<'a, K: FaultKind>(
    source: Result<impl Source + 'a, Fault<K>>,
    name: &Path,
) -> Result<Box<dyn Source + 'a>, Failure> {
    match source {
        Ok(source) => Ok(Box::new(source)),
        Err(error) => Err(Failure::in_file(error, name)),
    }
}

/// An OTF2 archive as drawables, given its anchor file or its folder.
fn archive_source<'a>(name: &Path) -> Result<Box<dyn Source + 'a>, Failure> {
    let anchor = folder::file_of(name);
    if !anchor.is_file() {
        let name = name.display();
        let message = format!(
            "{name}: the anchor file of an OTF2 archive, expected by its name, with the archive beside it"
        );
        return Err(Failure::Call(message));
    }
    match otf2::Otf2Source::open(&anchor) {
        Ok(source) => Ok(Box::new(source)),
        Err(error) => Err(Failure::in_file(error, &anchor)),
    }
}

/// The block files of a run as drawables.
fn blocks_source(trace: &TraceInput) -> Result<Box<dyn Source + '_>, Failure> {
    let files = trace.block_files()?;
    let table = wrappers::table().map_err(|error| Failure::Data(error.to_string()))?;
    let options = merge::local::MergeOptions {
        recover: true,
        details: true,
        ..merge::local::MergeOptions::default()
    };
    let source = merge::BlockFilesSource::new(files, table, options);
    match source {
        Ok(source) => Ok(Box::new(source)),
        Err(error) => {
            let name = trace.name().display();
            Err(Failure::Data(format!("{name}: {error}")))
        }
    }
}
