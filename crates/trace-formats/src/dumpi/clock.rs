//! The time of a record, as a viewer needs it: on one axis for all ranks, and going on where the 16 bits of the format's
//! seconds begin anew.

use super::types::{ClockSpan, ClockTime, DumpiRecord, Mask};

/// Which times a trace is drawn by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecordAxis {
    /// The wall clock.
    Wall,
    /// The processor time of the process.
    Cpu,
    /// The number of the record in its file, a second each.
    Count,
}

/// Seconds after which those of a file start again from 0.
const TURN: i64 = 1 << 16;

/// Start and stop of each record of a file, ns.
#[derive(Clone, Debug)]
pub struct RecordTicker {
    axis: RecordAxis,
    turns: i64,
    last: i64,
    count: i64,
}

impl RecordTicker {
    /// Times of a file on this axis.
    pub fn new(axis: RecordAxis) -> Self {
        RecordTicker {
            axis,
            turns: 0,
            last: i64::MIN,
            count: 0,
        }
    }

    /// Start and end of the next record, ns.
    pub fn times(&mut self, record: &DumpiRecord<'_>) -> (i64, i64) {
        const SECOND: i64 = 1_000_000_000;
        let span = match self.axis {
            RecordAxis::Wall => record.wall,
            RecordAxis::Cpu => record.cpu,
            RecordAxis::Count => {
                self.count += 1;
                return ((self.count - 1) * SECOND, self.count * SECOND);
            }
        };
        if !self.has_time(record.mask) {
            // Some functions may be recorded without: they are where the last one ended.
            let at = self.last.max(0);
            return (at, at);
        }
        let ClockSpan { start, stop } = span;
        // Records are in the order in which calls end.
        let mut end = ns(stop, self.turns);
        if self.last != i64::MIN && end < self.last - TURN / 2 * SECOND {
            self.turns += 1;
            end = ns(stop, self.turns);
        }
        self.last = end;
        let mut begin = ns(start, self.turns);
        if begin > end + TURN / 2 * SECOND {
            begin -= TURN * SECOND;
        }
        (begin, end)
    }

    fn has_time(&self, mask: Mask) -> bool {
        match self.axis {
            RecordAxis::Wall => mask.has(Mask::WALL),
            RecordAxis::Cpu => mask.has(Mask::CPU),
            RecordAxis::Count => true,
        }
    }
}

fn ns(clock: ClockTime, turns: i64) -> i64 {
    clock
        .ns()
        .saturating_add(turns.saturating_mul(TURN * 1_000_000_000))
}
