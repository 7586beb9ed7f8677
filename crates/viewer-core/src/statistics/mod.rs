//! Numbers about a window: statistics by category and timeline, messages by pair and by size.

pub(crate) mod counting;
pub(crate) mod durations;
pub(crate) mod estimate;
pub(crate) mod from_totals;
pub(crate) mod gather;
pub(crate) mod in_order;
pub(crate) mod message_bytes;
