//! The tables of a trace as DataFusion asks for them.

use super::filters::narrow;
use crate::api::{RowBatches, SharedWaits, TraceFiles, TraceParts, WaitColumns};
use crate::failure::Failure;
use arrow_array::RecordBatch;
use arrow_schema::{Schema, SchemaRef};
use async_trait::async_trait;
use datafusion::catalog::{Session, TableProvider};
use datafusion::error::{DataFusionError, Result};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::logical_expr::{Expr, TableProviderFilterPushDown, TableType};
use datafusion::physical_expr::expressions::Column;
use datafusion::physical_expr::{LexOrdering, PhysicalSortExpr};
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::stream::RecordBatchReceiverStream;
use datafusion::physical_plan::streaming::{PartitionStream, StreamingTableExec};
use std::fmt;
use std::sync::Arc;
use tables::{DefinitionTable, RowSelection, TableKind};
use trace_formats::slog2::StartRange;

/// Batches of rows that may wait.
const WAITING: usize = 2;

/// Columns for which waits must be known.
const WAIT_COLUMNS: [&str; 2] = ["waiting_ns", "culprit_rank"];

/// Where the rows of a table come from.
#[derive(Clone, Debug)]
enum RowsOf {
    /// Drawables of a kind, of which calls say how long they waited.
    Drawables(RowSelection, WaitColumns),
    /// The analysis of the whole trace.
    Waits,
    Definitions(DefinitionTable),
}

/// A table of a trace.
#[derive(Clone)]
pub struct TraceTable {
    trace: Arc<TraceFiles>,
    rows: RowsOf,
    schema: SchemaRef,
}

impl fmt::Debug for TraceTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} of {}", self.rows, self.trace.name())
    }
}

/// The tables of a trace with their names: those that it has drawables for, and those that every trace has.
///
/// # Errors
/// A file is damaged where its definitions are.
pub fn tables(
    trace: &Arc<TraceFiles>,
) -> std::result::Result<Vec<(&'static str, TraceTable)>, Failure> {
    let mut found = Vec::new();
    let mut add = |name, rows, schema: Arc<Schema>| {
        let trace = trace.clone();
        found.push((
            name,
            TraceTable {
                trace,
                rows,
                schema,
            },
        ));
    };
    for kind in TableKind::ALL {
        let schema = trace.columns(kind, WaitColumns::Read)?;
        if !schema.fields().is_empty() {
            add(
                kind.name(),
                RowsOf::Drawables(RowSelection::all(kind), WaitColumns::Read),
                schema,
            );
        }
    }
    for table in DefinitionTable::ALL {
        add(table.name(), RowsOf::Definitions(table), table.schema());
    }
    add("waits", RowsOf::Waits, trace.no_waits()?.schema());
    Ok(found)
}

/// Rows of a table that a thread reads: those of a part of the trace.
#[derive(Clone)]
struct TablePart {
    table: TraceTable,
    part: Vec<StartRange>,
    /// What the parts of a scan have together.
    waits: Arc<SharedWaits>,
}

impl fmt::Debug for TablePart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.table.fmt(f)
    }
}

impl TablePart {
    /// Gives all rows to `put`, which says whether it wants more.
    fn read(self, put: &mut dyn FnMut(RecordBatch) -> bool) -> Result<()> {
        let TraceTable { trace, rows, .. } = self.table;
        match rows {
            RowsOf::Drawables(selection, waits) => {
                let batches =
                    RowBatches::begin_part(trace, selection, waits, self.waits, self.part);
                for batch in batches.map_err(failed)? {
                    if !put(batch?) {
                        break;
                    }
                }
            }
            RowsOf::Waits => drop(put(trace.waits(None, None).map_err(failed)?)),
            RowsOf::Definitions(table) => {
                _ = put(trace.definition_table(table, None).map_err(failed)?);
            }
        }
        Ok(())
    }
}

fn failed(failure: Failure) -> DataFusionError {
    DataFusionError::External(failure.to_string().into())
}

impl TraceTable {
    /// The parts of which each is read by a thread. Of a query that wants the first rows only there is one, which ends with the last of these.
    fn parts(&self, limit: Option<usize>) -> Result<TraceParts> {
        match &self.rows {
            RowsOf::Drawables(selection, _) if limit.is_none() => {
                self.trace.parts(selection.window).map_err(failed)
            }
            _ => Ok(TraceParts::whole()),
        }
    }

    /// By what the rows of each part are in order, after a projection.
    fn order(
        &self,
        parts: &TraceParts,
        projection: Option<&Vec<usize>>,
    ) -> Result<Option<LexOrdering>> {
        let kind = match &self.rows {
            RowsOf::Drawables(selection, _) => selection.kind,
            RowsOf::Waits | RowsOf::Definitions(_) => return Ok(None),
        };
        if kind.is_of_arrows() || !parts.is_by_first_vertex {
            return Ok(None);
        }
        let projected = match projection {
            Some(columns) => self.schema.project(columns)?,
            None => Schema::clone(&self.schema),
        };
        let begin = kind.time_columns().first();
        let begin = begin.and_then(|name| projected.column_with_name(name));
        let begin = begin.map(|(at, field)| {
            PhysicalSortExpr::new_default(Arc::new(Column::new(field.name(), at))).asc()
        });
        Ok(begin.and_then(|begin| LexOrdering::new([begin])))
    }
}

#[async_trait]
impl TableProvider for TraceTable {
    fn schema(&self) -> SchemaRef {
        self.schema.clone()
    }

    fn table_type(&self) -> TableType {
        TableType::Base
    }

    /// Conditions that decide what is read. All are looked at again for each row.
    fn supports_filters_pushdown(
        &self,
        filters: &[&Expr],
    ) -> Result<Vec<TableProviderFilterPushDown>> {
        let is_known = |condition: &Expr| match &self.rows {
            RowsOf::Drawables(selection, _) => narrow(&mut selection.clone(), condition),
            _ => false,
        };
        let answer = |condition: &&Expr| match is_known(condition) {
            true => TableProviderFilterPushDown::Inexact,
            false => TableProviderFilterPushDown::Unsupported,
        };
        Ok(filters.iter().map(answer).collect())
    }

    async fn scan(
        &self,
        _state: &dyn Session,
        projection: Option<&Vec<usize>>,
        filters: &[Expr],
        limit: Option<usize>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let mut table = self.clone();
        let schema = self.schema.clone();
        if let RowsOf::Drawables(selection, waits) = &mut table.rows {
            for condition in filters {
                narrow(selection, condition);
            }
            let is_about_waits =
                |&at: &usize| WAIT_COLUMNS.contains(&schema.field(at).name().as_str());
            if projection.is_some_and(|columns| !columns.iter().any(is_about_waits)) {
                *waits = WaitColumns::Unread;
            }
        }
        let parts = table.parts(limit)?;
        let order = table.order(&parts, projection)?;
        let waits = Arc::new(SharedWaits::default());
        let part = |part| -> Arc<dyn PartitionStream> {
            let (table, waits) = (table.clone(), Arc::clone(&waits));
            Arc::new(TablePart { table, part, waits })
        };
        let parts = parts.parts.into_iter().map(part).collect();
        let scan = StreamingTableExec::try_new(schema, parts, projection, order, false, limit)?;
        Ok(Arc::new(scan))
    }
}

impl PartitionStream for TablePart {
    fn schema(&self) -> &SchemaRef {
        &self.table.schema
    }

    fn execute(&self, _context: Arc<TaskContext>) -> SendableRecordBatchStream {
        let schema = self.table.schema.clone();
        let mut stream = RecordBatchReceiverStream::builder(schema, WAITING);
        let (part, to) = (self.clone(), stream.tx());
        stream.spawn_blocking(move || part.read(&mut |batch| to.blocking_send(Ok(batch)).is_ok()));
        stream.build()
    }
}
