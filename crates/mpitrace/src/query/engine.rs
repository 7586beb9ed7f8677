//! Runs a query.

use super::output::{self, RowWriter};
use super::provider::{self, TraceTable};
use super::row_format::RowFormat;
use crate::api::TraceFiles;
use crate::failure::Failure;
use crate::system::cores;
use crate::terminal::table::CellStyle;
use crate::terminal::tell;
use datafusion::error::DataFusionError;
use datafusion::execution::context::SQLOptions;
use datafusion::execution::runtime_env::RuntimeEnvBuilder;
use datafusion::physical_plan::sorts::sort_preserving_merge::SortPreservingMergeExec;
use datafusion::physical_plan::{ExecutionPlan, ExecutionPlanProperties, execute_stream};
use datafusion::prelude::{SessionConfig, SessionContext};
use futures_util::StreamExt;
use std::ffi::{OsStr, OsString};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Memory of a query beside that of the rows that are being read, bytes; what needs more goes to temporary files, where the engine can do that.
const MEMORY_BYTES: usize = 2 << 30;

/// Runs the subcommand.
pub fn run(words: &[OsString], format: RowFormat, cells: CellStyle) -> Result<(), Failure> {
    let (files, query) = split(words)?;
    let trace = Arc::new(TraceFiles::open(&files)?);
    let tables = provider::tables(&trace)?;
    let Some(query) = query else {
        return output::print_columns(&tables);
    };
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(cores())
        .build()
        .map_err(|error| Failure::Data(format!("the threads of the query: {error}")))?;
    let ran = runtime.block_on(ask(tables, &query, format, cells));
    for note in trace.take_notes() {
        tell!("mpitrace: warning: {note}");
    }
    // Whatever still reads has nobody who wants it.
    runtime.shutdown_background();
    ran
}

/// The files of the trace, and the query if there is one.
fn split(words: &[OsString]) -> Result<(Vec<PathBuf>, Option<String>), Failure> {
    let paths = |words: &[OsString]| words.iter().map(PathBuf::from).collect();
    match words.split_last() {
        Some((last, files)) if !files.is_empty() && !Path::new(last).exists() => {
            Ok((paths(files), Some(text(last)?)))
        }
        _ => Ok((paths(words), None)),
    }
}

/// The text of a query; - is stdin.
fn text(word: &OsStr) -> Result<String, Failure> {
    if word == "-" {
        let mut query = String::new();
        let read = std::io::stdin().read_to_string(&mut query);
        return match read {
            Ok(_) => Ok(query),
            Err(error) => Err(Failure::Data(format!("stdin: {error}"))),
        };
    }
    let query = word.to_str().map(str::to_owned);
    query.ok_or_else(|| Failure::Call("the query is not UTF-8".to_owned()))
}

/// Asks the tables, and prints the rows of the answer.
async fn ask(
    tables: Vec<(&'static str, TraceTable)>,
    query: &str,
    format: RowFormat,
    cells: CellStyle,
) -> Result<(), Failure> {
    let environment = RuntimeEnvBuilder::new().with_memory_limit(MEMORY_BYTES, 1.0);
    let environment = environment.build_arc().map_err(failed)?;
    let settings = SessionConfig::new().with_target_partitions(cores());
    let context = SessionContext::new_with_config_rt(settings, environment);
    let mut names = Vec::new();
    for (name, table) in tables {
        names.push(name);
        context
            .register_table(name, Arc::new(table))
            .map_err(failed)?;
    }
    // Only what reads the trace: no file is read or written by a query.
    let options = SQLOptions::new()
        .with_allow_ddl(false)
        .with_allow_dml(false)
        .with_allow_statements(false);
    let planned = context.sql_with_options(query, options).await;
    let frame = planned.map_err(|error| refused(&error, &names))?;
    let schema = Arc::new(frame.schema().as_arrow().clone());
    let refused = |error| refused(&error, &names);
    let state = Arc::new(frame.task_ctx());
    let plan = frame.create_physical_plan().await.map_err(refused)?;
    let mut rows = execute_stream(in_order(plan), state).map_err(refused)?;
    let mut writer = RowWriter::begin(format, cells, schema)?;
    while let Some(batch) = rows.next().await {
        writer.write(batch.map_err(failed)?)?;
    }
    writer.end()
}

/// The plan with one stream of rows, in the order that those of its parts have, if they have one: rows that are read only come by time.
fn in_order(plan: Arc<dyn ExecutionPlan>) -> Arc<dyn ExecutionPlan> {
    match plan.output_ordering().cloned() {
        Some(order) if plan.output_partitioning().partition_count() > 1 => {
            Arc::new(SortPreservingMergeExec::new(order, plan))
        }
        _ => plan,
    }
}

/// A query that cannot be run, or a trace that cannot be read for it.
fn refused(error: &DataFusionError, tables: &[&str]) -> Failure {
    if let DataFusionError::External(error) = error.find_root() {
        return Failure::Data(format!("query: {error}"));
    }
    let mut message = error.strip_backtrace().replace("datafusion.public.", "");
    if message.contains("table ") && message.contains(" not found") {
        message.push_str(&format!("; the tables are {}", tables.join(", ")));
    }
    Failure::Call(format!("query: {message}"))
}

/// A query that ran and failed.
fn failed(error: DataFusionError) -> Failure {
    Failure::Data(format!("query: {}", error.strip_backtrace()))
}
