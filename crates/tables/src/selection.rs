//! Some rows of one table, in memory, for programs that go on with them.

use crate::gathered::{BATCH_ROWS, GatheredRows};
use crate::kind::TableKind;
use crate::rows::{Row, TableSchema, TraceTables};
use crate::waits::WaitingCalls;
use arrow_array::RecordBatch;
use arrow_schema::{ArrowError, Schema};
use std::collections::BTreeSet;
use std::sync::Arc;
use trace_model::{Definitions, Drawable, TimeBBox, Topology};

/// The rows that are wanted: of one table, and of all of its rows some.
#[derive(Clone, Debug)]
pub struct RowSelection {
    /// The table.
    pub kind: TableKind,
    /// Rows of these ranks only; of arrows, those with one of them at either end.
    pub ranks: Option<BTreeSet<u32>>,
    /// Rows that overlap this stretch of time only, in seconds.
    pub window: Option<TimeBBox>,
    /// Rows with these names only: of functions, regions, kinds or events, as the table has them.
    pub names: Option<BTreeSet<String>>,
}

impl RowSelection {
    /// All rows of a table.
    pub fn all(kind: TableKind) -> RowSelection {
        RowSelection {
            kind,
            ranks: None,
            window: None,
            names: None,
        }
    }

    /// Whether a row of the table is wanted.
    fn takes(&self, row: &Row<'_>) -> bool {
        // An arrow may end before it begins, where clocks differ.
        let bounds = TimeBBox {
            earliest: row.first.time.min(row.last.time),
            latest: row.first.time.max(row.last.time),
        };
        let of_window = |window: TimeBBox| window.overlaps(bounds);
        let of_ranks = |ranks: &BTreeSet<u32>| {
            let has = |rank: Option<u32>| rank.is_some_and(|rank| ranks.contains(&rank));
            has(row.from.rank) || has(row.to.rank)
        };
        self.window.is_none_or(of_window) && self.ranks.as_ref().is_none_or(of_ranks)
    }
}

/// Gathers the rows of a selection in batches.
#[derive(Debug)]
pub struct SelectedRows {
    selection: RowSelection,
    tables: TraceTables,
    schema: TableSchema,
    rows: GatheredRows,
    /// Categories with the names that are wanted; `None` if all are.
    categories: Option<BTreeSet<i32>>,
}

impl SelectedRows {
    /// No rows yet, of a trace with these definitions.
    pub fn new(definitions: &Definitions, selection: RowSelection) -> SelectedRows {
        SelectedRows::with_waiting(definitions, selection, None)
    }

    /// No rows yet, of a trace with these definitions; with `waiting`, calls have columns for it.
    pub fn with_waiting(
        definitions: &Definitions,
        selection: RowSelection,
        waiting: Option<Arc<WaitingCalls>>,
    ) -> SelectedRows {
        let tables = TraceTables::new(definitions, waiting);
        let schema = tables.schema(selection.kind);
        let categories = selection.names.as_ref().map(|names| {
            let all = definitions.categories.iter();
            let wanted = all.filter(|category| names.contains(category.name.to_str().as_ref()));
            wanted.map(|category| category.index).collect()
        });
        SelectedRows {
            rows: GatheredRows::new(&schema),
            categories,
            selection,
            tables,
            schema,
        }
    }

    /// Names and types of the columns.
    pub fn schema(&self) -> Arc<Schema> {
        self.schema.schema.clone()
    }

    /// What all drawables are that have rows here; `None` if they are not all alike.
    pub fn topology(&self) -> Option<Topology> {
        self.tables.topology(self.selection.kind)
    }

    /// Takes a drawable, and gives a batch when enough rows have come together.
    ///
    /// # Errors
    /// The rows make no batch.
    #[inline]
    pub fn put(&mut self, drawable: &Drawable<'_>) -> Result<Option<RecordBatch>, ArrowError> {
        let Ok(plan) = self.tables.plan(drawable.category) else {
            return Ok(None);
        };
        let categories = self.categories.as_ref();
        if plan.kind != self.selection.kind
            || categories.is_some_and(|wanted| !wanted.contains(&drawable.category))
        {
            return Ok(None);
        }
        // What no table has a row for is none of the selection.
        if let Ok(row) = self.tables.row(plan, drawable)
            && self.selection.takes(&row)
        {
            self.rows.push(&row);
            if self.rows.len() >= BATCH_ROWS {
                return self.rows.take(&self.schema).map(Some);
            }
        }
        Ok(None)
    }

    /// The rows that are left, if there are any.
    ///
    /// # Errors
    /// The rows make no batch.
    pub fn finish(mut self) -> Result<Option<RecordBatch>, ArrowError> {
        match self.rows.len() {
            0 => Ok(None),
            _ => self.rows.take(&self.schema).map(Some),
        }
    }
}
