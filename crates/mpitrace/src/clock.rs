//! `mpitrace clock`: whether the times of a trace contradict its messages, and putting that right.

use crate::failure::Failure;
use crate::terminal::{print_text, tell_line};
use crate::trace_files::format::Format;
use crate::trace_files::input::{OpenedInput, shown};
use crate::trace_files::overwrite::Overwrite;
use crate::trace_files::shape::TreeArguments;
use crate::trace_files::target::Target;
use std::path::{Path, PathBuf};
use trace_formats::clog2::{self, Clog2Reader, Clog2Writer};
use transform::{count_late_messages, write_forwarded};

/// Find messages that arrive before they were sent, and correct their times
///
/// The recorder compares the clocks of different machines. The remaining error is at most half the round trip of a
/// probe. A message that takes less time than that may seem to arrive before it was sent. With --forward, such a
/// receive is moved after its send, and later records of its process move with it (a controlled logical clock): times
/// only grow.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  mpitrace clock job.clog2                              how many there are
  mpitrace clock --forward right.clog2 job.clog2        and a file without them")]
pub struct Arguments {
    /// The CLOG2 file; - is stdin
    input: PathBuf,
    /// Write a file with corrected times
    #[arg(long, value_name = "OUT.clog2")]
    forward: Option<PathBuf>,
    #[command(flatten)]
    overwrite: Overwrite,
}

/// Runs the subcommand.
pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    if let Some(output) = &arguments.forward {
        let inputs = [&arguments.input];
        arguments.overwrite.allow(output, &inputs)?;
    }
    let input = OpenedInput::open(&arguments.input)?;
    let name = shown(&arguments.input);
    let bad = |error: clog2::Clog2Error| Failure::in_file_or_output(error, name, name.display());
    let reader = Clog2Reader::new(&input).map_err(bad)?;
    let mut result = None;
    if let Some(output) = &arguments.forward {
        let target = Target::new(output, Some(Format::Clog2), &TreeArguments::default())?;
        target.place(|path: &Path| {
            let bad = |error| Failure::in_file_or_output(error, name, output.display());
            let writer = Clog2Writer::create(path, reader.preamble()).map_err(bad)?;
            let (_, forwarded) = write_forwarded(&reader, writer).map_err(bad)?;
            result = Some(forwarded);
            Ok(())
        })?;
    }
    let result = match result {
        Some(result) => result,
        None => count_late_messages(&reader).map_err(bad)?,
    };
    let mut text = format!(
        "{} messages, {} arrive before they were sent{}\n",
        result.messages,
        result.violations,
        match result.violations {
            0 => String::new(),
            _ => format!(", at most {:.9} s", result.largest),
        }
    );
    if arguments.forward.is_some() {
        text.push_str(&format!(
            "{} records moved forward, at most {:.9} s{}\n",
            result.moved,
            result.farthest,
            match result.given_up {
                0 => String::new(),
                n => format!("; {n} times messages contradict each other and stay as they are"),
            }
        ));
    }
    // Where the file goes to stdout, nothing else does.
    match arguments.forward.as_deref() {
        Some(output) if output == Path::new("-") => tell_line(text.trim_end()),
        _ => print_text(&text)?,
    }
    Ok(())
}
