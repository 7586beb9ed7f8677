//! `mpitrace window`: what there is in a stretch of time of an SLOG2 file.

mod json;
mod text;
mod view;

use crate::failure::Failure;
use crate::trace_files::input::{Input, shown};
use crate::trace_files::time_window::{TimePosition, in_log, time_position};
use std::io::{BufWriter, Write};
use std::path::PathBuf;
use trace_formats::slog2::{Depth, Error, Reader, TimeBBox};
use view::View;

/// Show what is in a window of an SLOG2 file
///
/// Reads only the nodes of the tree that the window touches, so that it takes no longer in a large file than in a small
/// one. States, arrows and events that reach into the window come by start, then the previews of what lies deeper in the
/// tree than was read. Times are in seconds.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  mpitrace window run.slog2 1.5 1.75
  mpitrace window run.slog2 25% 30%              parts of the log
  mpitrace window run.slog2 0% 100% --depth 3    the whole log from its previews
  mpitrace window run.slog2 1.5 1.75 --depth 0   every drawable, however many there are
  mpitrace window --json run.slog2 1.5 1.75")]
pub struct Arguments {
    /// The file; - is stdin
    file: PathBuf,
    /// Where the window begins: seconds, or with % a part of the log
    #[arg(value_name = "T0", allow_negative_numbers = true, value_parser = time_position)]
    from: TimePosition,
    /// Where it ends
    #[arg(value_name = "T1", allow_negative_numbers = true, value_parser = time_position)]
    to: TimePosition,
    /// The lowest level of the tree to read; 0 is that of the leaves, so that nothing is previewed [default: as deep as
    /// a screen can show]
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(i16).range(0..))]
    depth: Option<i16>,
    /// As JSON
    #[arg(long)]
    json: bool,
}

/// Runs the subcommand.
pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    let name = shown(&arguments.file);
    let input = Input::open(&arguments.file)?;
    let failed = |error: Error| Failure::Data(error.in_file(name).to_string());
    let reader = Reader::new(&input).map_err(failed)?;
    let log = reader.root().map_or(TimeBBox::EMPTY, |root| root.bounds);
    let window = in_log(arguments.from, arguments.to, log)?;
    let depth = (arguments.depth).map_or(Depth::screenful(reader.header()), Depth::Lowest);
    let view = View {
        log,
        window: reader.window(window, depth).map_err(failed)?,
        lines: reader.lines(),
        categories: reader.categories().iter().map(|c| (c.index, c)).collect(),
        depth: reader.header().max_depth,
    };
    let mut out = BufWriter::with_capacity(1 << 16, crate::terminal::stdout());
    let written = match arguments.json {
        true => json::write(&view, &mut out),
        false => text::write(&view, &mut out),
    };
    written
        .and_then(|()| out.flush())
        .map_err(|error| Failure::output("stdout", &error))
}
