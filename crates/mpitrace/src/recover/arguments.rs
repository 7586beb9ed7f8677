//! The command line of `mpitrace recover`.

use crate::system::cores;
use crate::trace_files::shape::TreeArguments;
use std::num::NonZeroU16;
use std::path::PathBuf;
use trace_model::PartNumber;

/// Make the trace of a run that did not reach its merge
///
/// A run leaves one block file per process (libtrace.*.blocks) if it was killed, exited without MPI_Finalize, or used
/// only MPI sessions. The command sorts block files by run and makes the files that MPI_Finalize would have made of each
/// run, as its settings say what is in them (callids, details, leaf, children, clog2-block, dumpi-folders, timestamp,
/// statuses, tracing, extensions). The exit code is 1 if a block file is damaged or missing; everything that can be read is
/// in the trace anyway.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  mpitrace recover --count .                      what is there
  mpitrace recover --dir traces /scratch/job17
  mpitrace recover --part 3/8 --dir traces /scratch/job17    the third of eight jobs
  mpitrace recover --join --dir traces /scratch/job17        when all of them have ended")]
pub struct Arguments {
    /// Block files, or folders with block files [default: the folders in which a program started here puts its block
    /// files]
    #[arg(value_name = "DIR|FILE.blocks")]
    pub inputs: Vec<PathBuf>,
    /// Folder of the trace
    #[arg(long, value_name = "OUT", default_value = ".")]
    pub dir: PathBuf,
    /// Name of the files without extension [default: name of the program]. Those of DUMPI have the date after it
    #[arg(long, value_name = "NAME")]
    pub output: Option<String>,
    /// Formats to write
    #[arg(
        long,
        value_name = "FORMAT,...",
        value_delimiter = ',',
        default_value = "dumpi,slog2"
    )]
    pub formats: Vec<OutputFormat>,
    /// Put the DUMPI files of 256 ranks each into a folder of their own
    #[arg(long)]
    pub dumpi_folders: bool,
    /// How the records of the ranks become one file
    #[arg(long, value_name = "WAY", default_value = "auto")]
    pub merge: MergeWay,
    /// Threads [default: one for each core]
    #[arg(long, value_name = "N")]
    pub threads: Option<NonZeroU16>,
    /// Be job I of N that make the files together, without MPI and in any order: make its part, beside the files to be. All of them
    /// need the same block files and options. What comes of it are the bytes of `--merge parallel`
    #[arg(long, value_name = "I/N", conflicts_with_all = ["count", "force", "remove"])]
    pub part: Option<PartNumber>,
    /// Make the files from the parts of all jobs, and remove the parts. Needs the block files and options of the parts
    #[arg(long, conflicts_with_all = ["part", "count", "force"])]
    pub join: bool,
    /// Only print the number of calls: one line per rank, with the functions it called
    #[arg(long)]
    pub count: bool,
    /// Also make the trace of a run that still goes on, from what it has recorded so far
    #[arg(long)]
    pub force: bool,
    /// Keep the block files (the default)
    #[arg(long, overrides_with = "remove")]
    pub keep: bool,
    /// Remove block files whose content is completely in a trace: operations below MPI are only in SLOG2
    #[arg(long, overrides_with = "keep", conflicts_with = "count")]
    pub remove: bool,
    /// Also take block files of other users from a folder
    #[arg(long)]
    pub any_owner: bool,
    /// The tree; what is not said here is as the settings of the run say
    #[command(flatten)]
    pub tree: TreeArguments,
}

/// Most threads of a command, unless there are more cores: threads without a core only wait for each other.
const MAX_THREADS: usize = 64;

impl Arguments {
    /// Whether several jobs make the files together.
    pub fn is_in_parts(&self) -> bool {
        self.part.is_some() || self.join
    }

    /// Number of threads, at most [`MAX_THREADS`] if there are not more cores.
    pub fn threads(&self) -> usize {
        let wanted = |threads: NonZeroU16| usize::from(threads.get());
        let cores = cores();
        self.threads
            .map_or(cores, |threads| wanted(threads).min(cores.max(MAX_THREADS)))
    }
}

/// Way in which the records of the ranks become one file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum MergeWay {
    /// Parallel from four million calls on, else tree.
    Auto,
    /// In one order of time, by one thread: as MPI_Finalize does it over rank 0.
    Tree,
    /// Cut by time, by all threads.
    Parallel,
}

/// Format to make of block files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum OutputFormat {
    /// One file per rank and a metafile.
    Dumpi,
    /// One file.
    Clog2,
    /// One file.
    Slog2,
}
