//! The command line of `mpitrace join`.

use crate::trace_files::overwrite::Overwrite;
use crate::trace_files::shape::TreeArguments;
use std::path::PathBuf;

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
    pub files: Vec<PathBuf>,
    /// The files are of several MPI_COMM_WORLDs
    #[arg(long)]
    pub worlds: bool,
    #[command(flatten)]
    pub overwrite: Overwrite,
    /// Say nothing if all went well
    #[arg(short, long)]
    pub quiet: bool,
    /// The tree of an SLOG2 file
    #[command(flatten)]
    pub tree: TreeArguments,
}
