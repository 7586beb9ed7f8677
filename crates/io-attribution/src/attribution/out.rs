//! Output of attribution records: numbers operations, and passes files on before the records that name them.

use super::files::RunFiles;
use super::resolved::{ResolvedOperation, TransferShare};
use super::totals::AttributionTotals;
use crate::event;
use crate::record::{
    Actor, AttributedOperation, AttributionEdge, AttributionRecord, DataAccessCall, Lane,
    PicturePoint, Precision, Relation,
};
use trace_model::Stop;

/// Receives attribution records.
pub(super) type RecordSink<'p> = &'p mut dyn FnMut(&AttributionRecord) -> Result<(), Stop>;

/// Numbers operations, and passes files on before the records that name them.
#[derive(Debug, Default)]
pub(super) struct RecordOutput {
    pub files: RunFiles,
    pub totals: AttributionTotals,
    operations: u64,
}

/// An operation whose attribution is complete.
#[derive(Debug)]
pub(super) struct FinishedOperation<'o> {
    pub operation: &'o event::OperationEvent,
    pub actor: Actor,
    pub thread: u32,
    pub file: Option<u32>,
    /// CallID of the call that triggered it, and its point in the picture.
    pub trigger: Option<(u64, PicturePoint)>,
    /// CallID to name where no trigger is known.
    pub named: Option<u64>,
    /// Calls whose bytes it moved.
    pub carried: &'o [(u64, PicturePoint, u64, Precision)],
    /// Bytes of sieving holes: moved, but asked for by no call.
    pub hole_bytes: u64,
}

impl RecordOutput {
    pub fn file(&mut self, id: u32, put: RecordSink<'_>) -> Result<(), Stop> {
        match self.files.give(id) {
            Some(file) => put(&AttributionRecord::File(file)),
            None => Ok(()),
        }
    }

    pub fn call(&mut self, call: DataAccessCall, put: RecordSink<'_>) -> Result<(), Stop> {
        self.file(call.file, put)?;
        self.totals.calls += 1;
        put(&AttributionRecord::Call(call))
    }

    pub fn operation(
        &mut self,
        known: &FinishedOperation<'_>,
        put: RecordSink<'_>,
    ) -> Result<(), Stop> {
        if let Some(file) = known.file {
            self.file(file, put)?;
        }
        let o = known.operation;
        let place = PicturePoint {
            lane: Lane {
                actor: known.actor,
                thread: known.thread,
                lane: o.lane,
            },
            ns: o.start,
        };
        let id = self.operations;
        self.operations += 1;
        self.totals.operations += 1;
        put(&AttributionRecord::Operation(AttributedOperation {
            id,
            kind: o.kind,
            place,
            stop: o.stop,
            error: o.error,
            record: o.record,
            file: known.file,
            call: known.trigger.map(|t| t.0).or(known.named),
            outstanding: o.outstanding,
            hole_bytes: known.hole_bytes,
        }))?;
        let edge = |call, from, relation, bytes, precision| AttributionEdge {
            call,
            from,
            operation: id,
            kind: o.kind,
            to: place,
            relation,
            bytes,
            precision,
        };
        if let Some((call, from)) = known.trigger {
            let bytes = known
                .carried
                .iter()
                .find(|c| c.0 == call)
                .map_or(0, |c| c.2);
            put(&AttributionRecord::Edge(edge(
                call,
                from,
                Relation::Triggers,
                bytes,
                Precision::Exact,
            )))?;
        }
        for &(call, from, bytes, precision) in known.carried {
            put(&AttributionRecord::Edge(edge(
                call,
                from,
                Relation::Carries,
                bytes,
                precision,
            )))?;
        }
        Ok(())
    }

    /// A rank's operation with what calls got of it. `hole_bytes` is the size of its sieving holes; `None` if that is not
    /// known. Gives what those below it are to know.
    pub fn resolve(
        &mut self,
        operation: &event::OperationEvent,
        (actor, thread): (Actor, u32),
        file: Option<u32>,
        range: Option<(u64, u64)>,
        TransferShare {
            credits,
            hole_bytes,
        }: TransferShare,
        put: RecordSink<'_>,
    ) -> Result<ResolvedOperation, Stop> {
        let trigger = operation.inside.map(|inside| {
            let lane = Lane {
                actor,
                thread,
                lane: 0,
            };
            let ns = inside.start;
            (inside.call, PicturePoint { lane, ns })
        });
        let moved = range.map_or(0, |(start, end)| end - start);
        let is_complete = trigger.is_some() && hole_bytes.is_some();
        let hole_bytes = hole_bytes.filter(|_| is_complete).unwrap_or(0);
        if moved > 0 {
            self.totals.transfers += 1;
            self.totals.moved += moved;
            self.totals.hole_bytes += hole_bytes;
        }
        for credit in &credits {
            *match credit.precision {
                Precision::Exact => &mut self.totals.exact,
                Precision::Page => &mut self.totals.page,
                Precision::BoundingExtent => &mut self.totals.bounding_extent,
                Precision::Ambiguous => &mut self.totals.ambiguous,
                Precision::MayCarry => &mut self.totals.may_carry,
            } += credit.bytes;
        }
        let carried: Vec<_> = credits
            .iter()
            .map(|c| (c.call, c.from, c.bytes, c.precision))
            .collect();
        let known = FinishedOperation {
            operation,
            actor,
            thread,
            file,
            trigger,
            named: None,
            carried: &carried,
            hole_bytes,
        };
        self.operation(&known, put)?;
        Ok(ResolvedOperation {
            file,
            trigger,
            credits,
            is_complete,
            range,
            shift: 0,
        })
    }
}
