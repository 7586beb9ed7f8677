//! Timelines of the page: which lines of the trace each shows, under which label, in which order.

pub(crate) mod cluster;
pub(crate) mod layout;
pub(crate) mod measure;
pub(crate) mod selection;
pub(crate) mod spec;
pub(crate) mod tree;
