//! An OTF2 archive as the text of the SLOG2 file that it is converted to.

use super::{Arguments, slog2};
use crate::draw::converted::ConvertedTrace;
use crate::failure::Failure;
use crate::trace_files::format::Format;
use crate::trace_files::input::OpenedInput;
use crate::trace_files::trace::TraceInput;
use std::io::Write;

/// Prints an archive, given its anchor file.
pub fn print(
    input: OpenedInput,
    arguments: &Arguments,
    out: &mut impl Write,
) -> Result<(), Failure> {
    let trace = TraceInput::of_file(&arguments.file, input, Format::Otf2);
    let converted = ConvertedTrace::of(&trace, true)?;
    slog2::print(&converted.input, arguments, out)
}
