//! SLOG2 (`SLOG 2.0.6`), the log that viewers open at any time window: drawables (states, arrows, events) in a tree over
//! time, with previews (shadows) in the inner nodes.
//!
//! * [`convert`](convert()) makes one from a CLOG2 file, [`FromClog2`] from a stream of CLOG2 records, [`TreeBuilder`] from drawables.
//! * [`Slog2Reader`] reads one in place, node by node; [`Slog2Reader::window`] reads what is in a stretch of time and nothing else. Of a file that is not in memory it reads pieces by [`PositionedRead`].
//! * [`Slog2Source`] gives all drawables by start, for any other format; [`Slog2Sink`] makes a file of those of any other.
//! * [`print()`], [`print_recursively`] and [`Navigator`] write the texts of the original's tools.
//!
//! ```
//! use trace_formats::clog2::{Clog2Body, Preamble, Clog2Record, Clog2RecordHeader};
//! use trace_formats::slog2::{FromClog2, Slog2Reader};
//!
//! let out = std::io::Cursor::new(Vec::new()); // or a PendingFile, with persist() at the end
//! let mut converter = FromClog2::new(out, &Preamble::default(), Default::default())?;
//! for (time, etype) in [(0.25, 48), (0.75, 49)] {
//!     let header = Clog2RecordHeader { time, icomm: 0, rank: 0, thread: 0 };
//!     converter.push(&Clog2Record { header, body: Clog2Body::Bare { etype } })?;
//! }
//! let (out, conversion) = converter.finish()?;
//! assert_eq!(conversion.drawables, 1);
//!
//! let file = out.into_inner();
//! let reader = Slog2Reader::new(&file)?;
//! let root = reader.node(reader.header().tree_root)?;
//! assert_eq!(root.nestable[0].bounds().duration(), 0.5);
//! # Ok::<(), trace_formats::slog2::Slog2Error>(())
//! ```
//!
//! Section numbers in this module are those of the format description the project works from (`slog2.md`).

mod annotation;
mod convert;
mod cursor;
mod directory;
mod encode;
mod error;
mod file_bytes;
mod java;
mod node;
mod ordered;
mod part_writer;
mod places;
mod print;
mod read;
mod rewrite;
mod salvage;
mod scan;
mod sink;
mod source;
mod start_range;
mod tree_builder;
mod types;
mod update;
mod views;
mod walk;
mod window;

pub use annotation::{Annotated, Companion, annotate, annotate_with_progress};
pub use convert::{
    ConvertError, ConvertOptions, Drawing, ForeignCategories, FromClog2, LogArrow, MessageEndpoint,
    Slog2Conversion, Warning, Warnings, WholeState, convert, convert_with_progress,
};
pub use directory::{NodeDirectory, NodeDirectoryEntries};
pub use error::{Slog2Error, Slog2ErrorKind};
pub use file_bytes::PositionedRead;
pub use node::{
    Composite, NodeDrawable, NodeShadow, Primitive, ShadowBuffer, Slog2Node, Stub, Weight,
};
pub use ordered::{InOrder, VisitNode};
pub use print::{
    Navigator, PrintOrder, PrintedDrawables, PrintedParts, RecursiveOptions, Slog2PrintOptions,
    list, print, print_recursively, time_window,
};
pub use read::Slog2Reader;
pub use rewrite::rewrite;
pub use salvage::Salvage;
pub use scan::{NodeScan, PlainDrawable, ScannedDrawable};
pub use sink::Slog2Sink;
pub use source::InModel;
pub use source::{NodeSurvey, Slog2Source};
pub use start_range::StartRange;
pub use trace_model::PendingFile;
pub use trace_model::{
    Category, Color, Drawable as NewDrawable, PREVIEW_ARROW, PREVIEW_EVENT, PREVIEW_STATE, Ratios,
    Text, TimeBBox, Topology, Vertex, preview_index,
};
pub use tree_builder::{
    BuiltNode, EncodedDrawable, NewComposite, NodeContents, NodePreview, NodeWriter, TreeBuilder,
    TreeEnd, TreeOptions, WrittenTree,
};
pub use types::{
    DirEntry, FileBlockPtr, HEADER_SIZE, LineIdMap, Slog2Header, Slog2Layout, TreeNodeId, VERSION,
    VERSION_2_0_5,
};
pub use update::{Topologies, in_order_of_insertion, update};
pub use views::{lines as lines_of_views, node_view, program_view, views as views_of_lines};
pub use walk::DrawableWalk;
pub use window::{Depth, Reading, Visit, WindowContents};
