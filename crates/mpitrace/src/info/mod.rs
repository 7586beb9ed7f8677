//! `mpitrace info`: what is in a file.

mod archive;
mod blocks;
mod clog2;
mod drawables;
mod dumpi;
mod legacy;
pub mod report;
mod slog2;
mod unfinished;

use crate::failure::Failure;
use crate::trace_files::dumpi_run::is_meta;
use crate::trace_files::format::Format;
use crate::trace_files::input::{OpenedInput, shown};
use report::InfoReport;
use serde_json::Value;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Describe traces
///
/// The description has format and version, ranks, threads and hosts, time span, numbers of calls, drawables and
/// categories, shape of the tree, clock corrections, and lost records. For a damaged file it has everything that can be
/// read, and what is missing; the exit code is 1 then.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  mpitrace info run.slog2
  mpitrace info lmp-2026.11.20.08.15.00.meta          the run; its .bin files are looked for
  mpitrace info --json *.clog2 | jq '.[].ranks'")]
pub struct Arguments {
    /// The files to read; - is stdin
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Print JSON: an array with one object per file
    #[arg(long)]
    json: bool,
    /// Do not show progress
    #[arg(short, long)]
    quiet: bool,
}

/// Runs the subcommand.
pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    let mut out = crate::terminal::stdout_beside_verdict();
    let failed = |error: io::Error| Failure::output("stdout", &error);
    let mut all = Vec::new();
    let mut bad = 0;
    for (nth, path) in arguments.files.iter().enumerate() {
        let report = describe(path, arguments.quiet);
        bad += usize::from(!report.problems.is_empty());
        if arguments.json {
            all.push(report.into_json());
            continue;
        }
        if nth > 0 {
            writeln!(out).map_err(failed)?;
        }
        out.write_all(report.into_text().as_bytes())
            .map_err(failed)?;
    }
    if arguments.json {
        serde_json::to_writer_pretty(&mut out, &Value::Array(all))
            .map_err(|error| Failure::output("stdout", &error.into()))?;
        writeln!(out).map_err(failed)?;
    }
    match (bad, arguments.files.len()) {
        (0, _) => Ok(()),
        (_, 1) => Err(Failure::Data(format!(
            "{}: not all of it can be read",
            shown(&arguments.files[0]).display()
        ))),
        (bad, all) => Err(Failure::Data(format!(
            "of {bad} of {all} files not all can be read"
        ))),
    }
}

fn describe(path: &Path, quiet: bool) -> InfoReport {
    let mut report = InfoReport {
        quiet,
        ..InfoReport::default()
    };
    report.put("file", shown(path).display().to_string());
    // An annotation file is told of as it is, without what its CLOG2 file holds.
    let input = match OpenedInput::open_raw(path) {
        Ok(input) => input,
        Err(Failure::Data(message) | Failure::Call(message)) => {
            report.problem(message);
            return report;
        }
        Err(Failure::ClosedPipe | Failure::Limit(_)) => return report,
    };
    report.put("bytes", input.len());
    let format = Format::of(&input);
    if format == Some(Format::Dumpi) && is_meta(&input) {
        report.put("format", "DUMPI run");
        dumpi::describe_run(path, &input, &mut report);
        return report;
    }
    let Some(format) = format else {
        if let Err(Failure::Data(message)) = Format::known(&input, path) {
            report.problem(message);
        }
        return report;
    };
    report.put("format", format.to_string());
    match format {
        Format::Clog2 => clog2::describe(&input, &mut report),
        Format::Slog2 => slog2::describe(&input, &mut report),
        Format::Dumpi => dumpi::describe(&input, &mut report),
        Format::Blocks => blocks::describe(path, &input, &mut report),
        Format::Alog => legacy::describe_alog(&input, &mut report),
        Format::Clog1 => legacy::describe_clog1(&input, &mut report),
        Format::Slog1 => legacy::describe_slog1(&input, &mut report),
        Format::Paje => {
            let trace = crate::trace_files::paje::trace(&input, path);
            legacy::describe_paje(trace, &mut report);
        }
        Format::DumpiText => dumpi::describe_text(&input, &mut report),
        Format::Otf2 => archive::describe(path, input, &mut report),
        Format::Perfetto | Format::Chrome | Format::Parquet | Format::Arrow => {
            report.problem(format.refusal(path))
        }
    }
    report
}
