//! `mpitrace report`: why a program is slow.

mod breakdown;
mod focus;
pub mod html;
mod limits;
pub mod text;
pub mod words;

use crate::failure::Failure;
use crate::terminal::progress::TaskProgress;
use crate::terminal::table::Width;
use crate::trace_files::losses::failure;
use crate::trace_files::overwrite::Overwrite;
use crate::trace_files::target::write_bytes;
use crate::trace_files::time_window::{TimePosition, in_log};
use crate::trace_files::trace::TraceInput;
use crate::trace_files::write::CountingSource;
use analysis::performance::{self, PerformanceOptions, PerformanceReport};
use breakdown::Breakdown;
pub use focus::{FocusChoice, NamedFocus};
use limits::Limit;
use std::io::{self, BufWriter, Write};
use std::path::PathBuf;
use trace_model::TimeBBox;

/// Parts of the time that the JSON and the page have figures for.
const PARTS: usize = 100;

/// Report why a program is slow: who waits for whom, efficiencies, critical path
///
/// One screen: the verdict, efficiencies, waits by pattern, call and culprit, the critical path, and what would change if computing were
/// balanced. All of it is about the time between MPI_Init and MPI_Finalize, unless a window, a region or phases are given. Reads every
/// format, and block files of a run that did not end.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  mpitrace report run.slog2
  mpitrace report --window 1.5 2.5 run.slog2
  mpitrace report --focus 'region solve' --by rank run.slog2
  mpitrace report --focus 'phase 3' run.slog2                        an iteration of the main loop
  mpitrace report --html run.html run.slog2
  mpitrace report --json run.slog2
  mpitrace report --fail-if 'parallel-efficiency<0.7' run.slog2      exit code 3 if it is worse")]
pub struct Arguments {
    /// The files of the trace; - is stdin
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Look at what lies between these times, in seconds
    #[arg(long, num_args = 2, value_names = ["FROM", "TO"], allow_negative_numbers = true)]
    window: Option<Vec<f64>>,
    /// Look at a part of the run: 'region NAME', which is while a rank is in a state of that name, or 'phase N' or
    /// 'phase N-M', which are iterations of the main loop as the report numbers them
    #[arg(long, value_name = "PART")]
    focus: Option<NamedFocus>,
    /// Print a table of the time by this, in place of the report
    #[arg(long, value_enum, value_name = "WHAT", conflicts_with = "json")]
    by: Option<Breakdown>,
    /// Print every number, as JSON
    #[arg(long)]
    json: bool,
    /// Write a page with the report and pictures, which needs no other file; - is stdout
    #[arg(long, value_name = "PAGE", conflicts_with_all = ["json", "by"])]
    html: Option<PathBuf>,
    #[command(flatten)]
    overwrite: Overwrite,
    /// Print all columns of a table, even if the terminal is too narrow
    #[arg(long)]
    wide: bool,
    /// End with exit code 3 if this holds: a name, < or >, and a number. Names: parallel-efficiency, load-balance,
    /// communication-efficiency, serialisation-efficiency, transfer-efficiency, waiting-share, seconds, ranks-not-finalized
    #[arg(long, value_name = "CONDITION")]
    fail_if: Vec<Limit>,
    /// Do not show progress
    #[arg(short, long)]
    quiet: bool,
}

/// Runs the subcommand.
pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    let window = match arguments.window.as_deref() {
        None => None,
        Some(&[earliest, latest]) if earliest < latest => Some(TimeBBox { earliest, latest }),
        Some(_) => {
            let message = "--window: expected two times, the first before the second";
            return Err(Failure::Call(message.into()));
        }
    };
    let focus = FocusChoice {
        window,
        named: arguments.focus.clone(),
    };
    if let Some(page) = &arguments.html {
        arguments.overwrite.allow(page, &arguments.files)?;
    }
    let has_parts = arguments.json || arguments.html.is_some();
    let parts = if has_parts { PARTS } else { 0 };
    let trace = TraceInput::open_all(&arguments.files)?;
    let (name, report) = analyse(&trace, &focus, parts, arguments.quiet)?;
    if let Some(path) = &arguments.html {
        let page = html::page(&name, &trace, &focus, &report, arguments.quiet)?;
        return match write_bytes(path, page.as_bytes()) {
            // The exit code is a verdict where nobody reads the page, too.
            Ok(()) | Err(Failure::ClosedPipe) => check(arguments, &report),
            Err(failure) => Err(failure),
        };
    }
    let mut out = BufWriter::new(crate::terminal::stdout_beside_verdict());
    let unwritten = |error: io::Error| Failure::output("stdout", &error);
    if arguments.json {
        serde_json::to_writer_pretty(&mut out, &report).map_err(|error| unwritten(error.into()))?;
        writeln!(out).map_err(unwritten)?;
    } else if let Some(by) = arguments.by {
        let table = breakdown::table(&report, by);
        let width = Width::of_stdout(arguments.wide);
        match table.rows.is_empty() {
            true => writeln!(out, "{name}: nothing to break down by this"),
            false => write!(out, "{}", table.fitted(width)),
        }
        .map_err(unwritten)?;
    } else {
        let text = text::text(&name, &focus, &report);
        out.write_all(text.as_bytes()).map_err(unwritten)?;
    }
    out.flush().map_err(unwritten)?;
    check(arguments, &report)
}

/// Prints the reports on traces, of which these are the files, with an empty line between them.
pub fn print(traces: &[Vec<PathBuf>], quiet: bool) -> Result<(), Failure> {
    let mut out = crate::terminal::stdout();
    let unwritten = |error: io::Error| Failure::output("stdout", &error);
    for (nth, files) in traces.iter().enumerate() {
        let focus = FocusChoice::default();
        let trace = TraceInput::open_all(files)?;
        let (name, report) = analyse(&trace, &focus, 0, quiet)?;
        let blank = if nth > 0 { "\n" } else { "" };
        write!(out, "{blank}{}", text::text(&name, &focus, &report)).map_err(unwritten)?;
    }
    out.flush().map_err(unwritten)
}

/// The name of a trace, and the analysis of it, with figures for so many parts of the time.
pub fn analyse(
    trace: &TraceInput,
    focus: &FocusChoice,
    parts: usize,
    quiet: bool,
) -> Result<(String, PerformanceReport), Failure> {
    let source = trace.source()?;
    let name = trace.name().display().to_string();
    let progress = TaskProgress::drawables(&name, quiet);
    let counting = CountingSource {
        source: source.as_ref(),
        progress: &progress,
    };
    let options = PerformanceOptions {
        focus: focus.ranges(&name, source.as_ref())?,
        parts,
    };
    let report = performance::analyse(&counting, &options);
    let mut report = report.map_err(failure)?;
    if trace.format.loses_communicators() {
        report.notes.push(format!(
            "{} does not tell communicators: collective calls are taken to be on MPI_COMM_WORLD, and waits in them are wrong if the program has others",
            trace.format
        ));
    }
    if report.ranks == 0 {
        return Err(Failure::Data(format!(
            "{name}: no state of a rank in it, so there is nothing to report"
        )));
    }
    let found = &report.focus;
    if found.seconds <= 0.0 {
        let what = match focus.window {
            Some(_) => "in the window",
            None => "between MPI_Init and MPI_Finalize",
        };
        let (begin, end) = (found.from - found.before, found.to + found.after);
        if let Some(TimeBBox { earliest, latest }) = focus.window {
            let log = TimeBBox {
                earliest: begin,
                latest: end,
            };
            in_log(
                TimePosition::Seconds(earliest),
                TimePosition::Seconds(latest),
                log,
            )?;
        }
        return Err(Failure::Data(format!(
            "{name}: no time {what}; the trace goes from {begin:.6} to {end:.6} s"
        )));
    }
    Ok((name, report))
}

/// Whether what the user wants to hold does.
fn check(arguments: &Arguments, report: &PerformanceReport) -> Result<(), Failure> {
    let reached = arguments
        .fail_if
        .iter()
        .filter(|limit| limit.is_reached(report));
    let reached: Vec<String> = reached.map(|limit| limit.words(report)).collect();
    match reached.is_empty() {
        true => Ok(()),
        false => Err(Failure::Limit(reached.join("; "))),
    }
}
