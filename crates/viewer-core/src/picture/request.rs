//! Request for a picture.

use std::ops::Range;
use std::sync::Arc;
use trace_formats::slog2::TimeBBox;

use super::cells::ColorMode;
use crate::search::hits::SearchHit;
use crate::search::plan::SearchPlan;
use crate::timelines::layout::TimelineLayout;
use crate::trace::reference::DrawableReference;
use crate::trace::waits::TraceWaits;

/// Request for a picture.
#[derive(Clone, Debug)]
pub struct PictureRequest<'l> {
    /// Search whose hits are counted by cell.
    pub hits: Option<Arc<SearchPlan>>,
    /// All hits, for a picture that is not made of drawables.
    pub places: Option<Arc<Vec<SearchHit>>>,
    /// The waits of calls, if they are known.
    pub waits: Option<Arc<TraceWaits>>,
    /// The window; of some length.
    pub window: TimeBBox,
    /// Columns.
    pub width: usize,
    /// The timelines of the page.
    pub layout: &'l TimelineLayout,
    /// Timelines that are drawn, by position.
    pub timelines: Range<usize>,
    /// For each kind, true if it is left out.
    pub hidden: Vec<bool>,
    /// Colour of cells.
    pub mode: ColorMode,
    /// Arrows that are drawn.
    pub arrows: ArrowSelection,
    /// States, events and arrows are given one by one if they are not more than this.
    pub most: usize,
    /// A number that comes back.
    pub seq: u32,
}

/// The arrows that a picture shows.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum ArrowSelection {
    /// None.
    #[default]
    None,
    /// The messages that take longest. Arrows from calls to operations below MPI are too many: those of a selected call are shown.
    Worst,
    /// All, or bundles of those that go the same way.
    All,
    /// One arrow.
    One(DrawableReference),
    /// Arrows that begin or end on a line of a lane in a stretch of time.
    Of {
        /// Number of the lane.
        lane: u32,
        /// Seconds.
        from: f64,
        /// Seconds.
        to: f64,
    },
}
