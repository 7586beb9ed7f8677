//! `mpitrace arrows`: an arrow from each call to what carries its CallID.

use crate::failure::Failure;
use crate::trace_files::edited;
use crate::trace_files::format::Format;
use crate::trace_files::losses::tell_losses;
use crate::trace_files::overwrite::Overwrite;
use crate::trace_files::shape::TreeArguments;
use crate::trace_files::target::Target;
use crate::trace_files::trace::Trace;
use std::ffi::OsStr;
use std::path::PathBuf;
use trace_formats::edit::Arrows;

/// Draw arrows from calls to what carries their CallID
///
/// Of all drawables with one CallID the first is the call, such as an MPI-IO function of a client; from its start an arrow
/// goes to the start of each other one, such as the disk operations of a server. Arrows have the colour of what they
/// point to, and the category "triggers NAME". Then says how many there are.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  mpitrace merge client.slog2 server.slog2 both.slog2
  mpitrace arrows both.slog2 arrows.slog2
  mpitrace arrows run.clog2 arrows.slog2")]
pub struct Arguments {
    /// The trace; - is stdin
    #[arg(value_name = "IN")]
    input: PathBuf,
    /// The file to write; - is stdout
    #[arg(value_name = "OUT")]
    output: PathBuf,
    /// Format of the output [default: by its name]
    #[arg(long, value_enum, value_name = "FORMAT")]
    to: Option<Format>,
    #[command(flatten)]
    tree: TreeArguments,
    #[command(flatten)]
    overwrite: Overwrite,
    /// Say nothing if all went well
    #[arg(short, long)]
    quiet: bool,
}

/// Runs the subcommand.
pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    let trace = Trace::open(&arguments.input)?;
    let inputs = [&arguments.input];
    arguments.overwrite.allow(&arguments.output, &inputs)?;
    let target = Target::new(&arguments.output, arguments.to, &arguments.tree)?;
    let source = trace.source()?;
    let views = edited::views(&trace, source.as_ref())?;
    let arrows = Arrows::new(source.as_ref());
    let shape = edited::shape(&trace)?;
    let losses = edited::write(&target, &arrows, &views, shape, arguments.quiet)?;
    tell_losses(&losses, &target.path);
    if !arguments.quiet {
        let text = format!("Statistics:\n{}", arrows.statistics());
        if arguments.output == OsStr::new("-") {
            eprint!("{text}");
        } else {
            print!("{text}");
        }
    }
    Ok(())
}
