//! The picture of a window as cells at any scale: from its drawables where they may be read, from the index where not.

mod arrows;
mod bin_columns;
pub(crate) mod cells;
mod encode;
pub mod frame;
pub(crate) mod from_drawables;
pub(crate) mod from_index;
mod halves;
pub(crate) mod rare;
pub(crate) mod request;
pub(crate) mod states_as_cells;
pub(crate) mod units_sum;
