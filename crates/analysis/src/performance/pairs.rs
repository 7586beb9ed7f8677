//! Messages and waits by pair of ranks, as a matrix of bounded size.

use serde::Serialize;

/// Rows and columns of the matrix at most.
const MAX_SIDE: usize = 64;

/// Messages and waits by pair of ranks. Where there are more than 64 ranks, a row or column has several that follow each other.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RankPairs {
    /// Ranks in a row or column.
    pub ranks_each: usize,
    /// Lowest rank of each row and column.
    pub first_ranks: Vec<i32>,
    /// Messages, by sender and then by receiver.
    pub messages: Vec<Vec<u64>>,
    /// Bytes of the messages, likewise.
    pub bytes: Vec<Vec<u64>>,
    /// Seconds of waiting, by who waits and then by culprit.
    pub waiting: Vec<Vec<f64>>,
}

#[derive(Clone, Copy, Debug, Default)]
struct PairSum {
    messages: u64,
    bytes: u64,
    waiting: f64,
}

/// The matrix as it is added up.
#[derive(Clone, Debug, Default)]
pub(super) struct PairSums {
    /// Row and column by place of a rank among those of the trace.
    places: Vec<u32>,
    first_ranks: Vec<i32>,
    ranks_each: usize,
    sums: Vec<PairSum>,
}

impl PairSums {
    /// Sums, all 0, of pairs of these ranks, which are known by their places.
    pub(super) fn new(ranks: &[i32]) -> PairSums {
        let mut in_order: Vec<usize> = (0..ranks.len()).collect();
        in_order.sort_by_key(|&place| ranks[place]);
        let each = ranks.len().div_ceil(MAX_SIDE).max(1);
        let mut places = vec![0; ranks.len()];
        for (nth, &place) in in_order.iter().enumerate() {
            places[place] = (nth / each) as u32;
        }
        let firsts = in_order.iter().step_by(each);
        let first_ranks: Vec<i32> = firsts.map(|&place| ranks[place]).collect();
        PairSums {
            places,
            sums: vec![PairSum::default(); first_ranks.len() * first_ranks.len()],
            first_ranks,
            ranks_each: each,
        }
    }

    fn of(&mut self, row: u32, column: u32) -> &mut PairSum {
        let [row, column] = [row, column].map(|place| self.places[place as usize] as usize);
        &mut self.sums[row * self.first_ranks.len() + column]
    }

    /// Adds a message between ranks with these places.
    pub(super) fn add_message(&mut self, from: u32, to: u32, bytes: u64) {
        let sum = self.of(from, to);
        sum.messages += 1;
        sum.bytes = sum.bytes.saturating_add(bytes);
    }

    /// Adds a wait of a rank for another one, seconds.
    pub(super) fn add_wait(&mut self, waiting: u32, culprit: u32, seconds: f64) {
        self.of(waiting, culprit).waiting += seconds;
    }

    /// The focus begins anew.
    pub(super) fn restart(&mut self) {
        self.sums.fill(PairSum::default());
    }

    pub(super) fn matrix(&self) -> RankPairs {
        fn rows<T>(sums: &PairSums, value: fn(&PairSum) -> T) -> Vec<Vec<T>> {
            let side = sums.first_ranks.len().max(1);
            let rows = sums.sums.chunks(side);
            rows.map(|row| row.iter().map(value).collect()).collect()
        }
        RankPairs {
            ranks_each: self.ranks_each,
            first_ranks: self.first_ranks.clone(),
            messages: rows(self, |sum| sum.messages),
            bytes: rows(self, |sum| sum.bytes),
            waiting: rows(self, |sum| sum.waiting),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_ranks_share_rows() {
        let ranks: Vec<i32> = (0..130).rev().collect();
        let mut sums = PairSums::new(&ranks);
        // Places 129 and 0 are ranks 0 and 129.
        sums.add_message(129, 0, 8);
        sums.add_message(127, 0, 2);
        sums.add_wait(0, 129, 1.5);
        let matrix = sums.matrix();
        assert_eq!(matrix.ranks_each, 3);
        assert_eq!(matrix.first_ranks.len(), 44);
        assert_eq!((matrix.first_ranks[1], matrix.first_ranks[43]), (3, 129));
        assert_eq!((matrix.messages[0][43], matrix.bytes[0][43]), (2, 10));
        assert_eq!(matrix.waiting[43][0], 1.5);
        assert_eq!(PairSums::new(&[]).matrix().messages.len(), 0);
    }
}
