//! Drawables as rows: which table each belongs to, and what columns the tables have.

use crate::category_plan::{self, CategoryPlan, TablePlan};
use crate::column::{Column, ColumnType};
use crate::kind::TableKind;
use crate::lines::{self, LineColumns};
use crate::waits::{CallWaiting, WaitingCalls};
use arrow_array::StringArray;
use arrow_schema::{DataType, Field, Schema};
use std::collections::BTreeMap;
use std::sync::Arc;
use trace_model::{Definitions, Drawable, NumberMap, Topology, Vertex};

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
    pub names: Arc<StringArray>,
    /// Types of the columns that come from infos, which are the last ones.
    of_infos: Vec<ColumnType>,
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
        TableSchema {
            schema: Arc::new(Schema::new(fields)),
            names: Arc::new(StringArray::from_iter_values(names)),
            of_infos: infos.iter().map(|(_, kind)| *kind).collect(),
        }
    }

    /// Empty columns for values of infos.
    pub fn info_columns(&self) -> Vec<Column> {
        self.of_infos
            .iter()
            .map(|kind| Column::new(*kind))
            .collect()
    }
}

/// Why a drawable without a table or a place has no row.
const OF_NO_TABLE: &str = "drawable that stands for others";

/// All tables of a trace: which drawables go where, and the columns.
#[derive(Debug)]
pub struct TraceTables {
    plans: NumberMap<CategoryPlan>,
    lines: NumberMap<LineColumns>,
    schemas: BTreeMap<TableKind, TableSchema>,
    /// Where the table of calls says what they waited for.
    waiting: Option<Arc<WaitingCalls>>,
}

impl TraceTables {
    /// The tables of a trace with these definitions; with `waiting`, calls have columns for it.
    pub fn new(definitions: &Definitions, waiting: Option<Arc<WaitingCalls>>) -> TraceTables {
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

    /// Number of groups of ranks, what is of no rank being one.
    pub fn groups(&self) -> usize {
        let last = self.lines.values().map(|line| line.group).max();
        last.map_or(0, |last| last as usize + 1)
    }

    /// What all drawables of a table are; `None` if they are not all alike.
    pub fn topology(&self, kind: TableKind) -> Option<Topology> {
        let mut plans = self.plans.values().filter(|plan| plan.kind == kind);
        let first = plans.next()?.category.topology;
        let is_alike = plans.all(|plan| plan.category.topology == first);
        is_alike.then_some(first)
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

    /// The table of a category's drawables, and where their values go.
    ///
    /// # Errors
    /// What drawables of the category are that no table has a row for.
    #[inline]
    pub fn plan(&self, category: i32) -> Result<&CategoryPlan, &'static str> {
        self.plans.get(category).ok_or(OF_NO_TABLE)
    }

    /// The row that a drawable is, whose category has this plan.
    ///
    /// # Errors
    /// What it is that no table has a row for.
    #[inline]
    pub fn row<'a>(
        &'a self,
        plan: &'a CategoryPlan,
        drawable: &Drawable<'a>,
    ) -> Result<Row<'a>, &'static str> {
        let (Some(first), Some(last)) = (drawable.vertices.first(), drawable.vertices.last())
        else {
            return Err(OF_NO_TABLE);
        };
        let of_line = |line| {
            let columns = self.lines.get(line);
            columns.ok_or("drawable on an unknown timeline")
        };
        let from = of_line(first.line)?;
        let to = match last.line == first.line {
            true => from,
            false => of_line(last.line)?,
        };
        Ok(Row {
            plan,
            first,
            last,
            from,
            to,
            waiting: self.waiting(plan.kind, drawable.category, first),
            info: drawable.info,
        })
    }

    /// What is said of the waits of a row of this category that begins there, if that is said of its table.
    fn waiting(
        &self,
        kind: TableKind,
        category: i32,
        first: &Vertex,
    ) -> Option<Option<CallWaiting>> {
        match (kind, &self.waiting) {
            (TableKind::Calls, Some(waiting)) => {
                Some(waiting.get(first.line, category, first.time))
            }
            _ => None,
        }
    }
}

/// A drawable that is a row of a table.
#[derive(Clone, Copy, Debug)]
pub struct Row<'a> {
    /// The table of the row's category, and where values go.
    pub plan: &'a CategoryPlan,
    /// Begin.
    pub first: &'a Vertex,
    /// End.
    pub last: &'a Vertex,
    /// Timeline of the begin.
    pub from: &'a LineColumns,
    /// Timeline of the end.
    pub to: &'a LineColumns,
    /// Waits of the call, where the table says them.
    pub waiting: Option<Option<CallWaiting>>,
    /// Values of its category.
    pub info: &'a [u8],
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
    let ranks = kind.rank_columns().iter();
    let mut columns: Vec<FixedColumn> = ranks.map(|&name| column(name, small, true)).collect();
    let places: &[&str] = match kind.is_of_arrows() {
        true => &["source_line", "dest_line"],
        false => &["thread", "line"],
    };
    columns.extend(places.iter().map(|&name| column(name, small, false)));
    columns.push(column("communicator", small, false));
    columns.push(FixedColumn {
        name: kind.name_column(),
        kind: None,
        is_optional: false,
    });
    let times = kind.time_columns();
    columns.extend(times.iter().map(|&name| column(name, integer, false)));
    if kind == TableKind::Messages {
        columns.push(column("tag", small, true));
        columns.push(column("bytes", integer, true));
    }
    columns
}
