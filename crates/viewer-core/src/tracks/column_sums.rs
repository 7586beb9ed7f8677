//! Amounts that are spread over stretches of time, added up in equal columns of a window.
//!
//! Sums are whole numbers, so that a column in which nothing is has exactly 0, however much was added before it.

use trace_formats::slog2::TimeBBox;

use crate::base::columns::{COLUMN, COLUMN_BITS, WindowColumns};

/// What a unit of an amount is worth in sums.
const UNIT: i128 = COLUMN as i128;

/// A window, its equal columns, and whether an instant at its very end is in it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TrackColumns {
    window: TimeBBox,
    columns: WindowColumns,
    has_end: bool,
}

impl TrackColumns {
    /// So many columns of a window of a trace with these bounds. What happens at the end of a window belongs to the next one, if there is one.
    pub(crate) fn new(window: TimeBBox, number: u32, bounds: TimeBBox) -> Self {
        TrackColumns {
            window,
            columns: WindowColumns::new(window, number),
            has_end: window.latest >= bounds.latest,
        }
    }

    /// Whether what happens at this time is in the window.
    pub(super) fn has_instant(&self, time: f64) -> bool {
        let TimeBBox { earliest, latest } = self.window;
        time >= earliest && (time < latest || time == latest && self.has_end)
    }
}

/// Sums of amounts by column.
#[derive(Clone, Debug)]
pub(super) struct ColumnSums {
    parts: Vec<i128>,
    /// By column what each from there on has more than those before it.
    steps: Vec<i128>,
}

impl ColumnSums {
    /// Sums of so many columns.
    pub(super) fn new(columns: u32) -> Self {
        ColumnSums {
            parts: vec![0; columns as usize],
            steps: vec![0; columns as usize + 1],
        }
    }

    /// Adds the time between two times: all of a column counts 1.
    pub(super) fn add_time(&mut self, of: &TrackColumns, from: f64, to: f64) {
        let (from, to) = (of.columns.at(from), of.columns.at(to));
        self.fill(from, to, i128::from(to - from));
    }

    /// Adds an amount that is spread evenly between two times, as far as these are in the window.
    pub(super) fn add_spread(&mut self, of: &TrackColumns, (from, to): (f64, f64), amount: u64) {
        let window = of.window;
        if to <= from {
            self.add_instant(of, from, amount);
            return;
        }
        let inside = to.min(window.latest) - from.max(window.earliest);
        let is_all = from >= window.earliest && to <= window.latest;
        let part = match is_all {
            true => i128::from(amount) * UNIT,
            false if inside > 0.0 => {
                (amount as f64 * (inside / (to - from)) * UNIT as f64).round() as i128
            }
            false => return,
        };
        let (start, end) = (of.columns.at(from), of.columns.at(to));
        match start < end {
            true => self.fill(start, end, part),
            false => self.parts[of.columns.column(from.max(window.earliest))] += part,
        }
    }

    /// Adds an amount at a time, if that is in the window.
    pub(super) fn add_instant(&mut self, of: &TrackColumns, time: f64, amount: u64) {
        if of.has_instant(time) {
            self.parts[of.columns.column(time)] += i128::from(amount) * UNIT;
        }
    }

    /// Spreads what `all` stands for evenly between two places.
    fn fill(&mut self, from: i64, to: i64, all: i128) {
        if to <= from {
            return;
        }
        let (first, last) = (
            (from >> COLUMN_BITS) as usize,
            ((to - 1) >> COLUMN_BITS) as usize,
        );
        if first == last {
            self.parts[first] += all;
            return;
        }
        let length = i128::from(to - from);
        let border = (first as i64 + 1) << COLUMN_BITS;
        let head = all * i128::from(border - from) / length;
        let whole = all * UNIT / length;
        self.parts[first] += head;
        self.parts[last] += all - head - whole * (last - first - 1) as i128;
        self.steps[first + 1] += whole;
        self.steps[last] -= whole;
    }

    /// The amount of each column.
    pub(super) fn finish(&self) -> Vec<f64> {
        let mut run = 0;
        let sums = self.parts.iter().zip(&self.steps).map(|(part, step)| {
            run += step;
            (part + run) as f64 / UNIT as f64
        });
        sums.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn columns(earliest: f64, latest: f64, number: u32) -> TrackColumns {
        let window = TimeBBox { earliest, latest };
        TrackColumns::new(window, number, window)
    }

    #[test]
    fn time_is_in_the_columns_that_it_covers() {
        let four = columns(0.0, 4.0, 4);
        let mut sums = ColumnSums::new(4);
        sums.add_time(&four, 0.5, 2.25);
        sums.add_time(&four, -7.0, 1.0);
        sums.add_time(&four, 3.75, 9.0);
        sums.add_time(&four, 2.5, 2.5);
        assert_eq!(sums.finish(), [1.5, 1.0, 0.25, 0.25]);
    }

    #[test]
    fn amounts_are_spread_evenly_and_none_is_left_over() {
        let four = columns(0.0, 4.0, 4);
        let mut sums = ColumnSums::new(4);
        sums.add_spread(&four, (0.5, 1.5), 100);
        assert_eq!(sums.finish(), [50.0, 50.0, 0.0, 0.0]);
        // Half of it is outside.
        sums.add_spread(&four, (3.0, 5.0), 10);
        sums.add_spread(&four, (2.0, 2.0), 3);
        assert_eq!(sums.finish(), [50.0, 50.0, 3.0, 5.0]);
        // Outside, or at an end that belongs to the next window.
        sums.add_spread(&four, (4.5, 5.0), 10);
        sums.add_spread(&four, (-1.0, -1.0), 10);
        assert_eq!(sums.finish(), [50.0, 50.0, 3.0, 5.0]);
        let mut sums = ColumnSums::new(3);
        let three = columns(0.0, 3.0, 3);
        for _ in 0..7 {
            sums.add_spread(&three, (0.1, 1.9), 1_000_000_007);
        }
        let found = sums.finish();
        assert_eq!((found[0] + found[1], found[2]), (7_000_000_049.0, 0.0));
    }

    #[test]
    fn an_instant_at_the_end_is_in_the_next_window_unless_there_is_none() {
        let mut sums = ColumnSums::new(2);
        let window = |latest| TimeBBox {
            earliest: 0.0,
            latest,
        };
        let inner = TrackColumns::new(window(2.0), 2, window(5.0));
        sums.add_spread(&inner, (2.0, 2.0), 5);
        assert_eq!(sums.finish(), [0.0, 0.0]);
        sums.add_spread(&columns(0.0, 2.0, 2), (2.0, 2.0), 5);
        assert_eq!(sums.finish(), [0.0, 5.0]);
    }
}
