//! `mpitrace merge`: several traces as one, on one time axis.

use crate::failure::Failure;
use crate::terminal::tell;
use crate::trace_files::edited;
use crate::trace_files::format::Format;
use crate::trace_files::losses::{failure, report_losses};
use crate::trace_files::overwrite::Overwrite;
use crate::trace_files::shape::TreeArguments;
use crate::trace_files::target::Target;
use crate::trace_files::trace::TraceInput;
use clap::ValueEnum;
use std::path::{Path, PathBuf};
use trace_model::Source;
use transform::{
    CategoryPattern, MergeInput, MergedTraces, align_by_call_ids, align_by_category, align_starts,
};

/// Merge traces into one; the timelines of each follow those of the previous one
///
/// The traces may have different formats. Their views still name each timeline, after the number of the trace. Equal
/// categories become one. Communicators do not: MPI_COMM_WORLD of a later trace gets a number of its own. The options say
/// how the times of a trace are shifted to those of the first one. Without them, traces that share CallIDs are shifted if
/// a call does not enclose the operations that it caused, so that it does. That is left out if it would suit fewer than
/// half of the common CallIDs, or if both traces have the calls themselves: then they are of different runs, or the same
/// calls twice.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  mpitrace merge client.slog2 server.slog2 both.slog2
  mpitrace merge client.clog2 server.clog2 --shift -2.25 both.slog2
  mpitrace merge client.slog2 server.slog2 both.slog2 --align-by MPI_File_write=Flow
  mpitrace merge a.slog2 b.slog2 c.slog2 all.slog2 --shift 1 --shift 2")]
pub struct Arguments {
    /// The traces, then the file to write; - is stdin or stdout
    #[arg(required = true, value_name = "IN... OUT")]
    files: Vec<PathBuf>,
    /// Seconds to add to the times of the second trace. The next --shift is for the third trace, and so on
    #[arg(long, value_name = "SECONDS", allow_negative_numbers = true, value_parser = seconds)]
    shift: Vec<f64>,
    /// Way to find the shift of each trace: from the CallIDs that it shares with the first one, or so that both start
    /// at the same time
    #[arg(long, value_enum, value_name = "HOW", conflicts_with = "shift")]
    align: Option<Align>,
    /// Shift each trace so that its first drawable of category B (default: A) starts with the first drawable of
    /// category A in the first trace
    #[arg(long, value_name = "A[=B]", conflicts_with_all = ["shift", "align"])]
    align_by: Option<String>,
    /// Format of the output [default: from the file extension]
    #[arg(long, value_enum, value_name = "FORMAT")]
    to: Option<Format>,
    #[command(flatten)]
    tree: TreeArguments,
    #[command(flatten)]
    overwrite: Overwrite,
    /// Print nothing if all goes well
    #[arg(short, long)]
    quiet: bool,
}

/// Way to align traces.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Align {
    /// From the CallIDs that the traces share
    Callid,
    /// From the first time of each trace
    Start,
    /// No shift
    None,
}

/// Largest shift, seconds: more than the time since 1970. Nanoseconds of sums with it fit 64 bits, which several formats have for times.
const MAX_SHIFT: f64 = 4e9;

fn seconds(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(number) if number.abs() <= MAX_SHIFT => Ok(number),
        _ => Err("expected a number of seconds from -4000000000 to 4000000000".into()),
    }
}

/// Runs the subcommand.
pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    let (output, inputs) = match arguments.files.split_last() {
        Some((output, inputs)) if inputs.len() > 1 => (output, inputs),
        _ => {
            let message = "expected at least two traces, and the file to write";
            return Err(Failure::Call(message.into()));
        }
    };
    if !arguments.shift.is_empty() && arguments.shift.len() + 1 != inputs.len() {
        return Err(Failure::Call(format!(
            "{} shifts for {} traces behind the first",
            arguments.shift.len(),
            inputs.len() - 1
        )));
    }
    arguments.overwrite.allow(output, inputs)?;
    let target = Target::new(output, arguments.to, &arguments.tree)?;
    let traces: Vec<TraceInput> = inputs
        .iter()
        .map(|path| TraceInput::open(path))
        .collect::<Result<_, _>>()?;
    let sources: Vec<Box<dyn Source + '_>> = traces
        .iter()
        .map(TraceInput::source)
        .collect::<Result<_, _>>()?;
    let mut parts = Vec::new();
    for (nth, (trace, source)) in traces.iter().zip(&sources).enumerate() {
        let shift = match nth.checked_sub(1) {
            None => 0.0,
            Some(nth) => shift(arguments, nth, sources[0].as_ref(), trace, source.as_ref())?,
        };
        parts.push(MergeInput {
            source: source.as_ref(),
            views: edited::views(trace, source.as_ref())?,
            name: short_name(trace.name()),
            shift,
        });
    }
    let shape = edited::shape(&traces[0])?;
    let merged = MergedTraces::new(parts).map_err(failure)?;
    let losses = edited::write(&target, &merged, merged.views(), shape, arguments.quiet)?;
    report_losses(&losses, &target.path);
    if !arguments.quiet {
        let lines = merged.definitions().lines.len();
        tell!(
            "mpitrace: {}: {} traces, {lines} lines",
            output.display(),
            inputs.len()
        );
    }
    Ok(())
}

/// The name of a file as titles of views show it: without folder and ending.
fn short_name(path: &Path) -> String {
    let name = path.file_stem().unwrap_or(path.as_os_str());
    name.to_string_lossy().into_owned()
}

/// Finds the shift of a trace, and says on stderr how large it is and why.
fn shift(
    arguments: &Arguments,
    nth: usize,
    first: &dyn Source,
    trace: &TraceInput,
    source: &dyn Source,
) -> Result<f64, Failure> {
    let name = trace.name().display();
    let say = |shift: f64, why: &str| {
        if !arguments.quiet {
            tell!("mpitrace: {name}: shifted by {shift} s: {why}");
        }
        Ok(shift)
    };
    let nothing = |what: &str| Err(Failure::Data(format!("{name}: {what}")));
    if let Some(&shift) = arguments.shift.get(nth) {
        return Ok(shift);
    }
    if let Some(names) = &arguments.align_by {
        let (a, b) = names.split_once('=').unwrap_or((names, names));
        let (a, b): (CategoryPattern, CategoryPattern) = (a.into(), b.into());
        let found = align_by_category((first, &a), (source, &b)).map_err(failure)?;
        return match found {
            Some(shift) => say(shift, "to align the given categories"),
            None => nothing("one of the traces has no drawable of the given category"),
        };
    }
    match arguments.align {
        Some(Align::None) => Ok(0.0),
        Some(Align::Start) => match align_starts(first, source).map_err(failure)? {
            Some(shift) => say(shift, "so that it starts with the first trace"),
            None => nothing("one of the traces has no drawable"),
        },
        asked => match align_by_call_ids(first, source).map_err(failure)? {
            None if asked.is_none() => Ok(0.0),
            None => nothing("it has no CallID that the first trace has"),
            // Clocks that agree are left alone.
            Some(found) if asked.is_none() && 2 * found.within_unshifted > found.common => Ok(0.0),
            Some(found) if asked.is_none() && !found.is_likely() => {
                if !arguments.quiet {
                    let common = found.common;
                    let why = match found.are_calls_in_both() {
                        false => format!(
                            "only {} of {common} common CallIDs would fit into each other",
                            found.within
                        ),
                        true => format!(
                            "it has the calls of {} of {common} common CallIDs, as the first trace has",
                            found.calls_in_both
                        ),
                    };
                    tell!("mpitrace: {name}: not shifted: {why}");
                }
                Ok(0.0)
            }
            Some(found) => say(
                found.shift,
                &format!(
                    "{} of {} common CallIDs then fit into each other",
                    found.within, found.common
                ),
            ),
        },
    }
}
