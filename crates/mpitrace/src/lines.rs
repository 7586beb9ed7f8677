//! `mpitrace lines`: other views of the lines of a trace, and sub-lines for what overlaps.

use crate::failure::Failure;
use crate::terminal::tell;
use crate::trace_files::edited;
use crate::trace_files::format::Format;
use crate::trace_files::losses::{failure, report_losses};
use crate::trace_files::overwrite::Overwrite;
use crate::trace_files::shape::TreeArguments;
use crate::trace_files::target::Target;
use crate::trace_files::trace::TraceInput;
use clap::ValueEnum;
use std::path::PathBuf;
use trace_formats::slog2::LineIdMap;
use trace_model::Source;
use transform::{LineView, Split, view};

/// Make views (line ID maps) of a trace, and sub-lines for states that overlap on a timeline
///
/// A view names each timeline by numbers; timelines with the same name share a row in a viewer. A viewer opens the
/// first view. With --split, states that overlap without being nested, such as the requests of a server, move to
/// timelines of their own. Two more views name these by timeline and sub-line.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  mpitrace lines --by node,process run.slog2 nodes.slog2
  mpitrace lines --by node --ranks-per-node 64 run.slog2 nodes.slog2
  mpitrace lines --split server.slog2 requests.slog2")]
pub struct Arguments {
    /// The trace to read; - is stdin
    #[arg(value_name = "IN")]
    input: PathBuf,
    /// The SLOG2 file to write; - is stdout
    #[arg(value_name = "OUT")]
    output: PathBuf,
    /// The views, in this order [default: with --split those of the trace, else all that are possible]
    #[arg(long, value_enum, value_name = "VIEWS", value_delimiter = ',')]
    by: Vec<ViewName>,
    /// Ranks per node: ranks 0 to N-1 ran on the first node, the next N on the second, and so on
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(i32).range(1..))]
    ranks_per_node: Option<i32>,
    /// Move overlapping states to sub-lines
    #[arg(long)]
    split: bool,
    #[command(flatten)]
    tree: TreeArguments,
    #[command(flatten)]
    overwrite: Overwrite,
    /// Print nothing if all goes well
    #[arg(short, long)]
    quiet: bool,
}

/// The views that can be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum ViewName {
    /// Rank in MPI_COMM_WORLD
    Process,
    /// Rank and thread
    Thread,
    /// Communicator and rank in it
    Communicator,
    /// Node, rank and thread
    Node,
    /// Number of the timeline
    Line,
}

impl From<ViewName> for LineView {
    fn from(by: ViewName) -> LineView {
        match by {
            ViewName::Process => LineView::Process,
            ViewName::Thread => LineView::Thread,
            ViewName::Communicator => LineView::Communicator,
            ViewName::Node => LineView::Node,
            ViewName::Line => LineView::Line,
        }
    }
}

/// Runs the subcommand.
pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    let trace = TraceInput::open(&arguments.input)?;
    // No other format has views.
    let inputs = [&arguments.input];
    arguments.overwrite.allow(&arguments.output, &inputs)?;
    let target = Target::new(&arguments.output, Some(Format::Slog2), &arguments.tree)?;
    let source = trace.source()?;
    let mut views = views(arguments, &trace, source.as_ref())?;
    let shape = edited::shape(&trace)?;
    let split;
    let mut edited: &dyn Source = source.as_ref();
    if arguments.split {
        split = Split::new(source.as_ref()).map_err(failure)?;
        views = split.views(&views);
        edited = &split;
        if !arguments.quiet {
            let sub_lines = split.sub_lines();
            let mut lines: Vec<i32> = sub_lines.values().map(|&(line, _)| line).collect();
            lines.dedup();
            tell!(
                "mpitrace: {}: {} lines have {} further sub-lines",
                trace.name().display(),
                lines.len(),
                sub_lines.len()
            );
        }
    }
    let losses = edited::write(&target, edited, &views, shape, arguments.quiet)?;
    report_losses(&losses, &target.path);
    if !arguments.quiet {
        for view in &views {
            tell!(
                "mpitrace: {}: {}",
                target.path.display(),
                view.title.to_str()
            );
        }
    }
    Ok(())
}

fn views(
    arguments: &Arguments,
    trace: &TraceInput,
    source: &dyn Source,
) -> Result<Vec<LineIdMap>, Failure> {
    if arguments.by.is_empty() && arguments.split && arguments.ranks_per_node.is_none() {
        return edited::views(trace, source);
    }
    let lines = &source.definitions().lines;
    let node = |rank: i32| {
        let per_node = arguments.ranks_per_node?;
        Some(format!("node{}", rank.div_euclid(per_node)))
    };
    let all = ViewName::value_variants();
    let wanted = match arguments.by.as_slice() {
        [] => all,
        given => given,
    };
    let mut views = Vec::new();
    for &by in wanted {
        match view(by.into(), lines, &node) {
            Some(view) => views.push(view),
            None if arguments.by.is_empty() => (),
            None => {
                return Err(Failure::Data(format!(
                    "{}: it does not tell on which nodes it was made; give --ranks-per-node",
                    trace.name().display()
                )));
            }
        }
    }
    Ok(views)
}
