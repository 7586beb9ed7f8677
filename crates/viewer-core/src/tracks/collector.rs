//! Collects tracks from the drawables of a window, which come in order of their beginnings.

use trace_formats::slog2::Topology;
use trace_model::{Drawable, InfoValue, info_values};

use super::column_sums::{ColumnSums, TrackColumns};
use super::roles::{Direction, KindRole, TrackRoles, number};
use super::totals::{TOTAL_COLUMNS, TrackSums};
use crate::trace::OpenTrace;
use crate::trace::waits::TraceWaits;

/// What the main thread of a rank has been in.
#[derive(Clone, Copy, Debug)]
struct MainThread {
    /// End of its calls of MPI so far.
    calls_until: f64,
    /// End of its file operations outside of these so far.
    operations_until: f64,
    /// What its last call is.
    call: KindRole,
}

impl MainThread {
    /// Before anything happens.
    const BEFORE: MainThread = MainThread {
        calls_until: f64::NEG_INFINITY,
        operations_until: f64::NEG_INFINITY,
        call: KindRole::Ignored,
    };
}

/// Sums of what happens in a window, by column.
#[derive(Clone, Debug)]
pub(crate) struct TrackCollector<'t, 'a> {
    trace: &'t OpenTrace<'a>,
    roles: &'t TrackRoles,
    columns: TrackColumns,
    number: u32,
    threads: Vec<MainThread>,
    /// By lane until when its calls have been counted: what counters say of a nested call is in what they say of the outer one.
    counted: Vec<f64>,
    calls: ColumnSums,
    files: ColumnSums,
    starting: ColumnSums,
    messages: ColumnSums,
    bytes: ColumnSums,
    read: ColumnSums,
    written: ColumnSums,
    counters: Vec<ColumnSums>,
}

impl<'t, 'a> TrackCollector<'t, 'a> {
    /// Nothing yet, in so many columns.
    pub(crate) fn new(
        trace: &'t OpenTrace<'a>,
        roles: &'t TrackRoles,
        columns: TrackColumns,
        number: u32,
    ) -> Self {
        let sums = || ColumnSums::new(number);
        TrackCollector {
            trace,
            roles,
            columns,
            number,
            threads: vec![MainThread::BEFORE; trace.lanes()],
            counted: vec![f64::NEG_INFINITY; trace.lanes()],
            calls: sums(),
            files: sums(),
            starting: sums(),
            messages: sums(),
            bytes: sums(),
            read: sums(),
            written: sums(),
            counters: roles.counter_names.iter().map(|_| sums()).collect(),
        }
    }

    /// Nothing yet, in the columns of the whole trace.
    pub(crate) fn of_whole(trace: &'t OpenTrace<'a>, roles: &'t TrackRoles) -> Self {
        let columns = TrackColumns::new(trace.bounds(), TOTAL_COLUMNS, trace.bounds());
        TrackCollector::new(trace, roles, columns, TOTAL_COLUMNS)
    }

    /// Begins anew.
    pub(crate) fn clear(&mut self) {
        *self = TrackCollector::new(self.trace, self.roles, self.columns, self.number);
    }

    /// Takes a drawable.
    pub(crate) fn put(&mut self, drawable: &Drawable<'_>) {
        let (Some(first), Some(last)) = (drawable.vertices.first(), drawable.vertices.last())
        else {
            return;
        };
        let kind = self
            .trace
            .kind_or_undefined(drawable.category, drawable.topology);
        let (Some(line), Some(kind)) = (self.trace.line(first.line), kind) else {
            return;
        };
        if !(first.time.is_finite() && last.time.is_finite()) {
            return;
        }
        let (start, end) = (first.time.min(last.time), first.time.max(last.time));
        let info = drawable.info;
        match (self.roles.kinds[kind as usize], drawable.topology) {
            (role @ (KindRole::Call | KindRole::FileCall | KindRole::Start), Topology::State) => {
                self.call(line, (start, end), role);
                self.count(kind, line, (start, end), info);
            }
            (KindRole::Operation(direction), Topology::State) => {
                self.operation(line, (start, end));
                if let Some(direction) = direction
                    && self.roles.of_ranks[line as usize]
                {
                    let moved = number(self.trace, kind, info, "result")
                        .or_else(|| self.trace.kinds()[kind as usize].bytes_of(info));
                    self.transfer((start, end), moved.unwrap_or(0), direction);
                }
            }
            (KindRole::Access, Topology::Event) if !self.roles.has_operations => {
                let value = |name| number(self.trace, kind, info, name);
                let lasts = value("lasts").unwrap_or(0) as f64 * 1e-9;
                let direction = match value("writes") {
                    Some(0) => Direction::Read,
                    _ => Direction::Write,
                };
                let bytes = value("bytes").unwrap_or(0);
                self.transfer((start, start + lasts), bytes, direction);
            }
            (KindRole::Message, Topology::Arrow) => {
                self.messages.add_instant(&self.columns, first.time, 1);
                let bytes = self.trace.kinds()[kind as usize].bytes_of(info);
                // One that arrives before it was sent is on its way at the time of the send.
                let arrived = last.time.max(first.time);
                self.bytes
                    .add_spread(&self.columns, (first.time, arrived), bytes.unwrap_or(0));
            }
            _ => {}
        }
    }

    fn transfer(&mut self, times: (f64, f64), bytes: u64, direction: Direction) {
        let sums = match direction {
            Direction::Read => &mut self.read,
            Direction::Write => &mut self.written,
        };
        sums.add_spread(&self.columns, times, bytes);
    }

    /// A call of MPI: what of it lies in another one counts there.
    fn call(&mut self, line: u32, (start, end): (f64, f64), role: KindRole) {
        let Some(lane) = self.roles.main_lanes[line as usize] else {
            return;
        };
        let thread = &mut self.threads[lane as usize];
        let from = start.max(thread.calls_until).max(thread.operations_until);
        if end <= from {
            return;
        }
        if start >= thread.calls_until {
            thread.call = role;
        }
        thread.calls_until = end;
        let sums = match thread.call {
            KindRole::FileCall => &mut self.files,
            KindRole::Start => &mut self.starting,
            _ => &mut self.calls,
        };
        sums.add_time(&self.columns, from, end);
    }

    /// A file operation: within a call it is part of that.
    fn operation(&mut self, line: u32, (start, end): (f64, f64)) {
        let Some(lane) = self.roles.main_lanes[line as usize] else {
            return;
        };
        let thread = &mut self.threads[lane as usize];
        let from = start.max(thread.calls_until).max(thread.operations_until);
        if end > from {
            thread.operations_until = end;
            self.files.add_time(&self.columns, from, end);
        }
    }

    /// What counters counted in a call.
    fn count(&mut self, kind: u32, line: u32, times: (f64, f64), info: &[u8]) {
        let places = &self.roles.counters[kind as usize];
        if places.is_empty() {
            return;
        }
        let lane = self.trace.lines()[line as usize].lane as usize;
        if times.0 < self.counted[lane] {
            return;
        }
        self.counted[lane] = times.1;
        let category = &self.trace.kinds()[kind as usize].category;
        for ((_, value), place) in info_values(category, info).zip(places) {
            // A negative value stands for a counter that the machine did not have.
            if let (InfoValue::Integer(value), Some(place)) = (value, *place)
                && let Ok(value) = u64::try_from(value)
            {
                self.counters[place as usize].add_spread(&self.columns, times, value);
            }
        }
    }

    /// What was collected.
    pub(crate) fn finish(&self) -> TrackSums {
        TrackSums {
            calls: self.calls.finish(),
            files: self.files.finish(),
            starting: self.starting.finish(),
            messages: self.messages.finish(),
            bytes: self.bytes.finish(),
            read: self.read.finish(),
            written: self.written.finish(),
            counters: self.counters.iter().map(ColumnSums::finish).collect(),
        }
    }
}

/// Ranks that wait for others, in the mean of each column: in calls of MPI but for those of MPI-IO, and in those.
pub(crate) fn waiting(
    waits: &TraceWaits,
    roles: &TrackRoles,
    columns: &TrackColumns,
    number: u32,
) -> [Vec<f64>; 2] {
    let mut sums = [ColumnSums::new(number), ColumnSums::new(number)];
    for wait in waits.all() {
        if roles.main_lanes[wait.line as usize].is_none() {
            continue;
        }
        let is_of_files = roles.kinds[wait.kind as usize] == KindRole::FileCall;
        sums[usize::from(is_of_files)].add_time(columns, wait.from, wait.to);
    }
    sums.map(|sums| sums.finish())
}
