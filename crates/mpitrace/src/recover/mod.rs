//! `mpitrace recover`: what MPI_Finalize would have made, from the block files that a run left instead.
//!
//! A block file is whole at any moment but for the call that was running: so what a killed run leaves is read with the same
//! code as at MPI_Finalize, and comes out as the same files.

mod arguments;
mod parts;
pub mod write;

pub use arguments::{Arguments, MergeWay, OutputFormat};

use crate::block_files::folders;
use crate::block_files::found::{self, ENDING};
use crate::block_files::groups::{self, RunFiles};
use crate::block_files::machine_clock::{self, MachineClock};
use crate::block_files::snapshot;
use crate::block_files::source::BlockFileInput;
use crate::failure::Failure;
use crate::terminal::tell;
use crate::trace_files::input::OpenedInput;
use merge::on_threads;
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use wrappers::Table;

/// Runs the subcommand.
pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    parts::check(arguments)?;
    let table = wrappers::table().map_err(|error| Failure::Data(error.to_string()))?;
    let mut complaints = Vec::new();
    let mut failures = Vec::new();
    let mut inputs = Vec::new();
    let threads = arguments.threads();
    let paths: Vec<PathBuf> = block_files(&arguments.inputs, arguments.any_owner)?
        .into_iter()
        .collect();
    let opened = on_threads(threads, &paths, |path| open(path));
    for (path, opened) in paths.iter().zip(opened) {
        match opened {
            Ok((input, running)) => inputs.push((path, input, running)),
            Err(Failure::Data(message)) => complaints.push(message),
            Err(other) => return Err(other),
        }
    }
    let clock_path = parts::clock_path(arguments, &paths);
    let notes = match arguments.is_in_parts() {
        true => shared_notes(arguments, &clock_path)?,
        false => machine_clock::notes(),
    };
    let read = on_threads(threads, &inputs, |(path, input, running)| {
        let file = input
            .blocks()
            .map_err(|error| format!("{}: {error}", path.display()))?;
        BlockFileInput::new(path, file, *running, table, notes.as_ref())
    });
    let mut sources = Vec::new();
    for source in read {
        match source {
            Ok(source) => sources.push(source),
            Err(message) => complaints.push(message),
        }
    }
    let (groups, left_out) = groups::of(sources);
    complaints.extend(left_out);
    let mut out = crate::terminal::stdout();
    let mut say = |text: &str| {
        out.write_all(text.as_bytes())
            .and_then(|()| out.flush())
            .map_err(|error| Failure::output("stdout", &error))
    };
    for group in &groups {
        for source in &group.sources {
            let damage = source.damage.iter();
            complaints.extend(damage.map(|d| format!("{}: {d}", source.path.display())));
        }
        if arguments.count {
            if groups.len() > 1 {
                say(&format!("# {}\n", group.title()))?;
            }
            say(&counts(group, table))?;
            continue;
        }
        say(&format!("{}\n", group.title()))?;
        if arguments.part.is_none() {
            say(&ends(group, table, threads))?;
        }
        if let Some(running) = group.sources.iter().find(|s| s.running)
            && !arguments.force
        {
            let advice = match arguments.is_in_parts() {
                true => "parts need block files that stay as they are",
                false => "--force makes a trace of what is there so far",
            };
            failures.push(format!(
                "{}: process {} is still writing to it: nothing made of this run; {advice}",
                running.path.display(),
                running.info.pid
            ));
            continue;
        }
        complaints.extend(missing(group));
        let written = match arguments.part {
            Some(part) => parts::write(group, table, arguments, part),
            None if arguments.join => parts::join(group, table, arguments),
            None => write::write(group, table, arguments),
        };
        if !written.files.is_empty() {
            say(&format!("  -> {}\n", written.files.join(", ")))?;
        }
        for note in &written.notes {
            say(&format!("  {note}\n"))?;
        }
        let whole = written.failures.is_empty();
        failures.extend(written.failures);
        if arguments.remove && whole && written.all_in {
            complaints.extend(remove(group));
        }
    }
    if arguments.join && failures.is_empty() && !groups.is_empty() {
        // All parts are gone, and nobody else has the same block files.
        drop(fs::remove_file(&clock_path));
    }
    if arguments.part.is_some() && !groups.is_empty() {
        // What is wrong with the block files decides the exit code of who joins the parts.
        for complaint in complaints.drain(..) {
            tell!("mpitrace: {complaint}");
        }
    }
    complaints.extend(failures);
    if complaints.is_empty() {
        return Ok(());
    }
    Err(Failure::Data(complaints.join("\nmpitrace: ")))
}

/// The reading of the clocks that all jobs have in common which make a trace in parts.
fn shared_notes(arguments: &Arguments, path: &Path) -> Result<Option<MachineClock>, Failure> {
    if !arguments.join {
        fs::create_dir_all(&arguments.dir).map_err(|error| Failure::file(&arguments.dir, error))?;
    }
    machine_clock::shared_notes(path, arguments.join).map_err(Failure::Data)
}

/// A block file, or a copy of what is in it if a process is still writing to it, and whether that is so.
fn open(path: &Path) -> Result<(OpenedInput, bool), Failure> {
    let input = OpenedInput::open_regular(path)?;
    // A file that cannot be read is told of where it is read.
    let Ok(file) = input.blocks() else {
        return Ok((input, false));
    };
    let failed = |error: io::Error| Failure::file(path, error);
    let pid = file.info().pid;
    drop(file);
    let copy = snapshot::of_running(path, pid).map_err(failed)?;
    Ok(match copy {
        Some(copy) => (copy, true),
        None => (input, false),
    })
}

/// The block files that the arguments name, each once.
fn block_files(inputs: &[PathBuf], any_owner: bool) -> Result<BTreeSet<PathBuf>, Failure> {
    let mut files = BTreeSet::new();
    if inputs.is_empty() {
        let usual = folders::usual();
        for folder in usual.iter().filter(|folder| folder.is_dir()) {
            files.extend(found::block_files(folder, any_owner)?);
        }
        if files.is_empty() {
            let names: Vec<String> = usual.iter().map(|f| f.display().to_string()).collect();
            let message = format!("no block files (*.{ENDING}) in {}", names.join(" or "));
            return Err(Failure::Data(message));
        }
    }
    for path in inputs {
        if !path.is_dir() {
            files.insert(path.clone());
            continue;
        }
        let found = found::block_files(path, any_owner)?;
        if found.is_empty() {
            let message = format!("{}: no block files (*.{ENDING}) here", path.display());
            return Err(Failure::Data(message));
        }
        files.extend(found);
    }
    Ok(files)
}

/// For `--count`: a line for each process in the form of the recorder's setting `counts`.
fn counts(group: &RunFiles<'_>, table: &Table) -> String {
    let mut text = String::new();
    for source in &group.sources {
        let scan = unify::scan::Scan::new(&source.file);
        // Writing to a String cannot fail.
        let _ = write!(text, "{} {}", source.info.rank, scan.calls);
        let names = table.functions.iter().map(|f| (f.id, f.name.as_str()));
        let unknown = scan.library.functions();
        let unknown = unknown
            .iter()
            .map(|(n, name)| (usize::from(*n), name.as_str()));
        for (number, name) in names.chain(unknown) {
            let calls = u16::try_from(number).map_or(0, |n| scan.calls_of(n));
            if calls > 0 {
                let _ = write!(text, " {name}={calls}");
            }
        }
        text.push('\n');
    }
    text
}

/// A line for each process.
fn ends(group: &RunFiles<'_>, table: &Table, threads: usize) -> String {
    on_threads(threads, &group.sources, |source| end(source, table)).concat()
}

/// The line of a process.
fn end(source: &BlockFileInput<'_>, table: &Table) -> String {
    let scan = unify::scan::Scan::new(&source.file);
    let who = match source.info.rank {
        0.. => format!("rank {}", source.info.rank),
        _ => format!("process {}", source.info.pid),
    };
    let calls = if scan.calls == 1 { "call" } else { "calls" };
    let end = source.end(table, &scan.library);
    let mut text = format!("  {who}: {} {calls}, {end}", scan.calls);
    // Writing to a String cannot fail.
    if scan.lost > 0 {
        let _ = write!(text, ", {} lost", scan.lost);
        if !scan.lost_reasons.is_empty() {
            let _ = write!(text, " ({})", scan.lost_reasons.join(", "));
        }
    }
    if scan.info.dropped > 0 {
        let _ = write!(text, ", {} before them given up", scan.info.dropped);
    }
    if scan.ignored > 0 {
        let _ = write!(text, ", {} counted only", scan.ignored);
    }
    text.push('\n');
    text
}

/// Names the ranks whose block files are not here, and the likely reason.
fn missing(group: &RunFiles<'_>) -> Option<String> {
    let missing = Some(group.missing()).filter(|missing| !missing.is_empty())?;
    let why = match group.sources.iter().all(BlockFileInput::reached_finalize) {
        // Each removes its own when rank 0 has the trace.
        true => {
            "all others reached MPI_Finalize, so that the trace of the run may be there and whole, and what is here be left over"
        }
        false => "the trace is without it",
    };
    Some(format!(
        "{}: no block file of rank {missing}: {why}",
        group.title()
    ))
}

/// Removes the block files of processes that have ended and, if all have, what they said to each other beside them. Gives what
/// could not be removed.
fn remove(group: &RunFiles<'_>) -> Vec<String> {
    let ended = group.sources.iter().filter(|source| !source.running);
    let mut gone: Vec<PathBuf> = ended.map(|source| source.path.to_owned()).collect();
    if gone.len() == group.sources.len() {
        gone.extend(arrivals(group));
    }
    let failed = |path: PathBuf| {
        let error = fs::remove_file(&path).err()?;
        Some(format!("{}: {error}", path.display()))
    };
    gone.into_iter().filter_map(failed).collect()
}

/// The files in which ranks of a run said that they had come to MPI_Finalize, or that they end, beside its block files.
fn arrivals(group: &RunFiles<'_>) -> Vec<PathBuf> {
    let Some(run) = group.sources.first().map(|source| source.info.run) else {
        return Vec::new();
    };
    let folders = group
        .sources
        .iter()
        .filter_map(|source| source.path.parent());
    let folders: BTreeSet<&Path> = folders.collect();
    let listed = folders.into_iter().flat_map(|folder| {
        // A file that is named without a folder is in this one.
        let folder = Some(folder).filter(|folder| !folder.as_os_str().is_empty());
        fs::read_dir(folder.unwrap_or(Path::new(".")))
            .into_iter()
            .flatten()
            .flatten()
    });
    let is_of_run = |entry: &fs::DirEntry| {
        let name = entry.file_name();
        run != 0 && blockfile::arrivals::is_of(run, &name.to_string_lossy())
    };
    listed.filter(is_of_run).map(|entry| entry.path()).collect()
}
