//! Where the independent accesses of a rank to a file lie: one behind the other, at equal distances, here and there, again.

use super::calls::HashMap;
use std::collections::BTreeMap;

/// Requests below this size are small: below it, what a request costs of its own (a system call, a round trip to a server) is as much as what
/// its bytes cost.
pub const SMALL: u64 = 64 << 10;
/// Block of file systems and page of memory, bytes.
pub const BLOCK: u64 = 4096;
/// A request of this size or more moves data at full speed on every file system in use: it is the stripe of Lustre, and below it Drishti calls
/// a request small. The two blocks at its ends that it shares with others are less than a hundredth of it.
pub const LARGE: u64 = 1 << 20;
/// Sizes and strides that are counted each; more are not told apart.
const COMMON: usize = 64;
/// Pieces of a file that are remembered as accessed, of one rank.
const PIECES: usize = 1 << 12;

/// Number of calls, their bytes and time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Part {
    /// Number of calls.
    pub calls: u64,
    /// Bytes that they asked for.
    pub bytes: u64,
    /// Time in them, ns.
    pub ns: u64,
}

impl Part {
    /// Adds a call.
    pub fn add(&mut self, bytes: u64, ns: u64) {
        self.calls += 1;
        self.bytes = self.bytes.saturating_add(bytes);
        self.ns = self.ns.saturating_add(ns);
    }

    /// Adds what is in another one.
    pub fn join(&mut self, other: &Part) {
        self.calls += other.calls;
        self.bytes = self.bytes.saturating_add(other.bytes);
        self.ns = self.ns.saturating_add(other.ns);
    }
}

/// An independent access: a call of MPI-IO that is not collective, or a transfer of the program outside of MPI.
#[derive(Clone, Copy, Debug)]
pub(super) struct IndependentAccess {
    /// First byte, and the one behind the last.
    pub extent: Option<(u64, u64)>,
    /// Contiguous pieces; 0 if not known.
    pub pieces: u64,
    pub bytes: u64,
    pub ns: u64,
    /// Begin of the call, and when the access was complete, ns.
    pub span: (i64, i64),
    /// Whether the call returned before the access was complete: then the order says nothing.
    pub is_deferred: bool,
}

/// The independent accesses of a rank to a file, all reads or all writes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AccessPattern {
    /// All of them.
    pub all: Part,
    /// Accesses below [`SMALL`].
    pub small: Part,
    /// Accesses below [`LARGE`] that do not begin and end at multiples of [`BLOCK`].
    pub unaligned: Part,
    /// Accesses of [`LARGE`] and more that do not begin and end at multiples of [`BLOCK`].
    pub unaligned_large: Part,
    /// Accesses of several pieces.
    pub in_pieces: Part,
    /// Accesses that begin where the one before ended.
    pub consecutive: Part,
    /// Accesses as far from the one before as that was from its predecessor.
    pub strided: Part,
    /// Accesses that lie before the one before, or at another distance behind it than that one had.
    pub random: Part,
    /// Accesses of which every byte was accessed before by this rank, and not written since then.
    pub again: Part,
    /// Number of accesses by size, of the first 64 sizes.
    pub sizes: BTreeMap<u64, u64>,
    /// Number of accesses by distance from begin to begin, of the first 64 distances.
    pub strides: BTreeMap<i64, u64>,
    last: Option<(u64, u64)>,
    stride: Option<i64>,
    covered: Covered,
    uses: u64,
}

impl AccessPattern {
    pub(super) fn add(&mut self, access: &IndependentAccess) {
        let (bytes, ns) = (access.bytes, access.ns);
        if bytes == 0 {
            return;
        }
        self.all.add(bytes, ns);
        count(&mut self.sizes, bytes);
        if bytes < SMALL {
            self.small.add(bytes, ns);
        }
        if access.pieces > 1 {
            self.in_pieces.add(bytes, ns);
        }
        let Some((start, end)) = access.extent else {
            return;
        };
        if start % BLOCK != 0 || end % BLOCK != 0 {
            let part = match bytes < LARGE {
                true => &mut self.unaligned,
                false => &mut self.unaligned_large,
            };
            part.add(bytes, ns);
        }
        let is_again = access.pieces == 1 && self.covered.add(start, end);
        if is_again {
            self.again.add(bytes, ns);
        }
        if !access.is_deferred {
            self.step(start, end, is_again, access);
        }
    }

    /// Puts the access behind the one before.
    fn step(&mut self, start: u64, end: u64, is_again: bool, access: &IndependentAccess) {
        let last = self.last.replace((start, end));
        let Some((before, behind)) = last else {
            return;
        };
        let stride = (start as i64).wrapping_sub(before as i64);
        count(&mut self.strides, stride);
        let known = self.stride.replace(stride);
        let (bytes, ns) = (access.bytes, access.ns);
        if start == behind {
            self.consecutive.add(bytes, ns);
        } else if known == Some(stride) {
            self.strided.add(bytes, ns);
        } else if known.is_some() && (!is_again || start != before) {
            self.random.add(bytes, ns);
        }
    }

    /// Notes how often the file was changed (for reads) or looked at (for writes): if that has grown, nothing is done again.
    pub(super) fn note_use(&mut self, uses: u64) {
        if std::mem::replace(&mut self.uses, uses) != uses {
            self.covered = Covered::default();
        }
    }
}

/// Counts a size or a stride.
pub(super) fn count<K: Ord>(counts: &mut BTreeMap<K, u64>, key: K) {
    if counts.len() < COMMON || counts.contains_key(&key) {
        *counts.entry(key).or_default() += 1;
    }
}

/// Bytes of a file, as pieces that do not touch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Covered {
    pieces: BTreeMap<u64, u64>,
}

impl Covered {
    /// Adds a range. Returns whether all of it was there. Nothing new is remembered when there are too many pieces.
    fn add(&mut self, start: u64, end: u64) -> bool {
        let before = self.pieces.range(..=start).next_back();
        let before = before.map(|(&a, &b)| (a, b)).filter(|&(_, b)| b >= start);
        if before.is_some_and(|(_, b)| b >= end) {
            return true;
        }
        let (mut from, mut to) = before.unwrap_or((start, end));
        to = to.max(end);
        from = from.min(start);
        let swallowed: Vec<(u64, u64)> = self
            .pieces
            .range(from..=to)
            .map(|(&a, &b)| (a, b))
            .collect();
        if swallowed.is_empty() && self.pieces.len() >= PIECES {
            return false;
        }
        for (a, b) in swallowed {
            self.pieces.remove(&a);
            to = to.max(b);
        }
        self.pieces.insert(from, to);
        false
    }
}

/// Accesses to one file that are remembered one by one.
const REMEMBERED: usize = 1 << 14;
/// Accesses to all files that are remembered one by one.
const REMEMBERED_ALL: usize = 1 << 20;

/// Pairs of accesses to a file that are compared, where it is asked whether two were at the same time.
const PAIRS: usize = 1 << 24;

/// How ranks share a file: by the independent accesses to it that are remembered, at most 16384 for a file and a direction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sharing {
    /// Ranks with independent accesses.
    pub ranks: u64,
    /// Accesses that were looked at.
    pub accesses: u64,
    /// Neighbours in the file that are of different ranks, with a gap of at most one access between them.
    pub alternations: u64,
    /// Bytes that more than one rank accessed, each counted once less than it has ranks.
    pub shared_bytes: u64,
    /// Bytes that any rank accessed.
    pub covered_bytes: u64,
    /// Accesses of the ranks beyond the first in what several accessed.
    pub shared: Part,
    /// Whether two ranks may have accessed the same bytes at the same time.
    pub is_simultaneous: bool,
}

/// One access of a rank to a file.
#[derive(Clone, Copy, Debug)]
struct Remembered {
    start: u64,
    end: u64,
    rank: u32,
    ns: u64,
    /// Begin of the call, and when the access was complete, ns.
    span: (i64, i64),
}

/// Accesses to files, until it is known how ranks share them.
#[derive(Debug, Default)]
pub(super) struct SharedFiles {
    files: HashMap<(u32, bool), Vec<Remembered>>,
    count: usize,
}

impl SharedFiles {
    pub fn add(&mut self, file: u32, writes: bool, rank: u32, access: &IndependentAccess) {
        let Some((start, end)) = access.extent.filter(|e| e.0 < e.1 && access.pieces == 1) else {
            return;
        };
        let known = self.files.entry((file, writes)).or_default();
        if known.len() < REMEMBERED && self.count < REMEMBERED_ALL {
            self.count += 1;
            known.push(Remembered {
                start,
                end,
                rank,
                ns: access.ns,
                span: access.span,
            });
        }
    }

    pub fn finish(self) -> BTreeMap<(u32, bool), Sharing> {
        let files = self.files.into_iter();
        files.map(|(key, list)| (key, sharing(list))).collect()
    }
}

/// How ranks share a file in which these accesses were made.
fn sharing(mut list: Vec<Remembered>) -> Sharing {
    let mut found = Sharing {
        accesses: list.len() as u64,
        ..Sharing::default()
    };
    list.sort_by_key(|one| (one.start, one.end, one.rank));
    for pair in list.windows(2) {
        let gap = pair[1].start.saturating_sub(pair[0].end);
        let is_near = gap <= pair[0].end - pair[0].start && pair[1].start >= pair[0].end;
        found.alternations += u64::from(is_near && pair[0].rank != pair[1].rank);
    }
    // For each rank up to where it has accessed; all that begins before is of it already.
    let mut reached: BTreeMap<u32, u64> = BTreeMap::new();
    let (mut all, mut union, mut union_end) = (0_u64, 0_u64, 0_u64);
    for one in &list {
        let own = reached.entry(one.rank).or_default();
        let new = one.end.saturating_sub(one.start.max(*own));
        *own = (*own).max(one.end);
        all = all.saturating_add(new);
        let first = one.end.saturating_sub(one.start.max(union_end));
        union_end = union_end.max(one.end);
        union = union.saturating_add(first);
        if first < new {
            found.shared.add(new - first, one.ns);
        }
    }
    found.ranks = reached.len() as u64;
    found.covered_bytes = union;
    found.shared_bytes = all - union;
    found.is_simultaneous = found.shared.calls > 0 && may_be_simultaneous(list);
    found
}

/// Whether two ranks may have accessed the same bytes at the same time, as far as so many pairs of accesses tell.
fn may_be_simultaneous(mut list: Vec<Remembered>) -> bool {
    list.sort_by_key(|one| one.span);
    let mut under_way: Vec<Remembered> = Vec::new();
    let mut pairs = 0;
    for one in list {
        under_way.retain(|other| other.span.1 >= one.span.0);
        pairs += under_way.len();
        let meets = |other: &Remembered| {
            other.rank != one.rank && other.start < one.end && one.start < other.end
        };
        if pairs > PAIRS || under_way.iter().any(meets) {
            return true;
        }
        under_way.push(one);
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    fn access(start: u64, bytes: u64) -> IndependentAccess {
        IndependentAccess {
            extent: Some((start, start + bytes)),
            pieces: 1,
            bytes,
            ns: 10,
            span: (0, 10),
            is_deferred: false,
        }
    }

    fn pattern(accesses: &[(u64, u64)]) -> AccessPattern {
        let mut pattern = AccessPattern::default();
        for &(start, bytes) in accesses {
            pattern.add(&access(start, bytes));
        }
        pattern
    }

    fn counts(pattern: &AccessPattern) -> [u64; 4] {
        let parts = [
            pattern.consecutive,
            pattern.strided,
            pattern.random,
            pattern.again,
        ];
        parts.map(|part| part.calls)
    }

    #[test]
    fn each_access_is_behind_another_one_in_one_way() {
        assert_eq!(counts(&pattern(&[(0, 4), (4, 4), (8, 4)])), [2, 0, 0, 0]);
        // The first distance is not known to be one of several.
        assert_eq!(
            counts(&pattern(&[(0, 4), (100, 4), (200, 4), (300, 4)])),
            [0, 2, 0, 0]
        );
        assert_eq!(
            counts(&pattern(&[(50, 4), (10, 4), (90, 4), (20, 4)])),
            [0, 0, 2, 0]
        );
        // One range again and again is no jump.
        assert_eq!(counts(&pattern(&[(8, 4); 5])), [0, 3, 0, 4]);
    }

    #[test]
    fn what_was_accessed_is_known_to_the_byte() {
        let pattern = pattern(&[(0, 10), (20, 10), (5, 20), (0, 30), (29, 2), (30, 1)]);
        assert_eq!((pattern.again.calls, pattern.again.bytes), (2, 31));
        assert_eq!(pattern.covered.pieces, BTreeMap::from([(0, 31)]));
        let mut many = Covered::default();
        for nth in 0..2 * PIECES as u64 {
            assert!(!many.add(10 * nth, 10 * nth + 1));
        }
        assert_eq!(many.pieces.len(), PIECES);
        assert!(many.add(0, 1) && !many.add(0, 2));
    }

    #[test]
    fn alignment_and_size() {
        let pattern = pattern(&[(0, 4096), (4096, 1 << 20), (1, 4096), (0, 100), (1, LARGE)]);
        assert_eq!((pattern.unaligned.calls, pattern.small.calls), (2, 3));
        assert_eq!(pattern.unaligned_large.calls, 1);
        assert_eq!(pattern.sizes[&4096], 2);
    }

    #[test]
    fn ranks_share_a_file() {
        let one = |start: u64, end: u64, rank: u32| Remembered {
            start,
            end,
            rank,
            ns: 1,
            span: (0, 1),
        };
        let rows = (0..10).map(|nth| one(nth * 10, nth * 10 + 10, (nth % 2) as u32));
        let found = sharing(rows.collect());
        assert_eq!(
            (found.ranks, found.alternations, found.shared_bytes),
            (2, 9, 0)
        );
        assert_eq!(found.covered_bytes, 100);
        let found = sharing(vec![one(0, 100, 0), one(50, 150, 1), one(0, 100, 0)]);
        assert_eq!((found.shared_bytes, found.covered_bytes), (50, 150));
        assert_eq!((found.shared.calls, found.shared.bytes), (1, 50));
        let found = sharing(vec![one(0, 100, 0), one(100, 200, 0), one(900, 910, 1)]);
        assert_eq!((found.alternations, found.shared_bytes), (0, 0));
    }

    #[test]
    fn accesses_to_the_same_bytes_are_at_the_same_time_or_not() {
        let one = |bytes: (u64, u64), rank: u32, span: (i64, i64)| Remembered {
            start: bytes.0,
            end: bytes.1,
            rank,
            ns: 1,
            span,
        };
        let found = |other: Remembered| {
            // The same rank writes them anew, and others write other bytes meanwhile.
            let rest = [
                one((0, 100), 0, (0, 50)),
                one((20, 30), 0, (10, 20)),
                one((100, 900), 2, (0, 900)),
            ];
            let found = sharing([&rest[..], &[other]].concat());
            (found.shared.calls, found.is_simultaneous)
        };
        assert_eq!(found(one((40, 60), 1, (49, 60))), (1, true));
        assert_eq!(found(one((40, 60), 1, (51, 60))), (1, false));
        assert_eq!(found(one((40, 60), 1, (-9, -1))), (1, false));
        assert_eq!(found(one((40, 60), 0, (49, 60))), (0, false));
        assert_eq!(found(one((900, 960), 1, (0, 60))), (0, false));
    }
}
