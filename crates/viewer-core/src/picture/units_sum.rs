//! A timeline of several units: what takes how much of each column, over all units, and how much they differ.

use std::ops::Range;

use super::cells::{ColorMode, PictureCells};
use crate::base::columns::{COLUMN, ColumnSink, WindowColumns};
use crate::trace::scan::StatePreview;

/// Sums over the units of a timeline.
#[derive(Default)]
pub(crate) struct UnitsSum {
    width: usize,
    mode: ColorMode,
    /// By kind its channel, one more than the position; 0 for none.
    channel_of: Vec<u32>,
    /// Kinds of the channels.
    kinds: Vec<u32>,
    /// By channel and column, over all units; below 0 where the kind is not.
    channels: Vec<i64>,
    /// By channel and column how much more is taken of whole columns than of the column before, over all units, and by how
    /// many more: what covers many columns costs as much as what covers one.
    rises: Vec<(i64, i32)>,
    /// By column the least and the most that is busy of a unit, of those units that are and that are not so as a whole.
    least: Vec<i64>,
    most: Vec<i64>,
    /// By column how many these are.
    partly: Vec<u32>,
    /// By column how many more units are busy as a whole than in the column before.
    wholly: Vec<i32>,
    previewed: PreviewedUnit,
}

/// A unit of which some parts were not read: where there are previews, states have to make room for them.
#[derive(Default)]
struct PreviewedUnit {
    is_it: bool,
    /// By column the parts of states.
    states: Vec<Vec<(u32, i64)>>,
    /// By column the parts that previews take of it.
    edges: Vec<Vec<(u32, i64)>>,
    /// Columns from which on more of whole columns is taken than before: how much more of all, and of what is shown.
    rises: Vec<(usize, i64, i64)>,
    /// Columns that have something in `states` or `edges`.
    touched: Vec<u32>,
}

const ABSENT: i64 = -1;

impl UnitsSum {
    pub fn begin(&mut self, width: usize, mode: ColorMode) {
        (self.width, self.mode) = (width, mode);
        for kind in self.kinds.drain(..) {
            self.channel_of[kind as usize] = 0;
        }
        self.channels.clear();
        self.rises.clear();
        self.least.clear();
        self.least.resize(width, i64::MAX);
        self.most.clear();
        self.most.resize(width, 0);
        self.partly.clear();
        self.partly.resize(width, 0);
        self.wholly.clear();
        self.wholly.resize(width + 1, 0);
    }

    pub fn begin_unit(&mut self, is_previewed: bool) {
        self.previewed.begin(is_previewed, self.width);
    }

    /// Adds what a preview says of a part of a unit that was not read.
    pub fn preview(&mut self, preview: &StatePreview, columns: &WindowColumns) {
        let ratio = |ratio: f32| match ratio.is_finite() {
            true => f64::from(ratio).clamp(0.0, 1.0),
            false => 0.0,
        };
        let sum: f64 = preview.shares.iter().map(|(_, r)| ratio(r.exclusive)).sum();
        let [a, b] = [preview.bounds.earliest, preview.bounds.latest].map(|t| columns.at(t));
        if a >= b {
            return;
        }
        // Whole columns, and what is left before and behind them.
        let first = (a + COLUMN - 1) / COLUMN;
        let behind = b / COLUMN;
        let edges = match first <= behind {
            true => [(a, first * COLUMN), (behind * COLUMN, b)],
            false => [(a, b), (b, b)],
        };
        for &(kind, ratios) in &preview.shares {
            let part =
                |length: i64| (ratio(ratios.exclusive) / sum.max(1.0) * length as f64) as i64;
            for (from, to) in edges {
                if from < to {
                    let column = (from / COLUMN) as usize;
                    self.previewed.touch(column);
                    self.previewed.edges[column].push((kind, part(to - from)));
                }
            }
            if first < behind {
                let (columns, much) = (first as usize..behind as usize, part(COLUMN));
                self.rise(kind, columns.clone(), much);
                let shown = if self.is_shown(kind) { much } else { 0 };
                let rises = &mut self.previewed.rises;
                rises.push((columns.start, much, shown));
                rises.push((columns.end, -much, -shown));
            }
        }
    }

    /// All of the unit has been added.
    pub fn end_unit(&mut self) {
        if !self.previewed.is_it {
            return;
        }
        // Both are in order already, but where previews have come between.
        self.previewed.rises.sort_unstable_by_key(|rise| rise.0);
        self.previewed.touched.sort_unstable();
        let rises = std::mem::take(&mut self.previewed.rises);
        let touched = std::mem::take(&mut self.previewed.touched);
        let mut left = rises.iter().peekable();
        // Time taken and shown in whole columns, and the first column that is not done.
        let (mut whole, mut shown, mut from) = (0, 0, 0);
        for column in touched.iter().map(|&c| c as usize).chain([self.width]) {
            while let Some(&(at, all_more, shown_more)) = left.next_if(|rise| rise.0 <= column) {
                (from..at).for_each(|column| self.busy(column, shown));
                (whole, shown, from) = (whole + all_more, shown + shown_more, at);
            }
            (from..column).for_each(|column| self.busy(column, shown));
            if column < self.width {
                let mut states = std::mem::take(&mut self.previewed.states[column]);
                let edges = std::mem::take(&mut self.previewed.edges[column]);
                make_room(&mut states, whole + sum(&edges));
                let parts = self.add(column, &states) + self.add(column, &edges);
                self.busy(column, shown + parts);
                self.previewed.states[column] = states;
                self.previewed.edges[column] = edges;
            }
            from = column + 1;
        }
        (self.previewed.rises, self.previewed.touched) = (rises, touched);
    }

    /// Adds parts that a unit has of a column. Gives how much of them is shown as busy.
    #[inline]
    fn add(&mut self, column: usize, parts: &[(u32, i64)]) -> i64 {
        let mut busy = 0;
        for &(kind, much) in parts {
            if self.is_shown(kind) {
                busy += much;
            }
            let place = self.channel(kind) * self.width + column;
            let sum = &mut self.channels[place];
            *sum = (*sum).max(0) + much;
        }
        busy
    }

    /// So much of each of these columns is of a kind.
    #[inline]
    fn rise(&mut self, kind: u32, columns: Range<usize>, much: i64) {
        let timeline = self.channel(kind) * (self.width + 1);
        for (column, sign) in [(columns.start, 1), (columns.end, -1)] {
            let (rise, count) = &mut self.rises[timeline + column];
            *rise += i64::from(sign) * much;
            *count += sign;
        }
    }

    /// So much of a column is shown as busy of a unit.
    #[inline]
    fn busy(&mut self, column: usize, busy: i64) {
        if busy > 0 {
            self.least[column] = self.least[column].min(busy);
            self.most[column] = self.most[column].max(busy);
            self.partly[column] += 1;
        }
    }

    /// Whether a kind counts as busy.
    fn is_shown(&self, kind: u32) -> bool {
        !matches!(self.mode, ColorMode::Heat(wanted) if wanted != kind)
    }

    fn channel(&mut self, kind: u32) -> usize {
        match self.channel_of.get(kind as usize) {
            Some(&channel) if channel > 0 => channel as usize - 1,
            _ => self.new_channel(kind),
        }
    }

    #[cold]
    fn new_channel(&mut self, kind: u32) -> usize {
        let kinds = self.channel_of.len().max(kind as usize + 1);
        self.channel_of.resize(kinds, 0);
        self.kinds.push(kind);
        let channels = self.kinds.len();
        self.channels.resize(channels * self.width, ABSENT);
        self.rises.resize(channels * (self.width + 1), (0, 0));
        self.channel_of[kind as usize] = channels as u32;
        channels - 1
    }

    /// Writes the timeline of so many units.
    pub fn write(&mut self, cells: &mut PictureCells, offset: usize, units: u32) {
        let mode = self.mode;
        self.for_each_column(units, |column, parts, difference| {
            let at = offset + column;
            cells.set_units(at, parts, 0, units.into(), difference, mode);
        });
    }

    /// Says of each column of so many units how much of it each kind takes, in all of them together, and by how much they differ.
    pub fn for_each_column(&mut self, units: u32, mut put: impl FnMut(usize, &[(u32, i64)], i64)) {
        for (channel, rises) in (self.channels.chunks_exact_mut(self.width.max(1)))
            .zip(self.rises.chunks_exact(self.width + 1))
        {
            let (mut much, mut count) = (0, 0);
            for (sum, rise) in channel.iter_mut().zip(rises) {
                (much, count) = (much + rise.0, count + rise.1);
                if count > 0 {
                    *sum = (*sum).max(0) + much;
                }
            }
        }
        let (mut parts, mut wholly) = (Vec::new(), 0);
        for column in 0..self.width {
            parts.clear();
            for (nth, &kind) in self.kinds.iter().enumerate() {
                let much = self.channels[nth * self.width + column];
                if much != ABSENT {
                    parts.push((kind, much));
                }
            }
            wholly += self.wholly[column];
            let (mut least, mut most) = (self.least[column], self.most[column]);
            if wholly > 0 {
                (least, most) = (least.min(COLUMN), most.max(COLUMN));
            }
            if self.partly[column].saturating_add_signed(wholly) < units {
                least = 0;
            }
            put(column, &parts, most - least);
        }
    }
}

impl ColumnSink for UnitsSum {
    #[inline]
    fn column(&mut self, column: usize, parts: &[(u32, i64)]) {
        if self.previewed.is_it {
            self.previewed.touch(column);
            self.previewed.states[column].extend_from_slice(parts);
        } else {
            let busy = self.add(column, parts);
            self.busy(column, busy);
        }
    }

    #[inline]
    fn whole(&mut self, columns: Range<usize>, kind: u32) {
        if self.previewed.is_it {
            columns.for_each(|column| self.column(column, &[(kind, COLUMN)]));
            return;
        }
        if self.is_shown(kind) {
            self.wholly[columns.start] += 1;
            self.wholly[columns.end] -= 1;
        }
        self.rise(kind, columns, COLUMN);
    }
}

impl PreviewedUnit {
    fn begin(&mut self, is_it: bool, width: usize) {
        for column in self.touched.drain(..) {
            self.states[column as usize].clear();
            self.edges[column as usize].clear();
        }
        self.rises.clear();
        self.is_it = is_it;
        if is_it {
            self.states.resize(width, Vec::new());
            self.edges.resize(width, Vec::new());
        }
    }

    /// Something comes to a column.
    fn touch(&mut self, column: usize) {
        if self.states[column].is_empty() && self.edges[column].is_empty() {
            self.touched.push(column as u32);
        }
    }
}

fn sum(parts: &[(u32, i64)]) -> i64 {
    parts.iter().map(|part| part.1).sum()
}

/// States that run through parts that were not read are those that the previewed ones are nested in, and get what is left
/// of a column.
fn make_room(states: &mut [(u32, i64)], previewed: i64) {
    let (room, all) = ((COLUMN - previewed).max(0), sum(states));
    if all > room {
        let fit = |part: &mut (u32, i64)| part.1 = part.1 * room / all;
        states.iter_mut().for_each(fit);
    }
}
