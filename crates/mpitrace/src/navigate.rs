//! `mpitrace navigate`: a walk through the tree of an SLOG2 file, as text.

use crate::failure::Failure;
use crate::terminal::tell;
use crate::trace_files::input::OpenedInput;
use std::io::{self, BufRead, BufWriter, Write};
use std::path::PathBuf;
use trace_formats::slog2::{Navigator, Slog2Error, Slog2Reader};

/// Walk through the tree of an SLOG2 file
///
/// The command reads lines from stdin. Each line moves a window of time or sets a depth; the answer is the nodes of the
/// tree in that window, down to that depth. The text is that of slog2navigator. The command ends with its input.
#[derive(clap::Args)]
#[command(after_help = "Commands, several of them in a line:
  s          print the stubs of the nodes: place, bounds, bytes, number of objects
  a          print all drawables, and previews of what lies deeper
  d=N        read down to this depth; 0 is that of the leaves. Counts in the first line only
  ts=T tf=T  go from, go to this time, in seconds
  + +=T      zoom in by 2, around the middle or around this time
  - -=T      zoom out likewise
  > >=F      scroll forward by the length of the window, or F times that
  < <=F      scroll backward likewise

Examples:
  mpitrace navigate run.slog2
  printf 'd=2\\na +=0.25\\n>\\n' | mpitrace navigate run.slog2")]
pub struct Arguments {
    /// The file to read
    file: PathBuf,
    /// Print all drawables from the start
    #[arg(short, long, overrides_with = "stub")]
    all: bool,
    /// Print the stubs of nodes (the default)
    #[arg(short, long, overrides_with = "all")]
    stub: bool,
}

/// Runs the subcommand.
pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    let input = OpenedInput::open(&arguments.file)?;
    let failed = |error: Slog2Error| Failure::in_file_or_output(error, &arguments.file, "stdout");
    let reader = Slog2Reader::new(&input).map_err(failed)?;
    let mut navigator = Navigator::new(&reader, arguments.all).map_err(failed)?;
    let mut out = BufWriter::with_capacity(1 << 16, crate::terminal::stdout());
    navigator.greet(&mut out).map_err(failed)?;
    let mut lines = io::stdin().lock().lines();
    loop {
        let asked = out.write_all(Navigator::PROMPT.as_bytes());
        asked
            .and_then(|()| out.flush())
            .map_err(|error| Failure::output("stdout", &error))?;
        let Some(line) = lines.next() else {
            return Ok(());
        };
        let line = line.map_err(|error| Failure::Data(format!("stdin: {error}")))?;
        if let Err(message) = navigator.obey(&line, &mut out).map_err(failed)? {
            tell!("mpitrace: {message}; see --help");
        }
    }
}
