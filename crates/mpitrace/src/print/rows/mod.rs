//! Rows of calls: `mpitrace print --json` and `--csv`, from every format.
//!
//! Columns and their units are those of [`CallRow`](row::CallRow). Rows are written as they are read.

mod blocks;
mod drawables;
mod dumpi;
mod row;

use super::Arguments;
use crate::failure::Failure;
use crate::trace_files::format::Format;
use crate::trace_files::input::OpenedInput;
use crate::trace_files::trace::TraceInput;
use row::RowWriter;
use std::io::BufWriter;

/// Prints the calls of a file as rows.
pub fn print(input: OpenedInput, format: Format, arguments: &Arguments) -> Result<(), Failure> {
    // What goes to a terminal is shown there and not obeyed: names in a trace may hold anything.
    let out = BufWriter::with_capacity(1 << 16, crate::terminal::stdout());
    let mut rows = RowWriter::new(out, arguments)?;
    let printed = match format {
        Format::Blocks => blocks::print(&input, arguments, &mut rows),
        Format::Dumpi => dumpi::print(&input, arguments, &mut rows),
        _ => {
            let trace = TraceInput::of_file(&arguments.file, input, format);
            drawables::print(&trace, &mut rows)
        }
    };
    // The rows of a bad file up to its fault are shown before the error.
    rows.flush()
        .map_err(|error| Failure::output("stdout", &error))?;
    printed
}
