//! `mpitrace composite`: drawables that belong together, made one.

use crate::failure::Failure;
use crate::terminal::progress::TaskProgress;
use crate::terminal::tell;
use crate::trace_files::edited::{self, known_categories};
use crate::trace_files::format::Format;
use crate::trace_files::losses::{failure_writing, report_losses};
use crate::trace_files::overwrite::Overwrite;
use crate::trace_files::shape::TreeArguments;
use crate::trace_files::target::Target;
use crate::trace_files::trace::TraceInput;
use crate::trace_files::write::CountingSource;
use std::path::PathBuf;
use transform::{CategoryPattern, Composites, GroupKey};

/// Combine drawables that belong together into composites
///
/// A composite is a state with the states and events within it on its timeline, or a call with every drawable that has
/// its CallID, on any timeline. It has a category of its own, named after its first state or call. Viewers show its
/// parts; the last view of the file ("…, composites") shows one box per composite.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  mpitrace composite run.slog2 out.slog2                      outermost states with what is in them
  mpitrace composite --head 'MPI_File_*' run.slog2 out.slog2
  mpitrace composite --by call-id run.clog2 out.slog2")]
pub struct Arguments {
    /// The trace to read; - is stdin
    #[arg(value_name = "IN")]
    input: PathBuf,
    /// The SLOG2 file to write; - is stdout
    #[arg(value_name = "OUT")]
    output: PathBuf,
    /// Which drawables belong together
    #[arg(long, value_enum, default_value_t = Grouping::Nested)]
    by: Grouping,
    /// Make only composites that begin with a drawable of this category: an index, or a name in which * matches any
    /// text and ? any character. May be given several times [default: all]
    #[arg(long, value_name = "CATEGORY")]
    head: Vec<String>,
    #[command(flatten)]
    tree: TreeArguments,
    #[command(flatten)]
    overwrite: Overwrite,
    /// Print nothing if all goes well
    #[arg(short, long)]
    quiet: bool,
}

/// The property that drawables of a composite share.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Grouping {
    /// A state, and the states and events within it on its line
    Nested,
    /// All drawables with one CallID
    CallId,
}

/// Runs the subcommand.
pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    let trace = TraceInput::open(&arguments.input)?;
    let inputs = [&arguments.input];
    arguments.overwrite.allow(&arguments.output, &inputs)?;
    let target = Target::new(&arguments.output, Some(Format::Slog2), &arguments.tree)?;
    let source = trace.source()?;
    let views = edited::views(&trace, source.as_ref())?;
    let shape = edited::shape(&trace)?;
    let lines = source.definitions().lines.len() as u64;
    let tree = target.tree.options(lines, shape);
    let progress = TaskProgress::drawables(&target.path.display().to_string(), arguments.quiet);
    let counted = CountingSource {
        source: source.as_ref(),
        progress: &progress,
    };
    let heads: Vec<CategoryPattern> = arguments
        .head
        .iter()
        .map(|head| CategoryPattern::from(head.as_str()))
        .collect();
    known_categories("--head", &heads, &trace, source.as_ref())?;
    let together = match arguments.by {
        Grouping::Nested => GroupKey::Nested,
        Grouping::CallId => GroupKey::CallId,
    };
    let composites = Composites::new(&counted, together, &heads);
    let losses = target.fill(|out| {
        let (out, _, losses) = composites
            .write(&views, tree, out)
            .map_err(|stop| failure_writing(stop, &target.path))?;
        Ok((out, losses))
    })?;
    report_losses(&losses, &target.path);
    let done = composites.statistics();
    if done.too_large > 0 {
        tell!(
            "mpitrace: warning: {}: {} groups of more than 32767 drawables are left apart",
            target.path.display(),
            done.too_large
        );
    }
    if !arguments.quiet {
        tell!(
            "mpitrace: {}: {} of {} drawables in {} composites",
            target.path.display(),
            done.parts,
            done.drawables,
            done.composites
        );
    }
    Ok(())
}
