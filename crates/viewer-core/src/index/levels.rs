//! Cells: which kinds take how much of a unit's time, by unit and stretch of time, at several resolutions.
//!
//! A cell names the four kinds that take most time of it, without what is nested in them, and their shares; if there are
//! more than four, the last name stands for all others, so that nothing is left out of the sum. Cells are kept as bytes as
//! they stand in an index file, unit by unit, so a file that is mapped need not be read to be used.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::OnceLock;

use crate::base::columns::COLUMN;
use crate::picture::cells::share;

/// Kinds of a cell.
pub const NAMES_PER_CELL: usize = 4;
/// Bins of a level for one of the next coarser one.
pub const BINS_PER_COARSER_BIN: u32 = 4;
/// Coarser levels end above so many bins.
const MIN_COARSE_BINS: u32 = 256;

/// Bins of a level at most, whatever a file says.
const MAX_BINS: u32 = 1 << 20;

/// Cells of a stretch of time, by unit: lines that differ in their communicator only ([`crate::trace::TraceLine::lane`]).
#[derive(Clone, Debug)]
pub struct DetailLevels<'a> {
    lanes: u32,
    kinds: u32,
    finest: DetailLevel<'a>,
    /// Each with a fourth of the bins of the one before: those of a file, and those that were made.
    coarser: Vec<DetailLevel<'a>>,
    made: OnceLock<Vec<DetailLevel<'static>>>,
}

/// Bins, names and shares of a level as they stand in a file.
pub(super) type LevelBytes<'a> = (u32, &'a [u8], &'a [u8]);

/// The cells of one resolution.
#[derive(Clone, Debug, PartialEq)]
pub struct DetailLevel<'a> {
    bins: u32,
    /// Whether names take 2 bytes.
    is_wide: bool,
    /// [`NAMES_PER_CELL`] names for each cell: 0 none, else 1 more than a kind; the largest number for others.
    names: CellBytes<'a>,
    /// [`NAMES_PER_CELL`] shares of time for each cell, in 255ths; none but 0 for a kind that occurs.
    shares: CellBytes<'a>,
}

/// Bytes of cells, unit by unit: in one piece, or in two that were made side by side and are too large to be copied.
#[derive(Clone, Debug)]
struct CellBytes<'a>([Cow<'a, [u8]>; 2]);

impl<'a> DetailLevels<'a> {
    /// Takes levels as they stand in a file. `None` if there is none, or one has the wrong size.
    pub(super) fn of(lanes: u32, kinds: u32, levels: Vec<LevelBytes<'a>>) -> Option<Self> {
        let is_wide = is_wide(kinds);
        let mut found = Vec::new();
        for (bins, names, shares) in levels {
            let cells = u64::from(lanes) * u64::from(bins) * NAMES_PER_CELL as u64;
            let is_right = shares.len() as u64 == cells
                && names.len() as u64 == cells << u32::from(is_wide)
                && (1..=MAX_BINS).contains(&bins);
            found.push(is_right.then_some(DetailLevel {
                bins,
                is_wide,
                names: CellBytes::of(names),
                shares: CellBytes::of(shares),
            })?);
        }
        let mut found = found.into_iter();
        Some(DetailLevels {
            lanes,
            kinds,
            finest: found.next()?,
            coarser: found.collect(),
            made: OnceLock::from(Vec::new()),
        })
    }

    /// Bytes of the names of a cell.
    pub(super) fn name_bytes(kinds: u32) -> usize {
        NAMES_PER_CELL << u32::from(is_wide(kinds))
    }

    /// A copy that borrows nothing.
    pub(super) fn into_owned(self) -> DetailLevels<'static> {
        let owned = |level: DetailLevel<'a>| DetailLevel {
            bins: level.bins,
            is_wide: level.is_wide,
            names: level.names.into_owned(),
            shares: level.shares.into_owned(),
        };
        DetailLevels {
            lanes: self.lanes,
            kinds: self.kinds,
            finest: owned(self.finest),
            coarser: self.coarser.into_iter().map(owned).collect(),
            made: self.made,
        }
    }

    /// Makes the coarser levels, unless they are made. Without them all is the same, but what looks at long stretches of time
    /// takes longer.
    pub fn coarsen(&self) {
        self.made.get_or_init(|| {
            let mut levels = Vec::new();
            let (mut bins, mut fine) = (self.finest.bins, &self.finest);
            while bins.is_multiple_of(BINS_PER_COARSER_BIN)
                && bins / BINS_PER_COARSER_BIN >= MIN_COARSE_BINS
            {
                levels.push(coarser(self.lanes, self.kinds, fine));
                (bins, fine) = (bins / BINS_PER_COARSER_BIN, &levels[levels.len() - 1]);
            }
            levels
        });
    }

    /// Units.
    pub fn lanes(&self) -> u32 {
        self.lanes
    }

    /// Kinds that names can be of.
    pub fn kinds(&self) -> u32 {
        self.kinds
    }

    /// The levels that there are, the finest first.
    pub fn levels(&self) -> impl DoubleEndedIterator<Item = &DetailLevel<'a>> {
        let made = self.made.get().map_or(&[][..], Vec::as_slice);
        (std::iter::once(&self.finest).chain(&self.coarser)).chain(made)
    }

    /// The coarsest level with at least so many bins, or the finest.
    pub fn level(&self, bins: f64) -> &DetailLevel<'a> {
        let mut coarse = self.levels().rev();
        coarse
            .find(|level| f64::from(level.bins) >= bins)
            .unwrap_or(&self.finest)
    }

    /// Bytes of its cells.
    pub fn bytes(&self) -> usize {
        let parts = self.levels().flat_map(DetailLevel::parts);
        parts.map(<[u8]>::len).sum()
    }
}

impl PartialEq for DetailLevels<'_> {
    fn eq(&self, other: &Self) -> bool {
        (self.lanes, self.kinds) == (other.lanes, other.kinds) && self.levels().eq(other.levels())
    }
}

impl<'a> CellBytes<'a> {
    fn of(bytes: impl Into<Cow<'a, [u8]>>) -> Self {
        CellBytes([bytes.into(), Cow::default()])
    }

    fn into_owned(self) -> CellBytes<'static> {
        CellBytes(self.0.map(|part| Cow::Owned(part.into_owned())))
    }

    /// The bytes of these cells of a unit, of so many bytes each; nothing if there are not as many.
    #[inline]
    fn cells(&self, cells: Range<usize>, size: usize) -> &[u8] {
        let [first, second] = &self.0;
        let at = cells.start * size..cells.end * size;
        let (part, at) = match at.start.checked_sub(first.len()) {
            Some(start) if !second.is_empty() => (second, start..at.end - first.len()),
            _ => (first, at),
        };
        part.get(at).unwrap_or(&[])
    }
}

impl PartialEq for CellBytes<'_> {
    fn eq(&self, other: &Self) -> bool {
        fn all<'p>(bytes_of: &'p CellBytes<'_>) -> impl Iterator<Item = &'p u8> {
            bytes_of.0.iter().flat_map(|part| part.iter())
        }
        all(self).eq(all(other))
    }
}

impl DetailLevel<'_> {
    /// Stretches of time, equal ones, that the whole is cut into.
    pub fn bins(&self) -> u32 {
        self.bins
    }

    /// Names and then shares, as they are kept.
    pub(super) fn parts(&self) -> impl Iterator<Item = &[u8]> {
        let parts = [&self.names, &self.shares].into_iter();
        parts.flat_map(|bytes_of| bytes_of.0.iter().map(|part| &part[..]))
    }

    /// Number of different name numbers, the last of which stands for all other names.
    pub(crate) fn names_end(&self) -> usize {
        if self.is_wide { 1 << 16 } else { 1 << 8 }
    }

    /// The cells of a lane from bin `from` to before bin `to`.
    #[inline]
    pub(crate) fn stretch(&self, lane: u32, from: u32, to: u32) -> CellStretch<'_> {
        let start = lane as usize * self.bins as usize;
        let [from, to] = [from, to].map(|bin| start + bin.min(self.bins) as usize);
        let shares = self.shares.cells(from..to, NAMES_PER_CELL);
        let shares = shares.as_chunks().0;
        if self.is_wide {
            let names = self.names.cells(from..to, 2 * NAMES_PER_CELL);
            CellStretch::Wide(names.as_chunks().0.as_chunks().0, shares)
        } else {
            let names = self.names.cells(from..to, NAMES_PER_CELL);
            CellStretch::Narrow(names.as_chunks().0, shares)
        }
    }

    /// Calls `put` with what the cells of a lane say from bin `from` to before bin `to`: name, what stands for all others, and
    /// share in 255ths.
    #[inline]
    fn for_each(&self, lane: u32, from: u32, to: u32, mut put: impl FnMut(u16, u16, u8)) {
        let mut cell =
            |names: [u16; NAMES_PER_CELL], others: u16, shares: &[u8; NAMES_PER_CELL]| {
                for (name, &share) in names.into_iter().zip(shares) {
                    if name == 0 {
                        break;
                    }
                    put(name, others, share);
                }
            };
        match self.stretch(lane, from, to) {
            CellStretch::Narrow(names, shares) => {
                for (names, shares) in names.iter().zip(shares) {
                    cell(names.map(u16::from), u8::MAX.into(), shares);
                }
            }
            CellStretch::Wide(names, shares) => {
                for (names, shares) in names.iter().zip(shares) {
                    cell(names.map(u16::from_le_bytes), u16::MAX, shares);
                }
            }
        }
    }
}

/// Names and shares of cells that follow each other.
pub(crate) enum CellStretch<'c> {
    /// Names of a byte.
    Narrow(&'c [[u8; NAMES_PER_CELL]], &'c [[u8; NAMES_PER_CELL]]),
    /// Names of two, little-endian.
    Wide(&'c [[[u8; 2]; NAMES_PER_CELL]], &'c [[u8; NAMES_PER_CELL]]),
}

/// Whether a byte is too small for the names of so many kinds, none and others.
fn is_wide(kinds: u32) -> bool {
    kinds > 253
}

/// Fills a level.
#[derive(Debug)]
pub(super) struct LevelWriter {
    lanes: u32,
    kinds: u32,
    bins: u32,
    names: Vec<u8>,
    shares: Vec<u8>,
}

impl LevelWriter {
    pub fn new(lanes: u32, kinds: u32, bins: u32) -> Self {
        let cells = lanes as usize * bins as usize * NAMES_PER_CELL;
        LevelWriter {
            lanes,
            kinds,
            bins,
            names: vec![0; cells << u32::from(is_wide(kinds))],
            shares: vec![0; cells],
        }
    }

    /// The cell of a lane and bin: kinds and their parts of [`COLUMN`].
    #[inline]
    pub fn put(&mut self, lane: u32, bin: u32, parts: &[(u32, i64)]) {
        let (names, shares) = match parts {
            [(kind, much)] => (one(kind + 1), one(share(*much, COLUMN))),
            _ => name(parts, COLUMN),
        };
        self.set_one(lane, bin, names, shares);
    }

    /// Cells of nothing but one kind.
    pub fn fill(&mut self, lane: u32, bins: Range<u32>, kind: u32) {
        self.set(lane, bins, one(kind + 1), one(255));
    }

    #[inline]
    fn set_one(
        &mut self,
        lane: u32,
        bin: u32,
        names: [u32; NAMES_PER_CELL],
        shares: [u8; NAMES_PER_CELL],
    ) {
        if is_wide(self.kinds) {
            self.set(lane, bin..bin + 1, names, shares);
            return;
        }
        let cell = lane as usize * self.bins as usize + bin as usize;
        let found = self.names.as_chunks_mut().0.get_mut(cell);
        if let (Some(found), true) = (found, bin < self.bins) {
            *found = names.map(|name| name.min(u8::MAX.into()) as u8);
            self.shares.as_chunks_mut().0[cell] = shares;
        }
    }

    fn set(
        &mut self,
        lane: u32,
        bins: Range<u32>,
        names: [u32; NAMES_PER_CELL],
        shares: [u8; NAMES_PER_CELL],
    ) {
        let start = lane as usize * self.bins as usize;
        let cells = start + bins.start as usize..start + bins.end.min(self.bins) as usize;
        let at = cells.start * NAMES_PER_CELL..cells.end * NAMES_PER_CELL;
        if let Some(found) = self.shares.get_mut(at.clone()) {
            found.as_chunks_mut().0.fill(shares);
        }
        if is_wide(self.kinds) {
            let mut bytes = [0; 2 * NAMES_PER_CELL];
            for (to, name) in bytes.as_chunks_mut::<2>().0.iter_mut().zip(names) {
                *to = (name.min(u16::MAX.into()) as u16).to_le_bytes();
            }
            if let Some(found) = self.names.get_mut(2 * at.start..2 * at.end) {
                found.as_chunks_mut().0.fill(bytes);
            }
        } else if let Some(found) = self.names.get_mut(at) {
            let bytes = names.map(|name| name.min(u8::MAX.into()) as u8);
            found.as_chunks_mut().0.fill(bytes);
        }
    }

    /// The levels of the units of one writer, followed by those of the other; coarser levels are not made yet.
    pub fn join(first: Self, second: Self) -> DetailLevels<'static> {
        let bytes_of = |first: Vec<u8>, second: Vec<u8>| CellBytes([first.into(), second.into()]);
        DetailLevels {
            lanes: first.lanes + second.lanes,
            kinds: first.kinds,
            finest: DetailLevel {
                bins: first.bins,
                is_wide: is_wide(first.kinds),
                names: bytes_of(first.names, second.names),
                shares: bytes_of(first.shares, second.shares),
            },
            coarser: Vec::new(),
            made: OnceLock::new(),
        }
    }
}

fn one<T: Default + Copy>(first: T) -> [T; NAMES_PER_CELL] {
    let mut all = [T::default(); NAMES_PER_CELL];
    all[0] = first;
    all
}

/// The names and shares of a cell: those first that take most, of equal ones the kind with the lower number.
#[inline]
fn name(parts: &[(u32, i64)], whole: i64) -> ([u32; NAMES_PER_CELL], [u8; NAMES_PER_CELL]) {
    // As numbers that have the order of parts; all are more than 0, which stands for none. No branch depends on them.
    let mut first = [0; NAMES_PER_CELL];
    let mut sum = 0;
    for &(kind, much) in parts {
        let mut key = (much as u64 + 1) << 32 | u64::from(!kind);
        for place in &mut first {
            (*place, key) = (key.max(*place), key.min(*place));
        }
        sum += much;
    }
    let (mut names, mut shares) = ([0; NAMES_PER_CELL], [0; NAMES_PER_CELL]);
    for (nth, key) in first.into_iter().enumerate().take(parts.len()) {
        let much = (key >> 32) as i64 - 1;
        names[nth] = (!(key as u32)).saturating_add(1);
        shares[nth] = share(much, whole);
        if nth + 1 < NAMES_PER_CELL {
            sum -= much;
        }
    }
    if parts.len() > NAMES_PER_CELL {
        names[NAMES_PER_CELL - 1] = u32::MAX;
        shares[NAMES_PER_CELL - 1] = share(sum, whole);
    }
    (names, shares)
}

/// The next coarser level.
fn coarser(lanes: u32, kinds: u32, fine: &DetailLevel<'_>) -> DetailLevel<'static> {
    let bins = fine.bins / BINS_PER_COARSER_BIN;
    let mut coarse = LevelWriter::new(lanes, kinds, bins);
    let mut parts: Vec<(u32, i64)> = Vec::new();
    // Shares by name; no name has one of 0.
    let mut sums = vec![0; fine.names_end()];
    for lane in 0..lanes {
        for bin in 0..bins {
            parts.clear();
            fine.for_each(
                lane,
                bin * BINS_PER_COARSER_BIN,
                (bin + 1) * BINS_PER_COARSER_BIN,
                |name, others, share| {
                    let sum = &mut sums[usize::from(name)];
                    if *sum == 0 {
                        let kind = match name == others {
                            true => u32::MAX,
                            false => u32::from(name) - 1,
                        };
                        parts.push((kind, i64::from(name)));
                    }
                    *sum += i64::from(share);
                },
            );
            if !parts.is_empty() {
                for (_, part) in &mut parts {
                    *part = std::mem::take(&mut sums[*part as usize]);
                }
                let (names, shares) = name(&parts, 255 * i64::from(BINS_PER_COARSER_BIN));
                coarse.set_one(lane, bin, names, shares);
            }
        }
    }
    DetailLevel {
        bins,
        is_wide: is_wide(kinds),
        names: CellBytes::of(coarse.names),
        shares: CellBytes::of(coarse.shares),
    }
}
