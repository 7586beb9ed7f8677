//! Makes an [`OverviewIndex`] in one pass over a trace, in steps, so that it can be made beside other work and given up; or in parts,
//! which several threads can work on.

use std::sync::OnceLock;
use trace_formats::slog2::Slog2Error;

use super::aggregation::{Aggregated, Aggregation, LineActivity};
use super::arrows_and_events::ArrowsAndEvents;
use super::batch::StateBatch;
use super::levels::LevelWriter;
use super::shape::IndexShape;
use super::state_reader::{ReadProgress, StateReader, halves};
use super::sums::{KindAggregate, LineKindSums};
use super::totals::{KindTotals, LineTotals, MessageFlow, TraceTotals};
use super::{EventCounts, KindTimes, OverviewIndex};
use crate::base::columns::COLUMN;
use crate::trace::OpenTrace;

/// Makes an [`OverviewIndex`].
#[derive(Debug)]
pub struct IndexBuilder<'t, 'a> {
    reader: StateReader<'t, 'a>,
    /// Aggregation of each half of the units.
    aggregations: [Aggregation; 2],
    batches: [StateBatch; 2],
    is_more: bool,
}

impl<'t, 'a> IndexBuilder<'t, 'a> {
    /// Begins; nothing is read yet.
    ///
    /// # Errors
    /// The tree directory is damaged.
    pub fn new(trace: &'t OpenTrace<'a>, shape: IndexShape) -> Result<Self, Slog2Error> {
        Ok(IndexBuilder {
            reader: StateReader::new(trace, shape.window, ArrowsAndEvents::new(trace, shape))?,
            aggregations: halves(trace.lanes()).map(|half| Aggregation::new(trace, shape, half)),
            batches: Default::default(),
            is_more: true,
        })
    }

    /// Reads some more drawables, about so many; false once there are none left.
    ///
    /// # Errors
    /// A node is damaged. Then there will be no index.
    pub fn step(&mut self, drawables: u64) -> Result<bool, Slog2Error> {
        let until = self.done().drawables.saturating_add(drawables);
        while self.is_more && self.done().drawables < until {
            self.is_more = self.reader.next(self.batches.each_mut())?;
            for (aggregation, batch) in self.aggregations.iter_mut().zip(&self.batches) {
                aggregation.take(batch);
            }
        }
        Ok(self.is_more)
    }

    /// Amount of data read so far.
    pub fn done(&self) -> ReadProgress {
        self.reader.done()
    }

    /// The index, of what was read.
    pub fn finish(self) -> OverviewIndex<'static> {
        let index = join_halves(self.reader, self.aggregations.map(Aggregation::finish));
        index.coarsen();
        index
    }

    /// Splits the remaining work: of the batches that the first one gives, each of the others takes those of its half of the
    /// units, in the same order. Then [`join_halves`] has the index.
    pub fn parts(self) -> (StateReader<'t, 'a>, [Aggregation; 2]) {
        (self.reader, self.aggregations)
    }
}

/// The index, of what was read and taken, without its coarser levels ([`OverviewIndex::coarsen`]).
pub fn join_halves(reader: StateReader<'_, '_>, halves: [Aggregated; 2]) -> OverviewIndex<'static> {
    let done = reader.done();
    let arrows_and_events = reader.into_others();
    let [mut aggregated, second] = halves;
    let shape = aggregated.shape;
    let bins = shape.bins.max(1);
    let part = shape.window.duration() / f64::from(bins) / COLUMN as f64;
    let sums = aggregated.overview.iter().zip(&second.overview);
    let overview = KindTimes {
        bins: bins.div_ceil(aggregated.per_overview),
        kinds: aggregated.kinds.len() as u32,
        seconds: sums.map(|(a, b)| (a + b) as f64 * part).collect(),
    };
    let out_of_order = aggregated.out_of_order + second.out_of_order;
    for (kind, second) in aggregated.kinds.iter_mut().zip(second.kinds) {
        kind.join(second);
    }
    for (line, second) in aggregated.lines.iter_mut().zip(second.lines) {
        line.join(second);
    }
    let events = EventCounts::of(bins, &arrows_and_events.events);
    let totals = shape.totals.then(|| TraceTotals {
        drawables: done.drawables,
        placeless: done.placeless,
        out_of_order,
        ..add_up(
            arrows_and_events,
            [aggregated.sums, second.sums],
            aggregated.kinds,
            aggregated.lines,
        )
    });
    OverviewIndex {
        window: shape.window,
        events,
        overview,
        drawables: done.drawables,
        totals: totals.map_or_else(OnceLock::new, OnceLock::from),
        out_of_order: out_of_order > 0,
        detail: LevelWriter::join(aggregated.levels, second.levels),
    }
}

/// Joins the sums of states and those of arrows and events.
fn add_up(
    arrows_and_events: ArrowsAndEvents<'_>,
    states: [LineKindSums; 2],
    mut kinds: Vec<KindAggregate>,
    found: Vec<LineActivity>,
) -> TraceTotals {
    for (kind, other) in kinds.iter_mut().zip(arrows_and_events.kinds) {
        kind.join(other);
    }
    let mut kinds: Vec<KindTotals> = kinds.into_iter().map(KindAggregate::finish).collect();
    let ends = found.iter().zip(&arrows_and_events.lines);
    let mut lines: Vec<LineTotals> = ends
        .map(|(busy, ends)| LineTotals {
            kinds: Vec::new(),
            first: busy.first,
            last: busy.last,
            busy: busy.busy,
            sent: ends.sent,
            received: ends.received,
        })
        .collect();
    let states = states.iter().flat_map(LineKindSums::iter);
    for (line, kind, sum) in states.chain(arrows_and_events.sums.iter()) {
        kinds[kind as usize].sum.join(sum);
        let of_line = &mut lines[line as usize].kinds;
        match of_line.iter_mut().find(|entry| entry.0 == kind) {
            Some(found) => found.1.join(sum),
            None => of_line.push((kind, *sum)),
        }
    }
    for line in &mut lines {
        line.kinds.sort_unstable_by_key(|entry| entry.0);
    }
    let mut messages = arrows_and_events.messages;
    for (place, &volume) in (0u32..).zip(&arrows_and_events.flows) {
        if volume.count > 0 {
            let (from, to) = (
                place / arrows_and_events.groups,
                place % arrows_and_events.groups,
            );
            messages.flows.push(MessageFlow { from, to, volume });
        }
    }
    TraceTotals {
        kinds,
        lines,
        messages,
        ..TraceTotals::default()
    }
}
