//! `mpitrace io`: which operations MPI-IO calls caused, what these cost, and whose data they carried.

mod chain;
mod choice;
mod file_system;
mod findings;
mod input;
mod json;
mod names;
mod tables;
mod text;

use crate::failure::Failure;
use crate::terminal::table::{CellStyle, Width};
use crate::trace_files::trace::TraceInput;
use analysis::io::chain::Search;
use analysis::io::{IoReportCollector, IoReportOptions};
use choice::RanksAndFiles;
use input::AttributionInput;
use std::io::{self, BufWriter, Write};
use std::path::PathBuf;

/// Report on I/O, from the MPI-IO call to the disk
///
/// The input is the block files of a run (or their folder) or its SLOG2 file. The report shows the bytes that calls
/// asked for and the bytes that were moved, operations per call, sizes, aggregators, locks and waiting, servers and
/// devices, the slowest calls with the operations that they caused, and how exactly all this is known. In figures per
/// call, an operation that carries data of several calls counts for each of them. Percentiles of times are accurate to
/// 0.8 %.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  mpitrace io run.slog2                          the report
  mpitrace io /tmp/libtrace.*.blocks             the same of the recorder's own files
  mpitrace io --call 0x10000000007 run.slog2     one call, down to the disk
  mpitrace io --file out.dat --rank 3 run.slog2
  mpitrace io --csv waited-for run.slog2         who waited for whom in collective calls
  mpitrace io --json run.slog2 | jq .slowest")]
pub struct Arguments {
    /// The block files of a run, folders with them, or an SLOG2 file; - is stdin
    #[arg(required = true, value_name = "TRACE")]
    files: Vec<PathBuf>,
    /// Print one call with everything that it caused, as a tree
    #[arg(long, value_name = "CALLID", value_parser = callid, conflicts_with_all = ["csv", "rank", "file"])]
    call: Option<u64>,
    /// Report only calls of this rank and the operations for them
    #[arg(long, value_name = "N")]
    rank: Option<u32>,
    /// Report only files whose names contain this text
    #[arg(long, value_name = "NAME")]
    file: Option<String>,
    /// Number of the slowest calls to show
    #[arg(long, value_name = "N", default_value_t = 5)]
    top: usize,
    /// Print all columns, even if the terminal is too narrow
    #[arg(long)]
    wide: bool,
    /// Print everything as JSON; times in seconds
    #[arg(long, conflicts_with = "csv")]
    json: bool,
    /// Print one table as CSV; times in seconds
    #[arg(long, value_enum, value_name = "TABLE")]
    csv: Option<tables::IoTable>,
    #[command(flatten)]
    cells: CellStyle,
    /// Do not show progress
    #[arg(short, long)]
    quiet: bool,
}

/// A CallID as it is shown: hexadecimal with 0x, or decimal.
fn callid(text: &str) -> Result<u64, String> {
    let hexadecimal = text.strip_prefix("0x").or(text.strip_prefix("0X"));
    let number = match hexadecimal {
        Some(digits) => u64::from_str_radix(digits, 16),
        None => text.parse(),
    };
    number.map_err(|_| "expected a CallID, such as 0x10000000007".to_owned())
}

/// Runs the subcommand.
pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    let input = AttributionInput::new(TraceInput::open_all(&arguments.files)?, arguments.quiet)?;
    let mut out = BufWriter::new(crate::terminal::stdout());
    let failed = |error: io::Error| Failure::output("stdout", &error);
    if let Some(call) = arguments.call {
        let mut search = Search::new(call);
        input.for_each(|record| search.look(record))?;
        let Some(mut found) = search.found() else {
            return Err(Failure::Data(format!(
                "{}: no call {} caused anything here",
                input.trace().name().display(),
                names::callid(call)
            )));
        };
        input.for_each(|record| found.collect(record))?;
        let chain = found.chain();
        if arguments.json {
            json::write(&mut out, &chain::json(&chain))?;
        } else {
            let text = chain::text(&chain);
            out.write_all(text.as_bytes()).map_err(failed)?;
        }
        return out.flush().map_err(failed);
    }
    let mut collector = IoReportCollector::new(IoReportOptions {
        slowest: arguments.top,
        rank: arguments.rank,
        file: arguments.file.clone(),
        counter_bits: match arguments.rank {
            Some(_) => input.counter_bits()?,
            None => IoReportOptions::default().counter_bits,
        },
    });
    let mut choice = RanksAndFiles::default();
    let totals = input.for_each(|record| {
        choice.see(record);
        collector.put(record);
    })?;
    choice
        .allows(arguments.rank, arguments.file.as_deref())
        .map_err(|why| Failure::Data(format!("{}: {why}", input.trace().name().display())))?;
    let mut report = collector.finish();
    let is_without_all = report.is_empty() && report.operations() == 0;
    if let (Some(rank), Some(file), true) = (arguments.rank, &arguments.file, is_without_all) {
        return Err(Failure::Data(format!(
            "{}: --rank {rank} --file {file}: that rank did nothing with a file of that name",
            input.trace().name().display()
        )));
    }
    // Those that were read back from a trace count from its start already.
    report.zero = totals
        .as_ref()
        .map_or(Some(0), |totals| totals.zero)
        .or(report.span.map(|(first, _)| first))
        .unwrap_or(0);
    let takes_all_files = arguments.file.is_none();
    if let Some(name) = arguments.csv {
        // An empty table may be one of a trace that does not tell.
        if report.is_empty() {
            input.run_facts(&report, arguments.rank, takes_all_files)?;
        }
        name.table(&report).csv(&mut out, arguments.cells)?;
        return out.flush().map_err(failed);
    }
    // Another pass over the trace, which tables do not need.
    let facts = input.run_facts(&report, arguments.rank, takes_all_files)?;
    if arguments.json {
        json::write(&mut out, &json::report(&report, &facts, totals.as_ref()))?;
    } else {
        let text = text::report(
            &report,
            &facts,
            totals.as_ref(),
            arguments.rank,
            Width::of_stdout(arguments.wide),
        );
        out.write_all(text.as_bytes()).map_err(failed)?;
    }
    out.flush().map_err(failed)
}
