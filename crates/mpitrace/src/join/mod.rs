//! `mpitrace join`: several CLOG2 files as one, in the bytes of clog2_join, or those of several MPI_COMM_WORLDs on one clock.

mod worlds;

use crate::failure::Failure;
use crate::trace_files::input::{Input, shown};
use crate::trace_files::overwrite::Overwrite;
use crate::trace_files::shape::TreeArguments;
use crate::trace_files::target::Target;
use std::path::{Path, PathBuf};
use trace_formats::clog2::{Reader, Writer, join, joined_preamble};

/// Put several CLOG2 files together
///
/// The local files that the ranks of a run left behind, or the merged logs of several MPI_COMM_WORLDs, become one merged
/// log: records by time, communicators numbered anew. The output is that of clog2_join to the byte. Of damaged files what
/// can be read is taken, and the rest is said.
///
/// With --worlds they are logs of libtrace, of a program that started others with MPI_Comm_spawn or met them with
/// MPI_Comm_connect: all come on one clock, with lines of their own and arrows for the messages between them, as CLOG2 or
/// SLOG2 as the name of the output says.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  mpitrace join /tmp/clog2_taskID=* run.clog2      the local files of a run, made one
  mpitrace join parent.clog2 child.clog2 both.clog2
  mpitrace join --worlds parent.clog2 child-spawned-*.clog2 both.slog2")]
pub struct Arguments {
    /// The CLOG2 files, then the file to write; - is stdin or stdout
    #[arg(required = true, value_name = "IN... OUT")]
    files: Vec<PathBuf>,
    /// The files are of several MPI_COMM_WORLDs
    #[arg(long)]
    worlds: bool,
    #[command(flatten)]
    overwrite: Overwrite,
    /// Say nothing if all went well
    #[arg(short, long)]
    quiet: bool,
    /// The tree of an SLOG2 file
    #[command(flatten)]
    tree: TreeArguments,
}

/// Runs the subcommand.
pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    let Some((output, paths)) = arguments.files.split_last() else {
        return Err(Failure::Call("no files".into()));
    };
    if paths.is_empty() {
        let message = "expected a file to read, and behind it the file to write";
        return Err(Failure::Call(message.into()));
    }
    arguments.overwrite.allow(output, paths)?;
    let mut inputs = Vec::new();
    for path in paths {
        inputs.push(Input::open(path)?);
    }
    let mut readers = Vec::new();
    for (path, input) in paths.iter().zip(&inputs) {
        let reader = Reader::new(input);
        readers.push(reader.map_err(|e| Failure::Data(e.in_file(shown(path)).to_string()))?);
    }
    if arguments.worlds {
        return worlds::join(arguments, output, paths, &readers);
    }
    if let Some(option) = arguments.tree.given() {
        return Err(Failure::Call(format!(
            "{option} has no meaning without --worlds"
        )));
    }
    let target = Target::new(
        output,
        Some(crate::trace_files::format::Format::Clog2),
        &TreeArguments::default(),
    )?;
    let failed = |error: trace_formats::clog2::Error| match &error.kind {
        trace_formats::clog2::ErrorKind::Io(io) => Failure::output(output.display(), io),
        _ => Failure::Data(error.to_string()),
    };
    let joined = target.place(|path: &Path| {
        let writer = Writer::create(path, &joined_preamble(&readers)).map_err(failed)?;
        let (_, joined) = join(&readers, writer).map_err(failed)?;
        Ok(joined)
    })?;
    for index in &joined.without_table {
        let name = shown(&paths[*index]).display();
        eprintln!(
            "mpitrace: warning: {name}: no communicator table; its COMM records stand in for it"
        );
    }
    for (index, error) in joined.cut_off {
        let error = error.in_file(shown(&paths[index]));
        eprintln!("mpitrace: warning: {error}; what comes before is taken");
    }
    if !arguments.quiet {
        eprintln!(
            "mpitrace: {}: {} records of {} files",
            output.display(),
            joined.records,
            paths.len()
        );
    }
    Ok(())
}
