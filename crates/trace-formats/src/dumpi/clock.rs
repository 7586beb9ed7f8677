//! The time of a record, as a viewer needs it: on one axis for all ranks, and going on where the 16 bits of the format's
//! seconds begin anew.

use super::functions::FUNCTION_ENTER;
use super::ids;
use super::types::{ClockSpan, DumpiRecord, Mask};
use trace_model::hash::Map;

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

const SECOND: i64 = 1_000_000_000;

/// Time after which the seconds of a file start again from 0, ns.
const TURN: i64 = (1 << 16) * SECOND;

/// What records of several threads may be out of order by, ns.
const DISORDER: i64 = 60 * SECOND;

/// Start and stop of each record of a file, ns.
///
/// Records are in the order in which calls end, and those of a thread do not overlap. So a record that seems to end before the last one, or to
/// begin before the last one of its thread has ended, is of a later turn. More than a turn between two records leaves no trace.
#[derive(Clone, Debug)]
pub struct RecordTicker {
    axis: RecordAxis,
    /// Latest end so far.
    last: Option<i64>,
    /// By thread the end of the last record.
    threads: Map<u16, i64>,
    /// When the first record began, if that is MPI_Init, so that nothing was before.
    first: Option<i64>,
    count: i64,
}

impl RecordTicker {
    /// Times of a file on this axis.
    pub fn new(axis: RecordAxis) -> Self {
        RecordTicker {
            axis,
            last: None,
            threads: Map::default(),
            first: None,
            count: 0,
        }
    }

    /// Start and end of the next record, ns.
    pub fn times(&mut self, record: &DumpiRecord<'_>) -> (i64, i64) {
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
            let at = self.last.unwrap_or(0).max(0);
            return (at, at);
        }
        self.times_of_span(record.function.id, record.thread, span)
    }

    /// Start and end of the next record, ns, which is one of this function and thread with these times on the axis.
    pub(super) fn times_of_span(
        &mut self,
        function: u16,
        thread: u16,
        span: ClockSpan,
    ) -> (i64, i64) {
        let (start, mut end) = (span.start.ns(), span.stop.ns());
        // Processor times may be those of threads, which are in no order. The entry to a function without a number may stand where the function ends.
        let is_enter = function == FUNCTION_ENTER;
        let disorder = match self.axis {
            RecordAxis::Wall if !is_enter => DISORDER,
            _ => TURN / 2,
        };
        let mut duration = end.saturating_sub(start);
        if duration < -disorder {
            duration = duration.saturating_add(TURN);
        }
        if let Some(last) = self.last {
            let lag = last.saturating_sub(disorder).saturating_sub(end).max(0);
            let turns = lag / TURN + i64::from(lag % TURN > 0);
            end = end.saturating_add(turns.saturating_mul(TURN));
            let own = self.threads.get(&thread).copied().or(self.first);
            let own = own.filter(|_| self.axis == RecordAxis::Wall);
            let begin = end.saturating_sub(duration);
            if own.is_some_and(|own| begin < own.saturating_sub(DISORDER)) {
                end = end.saturating_add(TURN);
            }
        } else if matches!(function, ids::INIT | ids::INIT_THREAD) {
            self.first = Some(end.saturating_sub(duration));
        }
        self.set_end(thread, end);
        (end.saturating_sub(duration), end)
    }

    fn set_end(&mut self, thread: u16, end: i64) {
        self.last = Some(self.last.map_or(end, |last| last.max(end)));
        self.threads.insert(thread, end);
    }

    fn has_time(&self, mask: Mask) -> bool {
        match self.axis {
            RecordAxis::Wall => mask.has(Mask::WALL),
            RecordAxis::Cpu => mask.has(Mask::CPU),
            RecordAxis::Count => true,
        }
    }
}
