//! `mpitrace join`: several CLOG2 files as one, in the bytes of clog2_join.

use crate::failure::Failure;
use crate::input::{Input, shown};
use crate::traces::Target;
use crate::tree::TreeArguments;
use formats::clog2::{Reader, Writer, join, joined_preamble};
use std::path::{Path, PathBuf};

/// Put several CLOG2 files together
///
/// The local files that the ranks of a run left behind, or the merged logs of several MPI_COMM_WORLDs, become one merged
/// log: records by time, communicators numbered anew. The output is that of clog2_join to the byte. Of damaged files what
/// can be read is taken, and the rest is said.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  mpitrace join /tmp/clog2_taskID=* run.clog2      the local files of a run, made one
  mpitrace join parent.clog2 child.clog2 both.clog2")]
pub struct Arguments {
    /// The CLOG2 files, then the file to write; - is stdin or stdout
    #[arg(required = true, num_args = 2.., value_name = "IN... OUT")]
    files: Vec<PathBuf>,
    /// Say nothing if all went well
    #[arg(short, long)]
    quiet: bool,
}

/// Runs the subcommand.
pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    let Some((output, paths)) = arguments.files.split_last() else {
        return Err(Failure::Call("no files".into()));
    };
    let mut inputs = Vec::new();
    for path in paths {
        inputs.push(Input::open(path)?);
    }
    let mut readers = Vec::new();
    for (path, input) in paths.iter().zip(&inputs) {
        let reader = Reader::new(input);
        readers.push(reader.map_err(|e| Failure::Data(e.in_file(shown(path)).to_string()))?);
    }
    let target = Target::new(
        output,
        Some(crate::format::Format::Clog2),
        &TreeArguments::default(),
    )?;
    let failed = |error: formats::clog2::Error| match &error.kind {
        formats::clog2::ErrorKind::Io(io) => Failure::output(output.display(), io),
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
