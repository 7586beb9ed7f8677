//! `mpitrace synth`: traces of any size of a program that does not exist.
//!
//! A ring of processes iterates: it computes, passes halos on to both neighbours, sums up, and now and then writes a
//! checkpoint through MPI-IO. [`timeline`] says when what happens, [`drawables`] and [`dumpi`] put it into files.

mod drawables;
mod dumpi;
mod timeline;

use crate::failure::Failure;
use crate::terminal::tell;
use crate::trace_files::format::Format;
use crate::trace_files::losses::report_losses;
use crate::trace_files::overwrite::Overwrite;
use crate::trace_files::shape::TreeArguments;
use crate::trace_files::target::Target;
use drawables::Synthetic;
use std::path::{Path, PathBuf};
use timeline::SynthSize;
use trace_model::{DrawableOrder, Source};

/// Make a synthetic trace
///
/// Its processes compute, exchange messages with both neighbours (MPI_Irecv, MPI_Isend, MPI_Waitall) and sum up
/// (MPI_Allreduce). In every twentieth iteration they write a checkpoint (MPI_File_write_at_all, with system calls that
/// carry its CallID). The load is uneven, and one process is late. Equal options make equal bytes. The memory in use
/// does not grow with the length of the trace.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  mpitrace synth --ranks 16 --drawables 1000000 run.slog2
  mpitrace synth --ranks 64 --drawables 100000000 --leaf auto large.slog2    some 7 GB
  mpitrace synth --ranks 1024 --drawables 4000000 run.clog2
  mpitrace synth --ranks 8 --drawables 100000 run.meta      DUMPI: run-0000.bin … run-0007.bin, run.meta")]
pub struct Arguments {
    /// The file to write; - is stdout. For DUMPI: the .meta file; the files of the ranks are written beside it
    output: PathBuf,
    /// Number of processes
    #[arg(long, value_name = "R", default_value_t = 16, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    ranks: u32,
    /// Number of states, messages and events together. The last iteration is always complete. DUMPI gets the calls of
    /// the same trace
    #[arg(long, value_name = "N", default_value_t = 100_000)]
    drawables: u64,
    /// Seed of the random numbers
    #[arg(long, value_name = "NUMBER", default_value_t = 1)]
    seed: u64,
    /// Format of the output [default: from the file extension]
    #[arg(long, value_enum, value_name = "FORMAT")]
    to: Option<Format>,
    #[command(flatten)]
    tree: TreeArguments,
    #[command(flatten)]
    overwrite: Overwrite,
    /// Print nothing if all goes well
    #[arg(short, long)]
    quiet: bool,
}

/// Runs the subcommand.
pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    let target = Target::new(&arguments.output, arguments.to, &arguments.tree)?;
    let shape = SynthSize {
        ranks: arguments.ranks,
        drawables: arguments.drawables,
        seed: arguments.seed,
    };
    let what = match target.format {
        Format::Dumpi => {
            let calls = dumpi::write(&shape, &arguments.output, arguments.overwrite)?;
            format!("{calls} calls")
        }
        format => {
            arguments.overwrite.allow::<&Path>(&arguments.output, &[])?;
            // In the order that the format is written in, nothing has to be sorted.
            let order = match format {
                Format::Slog2 => DrawableOrder::End,
                _ => DrawableOrder::Start,
            };
            let source = Synthetic::new(shape, order);
            let losses = target.write(&source as &dyn Source, arguments.quiet)?;
            report_losses(&losses, &target.path);
            format!("{} drawables", source.count())
        }
    };
    if !arguments.quiet {
        tell!(
            "mpitrace: {}: {what} of {} ranks",
            target.path.display(),
            arguments.ranks
        );
    }
    Ok(())
}
