//! `mpitrace compare`: what became slower or faster from one trace to another.

use crate::failure::Failure;
use crate::report;
use crate::terminal::table::{TableCell, TextTable, Width};
use analysis::performance::PerformanceReport;
use serde_json::json;
use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::PathBuf;

/// Activities that are shown.
const MAX_ACTIVITIES: usize = 15;
/// A change of less than this share of the longer run is not shown.
const MIN_SHARE: f64 = 0.001;

/// Compare traces: efficiencies side by side, and what became slower or faster
///
/// The first trace is what the others are compared with: the run before a change, or that on the fewest ranks. All numbers are
/// about the time between MPI_Init and MPI_Finalize, as those of `mpitrace report`.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  mpitrace compare before.slog2 after.slog2
  mpitrace compare n2.slog2 n4.slog2 n8.slog2       a scaling series
  mpitrace compare --json before.slog2 after.slog2")]
pub struct Arguments {
    /// The traces, in any format
    #[arg(required = true, num_args = 2.., value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Print every number, as JSON
    #[arg(long)]
    json: bool,
    /// Print all columns, even if the terminal is too narrow
    #[arg(long)]
    wide: bool,
    /// Do not show progress
    #[arg(short, long)]
    quiet: bool,
}

/// Runs the subcommand.
pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    let mut reports = Vec::new();
    for file in &arguments.files {
        reports.push(report::analyse(
            std::slice::from_ref(file),
            None,
            arguments.quiet,
        )?);
    }
    let traces = traces(&reports);
    let changes = changes(&reports);
    let mut out = crate::terminal::stdout();
    let unwritten = |error: io::Error| Failure::output("stdout", &error);
    if arguments.json {
        let all = json!({ traces.name: traces.json(), changes.name: changes.json() });
        serde_json::to_writer_pretty(&mut out, &all).map_err(|error| unwritten(error.into()))?;
        writeln!(out).map_err(unwritten)?;
    } else {
        let width = Width::of_stdout(arguments.wide);
        write!(out, "{}", traces.fitted(width)).map_err(unwritten)?;
        if let ([first, ..], [.., last]) = (&reports[..], &reports[..]) {
            write!(
                out,
                "\nFrom {} to {}, time of all threads\n\n",
                first.0, last.0
            )
            .map_err(unwritten)?;
        }
        match changes.rows.is_empty() {
            true => writeln!(out, "Nothing changed much.").map_err(unwritten)?,
            false => write!(out, "{}", changes.fitted(width)).map_err(unwritten)?,
        }
    }
    out.flush().map_err(unwritten)
}

/// A part of a whole; nothing of nothing.
fn part(of: f64, whole: f64) -> Option<f64> {
    (whole > 0.0).then(|| of / whole)
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

/// What the last trace spends more or less time in than the first, the largest change first.
fn changes(reports: &[(String, PerformanceReport)]) -> TextTable {
    let columns = ["activity", "before_s", "after_s", "change_s", "ratio"];
    let mut table = TextTable::new("changes", &columns);
    let (Some((_, first)), Some((_, last))) = (reports.first(), reports.last()) else {
        return table;
    };
    let mut times: BTreeMap<&str, [f64; 2]> = BTreeMap::new();
    for (nth, report) in [first, last].into_iter().enumerate() {
        for activity in &report.activities {
            let name = activity.activity.as_deref().unwrap_or("computing");
            times.entry(name).or_default()[nth] += activity.seconds;
        }
    }
    let least = MIN_SHARE * first.time.all.max(last.time.all);
    let mut times: Vec<(&str, [f64; 2])> = times.into_iter().collect();
    times.retain(|(_, [before, after])| (after - before).abs() >= least);
    times.sort_by(|(_, a), (_, b)| (b[1] - b[0]).abs().total_cmp(&(a[1] - a[0]).abs()));
    for (name, [before, after]) in times.into_iter().take(MAX_ACTIVITIES) {
        table.rows.push(vec![
            TableCell::Text(name.to_owned()),
            TableCell::Seconds(before),
            TableCell::Seconds(after),
            TableCell::Seconds(after - before),
            TableCell::optional(part(after, before), TableCell::Real),
        ]);
    }
    table
}
