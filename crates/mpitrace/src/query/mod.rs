//! `mpitrace query`: SQL on the tables of a trace, which is read while the query runs.

#[cfg(feature = "query")]
mod engine;
#[cfg(feature = "query")]
mod filters;
#[cfg(feature = "query")]
mod output;
#[cfg(feature = "query")]
mod provider;
mod row_format;

use crate::failure::Failure;
use crate::terminal::table::CellStyle;
use row_format::RowFormat;
use std::ffi::OsString;

/// Ask a trace in SQL
///
/// The tables are those of `mpitrace convert run.slog2 run.parquet`: calls, messages, regions, operations, transfers, accesses, files, arrows, events,
/// timelines, ranks, communicators and waits. Nothing is converted: the trace is read while the query runs. Of SLOG2, a condition on times reads a part of the file
/// only. Without a query, the tables and their columns are printed. A query that names waiting_ns or culprit_rank of calls,
/// or the table waits, takes as long as a report first.
///
/// The engine is DataFusion. It makes the command several times as large, so it is only in commands that were built with cargo's feature `query`.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  mpitrace query run.slog2
  mpitrace query run.slog2 'select function, count(*) as calls, sum(leave_ns - enter_ns) / 1e9 as seconds
                            from calls group by function order by seconds desc'
  mpitrace query run.slog2 'select * from messages where source_rank = 3 and send_ns between 1000000000 and 1001000000'
  mpitrace query --format csv run.slog2 'select pattern, culprit_rank, sum(to_ns - from_ns) as ns from waits group by all' > waits.csv
  mpitrace query libtrace.*.blocks - < question.sql")]
pub struct Arguments {
    /// The files of the trace, then the query; - is a query on stdin
    #[arg(required = true, value_name = "FILE | QUERY")]
    words: Vec<OsString>,
    /// Output format
    #[arg(long, value_enum, default_value_t = RowFormat::Table, value_name = "FORM")]
    format: RowFormat,
    #[command(flatten)]
    cells: CellStyle,
}

/// Runs the subcommand.
#[cfg(feature = "query")]
pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    engine::run(&arguments.words, arguments.format, arguments.cells)
}

/// Says how to get a command that has this subcommand.
#[cfg(not(feature = "query"))]
pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    let Arguments {
        words: _,
        format: RowFormat::Table | RowFormat::Csv | RowFormat::Json,
        cells: _,
    } = arguments;
    Err(Failure::Call(
        "this mpitrace was built without SQL: cargo build --release -p mpitrace --features query. DuckDB asks the same tables in Python \
         (`mpitrace.open(…).calls()`) and in the dataset that `mpitrace convert run.slog2 run.parquet` makes"
            .to_owned(),
    ))
}
