//! The results of statistics.

use super::{CallIdStatistics, Histogram, MessageStatistics, counters};
use std::collections::BTreeMap;
use trace_model::{Text, TimeBBox, Topology};

/// Part of the time of states that sums of their durations may be wrong by, as they are rounded.
const ROUNDING: f64 = 1e-9;

/// Drawables of one kind: their number and durations in seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DrawableTally {
    /// Number of drawables.
    pub count: u64,
    /// Sum of durations: the inclusive time. An arrow's duration is that between its ends, an event has none.
    pub total: f64,
    /// Sum of durations of states without the states that are nested directly in them; 0 for arrows and events.
    pub exclusive: f64,
    /// Shortest duration; infinite if there are no drawables.
    pub min: f64,
    /// Longest duration; minus infinity if there are no drawables.
    pub max: f64,
}

impl Default for DrawableTally {
    fn default() -> Self {
        DrawableTally {
            count: 0,
            total: 0.0,
            exclusive: 0.0,
            min: f64::INFINITY,
            max: f64::NEG_INFINITY,
        }
    }
}

impl DrawableTally {
    #[inline]
    pub(super) fn add(&mut self, duration: f64) {
        self.count += 1;
        self.total += duration;
        self.min = self.min.min(duration);
        self.max = self.max.max(duration);
    }

    /// The tally when all drawables are in it: what rounding leaves of states that are full of others is no time below 0.
    pub(super) fn finished(self) -> DrawableTally {
        let is_rest = self.exclusive < 0.0 && -self.exclusive <= self.total * ROUNDING;
        DrawableTally {
            exclusive: if is_rest { 0.0 } else { self.exclusive },
            ..self
        }
    }

    /// Takes over the drawables of another one.
    pub fn join(&mut self, other: &DrawableTally) {
        self.count += other.count;
        self.total += other.total;
        self.exclusive += other.exclusive;
        self.min = self.min.min(other.min);
        self.max = self.max.max(other.max);
    }

    /// Mean duration; `None` if there are no drawables.
    pub fn mean(&self) -> Option<f64> {
        (self.count > 0).then(|| self.total / self.count as f64)
    }
}

/// A category that occurs.
#[derive(Clone, Debug, PartialEq)]
pub struct CategoryStatistics {
    /// Index of the category in the source.
    pub index: i32,
    /// Name of the category.
    pub name: Text,
    /// Topology of the drawables of the category.
    pub topology: Topology,
    /// All its drawables.
    pub tally: DrawableTally,
    /// Durations of the drawables; empty for events, which have none.
    pub durations: Histogram,
    /// Sum of each counter in [`Statistics::counters`] over these drawables; `None` where it did not count. Drawables that
    /// reach into a window count whole.
    pub counters: Vec<Option<u64>>,
}

/// A thread that has drawables, with all its lines.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ThreadStatistics {
    /// Rank in MPI_COMM_WORLD.
    pub rank: i32,
    /// Thread of the process.
    pub thread: i32,
    /// Whether it is of a server or a device, and of no rank.
    pub is_of_server: bool,
    /// Seconds in which at least one state lasted. What happens beside the thread, such as asynchronous I/O, does not count.
    pub covered: f64,
    /// Messages that it sent.
    pub sent: super::Volume,
    /// Messages that it received.
    pub received: super::Volume,
}

/// The drawables of one category on one thread. Arrows count where they start.
#[derive(Clone, Debug, PartialEq)]
pub struct ThreadCategoryStatistics {
    /// Rank in MPI_COMM_WORLD.
    pub rank: i32,
    /// Thread of the process.
    pub thread: i32,
    /// Index of the category.
    pub category: i32,
    /// The drawables.
    pub tally: DrawableTally,
    /// Sum of each counter in [`Statistics::counters`] over these drawables; `None` where it did not count.
    pub counters: Vec<Option<u64>>,
}

/// Drawables that statistics cannot place.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Untold {
    /// On a line that is not defined: they count, with their line as rank, each as a thread.
    pub unknown_line: u64,
    /// Drawables of a category that is not defined: they count, without a name.
    pub unknown_category: u64,
    /// Drawables without a vertex or with a time that is not a number. They are not in the statistics.
    pub without_time: u64,
    /// States that start before one that came earlier on their line, so that exclusive times are too large.
    pub out_of_order: u64,
}

/// Statistics of a trace or of a window of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Statistics {
    /// The part of the window in which the trace is, one that ends before it begins if that is none; without a window, from the first start to the last end,
    /// and [`TimeBBox::EMPTY`] without drawables.
    pub window: TimeBBox,
    /// Drawables that were counted.
    pub drawables: u64,
    /// The categories that occur, ascending by index.
    pub categories: Vec<CategoryStatistics>,
    /// The threads that have drawables, ascending by rank and thread.
    pub rows: Vec<ThreadStatistics>,
    /// Drawables by thread and category, ascending.
    pub cells: Vec<ThreadCategoryStatistics>,
    /// Arrows.
    pub messages: MessageStatistics,
    /// CallIDs.
    pub callids: CallIdStatistics,
    /// Names of performance counters.
    pub counters: Vec<String>,
    /// Calls that are not drawn because they lie between the first and the last of a row of polls, by function.
    pub counted: BTreeMap<String, u64>,
    /// Counts of drawables that the statistics could not place.
    pub untold: Untold,
}

impl Statistics {
    /// Length of the window in seconds; 0 without drawables.
    pub fn span(&self) -> f64 {
        self.window.duration().max(0.0)
    }

    /// The category of this index, if it occurs.
    pub fn category(&self, index: i32) -> Option<&CategoryStatistics> {
        let at = self
            .categories
            .binary_search_by_key(&index, |category| category.index);
        self.categories.get(at.ok()?)
    }

    /// The threads of ranks, or those of servers and devices where there are no others.
    fn shared_rows(&self) -> impl Iterator<Item = &ThreadStatistics> {
        let are_servers = self.rows.iter().all(|row| row.is_of_server);
        (self.rows.iter()).filter(move |row| are_servers || !row.is_of_server)
    }

    /// Number of threads whose time shares are of: those of ranks that have drawables. Servers and devices count only where there are no ranks.
    pub fn threads(&self) -> usize {
        self.shared_rows().count()
    }

    /// Number of ranks that have drawables. Servers and devices count only where there are no ranks.
    pub fn ranks(&self) -> usize {
        let mut ranks = 0;
        let mut last = None;
        for row in self.shared_rows() {
            ranks += usize::from(last.replace(row.rank) != Some(row.rank));
        }
        ranks
    }

    /// Seconds that all threads of ranks with drawables had together: what shares of time are shares of.
    pub fn thread_seconds(&self) -> f64 {
        self.span() * self.threads() as f64
    }

    /// Drawables by rank and category: the threads of a rank are added up, and `thread` is that of the first.
    pub fn cells_by_rank(&self) -> Vec<ThreadCategoryStatistics> {
        let mut cells: BTreeMap<(i32, i32), ThreadCategoryStatistics> = BTreeMap::new();
        for cell in &self.cells {
            cells
                .entry((cell.rank, cell.category))
                .and_modify(|joined| {
                    joined.tally.join(&cell.tally);
                    counters::join(&mut joined.counters, &cell.counters);
                })
                .or_insert_with(|| cell.clone());
        }
        cells.into_values().collect()
    }

    /// The rows with the threads of each rank joined; `thread` is that of the first.
    pub fn rows_by_rank(&self) -> Vec<ThreadStatistics> {
        let mut rows: Vec<ThreadStatistics> = Vec::new();
        for row in &self.rows {
            match rows.last_mut().filter(|last| last.rank == row.rank) {
                Some(last) => {
                    last.covered += row.covered;
                    last.sent.join(row.sent);
                    last.received.join(row.received);
                }
                None => rows.push(row.clone()),
            }
        }
        rows
    }
}
