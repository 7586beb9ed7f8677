//! `mpitrace arrows`: an arrow from each call to what carries its CallID.

use crate::failure::Failure;
use crate::terminal::{print_text, tell_line};
use crate::trace_files::edited;
use crate::trace_files::format::Format;
use crate::trace_files::losses::report_losses;
use crate::trace_files::overwrite::Overwrite;
use crate::trace_files::shape::TreeArguments;
use crate::trace_files::target::Target;
use crate::trace_files::trace::TraceInput;
use std::ffi::OsStr;
use std::path::PathBuf;
use transform::Arrows;

/// Add arrows from each call to the operations with its CallID
///
/// The first drawable with a CallID is the call, such as an MPI-IO function of a client. An arrow goes from its start
/// to the start of each other drawable with that CallID, such as the disk operations of a server. An arrow has the
/// colour of its target and the category "triggers NAME". The command prints how many arrows there are.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  mpitrace merge client.slog2 server.slog2 both.slog2
  mpitrace arrows both.slog2 arrows.slog2
  mpitrace arrows run.clog2 arrows.slog2")]
pub struct Arguments {
    /// The trace to read; - is stdin
    #[arg(value_name = "IN")]
    input: PathBuf,
    /// The file to write; - is stdout
    #[arg(value_name = "OUT")]
    output: PathBuf,
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
    let trace = TraceInput::open(&arguments.input)?;
    let inputs = [&arguments.input];
    arguments.overwrite.allow(&arguments.output, &inputs)?;
    let target = Target::new(&arguments.output, arguments.to, &arguments.tree)?;
    let source = trace.source()?;
    let views = edited::views(&trace, source.as_ref())?;
    let arrows = Arrows::new(source.as_ref());
    let shape = edited::shape(&trace)?;
    let losses = edited::write(&target, &arrows, &views, shape, arguments.quiet)?;
    report_losses(&losses, &target.path);
    if !arguments.quiet {
        let text = format!("Statistics:\n{}", arrows.statistics());
        if arguments.output == OsStr::new("-") {
            tell_line(text.trim_end());
        } else {
            print_text(&text)?;
        }
    }
    Ok(())
}
