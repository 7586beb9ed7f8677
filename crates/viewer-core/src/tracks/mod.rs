//! Tracks: what all ranks do together over time, in equal columns of a window: ranks in calls, messages, I/O, counters.

pub(crate) mod collector;
pub(crate) mod column_sums;
pub(crate) mod roles;
pub mod totals;
