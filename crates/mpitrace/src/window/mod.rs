//! `mpitrace window`: what there is in a stretch of time of an SLOG2 file.

mod json;
mod text;

use crate::failure::Failure;
use crate::trace_files::input::{Input, shown};
use std::collections::BTreeMap;
use std::io::{BufWriter, Write};
use std::path::PathBuf;
use trace_formats::model::{Line, Value, info_values};
use trace_formats::slog2::{Category, Depth, Error, Reader, TimeBBox, Window};

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
    #[arg(value_name = "T0", allow_negative_numbers = true, value_parser = place)]
    from: Place,
    /// Where it ends
    #[arg(value_name = "T1", allow_negative_numbers = true, value_parser = place)]
    to: Place,
    /// The lowest level of the tree to read; 0 is that of the leaves, so that nothing is previewed [default: as deep as
    /// a screen can show]
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(i16).range(0..))]
    depth: Option<i16>,
    /// As JSON
    #[arg(long)]
    json: bool,
}

/// A place on the time axis.
#[derive(Clone, Copy, Debug)]
pub enum Place {
    /// Where it is.
    Seconds(f64),
    /// From 0 to 1, where the log is.
    Part(f64),
}

/// Reads a place: seconds, or with % a part of the log.
pub fn place(text: &str) -> Result<Place, String> {
    let (number, part) = match text.strip_suffix('%') {
        Some(number) => (number, true),
        None => (text, false),
    };
    match number.parse::<f64>() {
        Ok(number) if number.is_finite() && part => Ok(Place::Part(number / 100.0)),
        Ok(number) if number.is_finite() => Ok(Place::Seconds(number)),
        _ => Err("expected seconds, or a part of the log such as 25%".into()),
    }
}

impl Place {
    /// Seconds, in a log like this.
    pub fn in_log(self, log: TimeBBox) -> f64 {
        match self {
            Place::Seconds(seconds) => seconds,
            // The end itself, which is not always what the sum is.
            Place::Part(1.0) => log.latest,
            Place::Part(part) => log.earliest + part * log.duration(),
        }
    }
}

/// The window between two places of a log; an error if it does not touch the log.
pub fn in_log(from: Place, to: Place, log: TimeBBox) -> Result<TimeBBox, Failure> {
    let window = TimeBBox {
        earliest: from.in_log(log),
        latest: to.in_log(log),
    };
    let TimeBBox { earliest, latest } = window;
    if earliest > latest {
        return Err(Failure::Call(format!(
            "the window begins at {earliest} s and ends before that, at {latest} s"
        )));
    }
    if !window.overlaps(log) {
        return Err(Failure::Call(format!(
            "the window from {earliest} s to {latest} s is outside the log, which goes from {} s to {} s",
            log.earliest, log.latest
        )));
    }
    Ok(window)
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

/// A window and what the file says about what is in it.
struct View<'a> {
    log: TimeBBox,
    window: Window<'a>,
    lines: BTreeMap<i32, Line>,
    categories: BTreeMap<i32, &'a Category>,
    /// Of the root.
    depth: i16,
}

impl View<'_> {
    fn category_name(&self, index: i32) -> String {
        match self.categories.get(&index) {
            Some(category) if !category.name.is_empty() => category.name.to_str().into_owned(),
            _ => format!("category {index}"),
        }
    }

    /// Keys and values as they stand in the info.
    fn info<'i>(&'i self, category: i32, info: &'i [u8]) -> Vec<(String, Value<'i>)> {
        let Some(category) = self.categories.get(&category) else {
            return Vec::new();
        };
        let values = info_values(category, info);
        values
            .map(|(key, value)| (key.to_str().into_owned(), value))
            .collect()
    }
}
