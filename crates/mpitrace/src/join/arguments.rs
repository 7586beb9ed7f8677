//! The command line of `mpitrace join`.

use crate::trace_files::overwrite::Overwrite;
use crate::trace_files::shape::TreeArguments;
use std::path::PathBuf;

/// Join several CLOG2 files into one
///
/// The inputs are the local files that the ranks of a run left, or the merged logs of several MPI_COMM_WORLDs. They
/// become one merged log: records are sorted by time, communicators are renumbered. The output is that of clog2_join to
/// the byte. From a damaged file, everything that can be read is taken, and a warning reports the rest.
///
/// With --worlds, the inputs are logs of libtrace for a program that started others with MPI_Comm_spawn or met them
/// with MPI_Comm_connect. All times are put on one clock; each world has its own timelines, and arrows show the
/// messages between worlds. The output is CLOG2 or SLOG2, from its file extension.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  mpitrace join /tmp/clog2_taskID=* run.clog2      the local files of a run, made one
  mpitrace join parent.clog2 child.clog2 both.clog2
  mpitrace join --worlds parent.clog2 child-spawned-*.clog2 both.slog2")]
pub struct Arguments {
    /// The CLOG2 files, then the file to write; - is stdin or stdout
    #[arg(required = true, value_name = "IN... OUT")]
    pub files: Vec<PathBuf>,
    /// The files are logs of several MPI_COMM_WORLDs
    #[arg(long)]
    pub worlds: bool,
    #[command(flatten)]
    pub overwrite: Overwrite,
    /// Print nothing if all goes well
    #[arg(short, long)]
    pub quiet: bool,
    /// The tree of an SLOG2 file
    #[command(flatten)]
    pub tree: TreeArguments,
}
