//! OTF2 archives: what is in them as drawables.

use super::drawables;
use super::report::InfoReport;
use crate::failure::Failure;
use crate::trace_files::format::Format;
use crate::trace_files::input::OpenedInput;
use crate::trace_files::trace::TraceInput;
use std::fs;
use std::path::Path;

/// An archive, given its anchor file.
pub fn describe(path: &Path, input: OpenedInput, report: &mut InfoReport) {
    report.put("bytes", bytes(path));
    let trace = TraceInput::of_file(path, input, Format::Otf2);
    match trace.source() {
        Ok(source) => drawables::describe(source.as_ref(), report),
        Err(Failure::Data(message) | Failure::Call(message)) => report.problem(message),
        Err(Failure::ClosedPipe | Failure::Limit(_)) => {}
    }
}

/// Bytes of all files of an archive: those named as its anchor file, and those in the folder of this name.
fn bytes(path: &Path) -> u64 {
    let anchor = match path.is_dir() {
        true => trace_formats::otf2::anchor(path),
        false => path.to_owned(),
    };
    let length = |path: &Path| {
        let found = fs::metadata(path).ok().filter(fs::Metadata::is_file);
        found.map_or(0, |found| found.len())
    };
    let own = ["otf2", "def", "marker"].map(|extension| length(&anchor.with_extension(extension)));
    let locations = fs::read_dir(anchor.with_extension(""));
    let locations = locations.into_iter().flatten().flatten();
    own.iter().sum::<u64>() + locations.map(|file| length(&file.path())).sum::<u64>()
}
