//! Positions of times among the columns of pixels.

use trace_formats::slog2::TimeBBox;

/// A window and the columns of pixels that show it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PixelScale {
    earliest: f64,
    duration: f64,
    /// Columns.
    pub columns: u32,
}

impl PixelScale {
    pub fn new(window: TimeBBox, columns: u32) -> Self {
        PixelScale {
            earliest: window.earliest,
            duration: window.duration(),
            columns: columns.max(1),
        }
    }

    /// Columns from the beginning of the window, in the middle of columns too; finite whatever the time is.
    pub fn at(&self, time: f64) -> f64 {
        let columns = f64::from(self.columns);
        let at = (time - self.earliest) / self.duration * columns;
        at.clamp(-1e6, columns + 1e6)
    }

    /// The stretch of columns between two times, as far as it is in the window; `None` if nothing of it is.
    pub fn stretch(&self, start: f64, end: f64) -> Option<(f64, f64)> {
        let columns = f64::from(self.columns);
        let (from, to) = (self.at(start), self.at(end));
        let touches_only = (to <= 0.0 && from < 0.0) || (from >= columns && to > columns);
        if touches_only || to < 0.0 || from > columns || from.is_nan() || to.is_nan() {
            return None;
        }
        Some((from.max(0.0), to.min(columns)))
    }
}
