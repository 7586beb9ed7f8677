//! Rows of one table while they are gathered, column by column, until they are enough for a batch.

use crate::category_plan::ValuePlace;
use crate::column::Column;
use crate::kind::TableKind;
use crate::optional_values::{OptionalValues, emptied};
use crate::rows::{Row, TableSchema};
use crate::times::ns;
use arrow_array::types::{ArrowPrimitiveType, Int32Type, Int64Type};
use arrow_array::{Array, ArrayRef, DictionaryArray, PrimitiveArray, RecordBatch};
use arrow_schema::ArrowError;
use std::sync::Arc;
use trace_model::{InfoValue, info_values};

/// Rows that are gathered before they become a batch.
pub const BATCH_ROWS: usize = 1 << 14;

/// Rows of one table that are gathered: the columns of all tables, of which those that this one has get values.
#[derive(Debug, Default)]
pub struct GatheredRows {
    /// Rank, of an arrow that of its begin.
    source_rank: OptionalValues<i32>,
    dest_rank: OptionalValues<i32>,
    thread: Vec<i32>,
    /// Timeline, of an arrow that of its begin.
    source_line: Vec<i32>,
    dest_line: Vec<i32>,
    communicator: Vec<i32>,
    name: Vec<i32>,
    start: Vec<i64>,
    end: Vec<i64>,
    tag: OptionalValues<i32>,
    bytes: OptionalValues<i64>,
    waiting: Vec<i64>,
    culprit: OptionalValues<i32>,
    /// Columns that come from infos, with values up to the last row that has one.
    of_infos: Vec<Column>,
}

impl GatheredRows {
    /// No rows, of a table with these columns.
    pub fn new(schema: &TableSchema) -> GatheredRows {
        GatheredRows {
            of_infos: schema.info_columns(),
            ..GatheredRows::default()
        }
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.name.len()
    }

    /// Adds a row.
    #[inline]
    pub fn push(&mut self, row: &Row<'_>) {
        let Row { plan, from, to, .. } = row;
        let rows = self.len();
        let small = |number: u32| i32::try_from(number).ok();
        self.source_rank.push(from.rank.and_then(small));
        self.source_line.push(row.first.line);
        if plan.kind.is_of_arrows() {
            self.dest_rank.push(to.rank.and_then(small));
            self.dest_line.push(row.last.line);
        } else {
            self.thread.push(small(from.thread).unwrap_or(i32::MAX));
        }
        self.communicator.push(from.communicator);
        self.name.push(plan.name);
        self.start.push(ns(row.first.time));
        if !plan.kind.is_of_events() {
            self.end.push(ns(row.last.time));
        }
        if let Some(waiting) = row.waiting {
            self.waiting.push(waiting.map_or(0, |call| call.waiting));
            self.culprit.push(waiting.map(|call| call.culprit));
        }
        let (mut tag, mut bytes) = (None, None);
        for ((_, value), place) in info_values(&plan.category, row.info).zip(&plan.values) {
            match (*place, value) {
                (ValuePlace::ColumnIfKnown(_), InfoValue::Integer(-1)) => {}
                (ValuePlace::Column(place) | ValuePlace::ColumnIfKnown(place), value) => {
                    if let Some(column) = self.of_infos.get_mut(place) {
                        column.put(rows, value);
                    }
                }
                (ValuePlace::Tag, InfoValue::Integer(value)) => tag = i32::try_from(value).ok(),
                (ValuePlace::Size, InfoValue::Integer(value)) => bytes = Some(value),
                _ => {}
            }
        }
        if plan.kind == TableKind::Messages {
            // A message has both, or it is none.
            let (tag, bytes) = tag.zip(bytes).unzip();
            self.tag.push(tag);
            self.bytes.push(bytes);
        }
    }

    /// The rows so far, which are gathered no more.
    ///
    /// # Errors
    /// A row has the number of no name.
    pub fn take(&mut self, schema: &TableSchema) -> Result<RecordBatch, ArrowError> {
        let rows = self.len();
        if rows == 0 {
            return Ok(RecordBatch::new_empty(schema.schema.clone()));
        }
        let names = values::<Int32Type>(&mut self.name);
        let names = DictionaryArray::try_new(names, schema.names.clone())?;
        let fixed = [
            self.source_rank.finish::<Int32Type>(),
            self.dest_rank.finish::<Int32Type>(),
            array::<Int32Type>(&mut self.thread),
            array::<Int32Type>(&mut self.source_line),
            array::<Int32Type>(&mut self.dest_line),
            array::<Int32Type>(&mut self.communicator),
            Arc::new(names),
            array::<Int64Type>(&mut self.start),
            array::<Int64Type>(&mut self.end),
            self.tag.finish::<Int32Type>(),
            self.bytes.finish::<Int64Type>(),
            array::<Int64Type>(&mut self.waiting),
            self.culprit.finish::<Int32Type>(),
        ];
        let mut arrays: Vec<ArrayRef> = fixed
            .into_iter()
            .filter(|column| column.len() == rows)
            .collect();
        for column in &mut self.of_infos {
            column.pad(rows);
            arrays.push(column.finish());
        }
        RecordBatch::try_new(schema.schema.clone(), arrays)
    }
}

fn values<T: ArrowPrimitiveType>(values: &mut Vec<T::Native>) -> PrimitiveArray<T> {
    PrimitiveArray::new(emptied(values).into(), None)
}

fn array<T: ArrowPrimitiveType>(column: &mut Vec<T::Native>) -> ArrayRef {
    Arc::new(values::<T>(column))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rows::TraceTables;
    use arrow_array::cast::AsArray;
    use trace_model::{Category, Color, Definitions, Drawable, InfoWriter, Line, Topology, Vertex};

    /// What a call does not tell is missing in its row, so that sums are right. A marker may have any number.
    #[test]
    fn a_value_that_is_not_known_is_missing() {
        let mut categories = Vec::new();
        for (index, name, topology, format) in [
            (0, "MPI_Gather", Topology::State, "root=%d, bytes=%l"),
            (1, "residual", Topology::Event, "bytes=%l"),
        ] {
            let mut category = Category::new(index, name.into(), topology, Color::WHITE);
            category.set_info_format(format.as_bytes());
            categories.push(category);
        }
        let definitions = Definitions {
            categories,
            lines: vec![Line::of_thread(0, 0, 0)],
            ..Definitions::default()
        };
        let tables = TraceTables::new(&definitions, None);
        let ends = [Vertex { time: 0.0, line: 0 }, Vertex { time: 1.0, line: 0 }];
        for (category, expected) in [(0, [Some(8), None]), (1, [Some(8), Some(-1)])] {
            let plan = tables.plan(category).expect("a plan");
            let schema = tables.schema(plan.kind);
            let mut rows = GatheredRows::new(&schema);
            for bytes in [8, -1] {
                let mut info = InfoWriter::default();
                if category == 0 {
                    info.int(-1);
                }
                let drawable = Drawable {
                    topology: plan.category.topology,
                    category,
                    info: info.long(bytes).bytes(),
                    vertices: &ends[..2 - category as usize],
                };
                rows.push(&tables.row(plan, &drawable).expect("a row"));
            }
            let batch = rows.take(&schema).expect("a batch");
            let column = batch.column_by_name("bytes").expect("a column");
            let found: Vec<Option<i64>> = column.as_primitive::<Int64Type>().iter().collect();
            assert_eq!(found, expected);
        }
    }
}
