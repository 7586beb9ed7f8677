//! `mpitrace verify`: whether a program is correct, as far as its calls tell.

mod blocks;
mod calls;
mod comm_handles;
mod dumpi;
mod error_names;
mod exchanged_bytes;
mod failed_writes;
mod missing;
mod polls;
mod text;
mod window_groups;

use crate::block_files::found;
use crate::block_files::groups;
use crate::block_files::machine_clock;
use crate::block_files::snapshot;
use crate::block_files::source::{BlockFileInput, SecondLook};
use crate::failure::Failure;
use crate::terminal::progress::TaskProgress;
use crate::terminal::units::counted;
use crate::trace_files::folder;
use crate::trace_files::format::Format;
use crate::trace_files::input::OpenedInput;
use crate::trace_files::losses::failure;
use crate::trace_files::trace::TraceInput;
use crate::trace_files::write::CountingSource;
use analysis::correctness::{CorrectnessReport, FindingKind, drawables};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

/// Check that a program is correct: collective calls, messages, leaks, errors, deadlock
///
/// Finds collective calls that do not fit each other, messages that nobody receives, objects that are never freed, calls that failed, and of a program
/// that hangs who waits for whom. Block files and DUMPI hold all arguments, SLOG2 less: what was not checked is said. The block files of a running
/// program can be looked at; it does not notice.
#[derive(clap::Args)]
#[command(
    after_help = "Exit code: 0 without findings, 3 with, 1 if a file is bad, 2 if the call is wrong.

Examples:
  mpitrace verify run.slog2
  mpitrace verify lmp-2026.11.25.19.54.53.meta
  mpitrace verify /tmp                            a run that hangs, or was killed: its block files
  mpitrace verify --json run.slog2"
)]
pub struct Arguments {
    /// The files of the trace, or a folder with block files
    #[arg(required = true, value_name = "FILE|DIR")]
    files: Vec<PathBuf>,
    /// Print everything, as JSON
    #[arg(long)]
    json: bool,
    /// Also look at block files of other users
    #[arg(long)]
    any_owner: bool,
    /// Do not show progress
    #[arg(short, long)]
    quiet: bool,
}

/// A report, and the trace that it is about.
struct NamedReport {
    name: String,
    report: CorrectnessReport,
}

/// Runs the subcommand.
pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    let reports = reports(arguments)?;
    let mut out = BufWriter::new(crate::terminal::stdout_beside_verdict());
    let unwritten = |error: io::Error| Failure::output("stdout", &error);
    for (nth, NamedReport { name, report }) in reports.iter().enumerate() {
        if arguments.json {
            let mut value =
                serde_json::to_value(report).map_err(|error| unwritten(error.into()))?;
            if let Some(object) = value.as_object_mut() {
                object.insert("trace".to_owned(), name.as_str().into());
            }
            serde_json::to_writer_pretty(&mut out, &value)
                .map_err(|error| unwritten(error.into()))?;
            writeln!(out).map_err(unwritten)?;
            continue;
        }
        let blank = if nth > 0 { "\n" } else { "" };
        write!(out, "{blank}{}", text::text(name, report)).map_err(unwritten)?;
    }
    out.flush().map_err(unwritten)?;
    let findings: usize = reports.iter().map(|it| it.report.findings.len()).sum();
    match findings {
        0 => Ok(()),
        _ => Err(Failure::Limit(counted(findings as u64, "finding"))),
    }
}

/// The reports on all traces that are meant: one, or one for each run whose block files are there.
fn reports(arguments: &Arguments) -> Result<Vec<NamedReport>, Failure> {
    let mut paths = Vec::new();
    let mut has_folder = false;
    for path in &arguments.files {
        if !path.is_dir() || folder::kind(path).is_some() {
            paths.push(folder::file_of(path));
            continue;
        }
        has_folder = true;
        let found = found::block_files(path, arguments.any_owner)?;
        if found.is_empty() {
            return Err(found::none(path));
        }
        paths.extend(found);
    }
    if has_folder || paths.iter().all(|path| found::is_block_file(path)) {
        return of_blocks(&paths);
    }
    let trace = TraceInput::open_all(&paths)?;
    if trace.format == Format::Blocks {
        return of_blocks(&paths);
    }
    let name = trace.name().display().to_string();
    if trace.format == Format::Dumpi {
        let table = wrappers::table().map_err(|error| Failure::Data(error.to_string()))?;
        let report = dumpi::check(&trace, table)?;
        return Ok(vec![NamedReport { name, report }]);
    }
    let source = trace.source()?;
    let progress = TaskProgress::drawables(&name, arguments.quiet);
    let counting = CountingSource {
        source: source.as_ref(),
        progress: &progress,
    };
    let report = drawables::check(&counting).map_err(failure)?;
    let mut report = report.ok_or_else(|| {
        Failure::Data(format!(
            "{name}: no MPI call of a rank in it, so there is nothing to verify"
        ))
    })?;
    if trace.format.loses_communicators() {
        leave_out_collectives(&mut report, trace.format);
    }
    Ok(vec![NamedReport { name, report }])
}

/// Takes out what the comparison of collective calls found in a trace that does not tell on which communicator a call was made: calls on several
/// look like calls on one. Who waits for whom in a hang follows from that comparison, too.
fn leave_out_collectives(report: &mut CorrectnessReport, format: Format) {
    report.findings.retain(|finding| match finding.kind {
        FindingKind::Deadlock
        | FindingKind::CollectiveOrder
        | FindingKind::CollectiveMissing
        | FindingKind::CollectiveRoot
        | FindingKind::CollectiveOperation
        | FindingKind::CollectiveSize => false,
        FindingKind::Truncation
        | FindingKind::FailedCall
        | FindingKind::FailedWrite
        | FindingKind::UnreceivedMessage
        | FindingKind::Leak => true,
    });
    report.operations = 0;
    report.not_checked.push(format!(
        "collective calls and deadlock: {} does not tell on which communicator a call was made",
        format.with_article()
    ));
}

/// A block file, or a copy of what is in it if a process is still writing to it, and whether that is so.
fn open(path: &Path) -> Result<(OpenedInput, bool), Failure> {
    let input = OpenedInput::open_regular(path)?;
    let pid = match input.blocks() {
        Ok(file) => file.info().pid,
        Err(error) => return Err(Failure::file(path, error)),
    };
    let copy = snapshot::of_running(path, pid).map_err(|error| Failure::file(path, error))?;
    Ok(match copy {
        Some(copy) => (copy, true),
        None => (input, false),
    })
}

/// The reports on the runs that these block files are of.
fn of_blocks(paths: &[PathBuf]) -> Result<Vec<NamedReport>, Failure> {
    let table = wrappers::table().map_err(|error| Failure::Data(error.to_string()))?;
    let mut inputs = Vec::new();
    for path in paths {
        let (input, running) = open(path)?;
        inputs.push((path, input, running));
    }
    let notes = machine_clock::notes();
    let mut sources = Vec::new();
    for (path, input, running) in &inputs {
        let file = input.blocks().map_err(|error| Failure::file(path, error))?;
        let source = BlockFileInput::new(path, file, *running, table, notes.as_ref());
        sources.push(source.map_err(Failure::Data)?);
    }
    // All copies are there.
    for source in sources.iter_mut().filter(|source| source.running) {
        // The file of a process that has ended meanwhile may be gone: then it is in no call.
        let input = OpenedInput::open_regular(source.path);
        let file = input.as_ref().ok().and_then(|input| input.blocks().ok());
        source.second_look = Some(file.as_ref().map(SecondLook::at).unwrap_or_default());
    }
    for source in &sources {
        if let Some(damage) = source.damage.first() {
            return Err(Failure::Data(format!(
                "{}: {damage}",
                source.path.display()
            )));
        }
    }
    let (groups, left_out) = groups::of(sources);
    if groups.is_empty() {
        return Err(Failure::Data(match left_out.is_empty() {
            true => "no block file of a rank".to_owned(),
            false => left_out.join("\nmpitrace: "),
        }));
    }
    let mut reports = Vec::new();
    for group in &groups {
        let mut report = blocks::check(group, table);
        report.not_checked.extend(left_out.iter().cloned());
        reports.push(NamedReport {
            name: group.title(),
            report,
        });
    }
    Ok(reports)
}
