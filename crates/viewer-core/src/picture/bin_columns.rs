//! Positions of the bins of a level among the columns of a picture.

use trace_formats::slog2::TimeBBox;

use crate::base::columns::{COLUMN_BITS, WindowColumns};
use crate::index::DetailLevel;

/// Places of the bins of a level among columns.
pub(super) struct BinColumns {
    /// The first bin that reaches into the window, and how many of them do.
    pub first: u32,
    pub count: usize,
    /// Parts of the bins in each column.
    pub columns: ColumnParts,
    /// Columns that have parts of more than one bin, and their parts.
    pub mixed: Vec<u32>,
    pub of_mixed: ColumnParts,
    pub is_aligned: bool,
}

/// Parts of bins that lie in columns.
pub(super) struct ColumnParts {
    /// Bins that a column has parts of, at most.
    pub max_bins: usize,
    /// First bin that each column has a part of, counted from the first one.
    pub bins: Vec<u32>,
    /// By column how much it has of that bin and of those behind it, as many as [`ColumnParts::max_bins`], in parts of
    /// [`crate::base::columns::COLUMN`].
    pub parts: Vec<u32>,
}

impl BinColumns {
    pub fn new(all: TimeBBox, level: &DetailLevel<'_>, window: TimeBBox, width: usize) -> Self {
        let bins = f64::from(level.bins());
        let per_second = bins / all.duration();
        let [from, to] = [window.earliest, window.latest].map(|t| (t - all.earliest) * per_second);
        let first = from.floor().clamp(0.0, bins) as u32;
        let behind = to.ceil().clamp(f64::from(first), bins) as u32;
        let columns = WindowColumns::new(window, width as u32);
        let border = |bin: u32| {
            let time = all.earliest + all.duration() * (f64::from(bin) / bins);
            columns.at(time)
        };
        // Of each column the first bin and where its parts begin.
        let (mut begins, mut parts) = (vec![(0, 0); width], Vec::new());
        let mut next = 0;
        for bin in first..behind {
            let (mut from, to) = (border(bin), border(bin + 1));
            while from < to {
                let column = (from >> COLUMN_BITS) as usize;
                let end = to.min((column as i64 + 1) << COLUMN_BITS);
                while next <= column {
                    begins[next] = (bin - first, parts.len());
                    next += 1;
                }
                parts.push((end - from) as u32);
                from = end;
            }
        }
        begins[next..].fill((0, parts.len()));
        let end_of = |column: usize| begins.get(column + 1).map_or(parts.len(), |next| next.1);
        let size = |column: usize| end_of(column) - begins[column].1;
        let max_bins = (0..width).map(size).max().unwrap_or(0).max(1);
        let of = |columns: &mut dyn Iterator<Item = usize>| {
            let mut found = ColumnParts {
                max_bins,
                bins: Vec::new(),
                parts: Vec::new(),
            };
            for column in columns {
                let (bin, from) = begins[column];
                found.bins.push(bin);
                let padded = found.parts.len() + max_bins;
                found.parts.extend_from_slice(&parts[from..end_of(column)]);
                found.parts.resize(padded, 0);
            }
            found
        };
        let mixed = || (0..width).filter(|&column| size(column) > 1);
        let is_whole = |number: f64| (number - number.round()).abs() < 1e-6;
        BinColumns {
            first,
            count: (behind - first) as usize,
            columns: of(&mut (0..width)),
            mixed: mixed().map(|column| column as u32).collect(),
            of_mixed: of(&mut mixed()),
            is_aligned: is_whole(from) && is_whole((to - from) / width as f64) && to - from >= 0.5,
        }
    }
}

impl ColumnParts {
    /// Puts together sums by bin, behind which stand [`ColumnParts::max_bins`] more: by column, counted from the first, its sum,
    /// [`crate::base::columns::COLUMN`] times.
    #[inline]
    pub fn for_each(&self, sums: &[u32], put: impl FnMut(usize, u64)) {
        // Nearly all pictures have few bins to a column, and loops of a fixed length take a third of the time.
        match self.max_bins {
            1 => self.for_each_of::<1>(sums, put),
            2 => self.for_each_of::<2>(sums, put),
            3 => self.for_each_of::<3>(sums, put),
            4 => self.for_each_of::<4>(sums, put),
            5 => self.for_each_of::<5>(sums, put),
            max_bins => {
                let mut put = put;
                let parts = self.parts.chunks_exact(max_bins);
                for (column, (&bin, parts)) in self.bins.iter().zip(parts).enumerate() {
                    let products = parts.iter().zip(&sums[bin as usize..]);
                    let products = products.map(|(&part, &sum)| u64::from(part) * u64::from(sum));
                    put(column, products.sum());
                }
            }
        }
    }

    #[inline]
    fn for_each_of<const MAX_BINS: usize>(&self, sums: &[u32], mut put: impl FnMut(usize, u64)) {
        let parts = self.parts.as_chunks::<MAX_BINS>().0;
        for (column, (&bin, parts)) in self.bins.iter().zip(parts).enumerate() {
            let Some(sums) = sums
                .get(bin as usize..)
                .and_then(<[_]>::first_chunk::<MAX_BINS>)
            else {
                return;
            };
            let products = (0..MAX_BINS).map(|nth| u64::from(parts[nth]) * u64::from(sums[nth]));
            put(column, products.sum());
        }
    }
}
