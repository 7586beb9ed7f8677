//! Prints rows of an answer, and the columns that can be asked.

use super::provider::TraceTable;
use super::row_format::RowFormat;
use crate::failure::Failure;
use crate::terminal::{self, table::CellStyle};
use arrow_array::RecordBatch;
use arrow_schema::{ArrowError, DataType, Schema};
use datafusion::arrow::json::LineDelimitedWriter;
use datafusion::arrow::util::display::{ArrayFormatter, FormatOptions};
use datafusion::arrow::util::pretty::pretty_format_batches;
use datafusion::catalog::TableProvider;
use std::io::{BufWriter, Stdout, Write, stdout};
use std::sync::Arc;

/// Rows on their way to stdout.
pub enum RowWriter {
    Table(Arc<Schema>, Vec<RecordBatch>),
    Csv(Box<csv::Writer<Stdout>>, CellStyle),
    Json(LineDelimitedWriter<BufWriter<Stdout>>),
}

impl RowWriter {
    /// Begins with what stands above the rows.
    pub fn begin(
        format: RowFormat,
        cells: CellStyle,
        schema: Arc<Schema>,
    ) -> Result<RowWriter, Failure> {
        Ok(match format {
            RowFormat::Table => RowWriter::Table(schema, Vec::new()),
            RowFormat::Json => RowWriter::Json(LineDelimitedWriter::new(BufWriter::new(stdout()))),
            RowFormat::Csv => {
                let mut writer = csv::Writer::from_writer(stdout());
                let names = schema
                    .fields()
                    .iter()
                    .map(|field| cells.text(field.name().clone()));
                writer.write_record(names).map_err(Failure::csv)?;
                RowWriter::Csv(Box::new(writer), cells)
            }
        })
    }

    /// Prints rows, or keeps them until all are there.
    pub fn write(&mut self, batch: RecordBatch) -> Result<(), Failure> {
        match self {
            RowWriter::Table(_, batches) => batches.push(batch),
            RowWriter::Json(writer) => writer.write(&batch).map_err(failed)?,
            RowWriter::Csv(writer, cells) => write_csv(writer, *cells, &batch)?,
        }
        Ok(())
    }

    /// Prints what is left.
    pub fn end(self) -> Result<(), Failure> {
        match self {
            RowWriter::Table(schema, mut batches) => {
                if batches.is_empty() {
                    batches.push(RecordBatch::new_empty(schema));
                }
                let table = pretty_format_batches(&batches).map_err(failed)?.to_string();
                for line in table.lines() {
                    print(&terminal::clean(line))?;
                }
                Ok(())
            }
            RowWriter::Json(mut writer) => {
                writer.finish().map_err(failed)?;
                writer
                    .into_inner()
                    .flush()
                    .map_err(|error| Failure::output("stdout", &error))
            }
            RowWriter::Csv(mut writer, _) => writer
                .flush()
                .map_err(|error| Failure::output("stdout", &error)),
        }
    }
}

/// Writes rows as CSV. A text that a spreadsheet would take for a formula has an apostrophe in front, unless cells are to be as they are.
fn write_csv(
    writer: &mut csv::Writer<Stdout>,
    cells: CellStyle,
    batch: &RecordBatch,
) -> Result<(), Failure> {
    let options = FormatOptions::default();
    let columns = batch.columns().iter();
    let columns: Result<Vec<_>, ArrowError> = columns
        .map(|column| {
            Ok((
                ArrayFormatter::try_new(column, &options)?,
                is_text(column.data_type()),
            ))
        })
        .collect();
    let columns = columns.map_err(failed)?;
    for row in 0..batch.num_rows() {
        let cell = |(values, is_text): &(ArrayFormatter<'_>, bool)| {
            let value = values.value(row).to_string();
            match is_text {
                true => cells.text(value),
                false => value,
            }
        };
        writer
            .write_record(columns.iter().map(cell))
            .map_err(Failure::csv)?;
    }
    Ok(())
}

/// Prints the tables with their columns.
pub fn print_columns(tables: &[(&'static str, TraceTable)]) -> Result<(), Failure> {
    for (name, table) in tables {
        print(name)?;
        for field in TableProvider::schema(table).fields() {
            let (column, kind) = (terminal::clean(field.name()), type_name(field.data_type()));
            print(&format!("  {column:<24} {kind}"))?;
        }
    }
    Ok(())
}

fn print(line: &str) -> Result<(), Failure> {
    writeln!(stdout(), "{line}").map_err(|error| Failure::output("stdout", &error))
}

fn is_text(kind: &DataType) -> bool {
    match kind {
        DataType::Dictionary(_, values) => is_text(values),
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => true,
        _ => false,
    }
}

/// A word for a type, as SQL has it.
fn type_name(kind: &DataType) -> String {
    match kind {
        kind if is_text(kind) => "text".to_owned(),
        DataType::Int32 => "int".to_owned(),
        DataType::Int64 => "bigint".to_owned(),
        DataType::UInt64 => "bigint unsigned".to_owned(),
        DataType::Float64 => "double".to_owned(),
        other => other.to_string(),
    }
}

fn failed(error: ArrowError) -> Failure {
    match error {
        ArrowError::IoError(_, error) => Failure::output("stdout", &error),
        error => Failure::Data(format!("stdout: {error}")),
    }
}
