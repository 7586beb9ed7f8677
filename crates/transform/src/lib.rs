//! Traces made out of traces: a part of one ([`Filtered`], and record by record [`Clog2Filter`], [`Slog2Filter`] and
//! [`DumpiFilter`]), several
//! under each other ([`MergedTraces`]), one with arrows from calls to what they caused ([`Arrows`]), one whose overlapping
//! drawables are on lines of their own ([`Split`]), one with other views ([`view`]).
//!
//! Most are a [`Source`](trace_model::Source) around a source, so they work with every format; [`write_slog2`] writes such a trace with the
//! views that fit it.
//!
//! Section numbers are those of the format descriptions the project works from.

mod align;
mod arrows;
mod call_id;
mod clog2;
mod comm_numbers;
mod composite;
mod dumpi;
mod file_names;
mod filtered;
mod forward;
mod in_order;
mod io_numbers;
mod lines;
mod merge;
mod region_times;
mod select;
mod slog2;
mod split;
mod views;

pub use align::{Alignment, align_by_call_ids, align_by_category, align_starts};
pub use arrows::{ArrowStatistics, Arrows};
pub use call_id::CallIdCategories;
pub use clog2::{Clog2Filter, FilteredRecords, SelectedRecords};
pub use composite::{CompositeStatistics, Composites, GroupKey};
pub use dumpi::{Copied, DumpiFilter, FunctionSet, UnknownFunction, first_wall_time};
pub use filtered::Filtered;
pub use forward::{count_late_messages, write_forwarded};
pub use lines::{LineView, usual_views, view};
pub use merge::{MergeError, MergeInput, MergedTraces};
pub use select::{CategoryPattern, Judge, NumberRanges, PropertySelection, Selection};
pub use slog2::{Rebuilt, Slog2Filter, write_slog2};
pub use split::Split;
