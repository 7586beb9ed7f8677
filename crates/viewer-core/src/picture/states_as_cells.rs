//! Cells of states and previews: a row of one unit is drawn as its states come, a row of several is added up.

use std::ops::Range;

use super::cells::{Cells, Mode};
use super::group::Group;
use crate::base::columns::{COLUMN, Columns, Fill, Sweeper};
use crate::timelines::layout::Layout;
use crate::trace::scan::Preview;
use crate::trace::states::{States, sweep};

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
        let units = |row: usize| layout.units(row..row + 1);
        let drawn = layout.units(rows.clone());
        let has_groups = rows.clone().any(|row| units(row).len() > 1);
        let mut cells = Cells::blank(rows.clone(), width, mode, has_groups);
        let mut previews: Vec<(u32, &Preview)> = previews
            .iter()
            .filter_map(|preview| Some((layout.unit(preview.line)?, preview)))
            .filter(|preview| drawn.contains(&preview.0))
            .collect();
        previews.sort_by_key(|preview| preview.0);
        let (mut work, mut group) = (Work::default(), Group::default());
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
            group.begin(width, mode);
            let mut previews = previews.iter().peekable();
            for unit in units.clone() {
                let is_previewed = previews.peek().is_some_and(|preview| preview.0 == unit);
                group.begin_unit(is_previewed);
                work.unit(states, unit, columns, width, &mut group);
                while let Some((_, preview)) = previews.next_if(|preview| preview.0 == unit) {
                    group.preview(preview, columns);
                }
                group.end_unit();
            }
            group.write(&mut cells, offset, units.len() as u32);
        }
        cells
    }
}

/// What is used again from row to row.
#[derive(Default)]
struct Work {
    sweeper: Sweeper,
    running: Vec<u32>,
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
