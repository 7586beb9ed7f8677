//! Statistics as tables.

use crate::terminal::table::{TableCell, TextTable};
use analysis::stats::{CategoryStatistics, DrawableTally, Statistics};
use std::cmp::Ordering;
use std::collections::HashMap;
use trace_model::{Definitions, Topology};

/// Percentiles of durations that are shown.
const PERCENTILES: [(f64, &str); 4] = [
    (50.0, "p50_s"),
    (90.0, "p90_s"),
    (95.0, "p95_s"),
    (99.0, "p99_s"),
];

/// Columns of categories that are left out first where there is no room for all.
const RARE: [&str; 9] = [
    "min_s",
    "p95_s",
    "p90_s",
    "kind",
    "inclusive",
    "p50_s",
    "p99_s",
    "exclusive_s",
    "mean_s",
];

/// Columns about how long drawables take.
const DURATIONS: [&str; 5] = ["total_s", "exclusive_s", "mean_s", "min_s", "max_s"];

/// Makes tables of statistics.
pub struct StatisticsTables<'a> {
    pub found: &'a Statistics,
    pub definitions: &'a Definitions,
}

impl StatisticsTables<'_> {
    fn share(&self, seconds: f64) -> TableCell {
        let whole = self.found.thread_seconds();
        TableCell::optional((whole > 0.0).then(|| seconds / whole), TableCell::Share)
    }

    fn name(&self, index: i32) -> TableCell {
        let name = self.definitions.category(index).map(|c| &c.name);
        TableCell::Text(match name {
            Some(name) if !name.is_empty() => name.to_str().into_owned(),
            _ => format!("category {index}"),
        })
    }

    /// A column for each performance counter, named like it.
    fn counter_columns(&self) -> impl Iterator<Item = &'static str> + '_ {
        // Columns have names for as long as the command runs.
        let names = self.found.counters.iter();
        names.map(|name| &*name.clone().leak())
    }

    /// States by exclusive time, then arrows and events by their number.
    pub fn by_category(&self) -> TextTable {
        let mut columns = vec!["category", "kind", "count"];
        let [total, exclusive, mean, min, max] = DURATIONS;
        columns.extend([total, exclusive, mean, min]);
        columns.extend(PERCENTILES.map(|(_, column)| column));
        columns.extend([max, "inclusive", "exclusive"]);
        columns.extend(self.counter_columns());
        let mut table = TextTable::new("categories", &columns);
        table.rare = self.counter_columns().collect();
        table.rare.extend(RARE);
        let mut categories: Vec<&CategoryStatistics> = self.found.categories.iter().collect();
        categories.sort_by(|a, b| {
            let kinds = rank_of(a.topology).cmp(&rank_of(b.topology));
            let most = |a: f64, b: f64| b.partial_cmp(&a).unwrap_or(Ordering::Equal);
            kinds
                .then(most(a.tally.exclusive, b.tally.exclusive))
                .then(b.tally.count.cmp(&a.tally.count))
                .then(a.index.cmp(&b.index))
        });
        for category in categories {
            let tally = &category.tally;
            let mut row = vec![
                self.name(category.index),
                TableCell::Text(category.topology.name().to_lowercase()),
                TableCell::Count(tally.count),
            ];
            if category.topology == Topology::Event {
                row.resize(table.columns.len(), TableCell::None);
                table.rows.push(row);
                continue;
            }
            let [total, exclusive, mean, min, max] = durations(tally, Some(category.topology));
            row.extend([total, exclusive, mean, min]);
            let percentiles = PERCENTILES.iter();
            row.extend(percentiles.map(|&(percent, _)| {
                TableCell::optional(category.durations.percentile(percent), TableCell::Seconds)
            }));
            row.push(max);
            let is_state = category.topology == Topology::State;
            for seconds in [tally.total, tally.exclusive] {
                row.push(if is_state {
                    self.share(seconds)
                } else {
                    TableCell::None
                });
            }
            row.extend(counts(&category.counters));
            table.rows.push(row);
        }
        table
    }

    /// Time in states and out of them, and messages.
    pub fn by_row(&self, threads: bool) -> TextTable {
        let mut columns = row_columns(threads);
        columns.extend([
            "states",
            "in_states_s",
            "in_states",
            "outside_s",
            "sent",
            "sent_bytes",
            "received",
            "received_bytes",
        ]);
        let mut table = TextTable::new(if threads { "threads" } else { "ranks" }, &columns);
        table.rare = vec!["outside_s", "sent_bytes", "received_bytes"];
        let joined = self.found.rows_by_rank();
        let rows = if threads { &self.found.rows } else { &joined };
        // States and threads of each row.
        let key = |rank: i32, thread: i32| (rank, if threads { thread } else { 0 });
        let mut numbers: HashMap<(i32, i32), (u64, u64)> = HashMap::new();
        for row in &self.found.rows {
            numbers.entry(key(row.rank, row.thread)).or_default().1 += 1;
        }
        for cell in &self.found.cells {
            let category = self.found.category(cell.category);
            if category.is_some_and(|category| category.topology == Topology::State) {
                let states = &mut numbers.entry(key(cell.rank, cell.thread)).or_default().0;
                *states += cell.tally.count;
            }
        }
        for row in rows {
            let found = numbers.get(&key(row.rank, row.thread));
            let (states, lines) = found.copied().unwrap_or_default();
            let whole = self.found.span() * lines as f64;
            let mut cells = row_cells(row.rank, row.thread, threads);
            cells.extend([
                TableCell::Count(states),
                TableCell::Seconds(row.covered),
                TableCell::optional((whole > 0.0).then(|| row.covered / whole), TableCell::Share),
                TableCell::Seconds((whole - row.covered).max(0.0)),
                TableCell::Count(row.sent.count),
                TableCell::Count(row.sent.bytes),
                TableCell::Count(row.received.count),
                TableCell::Count(row.received.bytes),
            ]);
            table.rows.push(cells);
        }
        table
    }

    /// Every category on every rank or thread.
    pub fn by_cell(&self, threads: bool) -> TextTable {
        let mut columns = row_columns(threads);
        columns.extend(["category", "kind", "count"]);
        columns.extend(DURATIONS);
        columns.extend(self.counter_columns());
        let name = if threads {
            "threads_by_category"
        } else {
            "ranks_by_category"
        };
        let mut table = TextTable::new(name, &columns);
        table.rare = self.counter_columns().collect();
        table.rare.extend(RARE);
        let joined = self.found.cells_by_rank();
        let cells = if threads { &self.found.cells } else { &joined };
        for cell in cells {
            let topology = self.found.category(cell.category).map(|c| c.topology);
            let kind = topology.map_or(String::new(), |t| t.name().to_lowercase());
            let mut row = row_cells(cell.rank, cell.thread, threads);
            row.extend([
                self.name(cell.category),
                TableCell::Text(kind),
                TableCell::Count(cell.tally.count),
            ]);
            row.extend(durations(&cell.tally, topology));
            row.extend(counts(&cell.counters));
            table.rows.push(row);
        }
        table
    }

    /// The communication matrix, without its empty cells.
    pub fn by_pair(&self) -> TextTable {
        let columns = ["from", "to", "messages", "bytes", "mean_bytes"];
        let mut table = TextTable::new("pairs", &columns);
        for pair in &self.found.messages.by_pair {
            let mean = pair.volume.bytes as f64 / pair.volume.count as f64;
            table.rows.push(vec![
                TableCell::Number(pair.from.into()),
                TableCell::Number(pair.to.into()),
                TableCell::Count(pair.volume.count),
                TableCell::Count(pair.volume.bytes),
                TableCell::Real(mean),
            ]);
        }
        table
    }

    /// Messages by powers of two of their size.
    pub fn by_size(&self) -> TextTable {
        let columns = ["from_bytes", "to_bytes", "messages", "bytes"];
        let mut table = TextTable::new("sizes", &columns);
        for class in &self.found.messages.by_size {
            table.rows.push(vec![
                TableCell::Count(class.low),
                TableCell::Count(class.high),
                TableCell::Count(class.volume.count),
                TableCell::Count(class.volume.bytes),
            ]);
        }
        table
    }

    /// Operations caused by calls: for each category of calls all operations, then those of each category.
    pub fn by_callid(&self) -> TextTable {
        let columns = [
            "call",
            "operation",
            "calls",
            "causing",
            "operations",
            "per_call",
            "per_causing_call",
            "most",
        ];
        let mut table = TextTable::new("callids", &columns);
        table.rare = vec!["per_call", "most", "calls"];
        for (&call, caused) in &self.found.callids.by_call {
            let ratio = |of: u64, to: u64| {
                TableCell::optional((to > 0).then(|| of as f64 / to as f64), TableCell::Real)
            };
            table.rows.push(vec![
                self.name(call),
                TableCell::Text("all".to_owned()),
                TableCell::Count(caused.calls),
                TableCell::Count(caused.causing),
                TableCell::Count(caused.operations),
                ratio(caused.operations, caused.calls),
                ratio(caused.operations, caused.causing),
                TableCell::Count(caused.most),
            ]);
            for (&operation, &count) in &caused.by_operation {
                table.rows.push(vec![
                    self.name(call),
                    self.name(operation),
                    TableCell::Count(caused.calls),
                    TableCell::None,
                    TableCell::Count(count),
                    ratio(count, caused.calls),
                    ratio(count, caused.causing),
                    TableCell::None,
                ]);
            }
        }
        table
    }
}

/// Cells of the columns of performance counters.
fn counts(sums: &[Option<u64>]) -> impl Iterator<Item = TableCell> + '_ {
    sums.iter()
        .map(|sum| sum.map_or(TableCell::None, TableCell::Count))
}

fn rank_of(topology: Topology) -> u8 {
    match topology {
        Topology::State => 0,
        Topology::Arrow => 1,
        Topology::Event => 2,
    }
}

/// The first columns of tables about ranks or threads.
fn row_columns(threads: bool) -> Vec<&'static str> {
    let mut columns = vec!["rank"];
    columns.extend(threads.then_some("thread"));
    columns
}

/// The first cells of their rows.
fn row_cells(rank: i32, thread: i32, threads: bool) -> Vec<TableCell> {
    let mut cells = vec![TableCell::Number(rank.into())];
    cells.extend(threads.then_some(TableCell::Number(thread.into())));
    cells
}

/// Cells of the columns [`DURATIONS`].
fn durations(tally: &DrawableTally, topology: Option<Topology>) -> [TableCell; 5] {
    if topology == Some(Topology::Event) {
        return [const { TableCell::None }; 5];
    }
    let exclusive = match topology {
        Some(Topology::State) => TableCell::Seconds(tally.exclusive),
        _ => TableCell::None,
    };
    [
        TableCell::Seconds(tally.total),
        exclusive,
        TableCell::optional(tally.mean(), TableCell::Seconds),
        TableCell::Seconds(tally.min),
        TableCell::Seconds(tally.max),
    ]
}
