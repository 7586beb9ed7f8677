//! Which lines of the trace are on which timeline of the page, under which label, in which order.

pub(crate) mod cluster;
pub(crate) mod layout;
pub(crate) mod measure;
pub(crate) mod selection;
pub(crate) mod spec;
pub(crate) mod tree;
