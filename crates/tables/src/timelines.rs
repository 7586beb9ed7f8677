//! The table of timelines: what the numbers in the column `line` stand for.

use crate::column::ColumnType;
use crate::error::TablesErrorKind;
use crate::table::{FixedColumn, TableLayout, TableWriter};
use std::path::Path;
use trace_model::hash::Map;
use trace_model::{Actor, Definitions, InfoValue, Line, lane_of, name_of_lane};

/// Rank, thread and communicator of a timeline, as rows have them.
#[derive(Clone, Copy, Debug)]
pub struct LineColumns {
    /// Rank in MPI_COMM_WORLD; `None` for servers and devices.
    pub rank: Option<u32>,
    /// Thread of the process.
    pub thread: u32,
    /// Number of the communicator in this trace, 0 for MPI_COMM_WORLD.
    pub communicator: i32,
}

impl LineColumns {
    fn of(line: &Line) -> LineColumns {
        let lane = lane_of(line);
        LineColumns {
            rank: match lane.actor {
                Actor::Rank(rank) => Some(rank),
                _ => None,
            },
            thread: lane.thread,
            communicator: line.comm,
        }
    }
}

/// All timelines by their numbers.
pub fn columns(definitions: &Definitions) -> Map<i32, LineColumns> {
    let lines = definitions.lines.iter();
    lines.map(|line| (line.id, LineColumns::of(line))).collect()
}

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

/// Writes the table into the dataset's `folder`.
pub fn write(folder: &Path, definitions: &Definitions) -> Result<(), TablesErrorKind> {
    let layout = TableLayout::new(&COLUMNS, &[], &[], 1 << 20)?;
    let mut table = TableWriter::new(folder.join("timelines"), &layout);
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
        let (of_numbers, of_texts) = table.columns.split_at_mut(numbers.len());
        for (column, number) in of_numbers.iter_mut().zip(numbers) {
            column.push_optional(number);
        }
        for (column, text) in of_texts.iter_mut().zip(texts) {
            match text {
                Some(text) => column.push_value(InfoValue::Text(text.as_bytes())),
                None => column.push_null(),
            }
        }
        table.end_row(&layout)?;
    }
    table.finish(&layout)
}
