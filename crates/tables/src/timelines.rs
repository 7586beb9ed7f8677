//! The table of timelines: what the numbers in the column `line` stand for.

use crate::column::ColumnType;
use crate::lines::LineColumns;
use crate::rows::{FixedColumn, GatheredRows, TableSchema};
use arrow_array::RecordBatch;
use arrow_schema::ArrowError;
use trace_model::{Definitions, InfoValue, lane_of, name_of_lane};

const fn column(name: &'static str, kind: ColumnType, is_optional: bool) -> FixedColumn {
    FixedColumn {
        name,
        kind: Some(kind),
        is_optional,
    }
}

const COLUMNS: [FixedColumn; 7] = [
    column("line", ColumnType::Small, false),
    column("rank", ColumnType::Small, true),
    column("thread", ColumnType::Small, false),
    column("communicator", ColumnType::Small, false),
    column("communicator_rank", ColumnType::Small, true),
    column("host", ColumnType::Text, true),
    column("name", ColumnType::Text, false),
];

/// Columns of the table.
pub fn schema() -> TableSchema {
    TableSchema::new(&COLUMNS, &[], &[])
}

/// The table, with a row for each timeline.
///
/// # Errors
/// The rows make no batch.
pub fn batch(definitions: &Definitions) -> Result<RecordBatch, ArrowError> {
    let schema = schema();
    let mut rows = GatheredRows::new(&schema);
    for line in &definitions.lines {
        let of_line = LineColumns::of(line);
        let rank = of_line.rank.map(i64::from);
        let numbers = [
            Some(line.id.into()),
            rank,
            Some(of_line.thread.into()),
            Some(of_line.communicator.into()),
            rank.map(|_| line.comm_rank.into()),
        ];
        let name = line
            .name
            .clone()
            .unwrap_or_else(|| name_of_lane(lane_of(line)));
        let texts = [line.host.as_deref(), Some(&name)];
        let (of_numbers, of_texts) = rows.columns.split_at_mut(numbers.len());
        for (column, number) in of_numbers.iter_mut().zip(numbers) {
            column.push_optional(number);
        }
        for (column, text) in of_texts.iter_mut().zip(texts) {
            match text {
                Some(text) => column.push_value(InfoValue::Text(text.as_bytes())),
                None => column.push_null(),
            }
        }
        rows.end_row();
    }
    rows.take(&schema)
}
