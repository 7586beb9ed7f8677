//! The command line of `mpitrace recover`.

use crate::trace_files::shape::TreeArguments;
use std::path::PathBuf;

/// Make the trace of a run that did not reach its merge
///
/// A run that was killed, that exited without MPI_Finalize or that has MPI sessions only leaves one block file per process,
/// libtrace.*.blocks. They are sorted by run, and of each run DUMPI, CLOG2 and SLOG2 files are made. The exit code is 1 when
/// a block file is damaged or that of a rank is not there; what can be read comes into the trace all the same.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  mpitrace recover --count .                      what is there
  mpitrace recover --dir traces /scratch/job17")]
pub struct Arguments {
    /// Block files, or folders with block files [default: where a program that is started here has its block files]
    #[arg(value_name = "DIR|FILE.blocks")]
    pub inputs: Vec<PathBuf>,
    /// Where the trace goes
    #[arg(long, value_name = "OUT", default_value = ".")]
    pub dir: PathBuf,
    /// Name of the CLOG2 and SLOG2 files without ending [default: the program's]
    #[arg(long, value_name = "NAME")]
    pub output: Option<String>,
    /// What is made
    #[arg(
        long,
        value_name = "FORMAT,...",
        value_delimiter = ',',
        default_value = "dumpi,clog2,slog2"
    )]
    pub formats: Vec<Kind>,
    /// Only tell how many calls there are: a line for each rank, with the functions it called
    #[arg(long)]
    pub count: bool,
    /// Make a trace of what a run that still goes on has recorded so far
    #[arg(long)]
    pub force: bool,
    /// Leave the block files where they are; the default
    #[arg(long, overrides_with = "remove")]
    pub keep: bool,
    /// Remove the block files of which all came into a trace
    #[arg(long, overrides_with = "keep", conflicts_with = "count")]
    pub remove: bool,
    /// Also block files of other users, where they are found in a folder
    #[arg(long)]
    pub any_owner: bool,
    /// The tree; a leaf is of the size that suits the number of lines unless it is said here
    #[command(flatten)]
    pub tree: TreeArguments,
}

/// What can be made of block files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Kind {
    /// A file for each rank and a metafile.
    Dumpi,
    /// One file.
    Clog2,
    /// One file.
    Slog2,
}
