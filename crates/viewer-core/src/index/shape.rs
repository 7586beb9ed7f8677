//! Size of an index: its stretch of time and its resolution.

use trace_formats::slog2::TimeBBox;

use crate::trace::OpenTrace;

/// Cells of the finest level at most: with [`super::NAMES_PER_CELL`] bytes for names and shares each, some 200 MB.
const MAX_CELLS: u64 = 24 << 20;
/// Bins of the finest level, at most.
const MAX_BINS: u32 = 1 << 14;
/// Bins of the finest level, at least.
const MIN_BINS: u32 = 1 << 6;

/// Size of an index.
#[derive(Clone, Copy, Debug)]
pub struct IndexShape {
    /// The stretch of time of its cells.
    pub window: TimeBBox,
    /// Bins of the finest level.
    pub bins: u32,
    /// Whether it has [`super::totals::TraceTotals`]. Without them it takes little more than half as long, for no arrow is looked at.
    pub totals: bool,
}

impl IndexShape {
    /// A size that suits a trace: as many bins as memory allows, and no more bytes than a small part of the file.
    pub fn of(trace: &OpenTrace<'_>) -> Self {
        let directory = trace.reader().directory();
        let lanes = (trace.lanes() as u64).max(1);
        let cells = (directory.node_bytes() / 64).clamp(1 << 16, MAX_CELLS);
        let bins = u32::try_from(cells / lanes).unwrap_or(MAX_BINS).max(1);
        let power = 1u32 << bins.ilog2();
        IndexShape {
            window: trace.bounds(),
            bins: power.clamp(MIN_BINS, MAX_BINS),
            totals: true,
        }
    }
}
