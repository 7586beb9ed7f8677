//! `mpitrace compare`: what became slower or faster from one trace to another.

mod changes;
mod html;

use crate::failure::Failure;
use crate::report;
use crate::terminal;
use crate::terminal::table::{TableCell, TextTable, Width};
use crate::trace_files::overwrite::Overwrite;
use crate::trace_files::target::write_bytes;
use crate::trace_files::trace::TraceInput;
use analysis::performance::PerformanceReport;
use changes::{ReportPair, part};
use std::io::{self, Write};
use std::path::PathBuf;

/// Columns of text.
const COLUMNS: usize = 80;
/// Titles of the tables of changes.
const TITLES: [&str; 3] = [
    "What changed, time of all threads",
    "Regions, time of all ranks without what is nested",
    "Computing by rank",
];

/// Compare traces: efficiencies side by side, and what became slower or faster
///
/// The first trace is what the others are compared with: the run before a change, or that on the fewest ranks. All numbers are
/// about the time between MPI_Init and MPI_Finalize, as those of `mpitrace report`. Where both runs have a main loop, a change is
/// told apart from noise by how much its iterations differ.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  mpitrace compare before.slog2 after.slog2
  mpitrace compare n2.slog2 n4.slog2 n8.slog2       a scaling series
  mpitrace compare --html change.html before.slog2 after.slog2
  mpitrace compare --json before.slog2 after.slog2")]
pub struct Arguments {
    /// The traces, in any format
    #[arg(required = true, num_args = 2.., value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Print every number, as JSON
    #[arg(long)]
    json: bool,
    /// Write a page with the comparison, which needs no other file; - is stdout
    #[arg(long, value_name = "PAGE", conflicts_with = "json")]
    html: Option<PathBuf>,
    #[command(flatten)]
    overwrite: Overwrite,
    /// Print all columns, even if the terminal is too narrow
    #[arg(long)]
    wide: bool,
    /// Do not show progress
    #[arg(short, long)]
    quiet: bool,
}

/// Runs the subcommand.
pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    if let Some(page) = &arguments.html {
        arguments.overwrite.allow(page, &arguments.files)?;
    }
    let mut reports = Vec::new();
    for file in &arguments.files {
        let whole = report::FocusChoice::default();
        let trace = TraceInput::open(file)?;
        reports.push(report::analyse(&trace, &whole, 0, arguments.quiet)?);
    }
    let traces = traces(&reports);
    // clap takes two files at least.
    let ([(first, before), ..], [.., (last, after)]) = (&reports[..], &reports[..]) else {
        return Ok(());
    };
    let pair = ReportPair { before, after };
    let changes = [pair.activities(), pair.regions(), pair.ranks()];
    let words = format!("From {first} to {last}: {}", pair.words());
    if let Some(path) = &arguments.html {
        let titled: Vec<(&str, &TextTable)> = TITLES.into_iter().zip(&changes).collect();
        let page = html::page(&reports, &words, &traces, &titled);
        return write_bytes(path, page.as_bytes());
    }
    let mut out = crate::terminal::stdout();
    let unwritten = |error: io::Error| Failure::output("stdout", &error);
    if arguments.json {
        let tables = std::iter::once(&traces).chain(&changes);
        let all: serde_json::Map<String, serde_json::Value> = tables
            .map(|table| (table.name.to_owned(), table.json()))
            .collect();
        serde_json::to_writer_pretty(&mut out, &all).map_err(|error| unwritten(error.into()))?;
        writeln!(out).map_err(unwritten)?;
    } else {
        let width = Width::of_stdout(arguments.wide);
        let mut text = traces.fitted(width);
        text.push('\n');
        for line in terminal::wrapped("", &words, COLUMNS) {
            text.push_str(&line);
            text.push('\n');
        }
        for (title, table) in TITLES.into_iter().zip(&changes) {
            if !table.rows.is_empty() {
                text.push_str(&format!("\n{title}\n\n{}", table.fitted(width)));
            }
        }
        if changes.iter().all(|table| table.rows.is_empty()) {
            text.push_str("Nothing changed much.\n");
        }
        out.write_all(text.as_bytes()).map_err(unwritten)?;
    }
    out.flush().map_err(unwritten)
}

/// A row for each trace.
fn traces(reports: &[(String, PerformanceReport)]) -> TextTable {
    let mut table = TextTable::new(
        "traces",
        &[
            "trace",
            "ranks",
            "time_s",
            "speedup",
            "parallel_efficiency",
            "load_balance",
            "serialisation",
            "transfer",
            "computation_scalability",
            "global_efficiency",
        ],
    );
    table.rare = vec!["serialisation", "transfer", "load_balance"];
    let Some((_, first)) = reports.first() else {
        return table;
    };
    for (name, report) in reports {
        let found = &report.efficiencies;
        let scalability = part(first.time.computing, report.time.computing);
        let global = scalability.map(|scalability| scalability * found.parallel);
        table.rows.push(vec![
            TableCell::Text(name.clone()),
            TableCell::Count(report.ranks as u64),
            TableCell::Seconds(report.focus.seconds),
            TableCell::optional(
                part(first.focus.seconds, report.focus.seconds),
                TableCell::Real,
            ),
            TableCell::Share(found.parallel),
            TableCell::Share(found.load_balance),
            TableCell::Share(found.serialisation),
            TableCell::Share(found.transfer),
            TableCell::optional(scalability, TableCell::Real),
            TableCell::optional(global, TableCell::Share),
        ]);
    }
    table
}
