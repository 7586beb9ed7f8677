//! A trace in another format as an SLOG2 file in a temporary folder, so that windows of it can be drawn.

use crate::failure::Failure;
use crate::trace_files::format::Format;
use crate::trace_files::input::OpenedInput;
use crate::trace_files::losses::report_losses_of_picture;
use crate::trace_files::shape::TreeArguments;
use crate::trace_files::target::Target;
use crate::trace_files::trace::TraceInput;
use tempfile::TempDir;
use trace_model::Line;

/// A trace that was converted.
pub struct ConvertedTrace {
    /// The SLOG2 file.
    pub input: OpenedInput,
    /// Lines of the trace, of which the other format may tell more.
    pub lines: Vec<Line>,
    _folder: TempDir,
}

impl ConvertedTrace {
    /// Converts a trace: it has to be read from end to end, and a tree is what a window is quickly found in. What is lost is said on stderr.
    pub fn of(trace: &TraceInput, quiet: bool) -> Result<ConvertedTrace, Failure> {
        let folder = tempfile::tempdir();
        let folder = folder.map_err(|error| Failure::output("temporary folder", &error))?;
        let path = folder.path().join("trace.slog2");
        let target = Target::new(&path, Some(Format::Slog2), &TreeArguments::default())?;
        let source = trace.source()?;
        let lines = source.definitions().lines.clone();
        let losses = target.write(source.as_ref(), quiet)?;
        report_losses_of_picture(losses, trace.name());
        Ok(ConvertedTrace {
            input: OpenedInput::open_raw(&path)?,
            lines,
            _folder: folder,
        })
    }
}
