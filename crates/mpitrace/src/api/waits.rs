//! The waits of a trace as a table.

use super::{Failure, TraceFiles};
use crate::trace_files::losses::{failure, forgotten_waits};
use analysis::performance::{WaitsOfCalls, waits_of_calls};
use arrow_array::RecordBatch;
use parking_lot::Mutex;
use std::collections::BTreeSet;
use std::sync::Arc;
use tables::{WaitTable, WaitingCalls};
use trace_model::{Source, TimeBBox};

/// How long calls waited, which several threads ask for: the first one finds it out, the others wait for that.
#[derive(Debug, Default)]
pub struct SharedWaits(Mutex<Option<Arc<WaitingCalls>>>);

impl SharedWaits {
    /// How long the calls of this trace waited for other ranks, and for whom.
    ///
    /// # Errors
    /// A file is damaged.
    pub fn of(&self, trace: &TraceFiles) -> Result<Arc<WaitingCalls>, Failure> {
        let mut known = self.0.lock();
        if let Some(known) = known.as_ref() {
            return Ok(Arc::clone(known));
        }
        let found = Arc::new(trace.waiting_calls()?);
        *known = Some(Arc::clone(&found));
        Ok(found)
    }
}

impl TraceFiles {
    /// How long calls waited for other ranks, and for whom.
    ///
    /// # Errors
    /// A file is damaged.
    pub fn waiting_calls(&self) -> Result<WaitingCalls, Failure> {
        let found = self.source(None);
        let found = found.and_then(|source| self.waits_of(source.as_ref()));
        Ok(WaitingCalls::new(&self.unless_torn(found)?))
    }

    /// The waits of a source of this trace. What is missing is noted.
    fn waits_of(&self, source: &dyn Source) -> Result<WaitsOfCalls, Failure> {
        let found = waits_of_calls(source).map_err(failure)?;
        self.notes
            .lock()
            .extend(forgotten_waits(&self.name(), &found));
        Ok(found)
    }

    /// The stretches of time in which calls waited for other ranks, as the report has them, by the begin of the wait: who waited in which call,
    /// from when to when, why, and for whom. With `ranks`, those that wait or are waited for; with `window`, those that overlap it. Of more than
    /// a million waits, the longest.
    ///
    /// # Errors
    /// A file is damaged.
    pub fn waits(
        &self,
        ranks: Option<&BTreeSet<u32>>,
        window: Option<TimeBBox>,
    ) -> Result<RecordBatch, Failure> {
        let source = self.unless_torn(self.source(None))?;
        let definitions = source.definitions();
        let found = self.unless_torn(self.waits_of(source.as_ref()))?;
        let table = WaitTable::new(definitions);
        let mut waits = found.waits;
        waits.retain(|wait| {
            let span = TimeBBox {
                earliest: wait.from,
                latest: wait.to,
            };
            ranks.is_none_or(|ranks| table.is_of(wait, ranks))
                && window.is_none_or(|window| window.overlaps(span))
        });
        waits.sort_by(|a, b| a.from.total_cmp(&b.from));
        let batch = table.batch(&waits);
        batch.map_err(|error| Failure::file(self.name(), error))
    }

    /// The table of waits without a row.
    ///
    /// # Errors
    /// A file is damaged where its definitions are.
    pub fn no_waits(&self) -> Result<RecordBatch, Failure> {
        let batch = WaitTable::new(&self.definitions()?).batch(&[]);
        batch.map_err(|error| Failure::file(self.name(), error))
    }
}
