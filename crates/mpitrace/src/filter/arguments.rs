//! The command line of `mpitrace filter`.

use super::dumpi_parts::PartArguments;
use super::selection::SelectionArguments;
use crate::trace_files::format::Format;
use crate::trace_files::overwrite::Overwrite;
use crate::trace_files::shape::TreeArguments;
use std::path::PathBuf;

/// Write a part of a trace
///
/// A drawable or call is kept if it meets all conditions. An event that names a file is kept if its category is. SLOG2
/// gets a new tree with correct previews and summaries, and views of the timelines that are left; a composite is one
/// drawable there, of the composite's own category. DUMPI and CLOG2 files keep their records as they are. Everything
/// else is converted through drawables, composites as what they are made of. Without an option, the whole trace is
/// rewritten.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  mpitrace filter --no-category 'MPI_Comm_*' run.slog2 less.slog2
  mpitrace filter --rank 0-3 --window 10 12.5 run.slog2 part.slog2
  mpitrace filter --callid 0x10000000007 run.clog2 call.slog2
  mpitrace filter -r 0,106 run.slog2 less.slog2          as slog2filter, without its defects
  mpitrace filter -F -m MPI_Send -m MPI_Recv -i rank0.bin -o messages.bin
  mpitrace filter --no-category 'MPI_*probe' lmp-2026.11.20.08.15.00.meta newroot")]
pub struct Arguments {
    /// The trace and the file to write; - is stdin or stdout. For a DUMPI run: its .meta file and the root of the new
    /// names
    #[arg(num_args = 0..=2, value_name = "IN OUT")]
    pub files: Vec<PathBuf>,
    /// The file to write, instead of the second argument
    #[arg(short, long = "output", visible_alias = "outfile", value_name = "OUT")]
    pub output: Option<PathBuf>,
    #[command(flatten)]
    pub selection: SelectionArguments,
    /// Format of the output [default: from the file extension]
    #[arg(long, value_enum, value_name = "FORMAT")]
    pub to: Option<Format>,
    #[command(flatten)]
    pub tree: TreeArguments,
    /// SLOG2: write the bytes that slog2filter writes. slog2filter loses drawables that end at the very start of the
    /// log, doubles counts and ratios, and keeps empty timelines
    #[arg(long)]
    pub as_slog2filter: bool,
    #[command(flatten)]
    pub dumpi: PartArguments,
    #[command(flatten)]
    pub overwrite: Overwrite,
    /// Print nothing if all goes well
    #[arg(short, long)]
    pub quiet: bool,
}
