//! `mpitrace print`: a trace as text.

mod archive;
mod arguments;
mod blocks;
mod clog2;
mod definitions;
mod dumpi;
mod legacy;
mod paje;
mod rows;
mod slog1;
mod slog2;
mod values;

pub use arguments::Arguments;

use crate::failure::Failure;
use crate::trace_files::format::Format;
use crate::trace_files::input::{OpenedInput, shown};
use std::io::{BufWriter, Write};

/// Runs the subcommand.
pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    let name = shown(&arguments.file).display();
    let input = OpenedInput::open(&arguments.file)?;
    let format = Format::known(&input, &arguments.file)?;
    if let Some(option) = arguments.misplaced(format) {
        return Err(Failure::Call(match arguments.has_rows() {
            true => format!("{option} has no meaning with --json and --csv"),
            false => {
                let what = format.with_article();
                format!("{option} has no meaning for {name}, which is {what}")
            }
        }));
    }
    if arguments.has_rows() {
        return rows::print(input, format, arguments);
    }
    let mut out = BufWriter::with_capacity(1 << 16, crate::terminal::stdout());
    let printed = match format {
        Format::Clog2 => clog2::print(&input, arguments, &mut out),
        Format::Slog2 => slog2::print(&input, arguments, &mut out),
        Format::Dumpi => dumpi::print(&input, arguments, &mut out),
        Format::Blocks => blocks::print(&input, arguments, &mut out),
        Format::Alog => legacy::print_alog(&input, arguments, &mut out),
        Format::Clog1 => legacy::print_clog1(&input, arguments, &mut out),
        Format::Slog1 => slog1::print(&input, arguments, &mut out),
        Format::DumpiText => Err(Failure::Data(format!("{name}: is text already"))),
        Format::Paje => paje::print(&input, arguments, &mut out),
        Format::Otf2 => archive::print(input, arguments, &mut out),
        Format::Perfetto | Format::Chrome | Format::Parquet | Format::Arrow => {
            Err(Failure::Data(format.refusal(&arguments.file)))
        }
    };
    // The text of a bad file up to its fault is shown before the error.
    out.flush()
        .map_err(|error| Failure::output("stdout", &error))?;
    printed
}
