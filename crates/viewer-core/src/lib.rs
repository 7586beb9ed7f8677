//! A window of a trace as a picture: timelines, nested states, columns of pixels where states are smaller than that, arrows,
//! events, legend and time axis. No files, no network, no MPI: bytes of an SLOG2 file go in, what is to be drawn comes out.
//!
//! A still picture is drawn in four steps:
//!
//! 1. [`NamedTimelines`]: the lines of the trace under the names they have in the picture, those that were asked for.
//! 2. [`WindowContent::read`]: what there is in the window, read no deeper into the tree than a picture can show.
//! 3. [`PictureLayout::new`]: where everything goes, in pixels.
//! 4. [`svg::write`]: the picture as text.
//!
//! ```
//! # fn picture(file: &[u8]) -> Result<String, trace_formats::slog2::Slog2Error> {
//! let reader = trace_formats::slog2::Slog2Reader::new(file)?;
//! let window = reader.root().map_or(viewer_core::EMPTY, |root| root.bounds);
//! let timelines = viewer_core::NamedTimelines::new(reader.lines().values());
//! let content = viewer_core::WindowContent::read(&reader, timelines, window, &viewer_core::ContentRequest::default())?;
//! let picture = viewer_core::PictureLayout::new(&content, &viewer_core::PictureStyle::default());
//! Ok(viewer_core::svg::write(&picture))
//! # }
//! ```
//!
//! [`Viewer`] answers what an interactive viewer asks: questions as in a URL, `picture?t0=0&t1=1&w=800`, with bytes, the same
//! ones to a server and to a page without one.
//!
//! The folders are floors; each uses only those before it: `base` (texts, colours, columns, errors, questions), `trace` (what a
//! file holds, read within a budget), `timelines` (what is on which line of the picture), `index` (the overview with levels of
//! detail), `search`, `picture` (cells, from drawables or from the index), `statistics`, `details`, `tracks` (sums over time), `findings`, and on top
//! `answers`. `drawing` makes still pictures and stands beside `timelines`.
#![deny(missing_docs)]

mod answers;
mod base;
mod details;
mod drawing;
mod findings;
pub mod index;
pub mod picture;
pub mod search;
mod statistics;
mod timelines;
pub mod trace;
mod tracks;

pub use answers::answer::{Answer, AnswerBody, AnswerLimits, VIEW_VERSION};
pub use answers::traces::{ComparedRow, ComparedTable, ComparisonAnswer, TraceName, TracesAnswer};
pub use answers::viewer::Viewer;
pub use base::color::{Rgb, Theme};
pub use base::error::ApiError;
pub use base::parallel::Cancel;
pub use base::query::ApiQuery;
pub use base::text::visible;
pub use base::window::EMPTY;
pub use drawing::arrows::{ArrowBundle, ShownArrows};
pub use drawing::axis::{AxisTick, TimeAxis};
pub use drawing::band::{BandSpan, NestingBand, SpanFill};
pub use drawing::content::{
    CategoryColors, ContentRequest, DrawnArrow, DrawnEvent, DrawnKind, DrawnPreview, DrawnState,
    KindTotal, WindowContent,
};
pub use drawing::layout::{EventMarker, PictureArrow, PictureLayout, PictureStyle, StateLabel};
pub use drawing::legend::{Legend, LegendEntry};
pub use drawing::named::{NamedTimeline, NamedTimelines};
pub use drawing::placed::{BandStrip, PictureTimeline};
pub use drawing::svg;
pub use drawing::waits::TimelineWait;
pub use findings::summary;
pub use timelines::selection::TimelineSelection;
pub use trace::OpenTrace;
pub use trace::class::ActivityClass;
pub use trace::names::{NamedFile, TraceNames};
pub use trace::waits::TraceWaits;
pub use trace_formats::slog2::PositionedRead;
pub use tracks::totals::TraceTracks;
