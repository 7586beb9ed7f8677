//! The picture of a window as cells at any scale: from its drawables where they may be read, from the index where not.

mod bin_columns;
pub(crate) mod cells;
pub mod frame;
pub(crate) mod from_drawables;
pub(crate) mod from_index;
mod states_as_cells;
mod units_sum;
