//! Still pictures: what is in a window, where it goes in pixels, and the picture as SVG.

pub(crate) mod arrows;
pub(crate) mod axis;
pub(crate) mod band;
pub(crate) mod content;
pub(crate) mod layout;
pub(crate) mod legend;
pub(crate) mod named;
mod notes;
pub(crate) mod placed;
mod rare_columns;
mod scale;
pub mod svg;
mod text_sizes;
pub(crate) mod waits;
