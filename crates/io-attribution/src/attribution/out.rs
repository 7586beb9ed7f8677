//! Facts on their way out.

use super::files::Files;
use super::resolved::{Resolved, Share};
use super::totals::AttributionTotals;
use crate::fact::{Actor, Call, Edge, Fact, Lane, Operation, Place, Precision, Relation};
use crate::item;
use trace_model::Stop;

/// Takes facts.
pub(super) type Put<'p> = &'p mut dyn FnMut(&Fact) -> Result<(), Stop>;

/// Gives numbers to operations, and files before what names them.
#[derive(Debug, Default)]
pub(super) struct Out {
    pub files: Files,
    pub totals: AttributionTotals,
    operations: u64,
}

/// An operation about which all is known.
#[derive(Debug)]
pub(super) struct Known<'o> {
    pub operation: &'o item::Operation,
    pub actor: Actor,
    pub thread: u32,
    pub file: Option<u32>,
    /// Call that triggered it, and where that is drawn.
    pub trigger: Option<(u64, Place)>,
    /// The call as it is to be named where nothing triggered it.
    pub named: Option<u64>,
    /// Calls whose bytes it moved.
    pub carried: &'o [(u64, Place, u64, Precision)],
    /// Bytes of sieving holes: moved, but asked for by no call.
    pub hole_bytes: u64,
}

impl Out {
    pub fn file(&mut self, id: u32, put: Put<'_>) -> Result<(), Stop> {
        match self.files.give(id) {
            Some(file) => put(&Fact::File(file)),
            None => Ok(()),
        }
    }

    pub fn call(&mut self, call: Call, put: Put<'_>) -> Result<(), Stop> {
        self.file(call.file, put)?;
        self.totals.calls += 1;
        put(&Fact::Call(call))
    }

    pub fn operation(&mut self, known: &Known<'_>, put: Put<'_>) -> Result<(), Stop> {
        if let Some(file) = known.file {
            self.file(file, put)?;
        }
        let o = known.operation;
        let place = Place {
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
        put(&Fact::Operation(Operation {
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
        let edge = |call, from, relation, bytes, precision| Edge {
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
            put(&Fact::Edge(edge(
                call,
                from,
                Relation::Triggers,
                bytes,
                Precision::Exact,
            )))?;
        }
        for &(call, from, bytes, precision) in known.carried {
            put(&Fact::Edge(edge(
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
        operation: &item::Operation,
        (actor, thread): (Actor, u32),
        file: Option<u32>,
        range: Option<(u64, u64)>,
        Share {
            credits,
            hole_bytes,
        }: Share,
        put: Put<'_>,
    ) -> Result<Resolved, Stop> {
        let trigger = operation.inside.map(|inside| {
            let lane = Lane {
                actor,
                thread,
                lane: 0,
            };
            let ns = inside.start;
            (inside.call, Place { lane, ns })
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
        let known = Known {
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
        Ok(Resolved {
            file,
            trigger,
            credits,
            is_complete,
            range,
            shift: 0,
        })
    }
}
