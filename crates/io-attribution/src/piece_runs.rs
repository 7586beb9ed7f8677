//! Pieces of a file at equal distances, and whether two such runs have bytes in common. The answer takes the same time however many
//! pieces there are: the rows of two blocks of a large array are two runs.

/// Pieces of one length at equal distances in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PieceRun {
    /// Offset of the first piece.
    pub start: u64,
    /// Bytes of each piece.
    pub length: u64,
    /// Number of pieces; at least one.
    pub count: u64,
    /// From the beginning of one piece to that of the next, bytes; 0 for a single piece.
    pub stride: u64,
}

impl PieceRun {
    /// `count` pieces, the first at `start`; `None` if that is not in a file, or if the pieces do not go forward.
    pub fn new(start: i128, length: u64, count: u64, stride: i128) -> Option<PieceRun> {
        let run = PieceRun {
            start: u64::try_from(start).ok()?,
            length,
            count,
            stride: if count == 1 {
                0
            } else {
                u64::try_from(stride).ok()?
            },
        };
        let is_sound = length > 0 && count > 0 && (count == 1 || run.stride >= length);
        let last = run.stride.checked_mul(count.checked_sub(1)?)?;
        let end = run.start.checked_add(last)?.checked_add(length);
        (is_sound && end.is_some()).then_some(run)
    }

    /// Offset of the byte after the last piece.
    pub fn end(&self) -> u64 {
        self.start + self.stride * (self.count - 1) + self.length
    }

    /// The pieces that have bytes between two offsets; `None` if there are none.
    pub fn inside(self, (low, high): (u64, u64)) -> Option<PieceRun> {
        if self.end() <= low || self.start >= high {
            return None;
        }
        if self.count == 1 {
            return Some(self);
        }
        let first = (low + 1).saturating_sub(self.start + self.length);
        let first = first.div_ceil(self.stride);
        let behind = (high - self.start).div_ceil(self.stride).min(self.count);
        let count = behind.checked_sub(first).filter(|&count| count > 0)?;
        Some(PieceRun {
            start: self.start + first * self.stride,
            count,
            stride: if count == 1 { 0 } else { self.stride },
            ..self
        })
    }

    /// Whether it is certain that no byte is in a piece of both runs.
    pub fn is_apart_from(&self, other: &PieceRun) -> bool {
        let both = (self.start.max(other.start), self.end().min(other.end()));
        if both.0 >= both.1 {
            return true;
        }
        let (Some(a), Some(b)) = (self.inside(both), other.inside(both)) else {
            return true;
        };
        match (a.count, b.count) {
            (1, 1) => a.end() <= b.start || b.end() <= a.start,
            (1, _) => b.inside((a.start, a.end())).is_none(),
            (_, 1) => a.inside((b.start, b.end())).is_none(),
            _ if a.stride == b.stride => {
                // The pieces of one lie in the gaps of the other, the same way each time.
                let shift = match b.start.checked_sub(a.start) {
                    Some(behind) => behind % a.stride,
                    None => (a.stride - (a.start - b.start) % a.stride) % a.stride,
                };
                shift >= a.length && shift + b.length <= a.stride
            }
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn runs() -> impl Strategy<Value = PieceRun> {
        let parts = (
            0..60_i128,
            1..9_u64,
            1..7_u64,
            prop::sample::select(vec![1_i128, 3, 10, 16]),
        );
        parts.prop_filter_map("pieces overlap", |(start, length, count, gap)| {
            PieceRun::new(start, length, count, i128::from(length).max(gap))
        })
    }

    fn bytes(run: &PieceRun) -> Vec<u64> {
        let starts = (0..run.count).map(|n| run.start + n * run.stride);
        starts.flat_map(|at| at..at + run.length).collect()
    }

    proptest! {
        #[test]
        fn runs_that_are_apart_have_no_byte_in_common(a in runs(), b in runs()) {
            let (of_a, of_b) = (bytes(&a), bytes(&b));
            prop_assert_eq!(of_a.last().map(|last| last + 1), Some(a.end()));
            let common = of_a.iter().any(|byte| of_b.contains(byte));
            let apart = a.is_apart_from(&b);
            prop_assert_eq!(apart, b.is_apart_from(&a));
            prop_assert!(!(apart && common));
            if a.count == 1 || b.count == 1 {
                prop_assert_eq!(apart, !common);
            }
        }

        #[test]
        fn pieces_inside_are_those_with_bytes_there(run in runs(), low in 0..120_u64, length in 1..60_u64) {
            let pieces = (0..run.count).map(|n| run.start + n * run.stride);
            let expected: Vec<u64> = pieces
                .filter(|&at| at < low + length && low < at + run.length)
                .collect();
            let found = run.inside((low, low + length));
            let found: Vec<u64> = found
                .iter()
                .flat_map(|run| (0..run.count).map(|n| run.start + n * run.stride))
                .collect();
            prop_assert_eq!(found, expected);
        }
    }

    #[test]
    fn interleaved_rows_are_apart_and_shifted_ones_are_not() {
        let rows = |start| PieceRun::new(start, 4, 1 << 40, 16).unwrap();
        assert!(rows(100).is_apart_from(&rows(104)));
        assert!(rows(100).is_apart_from(&rows(112)));
        assert!(!rows(100).is_apart_from(&rows(103)));
        assert!(!rows(100).is_apart_from(&rows(1_000_004)));
        assert!(rows(100).is_apart_from(&rows(1_000_008)));
    }
}
