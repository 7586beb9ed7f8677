//! Traces made out of traces: a part of one ([`Selection`], [`Slog2Filter`], [`DumpiFilter`]).
//!
//! Section numbers are those of the format descriptions the project works from.

mod call_id;
mod dumpi;
mod select;
mod slog2;

pub use call_id::CallIds;
pub use dumpi::{Copied, DumpiFilter, Functions, UnknownFunction, first_wall_time};
pub use select::{CategoryPattern, Choice, Judge, Numbers, Selection};
pub use slog2::{Rebuilt, Slog2Filter};
