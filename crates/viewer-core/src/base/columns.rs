//! Positions of times among the columns of pixels, in whole numbers: sums of them do not depend on the order, so that a cell
//! can be checked to the byte.

use trace_formats::slog2::TimeBBox;

use super::window::covers_time;

/// Bits of a place within a column.
pub const COLUMN_BITS: u32 = 24;
/// The width of a column.
pub const COLUMN: i64 = 1 << COLUMN_BITS;

/// A window and its columns.
#[derive(Clone, Copy, Debug)]
pub struct WindowColumns {
    window: TimeBBox,
    per_second: f64,
    end: i64,
}

impl WindowColumns {
    /// Spreads a window of some length.
    pub fn new(window: TimeBBox, columns: u32) -> Self {
        let end = i64::from(columns) << COLUMN_BITS;
        WindowColumns {
            window,
            per_second: end as f64 / window.duration(),
            end,
        }
    }

    /// The place of a time, in parts of a column; 0 before the window, and the end of the last column behind it.
    #[inline]
    pub fn at(&self, time: f64) -> i64 {
        // The nearest number; of what is out of range the conversion makes the nearest there is, of what is none, 0. What is
        // below 0 is rounded the other way, which makes no difference.
        let place = ((time - self.window.earliest) * self.per_second + 0.5) as i64;
        place.clamp(0, self.end)
    }

    /// Whether a stretch has a part in the window; one without length has it at its borders too.
    #[inline]
    pub fn overlap(&self, from: f64, to: f64) -> bool {
        covers_time(self.window, from, to)
    }

    /// The column of a time, which is the last one for the end of the window.
    #[inline]
    pub fn column(&self, time: f64) -> usize {
        ((self.at(time).min(self.end - 1)) >> COLUMN_BITS) as usize
    }
}

/// Takes stretches in order and gives for each column what there is in it.
#[derive(Clone, Debug, Default)]
pub struct ColumnFiller {
    column: i64,
    /// Kinds in the column, and how much of it.
    parts: Vec<(u32, i64)>,
}

/// Takes what is in columns.
pub trait ColumnSink {
    /// Takes a column: the kinds in it, and how much of it each has.
    fn column(&mut self, column: usize, parts: &[(u32, i64)]);

    /// Nothing but this kind is in these columns, from the first to before the last.
    fn whole(&mut self, columns: std::ops::Range<usize>, kind: u32);
}

impl ColumnFiller {
    /// Adds a stretch, which does not begin before the one that was added before it ends.
    #[inline]
    pub fn add(&mut self, kind: u32, from: i64, to: i64, end: i64, fill: &mut impl ColumnSink) {
        // A drawable at the very end of the window is in the last column.
        let first = from.min(end - 1) >> COLUMN_BITS;
        if first != self.column {
            self.finish(fill);
            self.column = first;
        }
        let border = (first + 1) << COLUMN_BITS;
        if to <= border {
            self.part(kind, to - from);
            return;
        }
        self.part(kind, border - from);
        self.finish(fill);
        // The last column may yet get what happens at its end.
        let last = to.min(end - 1) >> COLUMN_BITS;
        if last > first + 1 {
            fill.whole((first + 1) as usize..last as usize, kind);
        }
        self.column = last;
        if to > last << COLUMN_BITS {
            self.part(kind, to - (last << COLUMN_BITS));
        }
    }

    #[inline]
    fn part(&mut self, kind: u32, much: i64) {
        match self.parts.iter_mut().find(|part| part.0 == kind) {
            Some(part) => part.1 += much,
            None => self.parts.push((kind, much)),
        }
    }

    /// Gives the column that is not yet given.
    #[inline]
    pub fn finish(&mut self, fill: &mut impl ColumnSink) {
        if !self.parts.is_empty() {
            fill.column(self.column as usize, &self.parts);
            self.parts.clear();
        }
    }
}
