//! Still pictures: what is in a window, where it goes in pixels, and the picture as SVG.

pub(crate) mod arrows;
pub(crate) mod axis;
pub(crate) mod band;
pub(crate) mod content;
pub(crate) mod layout;
pub(crate) mod legend;
pub(crate) mod named;
mod notes;
mod rare_columns;
mod scale;
pub mod svg;
pub(crate) mod waits;
