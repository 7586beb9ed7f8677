//! A window of a trace as a picture: rows, nested states, columns of pixels where states are smaller than that, arrows,
//! events, legend and time axis. No files, no network, no MPI: bytes of an SLOG2 file go in, what is to be drawn comes out.
//!
//! 1. [`Rows`]: the lines of the trace under the names they have in the picture, those that were asked for.
//! 2. [`Content::read`]: what there is in the window, read no deeper into the tree than a picture can show.
//! 3. [`Picture::new`]: where everything goes, in pixels.
//! 4. [`svg::write`]: the picture as text.
//!
//! ```
//! # fn picture(file: &[u8]) -> Result<String, trace_formats::slog2::Error> {
//! let reader = trace_formats::slog2::Reader::new(file)?;
//! let window = reader.root().map_or(viewer_core::EMPTY, |root| root.bounds);
//! let rows = viewer_core::Rows::new(reader.lines().values());
//! let content = viewer_core::Content::read(&reader, rows, window, &viewer_core::Wanted::default())?;
//! let picture = viewer_core::Picture::new(&content, &viewer_core::Look::default());
//! Ok(viewer_core::svg::write(&picture))
//! # }
//! ```
//!
//! [`Viewer`] answers what an interactive viewer asks: questions as in a URL, `picture?t0=0&t1=1&w=800`, with bytes, the same
//! ones to a server and to a page without one.
#![deny(missing_docs)]

mod answer;
mod arrows;
mod axis;
mod band;
mod both;
pub mod cells;
mod class;
mod cluster;
mod color;
pub mod columns;
mod content;
pub mod details;
pub mod frame;
pub mod layout;
mod legend;
mod measure;
mod meeting;
pub mod numbers;
mod picture;
mod place;
pub mod pyramid;
mod query;
mod refusal;
mod rows;
pub mod scan;
pub mod search;
pub mod states;
pub mod summary;
pub mod svg;
mod text;
pub mod trace;
pub mod tree;
pub mod wire;

pub use answer::{Answer, Body, Limits, VIEW_VERSION, Viewer};
pub use arrows::{Bundle, Shown};
pub use axis::{Axis, Tick};
pub use band::{Band, Fill, Span};
pub use both::Stop;
pub use class::Class;
pub use color::{Rgb, Theme};
pub use content::{Arrow, Content, Event, Kind, Preview, State, Total, Wanted};
pub use legend::{Entry, Legend};
pub use picture::{Arrowed, Label, Look, Marker, Picture, PictureRow, Strip};
pub use query::Query;
pub use refusal::Refusal;
pub use rows::{Row, Rows, Selection};

/// A stretch of time without length, for a trace without drawables.
pub const EMPTY: trace_formats::slog2::TimeBBox = trace_formats::slog2::TimeBBox {
    earliest: 0.0,
    latest: 0.0,
};
