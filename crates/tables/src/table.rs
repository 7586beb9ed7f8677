//! Files of a table while they are written.

use crate::error::TablesErrorKind;
use arrow_array::RecordBatch;
use arrow_schema::{Field, Schema};
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, Encoding, ZstdLevel};
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::schema::types::ColumnPath;
use std::fs::{self, File};
use std::path::PathBuf;
use std::sync::Arc;

/// Rows of a file; further ones go into the next.
const FILE_ROWS: u64 = 1 << 24;

/// Files of the tables of one kind: their columns, and how they are written.
#[derive(Debug)]
pub struct TableLayout {
    schema: Arc<Schema>,
    properties: WriterProperties,
}

impl TableLayout {
    /// Files with these columns, in groups of `group_rows` rows at most.
    pub fn new(schema: Arc<Schema>, group_rows: usize) -> Result<TableLayout, TablesErrorKind> {
        let mut properties = WriterProperties::builder()
            .set_compression(Compression::ZSTD(ZstdLevel::try_new(1)?))
            .set_statistics_enabled(EnabledStatistics::Chunk)
            .set_max_row_group_row_count(Some(group_rows));
        // Times differ from row to row, but little from one to the next.
        let times = |field: &&Arc<Field>| field.name().ends_with("_ns") && !field.is_nullable();
        for field in schema.fields().iter().filter(times) {
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

/// The files of a table for some of the ranks.
pub struct TableFiles {
    folder: PathBuf,
    layout: Arc<TableLayout>,
    writer: Option<ArrowWriter<File>>,
    rows_in_file: u64,
    files: u32,
}

impl TableFiles {
    /// A table in a folder, which is made with the first file.
    pub fn new(folder: PathBuf, layout: Arc<TableLayout>) -> TableFiles {
        TableFiles {
            folder,
            layout,
            writer: None,
            rows_in_file: 0,
            files: 0,
        }
    }

    /// Writes rows, into the next file if this one has enough of them.
    ///
    /// # Errors
    /// A file cannot be written.
    pub fn write(&mut self, batch: &RecordBatch) -> Result<(), TablesErrorKind> {
        if self.writer.is_none() {
            fs::create_dir_all(&self.folder)?;
            let path = self.folder.join(format!("{:05}.parquet", self.files));
            let TableLayout { schema, properties } = self.layout.as_ref();
            let (schema, properties) = (schema.clone(), properties.clone());
            let file = File::create_new(path)?;
            self.writer = Some(ArrowWriter::try_new(file, schema, Some(properties))?);
            self.files += 1;
        }
        if let Some(writer) = &mut self.writer {
            writer.write(batch)?;
        }
        self.rows_in_file += batch.num_rows() as u64;
        match self.rows_in_file >= FILE_ROWS {
            true => self.end(),
            false => Ok(()),
        }
    }

    /// Completes the file that is being written.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn end(&mut self) -> Result<(), TablesErrorKind> {
        self.rows_in_file = 0;
        if let Some(writer) = self.writer.take() {
            writer.close()?;
        }
        Ok(())
    }
}
