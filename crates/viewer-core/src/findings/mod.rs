//! Findings about a run: where its time went, who waited for whom, each finding with its place in the timeline.

mod builder;
mod io;
mod messages;
mod pass;
mod phases;
mod places;
pub(crate) mod range;
pub(crate) mod summarize;
pub mod summary;
mod time_use;
mod verdict;
mod waits;
