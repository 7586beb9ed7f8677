//! `mpitrace window`: what there is in a stretch of time of an SLOG2 file.

mod json;
mod text;
mod view;

use crate::failure::Failure;
use crate::trace_files::input::{OpenedInput, shown};
use crate::trace_files::time_window::{TimePosition, in_log, time_position};
use std::io::{BufWriter, Write};
use std::path::PathBuf;
use trace_formats::slog2::{Depth, Slog2Error, Slog2Reader, TimeBBox};
use view::WindowView;

/// Show the drawables in a time window of an SLOG2 file
///
/// Only the nodes of the tree that touch the window are read, so a large file takes no longer than a small one. States,
/// arrows and events that reach into the window come first, by start; previews of the levels that were not read come
/// after them. Times are in seconds.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  mpitrace window run.slog2 1.5 1.75
  mpitrace window run.slog2 25% 30%              parts of the log
  mpitrace window run.slog2 0% 100% --depth 3    the whole log from its previews
  mpitrace window run.slog2 1.5 1.75 --depth 0   every drawable, however many there are
  mpitrace window --json run.slog2 1.5 1.75")]
pub struct Arguments {
    /// The file to read; - is stdin
    file: PathBuf,
    /// Start of the window: seconds, or a part of the log such as 25%
    #[arg(value_name = "T0", allow_negative_numbers = true, value_parser = time_position)]
    from: TimePosition,
    /// End of the window: seconds, or a part of the log such as 30%
    #[arg(value_name = "T1", allow_negative_numbers = true, value_parser = time_position)]
    to: TimePosition,
    /// Lowest level of the tree to read. Level 0 is the leaves: every drawable and no preview [default: as deep as a
    /// screen can show]
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(i16).range(0..))]
    depth: Option<i16>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Runs the subcommand.
pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    let name = shown(&arguments.file);
    let input = OpenedInput::open(&arguments.file)?;
    let failed = |error: Slog2Error| Failure::in_file(error, name);
    let reader = Slog2Reader::new(&input).map_err(failed)?;
    let log = reader.root().map_or(TimeBBox::EMPTY, |root| root.bounds);
    let window = in_log(arguments.from, arguments.to, log)?;
    let depth = (arguments.depth).map_or(Depth::screenful(reader.header()), Depth::Lowest);
    let view = WindowView {
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
