//! States of a thread that overlap go to tracks beside each other, since the slices of a track nest.

/// A state that is not over yet.
#[derive(Clone, Copy, Debug)]
struct OpenState {
    start: f64,
    end: f64,
}

/// The tracks of one thread: its own, then one for each depth of overlap. Each has the states that are not over, the outer ones first.
#[derive(Debug, Default)]
pub(crate) struct Nesting {
    rows: Vec<Vec<OpenState>>,
}

impl Nesting {
    /// The row of a state: the first one where it lies inside the states that are not over. States must come in order of start.
    pub(crate) fn place(&mut self, start: f64, end: f64) -> usize {
        let state = OpenState { start, end };
        for (number, row) in self.rows.iter_mut().enumerate() {
            // A state without duration is not over before its time is.
            let is_over =
                |open: &OpenState| open.end < start || (open.end == start && open.start < open.end);
            while row.last().is_some_and(is_over) {
                row.pop();
            }
            if row.last().is_none_or(|outer| end <= outer.end) {
                row.push(state);
                return number;
            }
        }
        self.rows.push(vec![state]);
        self.rows.len() - 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_overlaps_goes_to_another_row() {
        let mut nesting = Nesting::default();
        let rows = [
            (0.0, 4.0, 0),
            (1.0, 2.0, 0),
            (2.0, 2.0, 0),
            (3.0, 5.0, 1),
            (3.5, 6.0, 2),
            (4.0, 4.5, 0),
        ];
        for (start, end, row) in rows {
            assert_eq!(nesting.place(start, end), row, "{start} to {end}");
        }
    }

    proptest! {
        #[test]
        fn states_of_a_row_nest(mut spans in proptest::collection::vec((0u8..20, 0u8..9), 0..60)) {
            spans.sort_by_key(|&(start, length)| (start, std::cmp::Reverse(length)));
            let mut nesting = Nesting::default();
            let mut placed: Vec<(usize, u8, u8)> = Vec::new();
            for (start, length) in spans {
                let end = start + length;
                let row = nesting.place(start.into(), end.into());
                for &(other_row, other_start, other_end) in &placed {
                    let apart = other_end <= start;
                    let inside = other_start <= start && end <= other_end;
                    prop_assert!(other_row != row || apart || inside);
                }
                placed.push((row, start, end));
            }
        }
    }
}
