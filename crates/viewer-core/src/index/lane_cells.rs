//! The states of a unit, taken in order of their start, as cells: at any moment the one that started last takes the time.
//!
//! [`crate::trace::states::for_each_shown`] does so for states that are all at hand; here they come one by one, of all units in turn.

use std::ops::Range;

use super::levels::LevelWriter;
use crate::base::columns::{COLUMN, ColumnFiller, ColumnSink, WindowColumns};

/// A state that lasts.
#[derive(Clone, Copy, Debug)]
pub(super) struct OpenState {
    pub start: f64,
    pub end: f64,
    pub kind: u32,
    pub line: u32,
    /// Slot in which its time is added up.
    pub slot: u32,
}

/// A unit on its way through time.
#[derive(Clone, Debug)]
pub(super) struct LaneAggregation {
    lane: u32,
    /// Up to when it is known what the unit did, and where that is among the columns.
    until: f64,
    place: i64,
    sweeper: ColumnFiller,
    /// States that began, the last one at the end. Those that ended under one that did not are not looked for each time.
    open: Vec<OpenState>,
    /// Length of `open` from which on they are.
    tidy_at: usize,
}

/// Adds up the time of cells, level by level.
#[derive(Debug)]
pub(super) struct AggregatedCells {
    pub columns: WindowColumns,
    /// The end of the last column.
    pub end: i64,
    pub levels: LevelWriter,
    /// Time of each kind by bin of the overview, in parts of columns.
    pub overview: Vec<i64>,
    /// Columns to one bin of the overview.
    pub per_overview: u32,
    pub kinds: u32,
}

/// The cells of a unit.
struct CellsOfLane<'c> {
    lane: u32,
    cells: &'c mut AggregatedCells,
}

impl CellsOfLane<'_> {
    #[inline]
    fn add(&mut self, column: usize, parts: &[(u32, i64)]) {
        let cells = &mut *self.cells;
        let bin = (column as u32 / cells.per_overview) as usize;
        let kinds = cells.kinds as usize;
        let sums = cells.overview.get_mut(bin * kinds..).unwrap_or_default();
        for &(kind, much) in parts {
            if let Some(sum) = sums.get_mut(kind as usize) {
                *sum += much;
            }
        }
    }
}

impl ColumnSink for CellsOfLane<'_> {
    #[inline]
    fn column(&mut self, column: usize, parts: &[(u32, i64)]) {
        self.add(column, parts);
        self.cells.levels.put(self.lane, column as u32, parts);
    }

    fn whole(&mut self, columns: Range<usize>, kind: u32) {
        for column in columns.clone() {
            self.add(column, &[(kind, COLUMN)]);
        }
        let columns = columns.start as u32..columns.end as u32;
        self.cells.levels.fill(self.lane, columns, kind);
    }
}

impl LaneAggregation {
    pub fn new(lane: u32) -> Self {
        LaneAggregation {
            lane,
            until: f64::NEG_INFINITY,
            place: 0,
            sweeper: ColumnFiller::default(),
            open: Vec::new(),
            tidy_at: 32,
        }
    }

    /// Up to when the unit came.
    pub fn until(&self) -> f64 {
        self.until
    }

    /// The innermost state of a line, of those that began so far, that covers this stretch of time.
    #[inline]
    pub fn covering(&self, line: u32, start: f64, end: f64) -> Option<OpenState> {
        let mut open = self.open.iter().rev();
        let covers = |o: &&OpenState| o.start <= start && o.end >= end && o.line == line;
        open.find(covers).copied()
    }

    /// A state begins at the time up to which [`LaneAggregation::advance`] went, or before.
    #[inline]
    pub fn begin(&mut self, state: OpenState, cells: &mut AggregatedCells) {
        if state.end <= self.until {
            if state.start == state.end {
                // It takes no time, but it is there.
                self.show(state.kind, self.place, cells);
            }
            return;
        }
        if self.open.len() >= self.tidy_at {
            let until = self.until;
            self.open.retain(|open| open.end > until);
            self.tidy_at = (2 * self.open.len()).max(32);
        }
        self.open.push(state);
    }

    /// Goes on to a time.
    #[inline]
    pub fn advance(&mut self, to: f64, cells: &mut AggregatedCells) {
        while let Some(&OpenState { kind, end, .. }) = self.open.last() {
            if end > to {
                self.credit(kind, to, cells);
                return;
            }
            self.credit(kind, end, cells);
            self.open.pop();
        }
        if to > self.until {
            self.until = to;
            self.place = cells.columns.at(to);
        }
    }

    /// Gives the time up to `to` to a kind.
    #[inline]
    fn credit(&mut self, kind: u32, to: f64, cells: &mut AggregatedCells) {
        if to > self.until {
            self.until = to;
            let place = cells.columns.at(to);
            // A state that only touches the window has no part in it.
            if place > 0 && self.place < cells.end {
                self.show(kind, place, cells);
            }
            self.place = place;
        }
    }

    #[inline]
    fn show(&mut self, kind: u32, to: i64, cells: &mut AggregatedCells) {
        let end = cells.end;
        let lane = self.lane;
        let mut fill = CellsOfLane { lane, cells };
        self.sweeper.add(kind, self.place, to, end, &mut fill);
    }

    /// There is nothing more.
    pub fn finish(&mut self, cells: &mut AggregatedCells) {
        self.advance(f64::INFINITY, cells);
        let lane = self.lane;
        self.sweeper.finish(&mut CellsOfLane { lane, cells });
    }
}
