//! A table while it is written: rows are gathered in columns, and columns go into files.

use crate::column::{Column, ColumnType};
use crate::error::TablesErrorKind;
use arrow_array::{RecordBatch, StringArray};
use arrow_schema::{DataType, Field, Schema};
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, Encoding, ZstdLevel};
use parquet::errors::ParquetError;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::schema::types::ColumnPath;
use std::fs::{self, File};
use std::path::PathBuf;
use std::sync::Arc;

/// Rows that are gathered before the writer gets them.
const BATCH_ROWS: usize = 1 << 14;
/// Rows of a file; further ones go into the next.
const FILE_ROWS: u64 = 1 << 24;

/// A column that every row of a table has.
#[derive(Clone, Copy, Debug)]
pub struct FixedColumn {
    /// Name of the column.
    pub name: &'static str,
    /// Type of the column; `None` for the names of categories.
    pub kind: Option<ColumnType>,
    /// Whether values may be missing.
    pub is_optional: bool,
}

/// What the tables of one kind have in common, whatever ranks they are for.
pub struct TableLayout {
    schema: Arc<Schema>,
    names: Arc<StringArray>,
    types: Vec<Option<ColumnType>>,
    properties: WriterProperties,
}

impl TableLayout {
    /// A table with these columns, of which the last ones come from infos. `names` are those of its categories. A group of rows has `group_rows` at most.
    pub fn new(
        fixed: &[FixedColumn],
        infos: &[(String, ColumnType)],
        names: &[String],
        group_rows: usize,
    ) -> Result<TableLayout, TablesErrorKind> {
        let name_type =
            || DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Utf8));
        let mut fields: Vec<Field> = fixed
            .iter()
            .map(|column| {
                let kind = column.kind.map_or_else(name_type, ColumnType::arrow);
                Field::new(column.name, kind, column.is_optional)
            })
            .collect();
        let of_infos = infos.iter();
        fields.extend(of_infos.map(|(name, kind)| Field::new(name, kind.arrow(), true)));
        let mut properties = WriterProperties::builder()
            .set_compression(Compression::ZSTD(ZstdLevel::try_new(1)?))
            .set_statistics_enabled(EnabledStatistics::Chunk)
            .set_max_row_group_row_count(Some(group_rows));
        // Times differ from row to row, but little from one to the next.
        for column in fixed.iter().filter(|column| column.name.ends_with("_ns")) {
            let path = ColumnPath::from(column.name);
            properties = properties
                .set_column_dictionary_enabled(path.clone(), false)
                .set_column_encoding(path, Encoding::DELTA_BINARY_PACKED);
        }
        let types = fixed.iter().map(|column| column.kind);
        Ok(TableLayout {
            schema: Arc::new(Schema::new(fields)),
            names: Arc::new(StringArray::from_iter_values(names)),
            types: types
                .chain(infos.iter().map(|(_, kind)| Some(*kind)))
                .collect(),
            properties: properties.build(),
        })
    }

    fn columns(&self) -> Vec<Column> {
        let column = |kind: &Option<ColumnType>| match kind {
            Some(kind) => Column::new(*kind),
            None => Column::Name(Default::default(), self.names.clone()),
        };
        self.types.iter().map(column).collect()
    }
}

/// The rows of a table for some of the ranks.
pub struct TableWriter {
    folder: PathBuf,
    /// Values of each column that are not with the writer yet.
    pub columns: Vec<Column>,
    /// Number of rows in `columns`.
    gathered: usize,
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
            columns: layout.columns(),
            gathered: 0,
            writer: None,
            rows_in_file: 0,
            files: 0,
            rows: 0,
        }
    }

    /// Ends a row: a column that has got no value is empty in it.
    pub fn end_row(&mut self, layout: &TableLayout) -> Result<(), TablesErrorKind> {
        let gathered = self.gathered;
        for column in self.columns.iter_mut().filter(|c| c.len() == gathered) {
            column.push_null();
        }
        self.gathered += 1;
        self.rows += 1;
        if self.gathered < BATCH_ROWS {
            return Ok(());
        }
        self.pass_on(layout)
    }

    /// Gives the gathered rows to the writer.
    fn pass_on(&mut self, layout: &TableLayout) -> Result<(), TablesErrorKind> {
        let columns: Result<_, _> = self.columns.iter_mut().map(Column::finish).collect();
        let batch =
            columns.and_then(|columns| RecordBatch::try_new(layout.schema.clone(), columns));
        let batch = batch.map_err(ParquetError::from)?;
        if self.writer.is_none() {
            fs::create_dir_all(&self.folder)?;
            let path = self.folder.join(format!("{:05}.parquet", self.files));
            let (schema, properties) = (layout.schema.clone(), layout.properties.clone());
            let file = File::create_new(path)?;
            self.writer = Some(ArrowWriter::try_new(file, schema, Some(properties))?);
            self.files += 1;
        }
        if let Some(writer) = &mut self.writer {
            writer.write(&batch)?;
        }
        self.rows_in_file += self.gathered as u64;
        self.gathered = 0;
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
        if self.gathered > 0 {
            self.pass_on(layout)?;
        }
        self.end_file()
    }
}
