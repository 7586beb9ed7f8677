//! `mpitrace check`: whether a file is what its format demands.

mod clog2;
mod dumpi;
mod findings;
mod others;
mod slog2;

use crate::failure::Failure;
use crate::trace_files::dumpi_run::is_meta;
use crate::trace_files::format::Format;
use crate::trace_files::input::{OpenedInput, shown};
use findings::{CheckFindings, Severity};
use serde_json::{Value, json};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Check that files conform to their formats
///
/// The command checks structure, offsets and order. In a tree, children and previews must agree with the level below;
/// in a log, states must end and messages must match. An error makes a file bad. A warning reports something unusual
/// that a failed program or an original tool may write. The exit code is 0 if all files are good and 1 otherwise.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  mpitrace check run.slog2
  mpitrace check --quiet *.clog2 && echo all good
  mpitrace check --strict --json lmp-2026.11.20.08.15.00.meta")]
pub struct Arguments {
    /// The files to read; - is stdin
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Maximum number of findings to show of each kind
    #[arg(long, value_name = "N", default_value_t = 10)]
    most: u64,
    /// Treat warnings as errors
    #[arg(long)]
    strict: bool,
    /// Print JSON: an array with one object per file
    #[arg(long)]
    json: bool,
    /// Print nothing about good files and warnings, and do not show progress
    #[arg(short, long)]
    quiet: bool,
}

/// Runs the subcommand.
pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    let mut out = crate::terminal::stdout_beside_verdict();
    let failed = |error: io::Error| Failure::output("stdout", &error);
    let mut all = Vec::new();
    let mut bad = Vec::new();
    for path in &arguments.files {
        let mut findings = CheckFindings::new(arguments.most, arguments.quiet);
        let format = check(path, &mut findings);
        let name = shown(path).display().to_string();
        let errors = findings.count(Severity::Error);
        let warnings = findings.count(Severity::Warning);
        let is_bad = errors > 0 || arguments.strict && warnings > 0;
        if is_bad {
            bad.push(name.clone());
        }
        if arguments.json {
            let mut object = json!({ "file": name, "format": format, "is_good": !is_bad });
            if let (Value::Object(object), Value::Object(found)) = (&mut object, findings.json()) {
                object.extend(found);
            }
            all.push(object);
            continue;
        }
        let is_wanted = |line: &String| {
            !arguments.quiet || arguments.strict || line.starts_with(&format!("{name}: error: "))
        };
        for line in findings.lines(&name).iter().filter(|line| is_wanted(line)) {
            writeln!(out, "{line}").map_err(failed)?;
        }
        if !arguments.quiet {
            let verdict = if is_bad { "bad" } else { "good" };
            let format = format.as_deref().unwrap_or("unknown format");
            writeln!(
                out,
                "{name}: {verdict}: {format}, {errors} errors, {warnings} warnings"
            )
            .map_err(failed)?;
        }
    }
    if arguments.json {
        serde_json::to_writer_pretty(&mut out, &Value::Array(all))
            .map_err(|error| Failure::output("stdout", &error.into()))?;
        writeln!(out).map_err(failed)?;
    }
    match (&bad[..], arguments.files.len()) {
        ([], _) => Ok(()),
        ([name], 1) => Err(Failure::Data(format!("{name} is bad"))),
        (bad, all) => Err(Failure::Data(format!(
            "{} of {all} files are bad",
            bad.len()
        ))),
    }
}

/// Checks a file and gives the name of its format.
fn check(path: &Path, findings: &mut CheckFindings) -> Option<String> {
    let input = match OpenedInput::open_raw(path) {
        Ok(input) => input,
        Err(Failure::Data(message) | Failure::Call(message)) => {
            findings.unreadable(message);
            return None;
        }
        Err(Failure::ClosedPipe | Failure::Limit(_)) => return None,
    };
    let format = Format::of(&input);
    if format == Some(Format::Dumpi) && is_meta(&input) {
        dumpi::check_run(path, &input, findings);
        return Some("DUMPI run".to_owned());
    }
    let Some(format) = format else {
        if let Err(Failure::Data(message)) = Format::known(&input, path) {
            findings.unreadable(message);
        }
        return None;
    };
    match format {
        Format::Clog2 => clog2::check(&input, findings),
        Format::Slog2 => slog2::check(path, &input, findings),
        Format::Dumpi => dumpi::check(&input, findings),
        Format::Blocks => others::check_blocks(&input, findings),
        Format::Alog => others::check_alog(&input, findings),
        Format::Clog1 => others::check_clog1(&input, findings),
        Format::Slog1 => others::check_slog1(&input, findings),
        Format::Paje => others::check_paje(crate::trace_files::paje::trace(&input, path), findings),
        Format::DumpiText => dumpi::check_text(&input, findings),
        Format::Otf2 => others::check_archive(path, findings),
        Format::Perfetto | Format::Chrome | Format::Parquet | Format::Arrow => {
            findings.unreadable(format.refusal(path))
        }
    }
    Some(format.to_string())
}
