//! Tables that are made of a trace's definitions: what the numbers in the columns `line`, `rank` and `communicator` stand for.

use crate::column::{Column, ColumnType};
use crate::lines::LineColumns;
use crate::rows::{FixedColumn, TableSchema};
use arrow_array::RecordBatch;
use arrow_schema::{ArrowError, Schema};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use trace_model::{CommNames, Definitions, InfoValue, lane_of, name_of_lane};

/// A table whose rows the definitions of a trace tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DefinitionTable {
    /// A row for each timeline.
    Timelines,
    /// A row for each rank that has a timeline.
    Ranks,
    /// A row for each rank of each communicator that has a timeline.
    Communicators,
}

const fn column(name: &'static str, kind: ColumnType, is_optional: bool) -> FixedColumn {
    FixedColumn {
        name,
        kind: Some(kind),
        is_optional,
    }
}

const OF_TIMELINES: [FixedColumn; 7] = [
    column("line", ColumnType::Small, false),
    column("rank", ColumnType::Small, true),
    column("thread", ColumnType::Small, false),
    column("communicator", ColumnType::Small, false),
    column("communicator_rank", ColumnType::Small, true),
    column("host", ColumnType::Text, true),
    column("name", ColumnType::Text, false),
];

const OF_RANKS: [FixedColumn; 3] = [
    column("rank", ColumnType::Small, false),
    column("threads", ColumnType::Small, false),
    column("host", ColumnType::Text, true),
];

const OF_COMMUNICATORS: [FixedColumn; 4] = [
    column("communicator", ColumnType::Small, false),
    column("communicator_rank", ColumnType::Small, false),
    column("rank", ColumnType::Small, false),
    column("name", ColumnType::Text, true),
];

impl DefinitionTable {
    /// All of them.
    pub const ALL: [DefinitionTable; 3] = [
        DefinitionTable::Timelines,
        DefinitionTable::Ranks,
        DefinitionTable::Communicators,
    ];

    /// Name of the table, which is that of its folder.
    pub fn name(self) -> &'static str {
        match self {
            DefinitionTable::Timelines => "timelines",
            DefinitionTable::Ranks => "ranks",
            DefinitionTable::Communicators => "communicators",
        }
    }

    /// The table of this name.
    pub fn by_name(name: &str) -> Option<DefinitionTable> {
        let mut all = DefinitionTable::ALL.into_iter();
        all.find(|table| table.name() == name)
    }

    fn columns(self) -> &'static [FixedColumn] {
        match self {
            DefinitionTable::Timelines => &OF_TIMELINES,
            DefinitionTable::Ranks => &OF_RANKS,
            DefinitionTable::Communicators => &OF_COMMUNICATORS,
        }
    }

    /// Names and types of the columns.
    pub fn schema(self) -> Arc<Schema> {
        TableSchema::new(self.columns(), &[], &[]).schema
    }

    /// All rows of the table, in order of their first columns. `names` has the names of communicators that the program has given.
    ///
    /// # Errors
    /// The rows make no batch.
    pub fn batch(
        self,
        definitions: &Definitions,
        names: &CommNames,
    ) -> Result<RecordBatch, ArrowError> {
        let kinds = self.columns().iter().filter_map(|column| column.kind);
        let mut columns: Vec<Column> = kinds.map(Column::new).collect();
        match self {
            DefinitionTable::Timelines => timelines(definitions, &mut columns),
            DefinitionTable::Ranks => ranks(definitions, &mut columns),
            DefinitionTable::Communicators => communicators(definitions, names, &mut columns),
        }
        let arrays = columns.iter_mut().map(Column::finish);
        RecordBatch::try_new(self.schema(), arrays.collect())
    }
}

/// Adds a row whose columns are these numbers, and behind them these texts.
fn push(columns: &mut [Column], numbers: &[Option<i64>], texts: &[Option<&str>]) {
    let (of_numbers, of_texts) = columns.split_at_mut(numbers.len());
    for (column, number) in of_numbers.iter_mut().zip(numbers) {
        match number {
            Some(number) => column.push(*number),
            None => column.push_null(),
        }
    }
    for (column, text) in of_texts.iter_mut().zip(texts) {
        match text {
            Some(text) => column.push_value(InfoValue::Text(text.as_bytes())),
            None => column.push_null(),
        }
    }
}

fn timelines(definitions: &Definitions, columns: &mut [Column]) {
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
        push(columns, &numbers, &[line.host.as_deref(), Some(&name)]);
    }
}

fn ranks(definitions: &Definitions, columns: &mut [Column]) {
    let mut found: BTreeMap<u32, (BTreeSet<u32>, Option<&str>)> = BTreeMap::new();
    for line in &definitions.lines {
        let of_line = LineColumns::of(line);
        if let Some(rank) = of_line.rank {
            let (threads, host) = found.entry(rank).or_default();
            threads.insert(of_line.thread);
            *host = host.or(line.host.as_deref());
        }
    }
    for (rank, (threads, host)) in found {
        let numbers = [Some(rank.into()), Some(threads.len() as i64)];
        push(columns, &numbers, &[host]);
    }
}

fn communicators(definitions: &Definitions, names: &CommNames, columns: &mut [Column]) {
    let mut found: BTreeSet<[i64; 3]> = BTreeSet::new();
    for line in &definitions.lines {
        let of_line = LineColumns::of(line);
        if let Some(rank) = of_line.rank {
            let communicator = of_line.communicator.into();
            found.insert([communicator, line.comm_rank.into(), rank.into()]);
        }
    }
    for row in found {
        let [number, ..] = row;
        let name = i32::try_from(number)
            .ok()
            .and_then(|number| names.get(number));
        push(columns, &row.map(Some), &[name]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow_array::cast::AsArray;
    use arrow_array::types::Int32Type;
    use trace_model::Line;

    /// Two ranks, of which one has two threads, and a communicator with the ranks in reverse order.
    fn definitions() -> Definitions {
        let in_communicator = |id, rank, comm_rank| Line {
            comm: 3,
            comm_rank,
            ..Line::of_thread(id, rank, 0)
        };
        let mut lines = vec![
            Line::of_thread(0, 0, 0),
            Line::of_thread(1, 1, 0),
            Line::of_thread(2, 1, 1),
            in_communicator(3, 0, 1),
            in_communicator(4, 1, 0),
        ];
        lines[1].host = Some("b".to_owned());
        Definitions {
            lines,
            ..Definitions::default()
        }
    }

    fn numbers(table: DefinitionTable, columns: usize) -> Vec<Vec<i32>> {
        let batch = table
            .batch(&definitions(), &CommNames::default())
            .expect("a table");
        let column = |nth: usize| batch.column(nth).as_primitive::<Int32Type>();
        let row = |row| (0..columns).map(|nth| column(nth).value(row)).collect();
        (0..batch.num_rows()).map(row).collect()
    }

    #[test]
    fn ranks_have_their_threads_and_hosts() {
        assert_eq!(numbers(DefinitionTable::Ranks, 2), [[0, 1], [1, 2]]);
        let batch = DefinitionTable::Ranks
            .batch(&definitions(), &CommNames::default())
            .expect("a table");
        let hosts: Vec<Option<&str>> = batch.column(2).as_string::<i32>().iter().collect();
        assert_eq!(hosts, [None, Some("b")]);
    }

    #[test]
    fn communicators_have_their_ranks_in_order() {
        let expected = [[0, 0, 0], [0, 1, 1], [3, 0, 1], [3, 1, 0]];
        assert_eq!(numbers(DefinitionTable::Communicators, 3), expected);
        assert_eq!(numbers(DefinitionTable::Timelines, 1).len(), 5);
    }
}
