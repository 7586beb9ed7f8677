//! What the states of a half of the units add up to, batch by batch: cells, and time by line and kind without what is nested.

use super::batch::{Batch, ByLane, State};
use super::grid::GridWriter;
use super::shape::Shape;
use super::sums::{KindFound, Sums};
use super::sweep::{Cells, Lane, Open};
use crate::base::columns::{COLUMN, Columns};
use crate::trace::Trace;
use std::ops::Range;

/// Bins of the overview, at most.
const OVERVIEW_BINS: u32 = 1 << 10;

/// What was found of the states that came so far.
#[derive(Debug)]
pub struct Taking {
    shape: Shape,
    cells: Cells,
    /// The units, from the first one of the half on.
    lanes: Vec<Lane>,
    /// By line of the half.
    lane_of: Vec<u32>,
    by_lane: ByLane,
    sums: Sums,
    kinds: Vec<KindFound>,
    lines: Vec<Busy>,
    out_of_order: u64,
}

/// What was found of all states of the units.
#[derive(Debug)]
pub struct Taken {
    pub(super) shape: Shape,
    pub(super) grid: GridWriter,
    /// Time of each kind by bin of the overview, in parts of columns.
    pub(super) overview: Vec<i64>,
    /// Columns to one bin of it.
    pub(super) per_overview: u32,
    pub(super) sums: Sums,
    pub(super) kinds: Vec<KindFound>,
    /// By line of the whole trace.
    pub(super) lines: Vec<Busy>,
    pub(super) out_of_order: u64,
}

/// When a line is in some state.
#[derive(Clone, Copy, Debug)]
pub(super) struct Busy {
    pub first: f64,
    /// The last end, up to which it is known.
    pub last: f64,
    /// Seconds.
    pub busy: f64,
}

impl Taking {
    pub(super) fn new(trace: &Trace<'_>, shape: Shape, half: Range<u32>) -> Self {
        let (lines, kinds) = (trace.lines().len(), trace.kinds().len());
        let (lanes, bins) = (half.len() as u32, shape.bins.max(1));
        let lane_of = |lane: u32| lane.wrapping_sub(half.start);
        let per_overview = (bins / OVERVIEW_BINS).max(1);
        let overview = bins.div_ceil(per_overview) as usize * kinds;
        Taking {
            shape,
            cells: Cells {
                columns: Columns::new(shape.window, bins),
                end: i64::from(bins) * COLUMN,
                grid: GridWriter::new(lanes, kinds as u32, bins),
                overview: vec![0; overview],
                per_overview,
                kinds: kinds as u32,
            },
            lanes: (0..lanes).map(Lane::new).collect(),
            lane_of: trace
                .lines()
                .iter()
                .map(|line| lane_of(line.lane))
                .collect(),
            by_lane: ByLane::default(),
            sums: Sums::new(lines, kinds),
            kinds: vec![KindFound::default(); kinds],
            lines: vec![
                Busy {
                    first: f64::INFINITY,
                    last: f64::NEG_INFINITY,
                    busy: 0.0,
                };
                lines
            ],
            out_of_order: 0,
        }
    }

    /// Takes the states that come next.
    pub fn take(&mut self, batch: &Batch) {
        let mut by_lane = std::mem::take(&mut self.by_lane);
        by_lane.fill(&batch.states, &self.lane_of, self.lanes.len());
        by_lane.for_each(|lane, states| {
            for state in states {
                self.state(lane, state);
            }
        });
        self.by_lane = by_lane;
    }

    #[inline]
    fn state(&mut self, lane: usize, state: &State) {
        let State {
            start,
            end,
            kind,
            line,
        } = *state;
        let window = self.shape.window;
        let is_in = match start == end {
            true => window.earliest <= start && end <= window.latest,
            false => start < window.latest && window.earliest < end,
        };
        if !is_in {
            return;
        }
        let lane = &mut self.lanes[lane];
        self.out_of_order += u64::from(start < lane.until());
        lane.advance(start, &mut self.cells);
        let mut slot = 0;
        if self.shape.totals {
            let duration = end - start;
            let outer = lane.covering(line, start, end);
            slot = self.sums.slot(line, kind);
            if let Some(outer) = outer {
                self.sums.sums[outer.slot as usize].exclusive -= duration;
            }
            let sum = &mut self.sums.sums[slot as usize];
            sum.add(duration);
            sum.exclusive += duration;
            self.kinds[kind as usize].add(duration, start, line);
            let busy = &mut self.lines[line as usize];
            busy.first = busy.first.min(start);
            if end > busy.last {
                busy.busy += end - start.max(busy.last);
            }
            busy.last = busy.last.max(end);
        }
        let open = Open {
            start,
            end,
            kind,
            line,
            slot,
        };
        lane.begin(open, &mut self.cells);
    }

    /// There are no more.
    pub fn finish(mut self) -> Taken {
        for lane in &mut self.lanes {
            lane.finish(&mut self.cells);
        }
        let Cells {
            grid,
            overview,
            per_overview,
            ..
        } = self.cells;
        Taken {
            shape: self.shape,
            grid,
            overview,
            per_overview,
            sums: self.sums,
            kinds: self.kinds,
            lines: self.lines,
            out_of_order: self.out_of_order,
        }
    }
}

impl Busy {
    /// Takes over what is known of the same line, of which one of both knows nothing.
    pub fn join(&mut self, other: Busy) {
        self.first = self.first.min(other.first);
        self.last = self.last.max(other.last);
        self.busy += other.busy;
    }
}
