//! The bytes of a file that several calls of one collective access write.
//!
//! Runs of pieces are compared first: that proves in little time that the blocks of large arrays are apart. Only if it does not prove it
//! are the pieces compared one by one.

use crate::intervals::Intervals;
use crate::piece_runs::PieceRun;
use crate::ranges::Ranges;

/// Maximum number of runs of pieces that are compared with each other.
const MAX_RUNS: u64 = 1 << 16;
/// Maximum number of comparisons of two runs.
const MAX_COMPARISONS: u64 = 1 << 24;
/// Maximum number of pieces that are compared one by one. The MPI library has looked at each of them, too.
const MAX_PIECES: u64 = 1 << 18;

/// Bytes of the file that calls of a group write.
#[derive(Debug, Default)]
pub(super) struct OverwrittenBytes {
    /// Bytes that at least one call writes. Empty if no call writes bytes of another one.
    pub any: Intervals,
    /// Bytes that more than one call writes.
    pub twice: Intervals,
    /// For each call, true if another call writes some of its bytes, too. Empty if no call does.
    pub calls: Vec<bool>,
    /// For each call, true if it is not known whether another call writes some of its bytes. Empty if it is known of all.
    pub uncertain: Vec<bool>,
}

impl OverwrittenBytes {
    /// Compares the ranges of the calls of a group; `None` stands for a call without bytes, or without known ranges.
    pub fn of(calls: &[Option<&Ranges>]) -> OverwrittenBytes {
        if extents_are_apart(calls) || runs_are_apart(calls) {
            return OverwrittenBytes::default();
        }
        let known = calls.iter().flatten();
        let pieces = known.fold(0_u64, |sum, r| sum.saturating_add(r.pieces()));
        if pieces > MAX_PIECES || calls.iter().flatten().any(|r| !r.is_exact()) {
            return OverwrittenBytes {
                uncertain: with_common_extent(calls),
                ..OverwrittenBytes::default()
            };
        }
        compare_pieces(calls)
    }

    /// Whether a call's bytes may be overwritten by another call, and it is not known where.
    pub fn is_uncertain(&self, call: usize) -> bool {
        self.uncertain.get(call) == Some(&true)
    }
}

/// Bounding extents with the number of the call, in order.
fn extents(calls: &[Option<&Ranges>]) -> Vec<(u64, u64, usize)> {
    let mut extents: Vec<(u64, u64, usize)> = calls
        .iter()
        .enumerate()
        .filter_map(|(n, ranges)| {
            let (start, end) = ranges.as_ref()?.bounding_extent()?;
            Some((start, end, n))
        })
        .collect();
    extents.sort_unstable();
    extents
}

fn extents_are_apart(calls: &[Option<&Ranges>]) -> bool {
    extents(calls).windows(2).all(|w| w[0].1 <= w[1].0)
}

/// For each call, whether its bounding extent and that of another call have bytes in common.
fn with_common_extent(calls: &[Option<&Ranges>]) -> Vec<bool> {
    let mut common = vec![false; calls.len()];
    let mut last: Option<(u64, usize)> = None;
    for (start, end, n) in extents(calls) {
        if let Some((_, other)) = last.filter(|l| start < l.0) {
            for call in [n, other] {
                if let Some(common) = common.get_mut(call) {
                    *common = true;
                }
            }
        }
        if last.is_none_or(|(reached, _)| end > reached) {
            last = Some((end, n));
        }
    }
    common
}

/// Whether runs of pieces show that no two calls write the same byte.
fn runs_are_apart(calls: &[Option<&Ranges>]) -> bool {
    let mut all: Vec<(PieceRun, usize)> = Vec::new();
    for (n, ranges) in calls.iter().enumerate() {
        let Some(ranges) = ranges else {
            continue;
        };
        let left = MAX_RUNS.saturating_sub(all.len() as u64);
        let Some(runs) = ranges.runs(left) else {
            return false;
        };
        all.extend(runs.into_iter().map(|run| (run, n)));
    }
    all.sort_unstable_by_key(|(run, n)| (run.start, *n));
    let mut open: Vec<(PieceRun, usize)> = Vec::new();
    let mut comparisons = 0_u64;
    for (run, call) in all {
        open.retain(|(before, _)| before.end() > run.start);
        comparisons = comparisons.saturating_add(open.len() as u64);
        let mut others = open.iter().filter(|(_, other)| *other != call);
        if comparisons > MAX_COMPARISONS || !others.all(|(other, _)| run.is_apart_from(other)) {
            return false;
        }
        open.push((run, call));
    }
    true
}

/// Compares the pieces of the calls one by one.
fn compare_pieces(calls: &[Option<&Ranges>]) -> OverwrittenBytes {
    let known = calls.iter().enumerate();
    let known = known.filter_map(|(n, ranges)| Some((n, ranges.as_ref()?)));
    let mut all: Vec<(u64, u64, usize)> = known
        .flat_map(|(n, ranges)| {
            let pieces = ranges.iter();
            pieces.map(move |(offset, length)| (offset, offset.saturating_add(length), n))
        })
        .collect();
    // Not unstable: the pieces of each call are in order already.
    all.sort();
    let mut found = OverwrittenBytes {
        calls: vec![false; calls.len()],
        ..OverwrittenBytes::default()
    };
    // The two calls that reach farthest: a piece may overlap the second one only.
    let mut farthest: [Option<(u64, usize)>; 2] = [None, None];
    for (start, end, n) in all {
        for (reached, other) in farthest.into_iter().flatten() {
            if start < reached && other != n {
                found.twice.add(start, end.min(reached));
                for call in [n, other] {
                    if let Some(call) = found.calls.get_mut(call) {
                        *call = true;
                    }
                }
            }
        }
        found.any.add(start, end);
        farthest = with_farthest(farthest, (end, n));
    }
    found
}

/// The two calls that reach farthest after a piece of the call `new.1` that ends at `new.0`.
fn with_farthest(
    farthest: [Option<(u64, usize)>; 2],
    new: (u64, usize),
) -> [Option<(u64, usize)>; 2] {
    let [first, second] = farthest;
    let Some(known) = first else {
        return [Some(new), None];
    };
    if known.1 == new.1 {
        return [Some((known.0.max(new.0), new.1)), second];
    }
    if new.0 > known.0 {
        return [Some(new), Some(known)];
    }
    match second {
        Some(old) if old.0 >= new.0 => [first, second],
        _ => [first, Some(new)],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ranges::ViewLayout;
    use blockfile::define::FileView;
    use blockfile::runs::Runs;
    use proptest::prelude::*;
    use std::sync::Arc;

    fn ranges(view: &FileView, bytes: u64) -> Ranges {
        Ranges::new(&Arc::new(ViewLayout::new(view)), 0, bytes).expect("a small access")
    }

    /// `count` pieces of `length` bytes, `stride` bytes from one to the next, all of them `copies` times.
    fn rows(displacement: i64, length: u64, count: u64, stride: i64, copies: u64) -> Ranges {
        let mut runs = Runs::default();
        runs.append(0, length, count, stride).unwrap();
        let view = FileView {
            displacement,
            etype: 1,
            extent: stride * count as i64,
            size: length * count,
            runs: runs.into_vec(),
            ..FileView::default()
        };
        ranges(&view, length * count * copies)
    }

    #[test]
    fn blocks_of_any_size_are_known_to_be_apart() {
        // Four ranks hold a quarter each of a plane of 2^21 rows.
        let block = |x: i64, y: i64| rows((y << 20) * 800 + x * 400, 400, 1 << 20, 800, 1);
        let blocks = [block(0, 0), block(1, 0), block(0, 1), block(1, 1)];
        let calls: Vec<Option<&Ranges>> = blocks.iter().map(Some).collect();
        let found = OverwrittenBytes::of(&calls);
        assert_eq!((found.calls.len(), found.uncertain.len()), (0, 0));
        // One of them is 8 bytes wider.
        let wide = rows(0, 408, 1 << 20, 800, 1);
        let calls = [Some(&wide), Some(&blocks[1]), None, Some(&blocks[2])];
        let found = OverwrittenBytes::of(&calls);
        assert_eq!(found.uncertain, [true, true, false, false]);
        assert!(found.is_uncertain(0) && !found.is_uncertain(2) && !found.is_uncertain(9));
    }

    #[test]
    fn nothing_is_certain_beside_a_call_of_which_only_the_extent_is_known() {
        let view = FileView {
            etype: 1,
            extent: 1000,
            size: 100,
            bounding_extent: true,
            runs: vec![blockfile::runs::EvenRun::piece(0, 1000)],
            ..FileView::default()
        };
        let unknown = ranges(&view, 100);
        let (inside, outside) = (rows(500, 10, 1, 10, 1), rows(1000, 10, 1, 10, 1));
        let found = OverwrittenBytes::of(&[Some(&unknown), Some(&inside), Some(&outside)]);
        assert_eq!(found.uncertain, [true, true, false]);
        let found = OverwrittenBytes::of(&[Some(&unknown), Some(&outside)]);
        assert_eq!(found.uncertain.len(), 0);
    }

    proptest! {
        /// As byte by byte.
        #[test]
        fn bytes_of_several_calls_are_found(
            parts in prop::collection::vec((0..60_i64, 1..8_u64, 1..6_u64, 0..5_i64, 1..3_u64), 1..5),
        ) {
            let calls: Vec<Ranges> = parts
                .iter()
                .map(|&(at, length, count, gap, copies)| rows(at, length, count, length as i64 + gap, copies))
                .collect();
            let all: Vec<Option<&Ranges>> = calls.iter().map(Some).collect();
            let found = OverwrittenBytes::of(&all);
            let bytes = |ranges: &Ranges| -> Vec<u64> {
                ranges.iter().flat_map(|(at, n)| at..at + n).collect()
            };
            let of_calls: Vec<Vec<u64>> = calls.iter().map(bytes).collect();
            let writers = |byte: u64| of_calls.iter().filter(|b| b.contains(&byte)).count();
            let twice = (0..300).filter(|&byte| writers(byte) > 1).count() as u64;
            prop_assert_eq!(found.twice.covered(), twice);
            prop_assert!(found.uncertain.is_empty());
            for (n, bytes) in of_calls.iter().enumerate() {
                let expected = bytes.iter().any(|&byte| writers(byte) > 1);
                prop_assert_eq!(found.calls.get(n).copied().unwrap_or(false), expected);
            }
        }
    }
}
