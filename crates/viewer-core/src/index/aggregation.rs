//! Aggregation of the states of half of the units, batch by batch: cells, and time by line and kind without what is nested.

use super::batch::{StateBatch, StatesByLane};
use super::lane_cells::{AggregatedCells, LaneAggregation, OpenState};
use super::levels::LevelWriter;
use super::shape::IndexShape;
use super::sums::{KindAggregate, LineKindSums};
use crate::base::columns::{COLUMN, WindowColumns};
use crate::base::window::covers_time;
use crate::trace::OpenTrace;
use crate::trace::states::TraceState;
use std::ops::Range;

/// Bins of the overview, at most.
const OVERVIEW_BINS: u32 = 1 << 10;

/// Sums of the states so far.
#[derive(Debug)]
pub struct Aggregation {
    shape: IndexShape,
    cells: AggregatedCells,
    /// The units, from the first one of the half on.
    lanes: Vec<LaneAggregation>,
    /// By line of the half.
    lane_of: Vec<u32>,
    by_lane: StatesByLane,
    sums: LineKindSums,
    kinds: Vec<KindAggregate>,
    lines: Vec<LineActivity>,
    out_of_order: u64,
}

/// Sums of all states of the units.
#[derive(Debug)]
pub struct Aggregated {
    pub(super) shape: IndexShape,
    pub(super) levels: LevelWriter,
    /// Time of each kind by bin of the overview, in parts of columns.
    pub(super) overview: Vec<i64>,
    /// Columns to one bin of it.
    pub(super) per_overview: u32,
    pub(super) sums: LineKindSums,
    pub(super) kinds: Vec<KindAggregate>,
    /// By line of the whole trace.
    pub(super) lines: Vec<LineActivity>,
    pub(super) out_of_order: u64,
}

/// When a line is in some state.
#[derive(Clone, Copy, Debug)]
pub(super) struct LineActivity {
    pub first: f64,
    /// The last end, up to which it is known.
    pub last: f64,
    /// Seconds.
    pub busy: f64,
}

impl Aggregation {
    pub(super) fn new(trace: &OpenTrace<'_>, shape: IndexShape, half: Range<u32>) -> Self {
        let (lines, kinds) = (trace.lines().len(), trace.kinds().len());
        let (lanes, bins) = (half.len() as u32, shape.bins.max(1));
        let lane_of = |lane: u32| lane.wrapping_sub(half.start);
        let per_overview = (bins / OVERVIEW_BINS).max(1);
        let overview = bins.div_ceil(per_overview) as usize * kinds;
        Aggregation {
            shape,
            cells: AggregatedCells {
                columns: WindowColumns::new(shape.window, bins),
                end: i64::from(bins) * COLUMN,
                levels: LevelWriter::new(lanes, kinds as u32, bins),
                overview: vec![0; overview],
                per_overview,
                kinds: kinds as u32,
            },
            lanes: (0..lanes).map(LaneAggregation::new).collect(),
            lane_of: trace
                .lines()
                .iter()
                .map(|line| lane_of(line.lane))
                .collect(),
            by_lane: StatesByLane::default(),
            sums: LineKindSums::new(lines, kinds),
            kinds: vec![KindAggregate::default(); kinds],
            lines: vec![
                LineActivity {
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
    pub fn take(&mut self, batch: &StateBatch) {
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
    fn state(&mut self, lane: usize, state: &TraceState) {
        let TraceState {
            start,
            end,
            kind,
            line,
        } = *state;
        let window = self.shape.window;
        if !covers_time(window, start, end) {
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
        let open = OpenState {
            start,
            end,
            kind,
            line,
            slot,
        };
        lane.begin(open, &mut self.cells);
    }

    /// There are no more.
    pub fn finish(mut self) -> Aggregated {
        for lane in &mut self.lanes {
            lane.finish(&mut self.cells);
        }
        let AggregatedCells {
            levels,
            overview,
            per_overview,
            ..
        } = self.cells;
        Aggregated {
            shape: self.shape,
            levels,
            overview,
            per_overview,
            sums: self.sums,
            kinds: self.kinds,
            lines: self.lines,
            out_of_order: self.out_of_order,
        }
    }
}

impl LineActivity {
    /// Takes over what is known of the same line, of which one of both knows nothing.
    pub fn join(&mut self, other: LineActivity) {
        self.first = self.first.min(other.first);
        self.last = self.last.max(other.last);
        self.busy += other.busy;
    }
}
