//! Makes an [`Index`] in one pass over a trace, in steps, so that it can be made beside other work and given up; or in parts,
//! which several threads can work on.

use std::sync::OnceLock;
use trace_formats::slog2::Error;

use super::batch::Batch;
use super::grid::GridWriter;
use super::others::Others;
use super::read::{Done, Reading, halves};
use super::shape::Shape;
use super::sums::{KindFound, Sums};
use super::taking::{Busy, Taken, Taking};
use super::totals::{Flow, KindTotals, LineTotals, Totals};
use super::{Events, Index, Overview};
use crate::base::columns::COLUMN;
use crate::trace::Trace;

/// Makes an [`Index`].
#[derive(Debug)]
pub struct Builder<'t, 'a> {
    reading: Reading<'t, 'a>,
    /// Of each half of the units.
    takings: [Taking; 2],
    batches: [Batch; 2],
    is_more: bool,
}

impl<'t, 'a> Builder<'t, 'a> {
    /// Begins; nothing is read yet.
    ///
    /// # Errors
    /// The tree directory is damaged.
    pub fn new(trace: &'t Trace<'a>, shape: Shape) -> Result<Self, Error> {
        Ok(Builder {
            reading: Reading::new(trace, shape.window, Others::new(trace, shape))?,
            takings: halves(trace.lanes()).map(|half| Taking::new(trace, shape, half)),
            batches: Default::default(),
            is_more: true,
        })
    }

    /// Reads some more drawables, about so many; false once there are none left.
    ///
    /// # Errors
    /// A node is damaged. Then there will be no index.
    pub fn step(&mut self, drawables: u64) -> Result<bool, Error> {
        let until = self.done().drawables.saturating_add(drawables);
        while self.is_more && self.done().drawables < until {
            self.is_more = self.reading.next(self.batches.each_mut())?;
            for (taking, batch) in self.takings.iter_mut().zip(&self.batches) {
                taking.take(batch);
            }
        }
        Ok(self.is_more)
    }

    /// What was read so far.
    pub fn done(&self) -> Done {
        self.reading.done()
    }

    /// The index, of what was read.
    pub fn finish(self) -> Index<'static> {
        let index = join(self.reading, self.takings.map(Taking::finish));
        index.coarsen();
        index
    }

    /// What is left to do, in parts: of the batches that the first one gives, each of the others takes those of its half of the
    /// units, in the same order. Then [`join`] has the index.
    pub fn parts(self) -> (Reading<'t, 'a>, [Taking; 2]) {
        (self.reading, self.takings)
    }
}

/// The index, of what was read and taken, without its coarser levels ([`Index::coarsen`]).
pub fn join(reading: Reading<'_, '_>, halves: [Taken; 2]) -> Index<'static> {
    let done = reading.done();
    let others = reading.into_others();
    let [mut taken, second] = halves;
    let shape = taken.shape;
    let bins = shape.bins.max(1);
    let part = shape.window.duration() / f64::from(bins) / COLUMN as f64;
    let sums = taken.overview.iter().zip(&second.overview);
    let overview = Overview {
        bins: bins.div_ceil(taken.per_overview),
        kinds: taken.kinds.len() as u32,
        seconds: sums.map(|(a, b)| (a + b) as f64 * part).collect(),
    };
    let out_of_order = taken.out_of_order + second.out_of_order;
    for (kind, second) in taken.kinds.iter_mut().zip(second.kinds) {
        kind.join(second);
    }
    for (line, second) in taken.lines.iter_mut().zip(second.lines) {
        line.join(second);
    }
    let events = Events::of(bins, &others.events);
    let totals = shape.totals.then(|| Totals {
        drawables: done.drawables,
        placeless: done.placeless,
        out_of_order,
        ..add_up(others, [taken.sums, second.sums], taken.kinds, taken.lines)
    });
    Index {
        window: shape.window,
        events,
        overview,
        drawables: done.drawables,
        totals: totals.map_or_else(OnceLock::new, OnceLock::from),
        out_of_order: out_of_order > 0,
        grid: GridWriter::join(taken.grid, second.grid),
    }
}

/// What there is of states and of all else, together.
fn add_up(
    others: Others<'_>,
    states: [Sums; 2],
    mut kinds: Vec<KindFound>,
    found: Vec<Busy>,
) -> Totals {
    for (kind, other) in kinds.iter_mut().zip(others.kinds) {
        kind.join(other);
    }
    let mut kinds: Vec<KindTotals> = kinds.into_iter().map(KindFound::finish).collect();
    let ends = found.iter().zip(&others.lines);
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
    let states = states.iter().flat_map(Sums::iter);
    for (line, kind, sum) in states.chain(others.sums.iter()) {
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
    let mut messages = others.messages;
    for (place, &volume) in (0u32..).zip(&others.flows) {
        if volume.count > 0 {
            let (from, to) = (place / others.groups, place % others.groups);
            messages.flows.push(Flow { from, to, volume });
        }
    }
    Totals {
        kinds,
        lines,
        messages,
        ..Totals::default()
    }
}
