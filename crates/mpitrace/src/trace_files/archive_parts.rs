//! OTF2 archives that several processes write together: each writes a part, and one puts the parts together.

use crate::failure::Failure;
use crate::trace_files::losses::{failure, named};
use crate::trace_files::target::Target;
use crate::trace_files::trace::TraceInput;
use std::fs;
use std::io;
use std::path::Path;
use trace_formats::otf2::{ArchivePart, Otf2PartSink, join_parts};
use trace_model::Losses;

/// Writes a part of the archive of a trace into a folder, which is made if it is not there. Says what is lost.
pub fn write(trace: &TraceInput, folder: &Path, part: ArchivePart) -> Result<Losses, Failure> {
    let source = trace.source()?;
    match fs::create_dir(folder) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
            return Err(Failure::file(folder, error));
        }
        _ => {}
    }
    let sink = Otf2PartSink::create(folder, part, source.definitions());
    // The error names its file, here and below.
    let sink = sink.map_err(|error| Failure::Data(error.to_string()))?;
    // The other processes take the other processors.
    let written = trace_model::convert(source.as_ref(), Box::new(sink));
    written.map_err(|stop| failure(named(stop, folder)))
}

/// Makes the archive of the parts in a folder, and removes them.
pub fn join(trace: &TraceInput, parts: &Path, target: &Target) -> Result<(), Failure> {
    let source = trace.source()?;
    target.place(|path| {
        let joined = join_parts(path, source.definitions(), parts);
        joined.map_err(|error| Failure::Data(error.to_string()))
    })?;
    fs::remove_dir_all(parts).map_err(|error| Failure::file(parts, error))
}
