//! The bytes of a file that an access asks for, from a view, a position in it, and a number of bytes.
//!
//! Nothing is ever laid out byte by byte or piece by piece. A view's data bytes have an order, that of their offsets in the
//! file (MPI demands that displacements do not go back), so the bytes of an access between two offsets of the file are one
//! interval of the access's bytes, and both of its ends are found by a binary search.

use crate::piece_runs::PieceRun;
use blockfile::define::FileView;
use blockfile::runs::EvenRun;
use std::sync::Arc;

/// Maximum number of overlapping copies of a filetype. Beyond it only the bounding extent of an access is used.
const MAX_OVERLAPPING_COPIES: i128 = 4096;
/// Maximum number of unordered pieces that are sorted. Beyond it only the bounding extent of an access is used.
const MAX_SORTED_RUNS: u64 = 1 << 16;

/// Pieces of one length at equal distances.
#[derive(Clone, Copy, Debug)]
struct EvenPieces {
    /// Offset of the first one from the start of the filetype's copy.
    offset: i128,
    /// Bytes of each.
    length: u64,
    /// Number of pieces; at least one.
    count: u64,
    /// From one to the next, bytes.
    stride: i128,
    /// Bytes in all pieces before.
    before: u64,
    /// Number of pieces before this one.
    nth: u64,
}

impl EvenPieces {
    /// Start of piece number `nth`.
    fn begin(&self, nth: u64) -> i128 {
        self.offset + i128::from(nth) * self.stride
    }

    /// Behind the last one.
    fn end(&self) -> i128 {
        self.begin(self.count - 1) + i128::from(self.length)
    }

    /// Bytes of all.
    fn bytes(&self) -> u64 {
        self.length.saturating_mul(self.count)
    }

    /// Number of the piece with byte number `data` of these, or of the last one.
    fn with(&self, data: u64) -> u64 {
        (data / self.length).min(self.count - 1)
    }
}

/// Runs by their offsets, and whether that is the order in which they stand in the view.
fn in_order(runs: &[EvenRun]) -> (Vec<EvenRun>, bool) {
    let mut sorted: Vec<EvenRun> = runs.iter().copied().filter(|r| r.length > 0).collect();
    let is_behind = |w: &[EvenRun]| w[0].last().is_some_and(|last| last <= w[1].offset);
    if sorted.iter().all(EvenRun::is_sound) && sorted.windows(2).all(is_behind) {
        return (sorted, true);
    }
    let count = sorted
        .iter()
        .fold(0_u64, |sum, r| sum.saturating_add(r.count));
    if count <= MAX_SORTED_RUNS {
        let pieces = sorted.iter().flat_map(|run| run.pieces());
        sorted = pieces
            .map(|(offset, length)| EvenRun::piece(offset, length))
            .collect();
    } else {
        let ends = |run: &EvenRun| [Some(run.offset), run.last()];
        let low = sorted.iter().flat_map(ends).flatten().min();
        let last =
            |run: &EvenRun| i128::from(run.last().unwrap_or(i64::MAX)) + i128::from(run.length);
        let high = sorted.iter().map(last).max();
        let bounding_extent = low.zip(high).map(|(low, high)| {
            let length = (high - i128::from(low)).clamp(1, i128::from(u64::MAX));
            EvenRun::piece(low, length as u64)
        });
        sorted = bounding_extent.into_iter().collect();
    }
    sorted.sort_by_key(|run| run.offset);
    (sorted, false)
}

/// The bytes of a file that a view shows.
#[derive(Clone, Debug)]
pub struct ViewLayout {
    displacement: i128,
    etype: u64,
    extent: i128,
    /// Bytes of data in a filetype.
    size: u64,
    /// Bytes in all pieces: more than `size` where they stand for more pieces than are there.
    covered: u64,
    pieces: Vec<EvenPieces>,
    /// Whether bytes in the file stand in the order of the data, and each is as it is in memory.
    exact: bool,
    /// Whether the one piece stands for pieces of which only the first and the last byte are known.
    bounding_extent: bool,
    /// Whether copies do not reach into the next one.
    apart: bool,
}

impl ViewLayout {
    /// The view of a file after MPI_File_open: all its bytes.
    pub fn bytes() -> ViewLayout {
        ViewLayout::new(&FileView {
            etype: 1,
            extent: 1,
            size: 1,
            runs: vec![EvenRun::piece(0, 1)],
            ..FileView::default()
        })
    }

    /// Layout of `view`.
    pub fn new(view: &FileView) -> ViewLayout {
        let (sorted, is_in_order) = in_order(&view.runs);
        let mut exact = !view.bounding_extent && !view.converted && is_in_order;
        let (mut covered, mut nth, mut end) = (0_u64, 0_u64, i128::MIN);
        let mut pieces = Vec::with_capacity(sorted.len());
        for run in sorted {
            let all = EvenPieces {
                offset: i128::from(run.offset),
                length: run.length,
                count: run.count,
                stride: i128::from(run.stride),
                before: covered,
                nth,
            };
            exact &= all.offset >= end;
            covered = covered.saturating_add(all.bytes());
            nth = nth.saturating_add(run.count);
            end = end.max(all.end());
            pieces.push(all);
        }
        let extent = i128::from(view.extent);
        let first = pieces.first().map_or(0, |p| p.offset);
        ViewLayout {
            displacement: i128::from(view.displacement),
            etype: view.etype,
            extent,
            size: view.size,
            covered,
            apart: end - first <= extent,
            exact: exact && view.size == covered,
            bounding_extent: view.bounding_extent,
            pieces,
        }
    }

    /// Size of an etype, bytes.
    pub fn etype(&self) -> u64 {
        self.etype
    }

    fn is_empty(&self) -> bool {
        self.size == 0 || self.covered == 0
    }

    fn first(&self) -> i128 {
        self.pieces.first().map_or(0, |p| p.offset)
    }

    fn end(&self) -> i128 {
        self.pieces.last().map_or(0, EvenPieces::end)
    }

    /// Whether the data lie in the file without gaps.
    fn contiguous(&self) -> bool {
        matches!(self.pieces[..], [EvenPieces { count: 1, .. }])
            && i128::from(self.covered) == self.extent
    }

    /// The pieces with byte number `data` of a copy.
    fn with(&self, data: u64) -> Option<&EvenPieces> {
        let behind = self.pieces.partition_point(|p| p.before <= data);
        self.pieces.get(behind.checked_sub(1)?)
    }

    /// Bytes of data of one copy in front of `at`, counted from the copy's start.
    fn inner(&self, at: i128) -> u64 {
        let i = self.pieces.partition_point(|p| p.offset < at);
        let Some(p) = i.checked_sub(1).and_then(|i| self.pieces.get(i)) else {
            return 0;
        };
        let nth = match p.count {
            1 => 0,
            count => ((at - 1 - p.offset) / p.stride).min(i128::from(count) - 1) as u64,
        };
        let part = (at - p.begin(nth)).clamp(0, i128::from(p.length)) as u64;
        let whole = p.length.saturating_mul(nth);
        let bytes = p.before.saturating_add(whole).saturating_add(part);
        if self.size == self.covered {
            return bytes;
        }
        (u128::from(bytes) * u128::from(self.size) / u128::from(self.covered)) as u64
    }

    /// Offset in the file of byte number `data` of the view.
    fn offset_of(&self, data: u64) -> i128 {
        let (copy, rest) = (data / self.size, data % self.size);
        let rest = if self.size == self.covered {
            rest
        } else {
            (u128::from(rest) * u128::from(self.covered) / u128::from(self.size)) as u64
        };
        let inner = self.with(rest).map_or(0, |p| {
            let inner = rest - p.before;
            let nth = p.with(inner);
            p.begin(nth) + i128::from(inner - nth * p.length)
        });
        i128::from(copy)
            .saturating_mul(self.extent)
            .saturating_add(self.displacement + inner)
    }

    /// Number of the first byte of the view at or after `offset` in the file; `None` if the view is empty or its
    /// filetype does not advance.
    pub fn data_at(&self, offset: u64) -> Option<u64> {
        if self.is_empty() || self.extent <= 0 {
            return None;
        }
        let at = i128::from(offset) - self.displacement;
        let copy = (at - self.first()).div_euclid(self.extent).max(0);
        let inner = i128::from(self.inner(at - copy * self.extent));
        let data = copy.saturating_mul(self.size.into()).saturating_add(inner);
        u64::try_from(data).ok()
    }
}

/// The bytes of a file that an access asks for.
#[derive(Clone, Debug)]
pub struct Ranges {
    layout: Arc<ViewLayout>,
    /// First byte of the view, and how many.
    from: u64,
    bytes: u64,
}

impl Ranges {
    /// The ranges of `bytes` bytes from the `etypes`-th etype of the view on; `None` if the position is negative or too large, or
    /// the view is empty and `bytes` is not 0.
    pub fn new(layout: &Arc<ViewLayout>, etypes: i64, bytes: u64) -> Option<Ranges> {
        let from = u64::try_from(etypes).ok()?.checked_mul(layout.etype)?;
        Ranges::from_data(layout, from, bytes)
    }

    /// The ranges of `bytes` bytes from byte `from` of the view on; `None` if they go beyond the largest offset, or the
    /// view is empty and `bytes` is not 0.
    pub fn from_data(layout: &Arc<ViewLayout>, from: u64, bytes: u64) -> Option<Ranges> {
        from.checked_add(bytes)?;
        if layout.is_empty() && bytes > 0 {
            return None;
        }
        Some(Ranges {
            layout: layout.clone(),
            from,
            bytes,
        })
    }

    /// Number of bytes of the access.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// True if the position of each byte in the file is known, false if only the bounding extent is.
    pub fn is_exact(&self) -> bool {
        self.layout.exact && (self.layout.apart || self.overlapping() <= MAX_OVERLAPPING_COPIES)
    }

    /// First copy of the filetype, bytes left out of it, last copy, bytes taken of it.
    fn copies(&self) -> (u64, u64, u64, u64) {
        let size = self.layout.size.max(1);
        let last = (self.from + self.bytes.saturating_sub(1)) / size;
        let end = self.from + self.bytes - last * size;
        (self.from / size, self.from % size, last, end)
    }

    /// Number of copies of the filetype that a byte can be in.
    fn overlapping(&self) -> i128 {
        let l = &*self.layout;
        let (first, _, last, _) = self.copies();
        let copies = i128::from(last - first) + 1;
        if l.extent <= 0 {
            return copies;
        }
        copies.min((l.end() - l.first()) / l.extent + 1)
    }

    /// Number of bytes of the access before `offset` in the file.
    pub fn before(&self, offset: u64) -> u64 {
        let l = &*self.layout;
        if self.bytes == 0 || l.is_empty() {
            return 0;
        }
        let at = i128::from(offset) - l.displacement;
        if l.apart && l.extent > 0 {
            let copy = (at - l.first()).div_euclid(l.extent).max(0);
            let inner = i128::from(l.inner(at - copy * l.extent));
            let data = copy.saturating_mul(l.size.into()).saturating_add(inner);
            let from = i128::from(self.from);
            return (data - from).clamp(0, i128::from(self.bytes)) as u64;
        }
        if self.overlapping() > MAX_OVERLAPPING_COPIES {
            let Some((low, high)) = self.bounding_extent() else {
                return 0;
            };
            let part = u128::from(offset.clamp(low, high) - low) * u128::from(self.bytes);
            return (part / u128::from((high - low).max(1))) as u64;
        }
        self.before_in_overlapping(at)
    }

    /// As [`Ranges::before`], where copies of the filetype reach into each other.
    fn before_in_overlapping(&self, at: i128) -> u64 {
        let l = &*self.layout;
        let (first, left_out, last, taken) = self.copies();
        let mut sum = 0_u64;
        // Copies that end in front of the place count in full.
        let behind = if l.extent > 0 {
            (at - l.end())
                .div_euclid(l.extent)
                .clamp(i128::from(first) - 1, i128::from(last))
        } else {
            i128::from(first) - 1
        };
        if behind >= i128::from(first) {
            let copies = (behind - i128::from(first) + 1) as u64;
            sum = copies.saturating_mul(l.size) - left_out;
            if behind == i128::from(last) {
                return self.bytes;
            }
        }
        for copy in (behind + 1)..=i128::from(last) {
            let start = copy * l.extent;
            if l.extent > 0 && start + l.first() >= at {
                break;
            }
            let mut inner = l.inner(at - start);
            if copy == i128::from(last) {
                inner = inner.min(taken);
            }
            if copy == i128::from(first) {
                inner = inner.max(left_out) - left_out;
            }
            sum = sum.saturating_add(inner);
        }
        sum.min(self.bytes)
    }

    /// The bytes of the access from offset `start` to before `end` of the file, as an interval of its bytes in file order.
    pub fn overlap(&self, start: u64, end: u64) -> (u64, u64) {
        (self.before(start), self.before(end))
    }

    /// Offsets of the first byte in the file and of the byte after the last one; `None` for an empty access. If the pieces are not
    /// known: those of the first and the last byte that the access can have.
    pub fn bounding_extent(&self) -> Option<(u64, u64)> {
        let l = &*self.layout;
        if self.bytes == 0 || l.is_empty() {
            return None;
        }
        let (low, high) = if l.bounding_extent && l.apart && l.extent > 0 {
            // Each byte that is left out of the first copy, or that comes later in the last one, takes at least a byte of the file.
            let (first, left_out, last, taken) = self.copies();
            let start = i128::from(first) * l.extent + l.first();
            let end = i128::from(last) * l.extent + l.end();
            let not_taken = i128::from(l.size) - i128::from(taken);
            let low = l.displacement + start + i128::from(left_out);
            (low, (l.displacement + end - not_taken).max(low + 1))
        } else if l.apart && l.extent > 0 {
            let last = l.offset_of(self.from + self.bytes - 1);
            (l.offset_of(self.from), last + 1)
        } else {
            let (first, _, last, _) = self.copies();
            let (a, b) = (i128::from(first) * l.extent, i128::from(last) * l.extent);
            (
                l.displacement + a.min(b) + l.first(),
                l.displacement + a.max(b) + l.end(),
            )
        };
        let clamp = |at: i128| at.clamp(0, i128::from(u64::MAX)) as u64;
        Some((clamp(low), clamp(high)))
    }

    /// Number of contiguous pieces of the file that the access covers.
    pub fn pieces(&self) -> u64 {
        let l = &*self.layout;
        if self.bytes == 0 || l.is_empty() {
            return 0;
        }
        if l.contiguous() || l.size != l.covered {
            return 1;
        }
        let index = |data: u64| {
            let (copy, rest) = (data / l.size, data % l.size);
            let inner = |p: &EvenPieces| p.nth.saturating_add(p.with(rest - p.before));
            (copy, l.with(rest).map_or(0, inner))
        };
        let (first, last) = (index(self.from), index(self.from + self.bytes - 1));
        let copies = last.0 - first.0;
        let of_copy = l.pieces.last().map_or(0, |p| p.nth.saturating_add(p.count));
        let all = copies.saturating_mul(of_copy).saturating_add(last.1) - first.1 + 1;
        // The last piece of a copy and the first one of the next touch.
        if l.end() - l.first() == l.extent {
            all - copies
        } else {
            all
        }
    }

    /// The pieces as runs of pieces at equal distances; a run may begin and end with pieces that the access covers in part or, inside
    /// of its bounding extent, not at all. `None` if the position of the bytes is not known, if copies of the filetype reach into each
    /// other, or if there are more than `most` runs.
    pub fn runs(&self, most: u64) -> Option<Vec<PieceRun>> {
        let l = &*self.layout;
        let Some(extent) = self.bounding_extent() else {
            return Some(Vec::new());
        };
        if !self.is_exact() || !l.apart || l.extent <= 0 {
            return None;
        }
        let (first, _, last, _) = self.copies();
        let copies = last - first + 1;
        let run = |copy: u64, p: &EvenPieces, count: u64, stride: i128| {
            let at = l.displacement + i128::from(copy) * l.extent + p.offset;
            PieceRun::new(at, p.length, count, stride)?.inside(extent)
        };
        if let [p] = &l.pieces[..] {
            // Copies may continue the run.
            let stride = if p.count == 1 { l.extent } else { p.stride };
            if i128::from(p.count) * stride == l.extent {
                let count = p.count.checked_mul(copies)?;
                return Some(run(first, p, count, stride).into_iter().collect());
            }
        }
        if copies.saturating_mul(l.pieces.len() as u64) > most {
            return None;
        }
        let all = (first..=last).flat_map(|copy| l.pieces.iter().map(move |p| (copy, p)));
        Some(
            all.filter_map(|(copy, p)| run(copy, p, p.count, p.stride))
                .collect(),
        )
    }

    /// Offset and length of each piece in the file, bytes, in the order of the data.
    pub fn iter(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        let l = &*self.layout;
        let mut at = self.from;
        let end = if l.is_empty() {
            at
        } else {
            self.from + self.bytes
        };
        std::iter::from_fn(move || {
            if at >= end {
                return None;
            }
            let offset = l.offset_of(at);
            let length = if l.contiguous() {
                end - at
            } else {
                let rest = at % l.size;
                let p = l.with(rest)?;
                let behind = p.with(rest - p.before) + 1;
                let whole = p.length.saturating_mul(behind);
                let left = p.before.saturating_add(whole).min(l.size);
                left.saturating_sub(rest).clamp(1, end - at)
            };
            at += length;
            Some((u64::try_from(offset).unwrap_or(0), length))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use blockfile::runs::Runs;
    use proptest::prelude::*;

    /// Every byte of the access one by one.
    fn truth(view: &FileView, from: u64, bytes: u64) -> Vec<u64> {
        let mut inner = Vec::new();
        for (offset, length) in view.runs.iter().flat_map(|run| run.pieces()) {
            inner.extend((0..length as i64).map(|i| offset + i));
        }
        (from..from + bytes)
            .map(|d| {
                let (copy, rest) = (d / view.size, d % view.size);
                (view.displacement + copy as i64 * view.extent + inner[rest as usize]) as u64
            })
            .collect()
    }

    fn views() -> impl Strategy<Value = FileView> {
        let pieces = prop::collection::vec((0..20_i64, 1..9_u64, 1..5_u64, 0..9_i64), 1..6);
        (pieces, 0..100_i64, 0..40_i64, 1..5_u64).prop_map(|(parts, displacement, more, etype)| {
            let mut at = 0;
            let mut runs = Runs::default();
            for (gap, units, count, inner) in parts {
                at += gap;
                let length = units * etype;
                let stride = length as i64 + inner;
                runs.append(at, length, count, stride).unwrap();
                at += stride * count as i64 - inner;
            }
            let runs = runs.into_vec();
            FileView {
                displacement,
                etype,
                extent: at + more,
                size: runs.iter().map(|run| run.length * run.count).sum(),
                runs,
                ..FileView::default()
            }
        })
    }

    fn check(view: &FileView, etypes: u64, count: u64) -> Result<(), TestCaseError> {
        let layout = Arc::new(ViewLayout::new(view));
        let (from, bytes) = (etypes * view.etype, count * view.etype);
        let ranges = Ranges::new(&layout, etypes as i64, bytes).expect("ranges");
        let truth = truth(view, from, bytes);
        prop_assert!(ranges.is_exact());
        let flat: Vec<u64> = ranges.iter().flat_map(|(o, n)| o..o + n).collect();
        prop_assert_eq!(&flat, &truth);
        let end = truth.iter().max().map_or(0, |m| m + 3);
        for at in 0..end {
            let before = truth.iter().filter(|&&b| b < at).count() as u64;
            prop_assert_eq!(ranges.before(at), before, "before {}", at);
        }
        if bytes > 0 {
            let (low, high) = ranges.bounding_extent().expect("a bounding extent");
            let bounds = (truth.iter().min(), truth.iter().max().map(|m| m + 1));
            if layout.apart {
                prop_assert_eq!((Some(&low), Some(high)), bounds);
                let jumps = truth.windows(2).filter(|w| w[0] + 1 != w[1]).count() as u64;
                prop_assert_eq!(ranges.pieces(), jumps + 1);
                prop_assert_eq!(layout.data_at(low), Some(from));
            } else {
                prop_assert!(Some(&low) <= bounds.0 && Some(high) >= bounds.1);
            }
        }
        Ok(())
    }

    proptest! {
        #[test]
        fn bytes_are_where_brute_force_finds_them(view in views(), at in 0..60_u64, n in 0..200_u64) {
            check(&view, at, n)?;
        }

        #[test]
        fn copies_may_reach_into_each_other(view in views(), at in 0..60_u64, n in 0..100_u64, less in 1..40_i64) {
            let view = FileView { extent: (view.extent - less).max(1), ..view };
            check(&view, at, n)?;
        }

        #[test]
        fn whatever_a_damaged_view_says_nothing_panics(
            displacement: i64, etype: u64, extent: i64, size: u64, bounding_extent: bool, at: i64, bytes: u64, offset: u64,
            runs in prop::collection::vec((any::<i64>(), any::<u64>(), 0u64..4, any::<u64>(), -9i64..99, any::<i64>()), 0..5),
        ) {
            // As often small numbers as any.
            let run = |(offset, length, few, many, near, far): (i64, u64, u64, u64, i64, i64)| EvenRun {
                offset,
                length: if far % 2 == 0 { length } else { length % 64 },
                count: if many % 2 == 0 { few } else { many },
                stride: if offset % 2 == 0 { near } else { far },
            };
            let runs = runs.into_iter().map(run).collect();
            let view = FileView { displacement, etype, extent, size, bounding_extent, runs, ..FileView::default() };
            let layout = Arc::new(ViewLayout::new(&view));
            if let Some(ranges) = Ranges::new(&layout, at, bytes) {
                let (low, high) = ranges.overlap(offset / 2, offset);
                prop_assert!(high.saturating_sub(low) <= bytes);
                ranges.bounding_extent();
                ranges.pieces();
                ranges.iter().take(10).for_each(drop);
                layout.data_at(offset);
            }
        }
    }

    #[test]
    fn a_bounding_extent_is_shared_out_evenly() {
        let view = FileView {
            etype: 1,
            extent: 1000,
            size: 100,
            bounding_extent: true,
            runs: vec![EvenRun::piece(0, 1000)],
            ..FileView::default()
        };
        let ranges = Ranges::new(&Arc::new(ViewLayout::new(&view)), 0, 200).unwrap();
        assert!(!ranges.is_exact());
        assert_eq!(ranges.overlap(500, 1500), (50, 150));
        assert_eq!(ranges.overlap(0, 2000), (0, 200));
    }
}
