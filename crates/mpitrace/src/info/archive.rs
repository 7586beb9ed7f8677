//! OTF2 archives: what is in them as drawables.

use super::drawables;
use super::report::InfoReport;
use crate::failure::Failure;
use crate::trace_files::format::Format;
use crate::trace_files::input::OpenedInput;
use crate::trace_files::trace::TraceInput;
use std::path::Path;

/// An archive, given its anchor file.
pub fn describe(path: &Path, input: OpenedInput, report: &mut InfoReport) {
    let trace = TraceInput::of_file(path, input, Format::Otf2);
    match trace.source() {
        Ok(source) => drawables::describe(source.as_ref(), report),
        Err(Failure::Data(message) | Failure::Call(message)) => report.problem(message),
        Err(Failure::ClosedPipe | Failure::Limit(_)) => {}
    }
}
