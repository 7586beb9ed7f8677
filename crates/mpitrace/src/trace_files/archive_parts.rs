//! OTF2 archives that several processes write together: each writes a part, and one puts the parts together.

use crate::failure::Failure;
use crate::trace_files::losses::{failure, named};
use crate::trace_files::target::Target;
use crate::trace_files::trace::TraceInput;
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io;
use std::path::Path;
use trace_formats::otf2::{Otf2PartSink, join_parts};
use trace_model::{Losses, PartNumber};

/// Writes a part of the archive of a trace into a folder, which is made if it is not there. Says what is lost.
pub fn write(trace: &TraceInput, folder: &Path, part: PartNumber) -> Result<Losses, Failure> {
    let source = trace.source()?;
    match fs::create_dir(folder) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
            return Err(Failure::file(folder, error));
        }
        _ => {}
    }
    let sink = Otf2PartSink::create(folder, part, source.definitions(), number(trace));
    // The error names its file, here and below.
    let sink = sink.map_err(|error| Failure::Data(error.to_string()))?;
    // The other processes take the other processors.
    let written = trace_model::convert(source.as_ref(), Box::new(sink));
    written.map_err(|stop| failure(named(stop, folder)))
}

/// Makes the archive of the parts in a folder, and removes them, and the folder if nothing else is in it.
pub fn join(trace: &TraceInput, parts: &Path, target: &Target) -> Result<(), Failure> {
    let source = trace.source()?;
    target.place(|path| {
        let joined = join_parts(path, source.definitions(), number(trace), parts);
        joined.map_err(|error| Failure::Data(error.to_string()))
    })?;
    match fs::remove_dir(parts) {
        // What else is in it is not ours.
        Err(error) if error.kind() != io::ErrorKind::DirectoryNotEmpty => {
            Err(Failure::file(parts, error))
        }
        _ => Ok(()),
    }
}

/// A number by which a trace is known from others: of sizes, beginnings and ends of its files.
fn number(trace: &TraceInput) -> u64 {
    const LOOKED_AT: usize = 64 << 10;
    let mut hasher = DefaultHasher::new();
    for (_, file) in &trace.files {
        file.len().hash(&mut hasher);
        file[..file.len().min(LOOKED_AT)].hash(&mut hasher);
        file[file.len().saturating_sub(LOOKED_AT)..].hash(&mut hasher);
    }
    hasher.finish()
}
