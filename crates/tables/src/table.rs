//! A table while it is written: rows are gathered, and batches of them go into files.

use crate::error::TablesErrorKind;
use crate::rows::{BATCH_ROWS, GatheredRows, TableSchema};
use arrow_array::RecordBatch;
use arrow_schema::Field;
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, Encoding, ZstdLevel};
use parquet::errors::ParquetError;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::schema::types::ColumnPath;
use std::fs::{self, File};
use std::path::PathBuf;
use std::sync::Arc;

/// Rows of a file; further ones go into the next.
const FILE_ROWS: u64 = 1 << 24;

/// Files of the tables of one kind: their columns, and how they are written.
pub struct TableLayout {
    /// The columns.
    pub schema: TableSchema,
    properties: WriterProperties,
}

impl TableLayout {
    /// Files with these columns, in groups of `group_rows` rows at most.
    pub fn new(schema: TableSchema, group_rows: usize) -> Result<TableLayout, TablesErrorKind> {
        let mut properties = WriterProperties::builder()
            .set_compression(Compression::ZSTD(ZstdLevel::try_new(1)?))
            .set_statistics_enabled(EnabledStatistics::Chunk)
            .set_max_row_group_row_count(Some(group_rows));
        // Times differ from row to row, but little from one to the next.
        let times = |field: &&Arc<Field>| field.name().ends_with("_ns") && !field.is_nullable();
        for field in schema.schema.fields().iter().filter(times) {
            let path = ColumnPath::from(field.name().as_str());
            properties = properties
                .set_column_dictionary_enabled(path.clone(), false)
                .set_column_encoding(path, Encoding::DELTA_BINARY_PACKED);
        }
        Ok(TableLayout {
            schema,
            properties: properties.build(),
        })
    }
}

/// The rows of a table for some of the ranks.
pub struct TableWriter {
    folder: PathBuf,
    /// Rows that are not with the writer yet.
    pub gathered: GatheredRows,
    writer: Option<ArrowWriter<File>>,
    rows_in_file: u64,
    files: u32,
    /// Number of all rows.
    pub rows: u64,
}

impl TableWriter {
    /// A table in a folder, which is made with the first file.
    pub fn new(folder: PathBuf, layout: &TableLayout) -> TableWriter {
        TableWriter {
            folder,
            gathered: GatheredRows::new(&layout.schema),
            writer: None,
            rows_in_file: 0,
            files: 0,
            rows: 0,
        }
    }

    /// Counts the row that was gathered last, and gives the rows to the writer if they are many.
    pub fn count_row(&mut self, layout: &TableLayout) -> Result<(), TablesErrorKind> {
        self.rows += 1;
        match self.gathered.len() < BATCH_ROWS {
            true => Ok(()),
            false => self.pass_on(layout),
        }
    }

    /// Gives the gathered rows to the writer.
    fn pass_on(&mut self, layout: &TableLayout) -> Result<(), TablesErrorKind> {
        let batch = self.gathered.take(&layout.schema);
        self.write(layout, &batch.map_err(ParquetError::from)?)
    }

    /// Writes rows, into the next file if this one has enough of them.
    pub fn write(
        &mut self,
        layout: &TableLayout,
        batch: &RecordBatch,
    ) -> Result<(), TablesErrorKind> {
        if self.writer.is_none() {
            fs::create_dir_all(&self.folder)?;
            let path = self.folder.join(format!("{:05}.parquet", self.files));
            let (schema, properties) = (layout.schema.schema.clone(), layout.properties.clone());
            let file = File::create_new(path)?;
            self.writer = Some(ArrowWriter::try_new(file, schema, Some(properties))?);
            self.files += 1;
        }
        if let Some(writer) = &mut self.writer {
            writer.write(batch)?;
        }
        self.rows_in_file += batch.num_rows() as u64;
        match self.rows_in_file >= FILE_ROWS {
            true => self.end_file(),
            false => Ok(()),
        }
    }

    fn end_file(&mut self) -> Result<(), TablesErrorKind> {
        self.rows_in_file = 0;
        if let Some(writer) = self.writer.take() {
            writer.close()?;
        }
        Ok(())
    }

    /// Writes what is left.
    pub fn finish(&mut self, layout: &TableLayout) -> Result<(), TablesErrorKind> {
        if self.gathered.len() > 0 {
            self.pass_on(layout)?;
        }
        self.end_file()
    }
}
