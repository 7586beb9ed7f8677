//! `mpitrace recover`: what MPI_Finalize would have made, from the block files that a run left instead.
//!
//! A block file is whole at any moment but for the call that was running: so what a killed run leaves is read with the same
//! code as at MPI_Finalize, and comes out as the same files.

pub mod groups;
pub mod source;
pub mod write;

use crate::clock;
use crate::failure::Failure;
use crate::input::Input;
use crate::tree::TreeArguments;
use groups::Group;
use source::Source;
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fmt::Write as _;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use wrappers::Table;

/// Make the trace of a run that did not reach its merge
///
/// A run that was killed, that exited without MPI_Finalize or that has MPI sessions only leaves one block file per process,
/// libtrace.*.blocks. They are sorted by run, and of each run DUMPI, CLOG2 and SLOG2 files are made. The exit code is 1 when
/// a block file is damaged; what can be read of it comes into the trace all the same.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  mpitrace recover --count .                      what is there
  mpitrace recover --dir traces /scratch/job17")]
pub struct Arguments {
    /// Block files, or folders with block files
    #[arg(required = true, value_name = "DIR|FILE.blocks")]
    inputs: Vec<PathBuf>,
    /// Where the trace goes
    #[arg(long, value_name = "OUT", default_value = ".")]
    dir: PathBuf,
    /// Name of the CLOG2 and SLOG2 files without ending [default: the program's]
    #[arg(long, value_name = "NAME")]
    output: Option<String>,
    /// Only tell how many calls there are: a line for each rank, with the functions it called
    #[arg(long)]
    count: bool,
    /// Leave the block files where they are; the default
    #[arg(long, overrides_with = "remove")]
    keep: bool,
    /// Remove the block files of which all came into a trace
    #[arg(long, overrides_with = "keep", conflicts_with = "count")]
    remove: bool,
    /// The tree; a leaf is of the size that suits the number of lines unless it is said here
    #[command(flatten)]
    tree: TreeArguments,
}

/// Ending of block files.
const ENDING: &str = "blocks";

/// Runs the subcommand.
pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    let table = wrappers::table().map_err(|error| Failure::Data(error.to_string()))?;
    let mut complaints = Vec::new();
    let mut inputs = Vec::new();
    for path in block_files(&arguments.inputs)? {
        match Input::open(&path) {
            Ok(input) => inputs.push((path, input)),
            Err(Failure::Data(message)) => complaints.push(message),
            Err(other) => return Err(other),
        }
    }
    let notes = clock::notes();
    let mut sources = Vec::new();
    for (path, input) in &inputs {
        match Source::new(path, input, &table, notes.as_ref()) {
            Ok(source) => sources.push(source),
            Err(message) => complaints.push(message),
        }
    }
    let (groups, left_out) = groups::of(sources);
    complaints.extend(left_out);
    let mut out = io::stdout().lock();
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
            say(&counts(group, &table))?;
            continue;
        }
        say(&format!("{}\n{}", group.title(), ends(group, &table)))?;
        let written = write::write(group, &table, arguments);
        if !written.files.is_empty() {
            say(&format!("  -> {}\n", written.files.join(", ")))?;
        }
        let whole = written.failures.is_empty();
        complaints.extend(written.failures);
        if arguments.remove && whole && written.all_in {
            complaints.extend(remove(group));
        }
    }
    if complaints.is_empty() {
        return Ok(());
    }
    Err(Failure::Data(complaints.join("\nmpitrace: ")))
}

/// The block files that the arguments name, each once.
fn block_files(inputs: &[PathBuf]) -> Result<BTreeSet<PathBuf>, Failure> {
    let mut files = BTreeSet::new();
    for path in inputs {
        if !path.is_dir() {
            files.insert(path.clone());
            continue;
        }
        let failed = |error: io::Error| Failure::Data(format!("{}: {error}", path.display()));
        let before = files.len();
        for entry in fs::read_dir(path).map_err(failed)? {
            let file = entry.map_err(failed)?.path();
            if file.extension() == Some(OsStr::new(ENDING)) {
                files.insert(file);
            }
        }
        if files.len() == before {
            let message = format!("{}: no block files (*.{ENDING}) here", path.display());
            return Err(Failure::Data(message));
        }
    }
    Ok(files)
}

/// For `--count`: a line for each process in the form of the recorder's setting `counts`.
fn counts(group: &Group<'_>, table: &Table) -> String {
    let mut text = String::new();
    for source in &group.sources {
        let scan = formats::project::scan::Scan::new(&source.file);
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

/// A line for each process, and one for those that are missing.
fn ends(group: &Group<'_>, table: &Table) -> String {
    let mut text = String::new();
    for source in &group.sources {
        let scan = formats::project::scan::Scan::new(&source.file);
        let who = match source.info.rank {
            0.. => format!("rank {}", source.info.rank),
            _ => format!("process {}", source.info.pid),
        };
        let calls = if scan.calls == 1 { "call" } else { "calls" };
        let end = source.end(table, &scan.library);
        let _ = write!(text, "  {who}: {} {calls}, {end}", scan.calls);
        if scan.lost > 0 {
            let _ = write!(text, ", {} lost", scan.lost);
            if !scan.lost_reasons.is_empty() {
                let _ = write!(text, " ({})", scan.lost_reasons.join(", "));
            }
        }
        if scan.ignored > 0 {
            let _ = write!(text, ", {} not recorded", scan.ignored);
        }
        text.push('\n');
    }
    let missing = group.missing();
    if !missing.is_empty() {
        let _ = writeln!(text, "  no block file of rank {missing}");
    }
    text
}

/// Removes the block files of processes that have ended. Gives what could not be removed.
fn remove(group: &Group<'_>) -> Vec<String> {
    let ended = group.sources.iter().filter(|source| !source.running);
    let removed = ended.map(|source| (source.path, fs::remove_file(source.path)));
    let failed = |(path, result): (&Path, io::Result<()>)| {
        result
            .err()
            .map(|error| format!("{}: {error}", path.display()))
    };
    removed.filter_map(failed).collect()
}
