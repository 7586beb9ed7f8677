//! A row of a call, and how it is written.

use super::super::Arguments;
use crate::failure::Failure;
use crate::terminal::table::CellStyle;
use serde_json::{Map, Value, json};
use std::io::{self, Write};

/// A call with its arguments.
#[derive(Debug, Default)]
pub(super) struct CallRow<'r> {
    /// Rank in MPI_COMM_WORLD, where it is known.
    pub(super) rank: Option<i64>,
    /// Number of the thread.
    pub(super) thread: i64,
    /// CallID, where the format has it.
    pub(super) call_id: Option<u64>,
    /// Name of the function.
    pub(super) function: &'r str,
    /// Start in ns since the zero of the file.
    pub(super) start_ns: i64,
    /// Duration in ns; `None` of a call that did not return.
    pub(super) duration_ns: Option<i64>,
    /// What the function returned, where the format has it: 0 is MPI_SUCCESS.
    pub(super) error: Option<i64>,
    /// Arguments by name.
    pub(super) arguments: Map<String, Value>,
}

/// Names of the columns of CSV and of the members in JSON.
const COLUMNS: [&str; 8] = [
    "rank",
    "thread",
    "call_id",
    "function",
    "start_ns",
    "duration_ns",
    "error",
    "arguments",
];

/// Writes rows to stdout.
pub(super) enum RowWriter<W: Write> {
    Json(W),
    Csv(Box<csv::Writer<W>>, CellStyle),
}

impl<W: Write> RowWriter<W> {
    pub(super) fn new(out: W, arguments: &Arguments) -> Result<Self, Failure> {
        if arguments.json {
            return Ok(RowWriter::Json(out));
        }
        let mut writer = csv::Writer::from_writer(out);
        writer.write_record(COLUMNS).map_err(Failure::csv)?;
        Ok(RowWriter::Csv(Box::new(writer), arguments.cells))
    }

    pub(super) fn write(&mut self, row: CallRow<'_>) -> Result<(), Failure> {
        // Beyond 53 bits most readers of JSON lose digits.
        let call_id = row.call_id.map(|id| format!("{id:#x}"));
        match self {
            RowWriter::Json(out) => {
                let values = [
                    json!(row.rank),
                    json!(row.thread),
                    json!(call_id),
                    json!(row.function),
                    json!(row.start_ns),
                    json!(row.duration_ns),
                    json!(row.error),
                    Value::Object(row.arguments),
                ];
                let members = COLUMNS.iter().map(|name| name.to_string()).zip(values);
                let object: Map<String, Value> = members.collect();
                serde_json::to_writer(&mut *out, &object)
                    .map_err(|error| Failure::output("stdout", &error.into()))?;
                out.write_all(b"\n")
                    .map_err(|error| Failure::output("stdout", &error))
            }
            RowWriter::Csv(out, cells) => {
                let number = |value: Option<i64>| value.map_or(String::new(), |v| v.to_string());
                let record = [
                    number(row.rank),
                    row.thread.to_string(),
                    call_id.unwrap_or_default(),
                    cells.text(row.function.to_owned()),
                    row.start_ns.to_string(),
                    number(row.duration_ns),
                    number(row.error),
                    Value::Object(row.arguments).to_string(),
                ];
                out.write_record(record).map_err(Failure::csv)
            }
        }
    }

    pub(super) fn flush(&mut self) -> io::Result<()> {
        match self {
            RowWriter::Json(out) => out.flush(),
            RowWriter::Csv(out, _) => out.flush(),
        }
    }
}
