//! Rows of a table as batches that come while the trace is read: a thread reads ahead by a few of them.

use super::{Failure, SharedWaits, TraceFiles};
use crate::trace_files::losses::failure;
use arrow_array::{RecordBatch, RecordBatchReader};
use arrow_schema::{ArrowError, Schema};
use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;
use tables::{DefinitionTable, RowSelection, SelectedRows, TableKind, WaitingCalls};
use trace_formats::slog2::StartRange;
use trace_model::{
    Actor, CommNames, Drawable, DrawableOrder, Losses, Source, Stop, Topology, for_each_in_order,
    lane_of,
};

/// Batches that are read ahead.
const AHEAD: usize = 4;

/// What comes from the thread that reads.
enum Step {
    Schema(Arc<Schema>),
    Batch(RecordBatch),
    End(Result<(), Failure>),
}

/// What the table of calls says of the time that they waited for other ranks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WaitColumns {
    /// Nothing: it has no such columns.
    Absent,
    /// Columns whose values nobody looks at: no call waited.
    Unread,
    /// What the analysis of the whole trace finds, in a pass over the trace before the rows are read.
    Read,
}

/// Why reading stops early.
const NOBODY_READS: &str = "the rows are not wanted any more";
const ENDED_EARLY: &str = "the thread that reads has ended early";

/// Batches of rows, by start. The reading ends when this is dropped.
pub struct RowBatches {
    schema: Arc<Schema>,
    /// What comes; `None` after the end.
    steps: Option<Receiver<Step>>,
}

impl RowBatches {
    /// Begins to read the rows of a selection.
    ///
    /// # Errors
    /// A file is damaged where its definitions are; there is no thread.
    pub fn begin(
        trace: Arc<TraceFiles>,
        selection: RowSelection,
        waits: WaitColumns,
    ) -> Result<RowBatches, Failure> {
        let part = vec![StartRange::default()];
        RowBatches::begin_part(trace, selection, waits, Arc::default(), part)
    }

    /// Begins to read those rows of a selection that begin in some ranges; other parts of the same trace have `shared`, too.
    ///
    /// # Errors
    /// As [`RowBatches::begin`].
    pub fn begin_part(
        trace: Arc<TraceFiles>,
        selection: RowSelection,
        waits: WaitColumns,
        shared: Arc<SharedWaits>,
        part: Vec<StartRange>,
    ) -> Result<RowBatches, Failure> {
        let (to, steps) = sync_channel(AHEAD);
        let read = move || {
            let end = read(&trace, selection, (waits, &shared), &part, &to);
            let end = trace.unless_torn(end);
            // Nobody is told who has gone.
            let _ = to.send(Step::End(end));
        };
        let name = "mpitrace rows".to_owned();
        let started = thread::Builder::new().name(name).spawn(read);
        started.map_err(|error| Failure::Data(format!("a thread that reads: {error}")))?;
        match steps.recv() {
            Ok(Step::Schema(schema)) => Ok(RowBatches {
                schema,
                steps: Some(steps),
            }),
            Ok(Step::End(Err(failure))) => Err(failure),
            _ => Err(Failure::Data(ENDED_EARLY.to_owned())),
        }
    }
}

/// Reads the rows of a selection that begin in the ranges of a part.
fn read(
    trace: &TraceFiles,
    selection: RowSelection,
    (waits, shared): (WaitColumns, &SharedWaits),
    part: &[StartRange],
    to: &SyncSender<Step>,
) -> Result<(), Failure> {
    let waiting = match waits {
        WaitColumns::Absent => None,
        WaitColumns::Unread => Some(Arc::new(WaitingCalls::default())),
        WaitColumns::Read => Some(shared.of(trace)?),
    };
    let source = trace.part_source(selection.window, part)?;
    let mut rows = SelectedRows::with_waiting(source.definitions(), selection, waiting);
    // Should nobody read, the next batch finds out.
    let _ = to.send(Step::Schema(rows.schema()));
    let topology = rows.topology();
    let losses = for_each_of(
        source.as_ref(),
        topology,
        &mut |drawable| match rows.put(drawable)? {
            Some(batch) => {
                let batch = trace.unless_torn(Ok(batch));
                let batch = batch.map_err(|failure| failure.to_string())?;
                Ok(to.send(Step::Batch(batch)).map_err(|_| NOBODY_READS)?)
            }
            None => Ok(()),
        },
    )?;
    trace.note_losses(losses);
    let left = rows.finish();
    let left = left.map_err(|error| Failure::file(trace.name(), error));
    if let Some(batch) = trace.unless_torn(left)? {
        let _ = to.send(Step::Batch(batch));
    }
    Ok(())
}

impl Iterator for RowBatches {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        let message = match self.steps.as_ref()?.recv() {
            Ok(Step::Batch(batch)) => return Some(Ok(batch)),
            Ok(Step::End(Ok(()))) => {
                self.steps = None;
                return None;
            }
            Ok(Step::End(Err(failure))) => failure.to_string(),
            Ok(Step::Schema(_)) | Err(_) => ENDED_EARLY.to_owned(),
        };
        self.steps = None;
        Some(Err(ArrowError::ExternalError(message.into())))
    }
}

impl TraceFiles {
    /// Columns of a table, for which no rows are read.
    ///
    /// # Errors
    /// A file is damaged where its definitions are.
    pub fn columns(&self, kind: TableKind, waits: WaitColumns) -> Result<Arc<Schema>, Failure> {
        let waiting = (waits != WaitColumns::Absent).then(Arc::<WaitingCalls>::default);
        let selection = RowSelection::all(kind);
        let rows = SelectedRows::with_waiting(&self.definitions()?, selection, waiting);
        Ok(rows.schema())
    }

    /// A table that the definitions tell; with `ranks`, rows of these. Names of communicators are in calls: of a program that gives some, its
    /// trace is read.
    ///
    /// # Errors
    /// A file is damaged.
    pub fn definition_table(
        &self,
        table: DefinitionTable,
        ranks: Option<&BTreeSet<u32>>,
    ) -> Result<RecordBatch, Failure> {
        let mut definitions = self.definitions()?;
        let names = match table {
            DefinitionTable::Communicators if CommNames::new(&definitions).may_come() => {
                let names = self.source(None);
                let names =
                    names.and_then(|source| CommNames::of(source.as_ref()).map_err(failure));
                self.unless_torn(names)?
            }
            _ => CommNames::default(),
        };
        if let Some(ranks) = ranks {
            let is_wanted = |actor| matches!(actor, Actor::Rank(rank) if ranks.contains(&rank));
            let lines = &mut definitions.lines;
            lines.retain(|line| is_wanted(lane_of(line).actor));
        }
        let batch = table.batch(&definitions, &names);
        batch.map_err(|error| Failure::file(self.name(), error))
    }
}

impl RecordBatchReader for RowBatches {
    fn schema(&self) -> Arc<Schema> {
        self.schema.clone()
    }
}

/// Gives the drawables of a source whose categories are of this topology to `put`, by start, and perhaps others. Says what could not be read.
fn for_each_of(
    source: &dyn Source,
    topology: Option<Topology>,
    put: &mut dyn FnMut(&Drawable<'_>) -> Result<(), Stop>,
) -> Result<Losses, Failure> {
    let read = match topology {
        Some(topology) if source.order() == DrawableOrder::Start => {
            source.for_each_of(topology, put)
        }
        _ => for_each_in_order(source, DrawableOrder::Start, put),
    };
    read.map_err(failure)
}
