//! Cells: for each row and column of pixels the kind of state that takes most of it, and how much of it is taken.
//!
//! A row of one unit is drawn as its states come. In a row of several each of them is, and what they say is added up.

use std::ops::Range;

use crate::columns::{COLUMN, Columns, Fill, Sweeper};
use crate::layout::Layout;
use crate::scan::Preview;
use crate::states::{States, sweep};

/// Which of the kinds in a cell gives it its colour.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// That with most exclusive time.
    #[default]
    Dominant,
    /// That with least, so that what is rare is seen.
    Rare,
    /// This one wherever it is; busy is its share.
    Heat(u32),
    /// The three with most time.
    Stack,
}

/// Planes of cells, row by row.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Cells {
    /// Columns.
    pub width: usize,
    /// The first row.
    pub first: usize,
    /// Rows.
    pub rows: usize,
    /// 0 for nothing, else one more than the kind.
    pub category: Vec<u16>,
    /// Share of the cell in states, or of the kind in a heat map, of 255; at least 1 if there is anything.
    pub busy: Vec<u8>,
    /// Difference between the units of the row in that, if any row has several.
    pub spread: Vec<u8>,
    /// 0 for no events, else 1 + log2 of their number.
    pub events: Vec<u8>,
    /// The same of hits of a search.
    pub hits: Vec<u8>,
    /// Share of the first kind, in a stack.
    pub share: Vec<u8>,
    /// Second and third kind and their shares, in a stack.
    pub others: [(Vec<u16>, Vec<u8>); 2],
}

/// A share as a byte: 255 is all, and what is there at all is not 0.
pub fn share(part: i64, whole: i64) -> u8 {
    let bytes = (part.saturating_mul(255) + whole / 2) / whole.max(1);
    bytes.clamp(1, 255) as u8
}

impl Cells {
    /// Cells of these states.
    pub fn new(
        layout: &Layout,
        rows: Range<usize>,
        columns: &Columns,
        width: usize,
        mode: Mode,
        states: &States,
        previews: &[Preview],
    ) -> Self {
        let size = width * rows.len();
        let units = |row: usize| layout.units(row..row + 1);
        let has_groups = rows.clone().any(|row| units(row).len() > 1);
        let plane = |wanted: bool| if wanted { vec![0u8; size] } else { Vec::new() };
        let is_stack = mode == Mode::Stack;
        let other = || {
            (
                if is_stack {
                    vec![0u16; size]
                } else {
                    Vec::new()
                },
                plane(is_stack),
            )
        };
        let mut cells = Cells {
            width,
            first: rows.start,
            rows: rows.len(),
            category: vec![0; size],
            busy: vec![0; size],
            spread: plane(has_groups),
            events: Vec::new(),
            hits: Vec::new(),
            share: plane(is_stack),
            others: [other(), other()],
        };
        let mut previews: Vec<(u32, &Preview)> = previews
            .iter()
            .filter_map(|preview| Some((layout.unit(preview.line)?, preview)))
            .collect();
        previews.sort_by_key(|preview| preview.0);
        let mut work = Work::default();
        for row in rows.clone() {
            let units = units(row);
            let from = previews.partition_point(|preview| preview.0 < units.start);
            let to = previews.partition_point(|preview| preview.0 < units.end);
            let (previews, offset) = (&previews[from..to], (row - rows.start) * width);
            if units.len() == 1 && previews.is_empty() {
                let mut out = Direct {
                    cells: &mut cells,
                    offset,
                    mode,
                };
                work.unit(states, units.start, columns, width, &mut out);
                continue;
            }
            work.begin(width);
            let mut previews = previews.iter().peekable();
            for unit in units.clone() {
                let is_previewed = previews.peek().is_some_and(|preview| preview.0 == unit);
                work.group.begin_unit(is_previewed, mode);
                let mut group = std::mem::take(&mut work.group);
                work.unit(states, unit, columns, width, &mut group);
                work.group = group;
                while let Some((_, preview)) = previews.next_if(|preview| preview.0 == unit) {
                    work.group.preview(preview, columns);
                }
                work.group.end_unit();
            }
            work.group
                .write(&mut cells, offset, units.len() as i64, mode);
        }
        cells
    }

    /// Counts events: row and time.
    pub fn count_events(&mut self, columns: &Columns, events: impl Iterator<Item = (u32, f64)>) {
        self.events = self.levels(columns, events);
    }

    /// Counts hits of a search: row and time.
    pub fn count_hits(&mut self, columns: &Columns, hits: impl Iterator<Item = (u32, f64)>) {
        self.hits = self.levels(columns, hits);
    }

    /// By cell 0, or 1 + log2 of how many there are; nothing at all if there are none.
    fn levels(&self, columns: &Columns, marks: impl Iterator<Item = (u32, f64)>) -> Vec<u8> {
        let mut counts = Vec::new();
        for (row, time) in marks {
            let Some(row) = (row as usize)
                .checked_sub(self.first)
                .filter(|&row| row < self.rows)
            else {
                continue;
            };
            if counts.is_empty() {
                counts = vec![0u32; self.width * self.rows];
            }
            let count = &mut counts[row * self.width + columns.column(time)];
            *count = count.saturating_add(1);
        }
        let level = |n: u32| if n == 0 { 0 } else { 1 + n.ilog2() as u8 };
        counts.into_iter().map(level).collect()
    }

    /// Writes a cell of these parts of a whole. Order of the parts does not matter.
    #[inline]
    pub(crate) fn set(&mut self, at: usize, parts: &[(u32, i64)], whole: i64, mode: Mode) {
        let mut sum = 0;
        let mut best: Option<(u32, i64)> = None;
        for &(kind, much) in parts {
            sum += much;
            let is_better = |old: (u32, i64)| match mode {
                Mode::Rare => (much, kind) < (old.1, old.0),
                _ => much > old.1 || (much == old.1 && kind < old.0),
            };
            let takes = match mode {
                Mode::Heat(wanted) => kind == wanted,
                _ => best.is_none_or(is_better),
            };
            if takes {
                best = Some((kind, much));
            }
        }
        let Some((kind, much)) = best else {
            return;
        };
        self.category[at] = kind as u16 + 1;
        let shown = if matches!(mode, Mode::Heat(_)) {
            much
        } else {
            sum
        };
        self.busy[at] = share(shown, whole);
        if mode == Mode::Stack {
            self.share[at] = share(much, whole);
            let mut last = (much, kind);
            for (kinds, shares) in &mut self.others {
                let is_next = |&&(kind, much): &&(u32, i64)| {
                    much < last.0 || (much == last.0 && kind > last.1)
                };
                let next = parts.iter().filter(is_next);
                let next = next.max_by_key(|&&(kind, much)| (much, std::cmp::Reverse(kind)));
                let Some(&(kind, much)) = next else {
                    break;
                };
                kinds[at] = kind as u16 + 1;
                shares[at] = share(much, whole);
                last = (much, kind);
            }
        }
    }
}

/// What is used again from row to row.
#[derive(Default)]
struct Work {
    sweeper: Sweeper,
    running: Vec<u32>,
    group: Group,
}

impl Work {
    fn unit(
        &mut self,
        states: &States,
        unit: u32,
        columns: &Columns,
        width: usize,
        fill: &mut impl Fill,
    ) {
        let of_unit = states.of(unit);
        let end = (width as i64) * COLUMN;
        let sweeper = &mut self.sweeper;
        let shown = |nth: usize, from: f64, to: f64| {
            let (a, b) = (columns.at(from), columns.at(to));
            // What only touches the window has no part in it.
            if columns.overlap(from, to) {
                sweeper.add(of_unit[nth].kind, a, b, end, fill);
            }
        };
        sweep(of_unit, &mut self.running, shown, |_, _| {});
        self.sweeper.finish(fill);
    }

    fn begin(&mut self, width: usize) {
        self.group.begin(width);
    }
}

/// Cells of a row with one unit.
struct Direct<'c> {
    cells: &'c mut Cells,
    offset: usize,
    mode: Mode,
}

impl Fill for Direct<'_> {
    #[inline]
    fn column(&mut self, column: usize, parts: &[(u32, i64)]) {
        self.cells
            .set(self.offset + column, parts, COLUMN, self.mode);
    }

    fn whole(&mut self, columns: Range<usize>, kind: u32) {
        let range = self.offset + columns.start..self.offset + columns.end;
        if !matches!(self.mode, Mode::Heat(wanted) if wanted != kind) {
            self.cells.category[range.clone()].fill(kind as u16 + 1);
            self.cells.busy[range.clone()].fill(255);
            if self.mode == Mode::Stack {
                self.cells.share[range].fill(255);
            }
        }
    }
}

/// Sums over the units of a row.
#[derive(Default)]
struct Group {
    width: usize,
    /// By kind its plane, one more than the position; 0 for none.
    plane_of: Vec<u32>,
    /// Kinds of the planes.
    kinds: Vec<u32>,
    /// By plane and column, over all units; below 0 where the kind is not.
    planes: Vec<i64>,
    mode: Mode,
    /// Whether states of this unit may have to make room for previews.
    is_previewed: bool,
    /// By plane and column how much more is taken of whole columns than of the column before, over all units, and by how
    /// many more: what covers many columns costs as much as what covers one.
    rises: Vec<(i64, i32)>,
    /// By column, of this unit.
    unit: Vec<Vec<(u32, i64)>>,
    /// The same, of parts of columns that previews take.
    edges: Vec<Vec<(u32, i64)>>,
    /// Columns from which on more of whole columns is taken of this unit than before: how much more of all, and of what is
    /// shown.
    unit_rises: Vec<(usize, i64, i64)>,
    /// Columns that have something in `unit` or `edges`.
    touched: Vec<u32>,
    /// By column the least and the most of a unit.
    least: Vec<i64>,
    most: Vec<i64>,
}

const ABSENT: i64 = -1;

/// Whether a kind counts as busy.
fn is_shown(kind: u32, mode: Mode) -> bool {
    !matches!(mode, Mode::Heat(wanted) if wanted != kind)
}

impl Group {
    fn begin(&mut self, width: usize) {
        self.width = width;
        for kind in self.kinds.drain(..) {
            self.plane_of[kind as usize] = 0;
        }
        self.planes.clear();
        self.rises.clear();
        self.least.clear();
        self.least.resize(width, i64::MAX);
        self.most.clear();
        self.most.resize(width, 0);
        self.unit.resize(width, Vec::new());
        self.edges.resize(width, Vec::new());
    }

    fn begin_unit(&mut self, is_previewed: bool, mode: Mode) {
        (self.is_previewed, self.mode) = (is_previewed, mode);
        for column in self.touched.drain(..) {
            self.unit[column as usize].clear();
            self.edges[column as usize].clear();
        }
        self.unit_rises.clear();
    }

    /// Adds what a preview says of a part of a unit that was not read.
    fn preview(&mut self, preview: &Preview, columns: &Columns) {
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
                    self.touch(column);
                    self.edges[column].push((kind, part(to - from)));
                }
            }
            if first < behind {
                self.whole_columns(kind, first as usize..behind as usize, part(COLUMN));
            }
        }
    }

    /// So much of each of these columns.
    fn whole_columns(&mut self, kind: u32, columns: Range<usize>, much: i64) {
        let row = self.plane(kind) * (self.width + 1);
        let shown = if is_shown(kind, self.mode) { much } else { 0 };
        for (column, sign) in [(columns.start, 1), (columns.end, -1)] {
            let (rise, count) = &mut self.rises[row + column];
            *rise += i64::from(sign) * much;
            *count += sign;
            let sign = i64::from(sign);
            self.unit_rises.push((column, sign * much, sign * shown));
        }
    }

    /// States that run through parts that were not read are those that the previewed ones are nested in, and get what is
    /// left.
    fn end_unit(&mut self) {
        // Both are in order already, but where previews have come between.
        self.unit_rises.sort_unstable_by_key(|rise| rise.0);
        self.touched.sort_unstable();
        let mut rises = std::mem::take(&mut self.unit_rises);
        let mut left = rises.iter().peekable();
        // What is taken of whole columns here, and the first column that is not done.
        let (mut whole, mut shown, mut from) = (0, 0, 0);
        for nth in 0..=self.touched.len() {
            let column = self.touched.get(nth).map_or(self.width, |&c| c as usize);
            while let Some(&(at, all_more, shown_more)) = left.next_if(|rise| rise.0 <= column) {
                self.taken(from..at, shown);
                (whole, shown, from) = (whole + all_more, shown + shown_more, at);
            }
            self.taken(from..column, shown);
            if column < self.width {
                let parts = self.put_column(column, whole);
                self.taken(column..column + 1, shown + parts);
            }
            from = column + 1;
        }
        rises.clear();
        self.unit_rises = rises;
    }

    /// So much of each of these columns is shown as busy of the unit.
    fn taken(&mut self, columns: Range<usize>, busy: i64) {
        let (least, most) = (&mut self.least[columns.clone()], &mut self.most[columns]);
        if busy == 0 {
            least.fill(0);
            return;
        }
        least
            .iter_mut()
            .for_each(|least| *least = (*least).min(busy));
        most.iter_mut().for_each(|most| *most = (*most).max(busy));
    }

    /// Adds the parts that the unit has of a column, of which `whole` is taken by what takes it as a whole. Gives how much of
    /// them is shown as busy.
    fn put_column(&mut self, column: usize, whole: i64) -> i64 {
        let mut busy = 0;
        let mut parts = std::mem::take(&mut self.unit[column]);
        let edges = std::mem::take(&mut self.edges[column]);
        if self.is_previewed {
            let new = whole + edges.iter().map(|part| part.1).sum::<i64>();
            let old: i64 = parts.iter().map(|part| part.1).sum();
            let room = (COLUMN - new).max(0);
            if old > room {
                let fit = |part: &mut (u32, i64)| part.1 = part.1 * room / old;
                parts.iter_mut().for_each(fit);
            }
        }
        for &(kind, much) in parts.iter().chain(&edges) {
            if is_shown(kind, self.mode) {
                busy += much;
            }
            let place = self.plane(kind) * self.width + column;
            let sum = &mut self.planes[place];
            *sum = (*sum).max(0) + much;
        }
        (self.unit[column], self.edges[column]) = (parts, edges);
        busy
    }

    /// Something comes to a column.
    #[inline]
    fn touch(&mut self, column: usize) {
        if self.unit[column].is_empty() && self.edges[column].is_empty() {
            self.touched.push(column as u32);
        }
    }

    fn plane(&mut self, kind: u32) -> usize {
        let kind = kind as usize;
        if self.plane_of.len() <= kind {
            self.plane_of.resize(kind + 1, 0);
        }
        if self.plane_of[kind] == 0 {
            self.kinds.push(kind as u32);
            let planes = self.kinds.len();
            self.planes.resize(planes * self.width, ABSENT);
            self.rises.resize(planes * (self.width + 1), (0, 0));
            self.plane_of[kind] = self.kinds.len() as u32;
        }
        self.plane_of[kind] as usize - 1
    }

    fn write(&mut self, cells: &mut Cells, offset: usize, units: i64, mode: Mode) {
        for (plane, rises) in (self.planes.chunks_exact_mut(self.width.max(1)))
            .zip(self.rises.chunks_exact(self.width + 1))
        {
            let (mut much, mut count) = (0, 0);
            for (sum, rise) in plane.iter_mut().zip(rises) {
                (much, count) = (much + rise.0, count + rise.1);
                if count > 0 {
                    *sum = (*sum).max(0) + much;
                }
            }
        }
        let mut parts = Vec::new();
        for column in 0..self.width {
            parts.clear();
            for (nth, &kind) in self.kinds.iter().enumerate() {
                let much = self.planes[nth * self.width + column];
                if much != ABSENT {
                    parts.push((kind, much));
                }
            }
            cells.set(offset + column, &parts, units * COLUMN, mode);
            let difference = self.most[column] - self.least[column].min(self.most[column]);
            if units > 1 && difference > 0 {
                cells.spread[offset + column] = share(difference, COLUMN);
            }
        }
    }
}

impl Fill for Group {
    fn column(&mut self, column: usize, parts: &[(u32, i64)]) {
        self.touch(column);
        self.unit[column].extend_from_slice(parts);
    }

    fn whole(&mut self, columns: Range<usize>, kind: u32) {
        if !self.is_previewed {
            self.whole_columns(kind, columns, COLUMN);
            return;
        }
        for column in columns {
            self.touch(column);
            self.unit[column].push((kind, COLUMN));
        }
    }
}
