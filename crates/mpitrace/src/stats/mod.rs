//! `mpitrace stats`: where the time of a trace went.

mod dumpi;
mod tables;

use crate::failure::Failure;
use crate::terminal::progress::TaskProgress;
use crate::terminal::table::{CellStyle, TextTable, Width};
use crate::terminal::tell;
use crate::terminal::units::counted;
use crate::trace_files::format::Format;
use crate::trace_files::losses::{failure, report_losses};
use crate::trace_files::overwrite::Overwrite;
use crate::trace_files::time_window::{TimePosition, in_log};
use crate::trace_files::trace::TraceInput;
use crate::trace_files::write::CountingSource;
use analysis::stats;
use analysis::stats::{Histogram, Nesting, Statistics, StatisticsOptions};
use clap::ValueEnum;
use serde_json::{Map, Value, json};
use std::io::{self, BufWriter, Write};
use std::path::PathBuf;
use tables::StatisticsTables;
use trace_formats::slog2;
use trace_model::{Definitions, TimeBBox};

/// Statistics of a trace
///
/// Tables for people have times with units; CSV and JSON have seconds. A share is a part of the total time of all
/// threads of ranks with drawables. What happens beside a thread, as asynchronous I/O does, counts for that thread, but not
/// as time that it is in states. The exclusive time of a state is its time without the states nested directly in it.
/// Percentiles are accurate to 0.8 %. In a window, a drawable counts with the time that it spends there. If calls have
/// values of performance counters, the sums are columns, too; a call that reaches into a window counts as a whole.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  mpitrace stats run.slog2                                  a summary: categories, messages, CallIDs
  mpitrace stats --window 1.5 2.5 --by rank run.slog2
  mpitrace stats --by rank,category --format csv run.clog2
  mpitrace stats --by pair --format csv run.slog2           the communication matrix
  mpitrace stats --format json run.slog2                    everything
  mpitrace stats dumpi.meta --dumpistats out -b 'all by 0.5' -t mpi -c sends")]
pub struct Arguments {
    /// The files of the trace; - is stdin
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Count only what lies between these times, in seconds
    #[arg(long, num_args = 2, value_names = ["FROM", "TO"], allow_negative_numbers = true)]
    window: Option<Vec<f64>>,
    /// Table to print; rank,category and thread,category are tables, too [default: a summary; JSON has all tables]
    #[arg(long, value_enum, value_delimiter = ',', value_name = "BY")]
    by: Vec<StatisticsTable>,
    /// Output format
    #[arg(long, value_enum, default_value_t = TableFormat::Table, value_name = "FORM")]
    format: TableFormat,
    /// Print all columns, even if the terminal is too narrow
    #[arg(long)]
    wide: bool,
    #[command(flatten)]
    cells: CellStyle,
    /// Which states nest in each other
    #[arg(long, value_enum, default_value_t = NestingChoice::Line, value_name = "WHERE")]
    nesting: NestingChoice,
    /// Do not print what was left out, and do not show progress
    #[arg(short, long)]
    quiet: bool,
    #[command(flatten)]
    overwrite: Overwrite,
    /// Write the tables of dumpistats for a DUMPI run (its .meta file): ROOT-bin*.tbl
    #[arg(long, value_name = "ROOT", help_heading = dumpi::HEADING,
        conflicts_with_all = ["window", "by", "format", "nesting"])]
    dumpistats: Option<PathBuf>,
    #[command(flatten)]
    tables: dumpi::DumpistatsOptions,
}

/// Tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum StatisticsTable {
    /// Count, time and distribution of durations of each category
    Category,
    /// Time in and out of states, and messages, of each rank
    Rank,
    /// Time in and out of states, and messages, of each thread
    Thread,
    /// Messages from rank to rank
    Pair,
    /// Messages by size
    Size,
    /// Operations that calls caused, by CallID
    Callid,
}

/// Ways to show tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum TableFormat {
    /// For people
    Table,
    /// For spreadsheets
    Csv,
    /// For programs
    Json,
}

/// The unit in which states nest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum NestingChoice {
    /// States of the same timeline, that is of one communicator, as in the ratios of SLOG2
    Line,
    /// States of the same thread
    Thread,
}

/// Runs the subcommand.
pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    if let Some(root) = &arguments.dumpistats {
        let [file] = &arguments.files[..] else {
            let message = "--dumpistats takes one file, the run's .meta";
            return Err(Failure::Call(message.into()));
        };
        return dumpi::run(
            file,
            root,
            &arguments.tables,
            arguments.overwrite,
            arguments.quiet,
        );
    }
    let window = arguments.window()?;
    let wanted = arguments.wanted()?;
    let trace = TraceInput::open_all(&arguments.files)?;
    let options = StatisticsOptions {
        window,
        nesting: match arguments.nesting {
            NestingChoice::Line => Nesting::Line,
            NestingChoice::Thread => Nesting::Thread,
        },
    };
    let (found, definitions, losses) = if let (Format::Slog2, Some(window)) = (trace.format, window)
    {
        let bad = |error: slog2::Slog2Error| Failure::in_file(error, trace.name());
        let reader = slog2::Slog2Reader::new(trace.bytes()).map_err(bad)?;
        let log = reader.root().map_or(TimeBBox::EMPTY, |root| root.bounds);
        let (from, to) = (window.earliest, window.latest);
        in_log(TimePosition::Seconds(from), TimePosition::Seconds(to), log)?;
        let (found, losses) = stats::collect_slog2(&reader, window, options).map_err(failure)?;
        let definitions = Definitions {
            categories: reader.categories().to_vec(),
            ..Definitions::default()
        };
        (found, definitions, losses)
    } else {
        let source = trace.source()?;
        let progress =
            TaskProgress::drawables(&trace.name().display().to_string(), arguments.quiet);
        let counted = CountingSource {
            source: &*source,
            progress: &progress,
        };
        let (found, losses) = stats::collect(&counted, options).map_err(failure)?;
        if window.is_some() && found.window.duration() < 0.0 {
            let message =
                "--window: it is outside the log, expected a time of the trace".to_owned();
            return Err(Failure::Call(message));
        }
        (found, source.definitions().clone(), losses)
    };
    let tables = StatisticsTables {
        found: &found,
        definitions: &definitions,
    };
    let mut out = BufWriter::new(crate::terminal::stdout());
    let failed = |error: io::Error| Failure::output("stdout", &error);
    match (arguments.format, wanted) {
        (TableFormat::Table, None) => {
            let text = summary(&tables, arguments.width());
            out.write_all(text.as_bytes()).map_err(failed)?;
        }
        (TableFormat::Table, Some(wanted)) => {
            let table = wanted.table(&tables);
            let text = table.fitted(arguments.width());
            out.write_all(text.as_bytes()).map_err(failed)?;
        }
        (TableFormat::Csv, wanted) => {
            let wanted = wanted.unwrap_or(TableChoice::Category);
            wanted.table(&tables).csv(&mut out, arguments.cells)?;
        }
        (TableFormat::Json, wanted) => {
            let value = match wanted {
                Some(wanted) => wanted.table(&tables).json(),
                None => all(&tables),
            };
            serde_json::to_writer_pretty(&mut out, &value)
                .map_err(|error| Failure::output("stdout", &error.into()))?;
            writeln!(out).map_err(failed)?;
        }
    }
    out.flush().map_err(failed)?;
    if !arguments.quiet {
        report_losses(&losses, trace.name());
        for what in untold(&found) {
            tell!("mpitrace: warning: {}: {what}", trace.name().display());
        }
    }
    Ok(())
}

/// A table that was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TableChoice {
    Category,
    Row { threads: bool },
    Cell { threads: bool },
    Pair,
    Size,
    Callid,
}

impl TableChoice {
    fn table(self, tables: &StatisticsTables<'_>) -> TextTable {
        match self {
            TableChoice::Category => tables.by_category(),
            TableChoice::Row { threads } => tables.by_row(threads),
            TableChoice::Cell { threads } => tables.by_cell(threads),
            TableChoice::Pair => tables.by_pair(),
            TableChoice::Size => tables.by_size(),
            TableChoice::Callid => tables.by_callid(),
        }
    }
}

impl Arguments {
    fn window(&self) -> Result<Option<TimeBBox>, Failure> {
        match self.window.as_deref() {
            Some(&[earliest, latest]) if earliest <= latest => {
                Ok(Some(TimeBBox { earliest, latest }))
            }
            Some(_) => Err(Failure::Call(
                "--window: expected two times, the earlier one first".into(),
            )),
            None => Ok(None),
        }
    }

    fn width(&self) -> Width {
        Width::of_stdout(self.wide)
    }

    fn wanted(&self) -> Result<Option<TableChoice>, Failure> {
        use StatisticsTable::{Callid, Category, Pair, Rank, Size, Thread};
        Ok(Some(match self.by[..] {
            [] => return Ok(None),
            [Category] => TableChoice::Category,
            [Rank] => TableChoice::Row { threads: false },
            [Thread] => TableChoice::Row { threads: true },
            [Rank, Category] | [Category, Rank] => TableChoice::Cell { threads: false },
            [Thread, Category] | [Category, Thread] => TableChoice::Cell { threads: true },
            [Pair] => TableChoice::Pair,
            [Size] => TableChoice::Size,
            [Callid] => TableChoice::Callid,
            _ => {
                let message = "--by: of these only rank,category and thread,category go together";
                return Err(Failure::Call(message.into()));
            }
        }))
    }
}

/// The most important of all tables, for people.
fn summary(tables: &StatisticsTables<'_>, width: Width) -> String {
    let found = tables.found;
    let messages = &found.messages;
    let mut text = format!(
        "{} drawables in {:.9} s, from {:.9} to {:.9}; {}, {}\n\n",
        found.drawables,
        found.span(),
        if found.drawables > 0 {
            found.window.earliest
        } else {
            0.0
        },
        if found.drawables > 0 {
            found.window.latest
        } else {
            0.0
        },
        counted(found.ranks() as u64, "rank"),
        counted(found.threads() as u64, "thread")
    );
    text.push_str(&tables.by_category().fitted(width));
    if !found.counted.is_empty() {
        let each = found.counted.iter();
        let each: Vec<String> = each.map(|(name, n)| format!("{n} {name}")).collect();
        text.push_str(&format!(
            "\nBetween the first and the last of rows of polls, counted only: {}\n",
            each.join(", ")
        ));
    }
    if messages.all.count > 0 {
        text.push_str(&format!(
            "\n{} messages of {} bytes between {} pairs of ranks; {} backward, {} without a size\n\n",
            messages.all.count,
            messages.all.bytes,
            messages.by_pair.len(),
            messages.backward,
            messages.without_size
        ));
        text.push_str(&tables.by_size().fitted(width));
    }
    let callids = &found.callids;
    if callids.drawables > 0 {
        let exact = if callids.is_exact { "" } else { "about " };
        text.push_str(&format!(
            "\n{} categories with CallID, {} drawables that carry one, {exact}{} different CallIDs",
            callids.categories, callids.drawables, callids.calls
        ));
        match callids.operations_per_causing_call() {
            Some(mean) => text.push_str(&format!(
                ";\non average {mean:.2} operations (arrows) per CallID having any\n\n"
            )),
            None => text.push_str("; none caused an operation\n\n"),
        }
        text.push_str(&tables.by_callid().fitted(width));
    }
    text
}

/// Everything, as JSON.
fn all(tables: &StatisticsTables<'_>) -> Value {
    let found = tables.found;
    let (messages, callids) = (&found.messages, &found.callids);
    let is_empty = found.drawables == 0;
    let time = |time: f64| {
        if is_empty {
            Value::Null
        } else {
            Value::from(time)
        }
    };
    let mut object = Map::new();
    let mut put = |name: &str, value: Value| object.insert(name.to_owned(), value);
    put("from_s", time(found.window.earliest));
    put("to_s", time(found.window.latest));
    put("span_s", found.span().into());
    put("drawables", found.drawables.into());
    put("rank_count", found.ranks().into());
    put("thread_count", found.threads().into());
    put("percentile_error", Histogram::ERROR.into());
    put(
        "messages",
        json!({
            "count": messages.all.count,
            "bytes": messages.all.bytes,
            "backward": messages.backward,
            "without_size": messages.without_size,
            "p50_bytes": messages.sizes.percentile(50.0).map(f64::round),
            "p99_bytes": messages.sizes.percentile(99.0).map(f64::round),
            "max_bytes": messages.sizes.max(),
        }),
    );
    put("counted_only", json!(found.counted));
    put(
        "callid",
        json!({
            "categories": callids.categories,
            "drawables": callids.drawables,
            "different": callids.calls,
            "causing": callids.causing,
            "operations": callids.operations,
            "operations_per_causing_call": callids.operations_per_causing_call(),
            "exact": callids.is_exact,
        }),
    );
    let wanted = [
        TableChoice::Category,
        TableChoice::Row { threads: false },
        TableChoice::Row { threads: true },
        TableChoice::Cell { threads: true },
        TableChoice::Size,
        TableChoice::Pair,
        TableChoice::Callid,
    ];
    for wanted in wanted {
        let table = wanted.table(tables);
        put(table.name, table.json());
    }
    Value::Object(object)
}

/// Names the drawables that are not in the statistics.
fn untold(found: &Statistics) -> Vec<String> {
    let untold = found.untold;
    let counts = [
        (
            untold.unknown_line,
            "drawables on lines that are not defined",
        ),
        (
            untold.unknown_category,
            "drawables of categories that are not defined",
        ),
        (untold.without_time, "drawables without a time, not counted"),
        (
            untold.out_of_order,
            "states out of order, so that exclusive times are too large",
        ),
    ];
    let counts = counts.into_iter().filter(|(count, _)| *count > 0);
    counts
        .map(|(count, what)| format!("{count} {what}"))
        .collect()
}
