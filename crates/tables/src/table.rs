//! Files of a table while they are written.

use crate::error::TablesErrorKind;
use arrow_array::RecordBatch;
use arrow_ipc::writer::FileWriter;
use arrow_schema::{DataType, Field, Schema};
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, Encoding, ZstdLevel};
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::schema::types::ColumnPath;
use std::fs::{self, File};
use std::io::{self, BufWriter};
use std::path::PathBuf;
use std::sync::Arc;

/// Rows of a file; further ones go into the next.
const FILE_ROWS: u64 = 1 << 24;

/// Format of the files of a dataset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TableFormat {
    /// Parquet: compressed, with the least and largest values of each group of rows.
    Parquet,
    /// Arrow's IPC format (Feather 2): as in memory, so that a file which is mapped is a table at once.
    Arrow,
}

impl TableFormat {
    /// Ending of the names of files.
    pub(crate) fn ending(self) -> &'static str {
        match self {
            TableFormat::Parquet => "parquet",
            TableFormat::Arrow => "arrow",
        }
    }
}

/// Files of the tables of one kind: their columns, and how they are written.
#[derive(Debug)]
pub struct TableLayout {
    format: TableFormat,
    schema: Arc<Schema>,
    /// How Parquet is written.
    properties: WriterProperties,
}

impl TableLayout {
    /// Files with these columns; of Parquet, in groups of `group_rows` rows at most.
    pub fn new(
        format: TableFormat,
        schema: Arc<Schema>,
        group_rows: usize,
    ) -> Result<TableLayout, TablesErrorKind> {
        let mut properties = WriterProperties::builder()
            .set_compression(Compression::ZSTD(ZstdLevel::try_new(1)?))
            .set_statistics_enabled(EnabledStatistics::Chunk)
            .set_max_row_group_row_count(Some(group_rows));
        // Times differ from row to row, but little from one to the next. Ranks, threads, lines and communicators are small and mostly few: they take as many
        // bits as the places in a dictionary do, without a search for each.
        let is_whole = |field: &&Arc<Field>| {
            !field.is_nullable() && matches!(field.data_type(), DataType::Int32 | DataType::Int64)
                || is_rank(field)
        };
        for field in schema.fields().iter().filter(is_whole) {
            let path = ColumnPath::from(field.name().as_str());
            properties = properties
                .set_column_dictionary_enabled(path.clone(), false)
                .set_column_encoding(path, Encoding::DELTA_BINARY_PACKED);
        }
        // Each is there a few times at most, so that a dictionary of them is given up after its first megabyte.
        properties = properties.set_column_dictionary_enabled(ColumnPath::from("call_id"), false);
        Ok(TableLayout {
            format,
            schema,
            properties: properties.build(),
        })
    }
}

/// Whether a column has the rank of each row, which few rows lack.
fn is_rank(field: &Field) -> bool {
    matches!(field.name().as_str(), "rank" | "source_rank" | "dest_rank")
}

/// A file that is being written.
enum OpenFile {
    Parquet(Box<ArrowWriter<File>>),
    Arrow(Box<FileWriter<BufWriter<File>>>),
}

impl OpenFile {
    fn create(layout: &TableLayout, file: File) -> Result<OpenFile, TablesErrorKind> {
        Ok(match layout.format {
            TableFormat::Parquet => {
                let (schema, properties) = (layout.schema.clone(), layout.properties.clone());
                let writer = ArrowWriter::try_new(file, schema, Some(properties))?;
                OpenFile::Parquet(Box::new(writer))
            }
            TableFormat::Arrow => {
                let writer = FileWriter::try_new_buffered(file, &layout.schema)?;
                OpenFile::Arrow(Box::new(writer))
            }
        })
    }

    fn write(&mut self, batch: &RecordBatch) -> Result<(), TablesErrorKind> {
        match self {
            OpenFile::Parquet(writer) => writer.write(batch)?,
            OpenFile::Arrow(writer) => writer.write(batch)?,
        }
        Ok(())
    }

    /// Writes what belongs behind the rows.
    fn end(self) -> Result<(), TablesErrorKind> {
        match self {
            OpenFile::Parquet(writer) => writer.close().map(drop)?,
            // Whatever cannot be written is told, which dropping a buffer does not do.
            OpenFile::Arrow(writer) => {
                drop(writer.into_inner()?.into_inner().map_err(io::Error::from)?)
            }
        }
        Ok(())
    }
}

/// The files of a table for some of the ranks.
pub struct TableFiles {
    folder: PathBuf,
    layout: Arc<TableLayout>,
    file: Option<OpenFile>,
    rows_in_file: u64,
    files: u32,
}

impl TableFiles {
    /// A table in a folder, which is made with the first file.
    pub fn new(folder: PathBuf, layout: Arc<TableLayout>) -> TableFiles {
        TableFiles {
            folder,
            layout,
            file: None,
            rows_in_file: 0,
            files: 0,
        }
    }

    /// Writes rows, into the next file if this one has enough of them.
    ///
    /// # Errors
    /// A file cannot be written.
    pub fn write(&mut self, batch: &RecordBatch) -> Result<(), TablesErrorKind> {
        if self.file.is_none() {
            fs::create_dir_all(&self.folder)?;
            let name = format!("{:05}.{}", self.files, self.layout.format.ending());
            let file = File::create_new(self.folder.join(name))?;
            self.file = Some(OpenFile::create(&self.layout, file)?);
            self.files += 1;
        }
        if let Some(file) = &mut self.file {
            file.write(batch)?;
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
        self.file.take().map_or(Ok(()), OpenFile::end)
    }
}
