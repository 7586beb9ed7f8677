//! Statistics of a trace or of a window of it: where the time went, by category, rank and thread; messages by size and
//! by pair of ranks; CallIDs and the operations they brought about.
//!
//! [`mod@collect`] takes any [`Source`](trace_model::Source), a [`StatisticsCollector`] drawables one by one in order of start.
//! Memory depends on categories, lines and states that are open, not on the length of the trace.
//!
//! ```
//! use trace_model::{Category, Color, Definitions, Drawable, Line, Topology, Vertex};
//! use analysis::stats::{StatisticsCollector, StatisticsOptions};
//!
//! let category = |index, name: &str| Category::new(index, name.into(), Topology::State, Color::WHITE);
//! let definitions = Definitions {
//!     categories: vec![category(1, "MPI_Wait"), category(2, "step")],
//!     lines: vec![Line::of_thread(0, 0, 0)],
//!     ..Definitions::default()
//! };
//! let mut collector = StatisticsCollector::new(&definitions, StatisticsOptions::default());
//! for (category, start, end) in [(2, 0.0, 10.0), (1, 4.0, 7.0)] {
//!     let vertices = [start, end].map(|time| Vertex { time, line: 0 });
//!     collector.put(&Drawable { topology: Topology::State, category, info: &[], vertices: &vertices });
//! }
//! let found = collector.finish();
//! let step = found.category(2).unwrap();
//! assert_eq!((step.tally.count, step.tally.total, step.tally.exclusive), (1, 10.0, 7.0));
//! ```

mod callids;
mod collect;
mod counters;
mod histogram;
mod messages;
pub(crate) mod polls;
mod slog2;
mod tally;

pub use callids::{CallIdStatistics, CausedOperations};
pub use collect::StatisticsCollector;
#[cfg(feature = "spill")]
pub use collect::collect;
pub use histogram::Histogram;
pub use messages::{MessageStatistics, RankPair, SizeClass, Volume};
pub use slog2::collect_slog2;
pub use tally::{
    CategoryStatistics, DrawableTally, Statistics, ThreadCategoryStatistics, ThreadStatistics,
    Untold,
};

use trace_model::TimeBBox;

/// Look-ups by numbers that come from files.
type HashMap<K, V> = std::collections::HashMap<K, V, foldhash::fast::RandomState>;

/// Options of the statistics.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct StatisticsOptions {
    /// Only what lies in this stretch of time: drawables that reach into it, durations cut at its borders. `None`: all.
    pub window: Option<TimeBBox>,
    /// Rule by which states nest.
    pub nesting: Nesting,
}

/// Rule by which states nest: a nested state takes exclusive time from the one around it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Nesting {
    /// States of one line, as the ratios in SLOG2 files have it. Logs with a line for each communicator of a process
    /// count the time in a state of one communicator inside that of another one twice.
    #[default]
    Line,
    /// States of one thread, whatever the line.
    Thread,
}
