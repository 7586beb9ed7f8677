//! Sizes of the texts in a picture, in pixels.

/// Names and labels.
pub(crate) const TEXT: f64 = 11.0;
/// The title.
pub(crate) const TITLE: f64 = 15.0;
/// Ticks and notes.
pub(crate) const SMALL: f64 = 10.0;
