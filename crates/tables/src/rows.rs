//! Drawables as rows: which table each belongs to, what columns the tables have, and the rows that are gathered for one.

use crate::category_plan::{self, CategoryPlan, TablePlan};
use crate::column::{Column, ColumnType};
use crate::kind::TableKind;
use crate::lines::{self, LineColumns};
use crate::times::ns;
use crate::waits::{CallWaiting, WaitingCalls};
use arrow_array::{RecordBatch, StringArray};
use arrow_schema::{ArrowError, DataType, Field, Schema};
use std::collections::BTreeMap;
use std::sync::Arc;
use trace_model::hash::Map;
use trace_model::{Definitions, Drawable, Vertex, info_values, message};

/// Rows that are gathered before they become a batch.
pub const BATCH_ROWS: usize = 1 << 14;

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

/// Names and types of a table's columns.
#[derive(Clone, Debug)]
pub struct TableSchema {
    /// Columns as Arrow describes them.
    pub schema: Arc<Schema>,
    /// Names of categories, by the numbers that rows have.
    names: Arc<StringArray>,
    types: Vec<Option<ColumnType>>,
    /// Number of columns that every row has.
    fixed: usize,
}

impl TableSchema {
    /// A table with these columns, of which the last ones come from infos. `names` are those of its categories.
    pub fn new(
        fixed: &[FixedColumn],
        infos: &[(String, ColumnType)],
        names: &[String],
    ) -> TableSchema {
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
        let types = fixed.iter().map(|column| column.kind);
        TableSchema {
            schema: Arc::new(Schema::new(fields)),
            names: Arc::new(StringArray::from_iter_values(names)),
            types: types
                .chain(infos.iter().map(|(_, kind)| Some(*kind)))
                .collect(),
            fixed: fixed.len(),
        }
    }

    fn columns(&self) -> Vec<Column> {
        let column = |kind: &Option<ColumnType>| match kind {
            Some(kind) => Column::new(*kind),
            None => Column::Name(Default::default(), self.names.clone()),
        };
        self.types.iter().map(column).collect()
    }
}

/// All tables of a trace: which drawables go where, and the columns.
#[derive(Debug)]
pub struct TraceTables {
    plans: Map<i32, CategoryPlan>,
    lines: Map<i32, LineColumns>,
    schemas: BTreeMap<TableKind, TableSchema>,
    /// Where the table of calls says what they waited for.
    waiting: Option<WaitingCalls>,
}

impl TraceTables {
    /// The tables of a trace with these definitions; with `waiting`, calls have columns for it.
    pub fn new(definitions: &Definitions, waiting: Option<WaitingCalls>) -> TraceTables {
        let fixed = |kind| match (kind, &waiting) {
            (TableKind::Calls, Some(_)) => [fixed(kind), Vec::from(WAITING)].concat(),
            _ => fixed(kind),
        };
        let names = |kind| fixed(kind).iter().map(|column| column.name).collect();
        let (plans, tables) = category_plan::plan(definitions, names);
        let schema = |(kind, table): (TableKind, TablePlan)| {
            let schema = TableSchema::new(&fixed(kind), &table.columns, &table.names);
            (kind, schema)
        };
        TraceTables {
            plans,
            lines: lines::columns(definitions),
            schemas: tables.into_iter().map(schema).collect(),
            waiting,
        }
    }

    /// The highest rank that has a timeline.
    pub fn last_rank(&self) -> Option<u32> {
        self.lines.values().filter_map(|line| line.rank).max()
    }

    /// Columns of the tables that the trace has categories for.
    pub fn schemas(&self) -> &BTreeMap<TableKind, TableSchema> {
        &self.schemas
    }

    /// Columns of a table; without a category for it, those that it has in every trace.
    pub fn schema(&self, kind: TableKind) -> TableSchema {
        let schema = self.schemas.get(&kind).cloned();
        schema.unwrap_or_else(|| TableSchema::new(&fixed(kind), &[], &[]))
    }

    /// The row that a drawable is.
    ///
    /// # Errors
    /// What it is that no table has a row for.
    pub fn row<'a>(&'a self, drawable: &Drawable<'a>) -> Result<Row<'a>, &'static str> {
        let (Some(plan), Some(first), Some(last)) = (
            self.plans.get(&drawable.category),
            drawable.vertices.first(),
            drawable.vertices.last(),
        ) else {
            return Err("drawable that stands for others");
        };
        let of_line = |line| self.lines.get(&line).copied();
        match (of_line(first.line), of_line(last.line)) {
            (Some(from), Some(to)) => Ok(Row {
                plan,
                first: *first,
                last: *last,
                from,
                to,
                waiting: self.waiting(plan.kind, first),
                info: drawable.info,
            }),
            _ => Err("drawable on an unknown timeline"),
        }
    }

    /// What is said of the waits of a row that begins there, if that is said of its table.
    fn waiting(&self, kind: TableKind, first: &Vertex) -> Option<Option<CallWaiting>> {
        match (kind, &self.waiting) {
            (TableKind::Calls, Some(waiting)) => Some(waiting.get(first.line, first.time)),
            _ => None,
        }
    }
}

/// A drawable that is a row of a table.
#[derive(Clone, Copy, Debug)]
pub struct Row<'a> {
    plan: &'a CategoryPlan,
    /// Begin.
    pub first: Vertex,
    /// End.
    pub last: Vertex,
    /// Timeline of the begin.
    pub from: LineColumns,
    /// Timeline of the end.
    pub to: LineColumns,
    /// Waits of the call, where the table says them.
    waiting: Option<Option<CallWaiting>>,
    info: &'a [u8],
}

impl Row<'_> {
    /// The table.
    pub fn kind(&self) -> TableKind {
        self.plan.kind
    }
}

/// Rows of one table that are gathered.
#[derive(Debug)]
pub struct GatheredRows {
    /// Values of each column.
    pub columns: Vec<Column>,
    fixed: usize,
    rows: usize,
}

impl GatheredRows {
    /// No rows, of a table with these columns.
    pub fn new(schema: &TableSchema) -> GatheredRows {
        GatheredRows {
            columns: schema.columns(),
            fixed: schema.fixed,
            rows: 0,
        }
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.rows
    }

    /// Adds a row.
    pub fn push(&mut self, row: &Row<'_>) {
        let Row { plan, from, to, .. } = row;
        let (fixed, of_infos) = self.columns.split_at_mut(self.fixed);
        let mut fixed = fixed.iter_mut();
        let mut next = |value: Option<i64>| {
            if let Some(column) = fixed.next() {
                column.push_optional(value);
            }
        };
        next(from.rank.map(i64::from));
        if plan.kind.is_of_arrows() {
            next(to.rank.map(i64::from));
            next(Some(row.first.line.into()));
            next(Some(row.last.line.into()));
        } else {
            next(Some(from.thread.into()));
            next(Some(row.first.line.into()));
        }
        next(Some(from.communicator.into()));
        next(Some(plan.name.into()));
        next(Some(ns(row.first.time)));
        if !plan.kind.is_of_events() {
            next(Some(ns(row.last.time)));
        }
        if plan.kind == TableKind::Messages {
            let message = message(&plan.category, row.info);
            next(message.map(|message| message.tag.into()));
            next(message.map(|message| message.size));
        }
        if let Some(waiting) = row.waiting {
            next(Some(waiting.map_or(0, |call| call.waiting)));
            next(waiting.map(|call| call.culprit.into()));
        }
        for ((_, value), place) in info_values(&plan.category, row.info).zip(&plan.values) {
            if let Some(column) = place.and_then(|place| of_infos.get_mut(place)) {
                column.pad(self.rows);
                column.push_value(value);
            }
        }
        self.rows += 1;
    }

    /// Ends a row of which each column that has a value has got it.
    pub fn end_row(&mut self) {
        self.rows += 1;
    }

    /// The rows so far, which are gathered no more.
    ///
    /// # Errors
    /// A column has not as many values as there are rows, or a number that is that of no name.
    pub fn take(&mut self, schema: &TableSchema) -> Result<RecordBatch, ArrowError> {
        let rows = std::mem::take(&mut self.rows);
        let arrays = self.columns.iter_mut().map(|column| {
            column.pad(rows);
            column.finish()
        });
        let arrays = arrays.collect::<Result<_, _>>()?;
        RecordBatch::try_new(schema.schema.clone(), arrays)
    }
}

/// What the table of calls says of waits, where it does.
const WAITING: [FixedColumn; 2] = [
    FixedColumn {
        name: "waiting_ns",
        kind: Some(ColumnType::Integer),
        is_optional: false,
    },
    FixedColumn {
        name: "culprit_rank",
        kind: Some(ColumnType::Small),
        is_optional: true,
    },
];

/// The columns that every table of a kind has, in the order in which rows are filled.
fn fixed(kind: TableKind) -> Vec<FixedColumn> {
    let column = |name, kind, is_optional| FixedColumn {
        name,
        kind: Some(kind),
        is_optional,
    };
    let (small, integer) = (ColumnType::Small, ColumnType::Integer);
    let mut columns = match kind.is_of_arrows() {
        true => vec![
            column("source_rank", small, true),
            column("dest_rank", small, true),
            column("source_line", small, false),
            column("dest_line", small, false),
        ],
        false => vec![
            column("rank", small, true),
            column("thread", small, false),
            column("line", small, false),
        ],
    };
    columns.push(column("communicator", small, false));
    columns.push(FixedColumn {
        name: kind.name_column(),
        kind: None,
        is_optional: false,
    });
    let times: &[&str] = match kind {
        TableKind::Messages => &["send_ns", "receive_ns"],
        _ if kind.is_of_arrows() => &["start_ns", "end_ns"],
        _ if kind.is_of_events() => &["time_ns"],
        _ => &["enter_ns", "leave_ns"],
    };
    columns.extend(times.iter().map(|&name| column(name, integer, false)));
    if kind == TableKind::Messages {
        columns.push(column("tag", small, true));
        columns.push(column("bytes", integer, true));
    }
    columns
}
