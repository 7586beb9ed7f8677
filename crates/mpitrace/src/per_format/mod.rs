//! What single formats need beyond their drawables: how their files are found and put together, and the conversions that
//! an original tool made.

pub mod annotation;
pub mod clog2;
pub mod dumpi;
pub mod mpe1;
pub mod paje;
pub mod slog1;
