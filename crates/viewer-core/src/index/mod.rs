//! The index of a trace: what it takes a pass over the whole file to know, made once and kept.
//!
//! Previews in SLOG2 files are by line and node: too coarse in time and too many once there are hundreds of lines. An index
//! has cells of all units at several resolutions ([`DetailLevels`]), the shares of time of all lines together ([`KindTimes`]), and
//! what the trace adds up to ([`TraceTotals`]). A [`IndexBuilder`] makes it in steps, in memory that is little more than that of the
//! index: [`StateReader`] gives the states batch by batch, [`Aggregation`] takes them unit by unit. It is kept as bytes, which need
//! not be trusted ([`OverviewIndex::encode`], [`OverviewIndex::decode`]).

mod aggregation;
mod arrows_and_events;
mod batch;
mod build;
mod file;
mod lane_cells;
pub(crate) mod levels;
mod shape;
mod state_reader;
mod sums;
mod totals;

pub use aggregation::{Aggregated, Aggregation};
pub use batch::StateBatch;
pub use build::{IndexBuilder, join_halves};
pub use file::{INDEX_MAGIC, IndexIdentity};
pub use levels::{DetailLevel, DetailLevels, NAMES_PER_CELL};
pub use shape::IndexShape;
pub use state_reader::{ReadProgress, StateReader};
pub use totals::{
    DURATION_CLASSES, DurationSum, KindTotals, LineTotals, LongDrawable, MAX_LONGEST, MessageFlow,
    MessageTotals, MessageVolume, SIZE_CLASSES, TraceTotals, duration_class, duration_from,
    size_class, size_from,
};

use std::borrow::Cow;
use std::sync::OnceLock;
use trace_formats::slog2::TimeBBox;

/// Overview of a trace at several levels of detail, made in one pass.
#[derive(Clone, Debug, PartialEq)]
pub struct OverviewIndex<'a> {
    window: TimeBBox,
    detail: DetailLevels<'a>,
    events: Option<EventCounts<'a>>,
    overview: KindTimes,
    drawables: u64,
    totals: OnceLock<TraceTotals>,
    out_of_order: bool,
}

impl<'a> OverviewIndex<'a> {
    /// The stretch of time of cells and overview.
    pub fn window(&self) -> TimeBBox {
        self.window
    }

    /// The cells.
    pub fn detail(&self) -> &DetailLevels<'a> {
        &self.detail
    }

    /// Makes the coarser levels of its cells, unless it has them. Nothing looks different with them, but what is asked of long
    /// stretches of time is answered sooner.
    pub fn coarsen(&self) {
        self.detail.coarsen();
    }

    /// Events by cell, if there are any.
    pub fn events(&self) -> Option<&EventCounts<'a>> {
        self.events.as_ref()
    }

    /// The time of all lines together.
    pub fn overview(&self) -> &KindTimes {
        &self.overview
    }

    /// Totals of the whole trace; `None` until they are known.
    pub fn totals(&self) -> Option<&TraceTotals> {
        self.totals.get()
    }

    /// Takes over what another pass over the trace has found; a second time it is dropped.
    pub fn set_totals(&self, totals: TraceTotals) {
        let _ = self.totals.set(totals);
    }

    /// Totals of the whole trace, without the rest of the index; `None` if they are not known.
    pub fn into_totals(self) -> Option<TraceTotals> {
        self.totals.into_inner()
    }

    /// Number of drawables read for the index.
    pub fn drawables(&self) -> u64 {
        self.drawables
    }

    /// Whether states did not come in order of their start, which makes exclusive times inexact.
    pub fn is_out_of_order(&self) -> bool {
        self.out_of_order
    }
}

/// Numbers of events by unit and bin.
#[derive(Clone, Debug, PartialEq)]
pub struct EventCounts<'a> {
    bins: u32,
    /// 0 for none, else 1 and the binary logarithm, rounded down.
    classes: Cow<'a, [u8]>,
}

impl EventCounts<'_> {
    fn of(bins: u32, counts: &[u16]) -> Option<EventCounts<'static>> {
        let classes = counts.iter().map(|&count| match count {
            0 => 0,
            count => 1 + count.ilog2() as u8,
        });
        (!counts.is_empty()).then(|| EventCounts {
            bins,
            classes: classes.collect(),
        })
    }

    /// Bins of a unit.
    pub fn bins(&self) -> u32 {
        self.bins
    }

    /// Events of a unit by bin: 0 for none, else 1 and the binary logarithm of their number. At most 65535 are counted.
    pub fn lane(&self, lane: u32) -> &[u8] {
        let bins = self.bins as usize;
        let start = lane as usize * bins;
        self.classes.get(start..start + bins).unwrap_or(&[])
    }
}

/// Seconds of all lines that are spent in states of each kind, without what is nested in them, over time.
#[derive(Clone, Debug, PartialEq)]
pub struct KindTimes {
    bins: u32,
    kinds: u32,
    seconds: Vec<f64>,
}

impl KindTimes {
    /// Stretches of time, equal ones.
    pub fn bins(&self) -> u32 {
        self.bins
    }

    /// Seconds of each kind in a bin.
    pub fn bin(&self, bin: u32) -> &[f64] {
        let kinds = self.kinds as usize;
        let start = bin as usize * kinds;
        self.seconds.get(start..start + kinds).unwrap_or(&[])
    }
}
