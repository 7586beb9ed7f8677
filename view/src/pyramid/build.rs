//! Makes an [`Index`] in one pass over a trace, in steps, so that it can be made beside other work and given up; or in two
//! parts, which two threads can work on.

use formats::slog2::{Error, TimeBBox};
use std::sync::OnceLock;

use super::batch::Batch;
use super::others::Others;
use super::read::{Done, Reading};
use super::sums::{KindFound, Sums};
use super::taking::{Busy, Taking};
use super::totals::{Flow, KindTotals, LineTotals, Totals};
use super::{Events, Index, Overview};
use crate::columns::COLUMN;
use crate::trace::Trace;

/// Cells of the finest level at most: with [`super::NAMES`] bytes for names and shares each, some 200 MB.
const MOST_CELLS: u64 = 24 << 20;
/// Bins of the finest level, at most.
const MOST_BINS: u32 = 1 << 14;
/// Bins of the finest level, at least.
const FEWEST_BINS: u32 = 1 << 6;

/// What an index is to have.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    /// The stretch of time of its cells.
    pub window: TimeBBox,
    /// Bins of the finest level.
    pub bins: u32,
    /// Whether it has [`Totals`]. Without them it takes little more than half as long, for no arrow is looked at.
    pub totals: bool,
}

impl Shape {
    /// What suits a trace: as many bins as memory allows, and no more bytes than a small part of the file.
    pub fn of(trace: &Trace<'_>) -> Self {
        let directory = trace.reader().directory();
        let lanes = u64::from(lanes(trace)).max(1);
        let cells = (directory.node_bytes() / 64).clamp(1 << 16, MOST_CELLS);
        let bins = u32::try_from(cells / lanes).unwrap_or(MOST_BINS).max(1);
        let power = 1u32 << bins.ilog2();
        Shape {
            window: trace.bounds(),
            bins: power.clamp(FEWEST_BINS, MOST_BINS),
            totals: true,
        }
    }
}

/// How many units there are.
pub(super) fn lanes(trace: &Trace<'_>) -> u32 {
    let lanes = trace.lines().iter().map(|line| line.lane + 1);
    lanes.max().unwrap_or(0)
}

/// Makes an [`Index`].
#[derive(Debug)]
pub struct Builder<'t, 'a> {
    reading: Reading<'t, 'a>,
    taking: Taking,
    batch: Batch,
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
            taking: Taking::new(trace, shape),
            batch: Batch::default(),
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
            self.is_more = self.reading.next(&mut self.batch)?;
            self.taking.take(&self.batch);
        }
        Ok(self.is_more)
    }

    /// What was read so far.
    pub fn done(&self) -> Done {
        self.reading.done()
    }

    /// The index, of what was read.
    pub fn finish(self) -> Index<'static> {
        join(self.reading, self.taking)
    }

    /// What is left to do as two parts: batches that the first one gives, the second one takes in the same order. Then
    /// [`join`] has the index.
    pub fn parts(self) -> (Reading<'t, 'a>, Taking) {
        (self.reading, self.taking)
    }
}

/// The index, of what was read and taken.
pub fn join(reading: Reading<'_, '_>, mut taking: Taking) -> Index<'static> {
    let done = reading.done();
    let others = reading.into_others();
    taking.finish();
    let Taking {
        shape,
        cells,
        sums,
        kinds,
        lines,
        out_of_order,
        ..
    } = taking;
    let bins = shape.bins.max(1);
    let second = shape.window.duration() / f64::from(bins) / COLUMN as f64;
    let seconds = cells.overview.iter().map(|&sum| sum as f64 * second);
    let overview = Overview {
        bins: bins.div_ceil(cells.per_overview),
        kinds: cells.kinds,
        seconds: seconds.collect(),
    };
    let events = Events::of(bins, &others.events);
    let totals = shape.totals.then(|| Totals {
        drawables: done.drawables,
        placeless: done.placeless,
        out_of_order,
        ..add_up(others, sums, kinds, lines)
    });
    Index {
        window: shape.window,
        events,
        overview,
        drawables: done.drawables,
        totals: totals.map_or_else(OnceLock::new, OnceLock::from),
        out_of_order: out_of_order > 0,
        grid: cells.grid.finish(),
    }
}

/// What there is of states and of all else, together.
fn add_up(others: Others<'_>, sums: Sums, mut kinds: Vec<KindFound>, found: Vec<Busy>) -> Totals {
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
    for (line, kind, sum) in sums.iter().chain(others.sums.iter()) {
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
