//! `mpitrace compare`: what became slower or faster from one trace to another.

pub mod changes;
mod html;

use crate::failure::Failure;
use crate::report;
use crate::terminal;
use crate::terminal::table::{TableCell, TextTable, Width};
use crate::trace_files::overwrite::Overwrite;
use crate::trace_files::target::write_bytes;
use crate::trace_files::trace::TraceInput;
use analysis::performance::PerformanceReport;
use changes::{TraceChanges, part};
use std::io::{self, Write};
use std::path::PathBuf;

/// Columns of text.
const COLUMNS: usize = 80;
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
    let comparison = compare(&arguments.files, arguments.quiet)?;
    if let Some(path) = &arguments.html {
        return write_bytes(path, comparison.html().as_bytes());
    }
    let mut out = crate::terminal::stdout();
    let unwritten = |error: io::Error| Failure::output("stdout", &error);
    if arguments.json {
        let all = comparison.json();
        serde_json::to_writer_pretty(&mut out, &all).map_err(|error| unwritten(error.into()))?;
        writeln!(out).map_err(unwritten)?;
    } else {
        let text = comparison.text(Width::of_stdout(arguments.wide));
        out.write_all(text.as_bytes()).map_err(unwritten)?;
    }
    out.flush().map_err(unwritten)
}

/// Traces side by side, and what changed from the first to the last of them.
pub struct TraceComparison {
    /// The name of each trace and the report on it.
    reports: Vec<(String, PerformanceReport)>,
    /// A row for each trace.
    traces: TextTable,
    /// What changed from the first to the last one.
    changes: TraceChanges,
}

/// Compares traces.
///
/// # Errors
/// There are not two, one cannot be read, or has no state of a rank.
pub fn compare(files: &[PathBuf], quiet: bool) -> Result<TraceComparison, Failure> {
    let mut reports = Vec::new();
    for file in files {
        let whole = report::FocusChoice::default();
        let trace = TraceInput::open(file)?;
        reports.push(report::analyse(&trace, &whole, 0, quiet)?);
    }
    let [(first, before), .., (last, after)] = &reports[..] else {
        return Err(Failure::Call("two traces are needed to compare".into()));
    };
    let mut changes = TraceChanges::between((first, before), (last, after));
    changes.words = reserved(&reports, &changes.words);
    Ok(TraceComparison {
        traces: traces(&reports),
        changes,
        reports,
    })
}

/// A comparison of traces in words, after what the numbers of each are not about: of a run in which ranks died, or of a small part of one, times tell
/// little.
fn reserved(reports: &[(String, PerformanceReport)], words: &str) -> String {
    let mut sentences = Vec::new();
    for (name, report) in reports {
        let reservations = report.reservations();
        if !reservations.is_empty() {
            sentences.push(format!("{name}: {}", reservations.join(" ")));
        }
    }
    sentences.push(words.to_owned());
    sentences.join(" ")
}

impl TraceComparison {
    /// Every number.
    pub fn json(&self) -> serde_json::Map<String, serde_json::Value> {
        let changes = self.changes.tables.iter().map(|(_, table)| table);
        let reservations = reservations(&self.reports);
        let tables = [&self.traces, &reservations].into_iter().chain(changes);
        tables
            .map(|table| (table.name.to_owned(), table.json()))
            .collect()
    }

    /// A page with the comparison, which needs no other file.
    pub fn html(&self) -> String {
        html::page(&self.reports, &self.traces, &self.changes)
    }

    /// Tables, and the change in a sentence, as wide as this.
    pub fn text(&self, width: Width) -> String {
        let mut text = self.traces.fitted(width);
        text.push('\n');
        for line in terminal::wrapped("", self.words(), COLUMNS) {
            text.push_str(&line);
            text.push('\n');
        }
        for shown in self.changes.shown() {
            let table = shown.table.fitted(width);
            text.push_str(&format!("\n{}\n\n{table}", shown.title));
            if let Some(rest) = shown.rest() {
                text.push_str(&format!("{rest}\n"));
            }
        }
        if self.changes.is_empty() {
            text.push_str("Nothing changed much.\n");
        }
        text
    }

    /// The change in a sentence.
    pub fn words(&self) -> &str {
        &self.changes.words
    }
}

/// A row for each sentence on what the numbers of a trace are not about.
fn reservations(reports: &[(String, PerformanceReport)]) -> TextTable {
    let mut table = TextTable::new("reservations", &["trace", "reservation"]);
    for (name, report) in reports {
        let sentences = report.reservations().into_iter();
        let rows = sentences.map(|text| [name.clone(), text].map(TableCell::Text).to_vec());
        table.rows.extend(rows);
    }
    table
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

#[cfg(test)]
mod tests {
    use super::*;
    use analysis::performance::PerformanceCollector;
    use trace_model::Definitions;

    /// Of a run in which a rank came to MPI_Finalize after a second, and another one 9 s later, a second is compared.
    #[test]
    fn a_comparison_of_a_small_part_of_a_run_says_so() {
        let definitions = Definitions::default();
        let report = |seconds, after| {
            let mut report = PerformanceCollector::new(&definitions, &Default::default()).finish();
            (report.focus.seconds, report.focus.after) = (seconds, after);
            report.focus.is_between_init_and_finalize = true;
            report
        };
        let reports = [("whole", 10.0, 0.1), ("part", 1.0, 9.0)];
        let reports =
            reports.map(|(name, seconds, after)| (name.to_owned(), report(seconds, after)));
        let words = reserved(&reports, "10 times as fast.");
        let expected = "part: This is about 1.00 s only: a rank came to MPI_Finalize 9.00 s before the end of the run. 10 times as fast.";
        assert_eq!(words, expected);
        // Programs that read the JSON are told the same.
        let told = reservations(&reports).json();
        assert_eq!(told[0]["trace"], "part");
        let sentence = told[0]["reservation"].as_str();
        assert!(sentence.is_some_and(|it| expected.contains(it)), "{told}");
        assert_eq!(told.as_array().map(Vec::len), Some(1));
    }
}
