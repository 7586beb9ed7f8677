//! Cells of states and previews: a timeline of one unit is drawn as its states come, a timeline of several is added up.

use std::ops::Range;

use super::cells::{ColorMode, PictureCells};
use super::units_sum::UnitsSum;
use crate::base::columns::{COLUMN, ColumnFiller, ColumnSink, WindowColumns};
use crate::timelines::layout::TimelineLayout;
use crate::trace::scan::StatePreview;
use crate::trace::states::{StatesByUnit, TraceState, for_each_shown};

impl PictureCells {
    /// Cells of these states.
    pub fn new(
        layout: &TimelineLayout,
        timelines: Range<usize>,
        columns: &WindowColumns,
        width: usize,
        mode: ColorMode,
        states: &StatesByUnit,
        previews: &[StatePreview],
    ) -> Self {
        let units = |timeline: usize| layout.units(timeline..timeline + 1);
        let drawn = layout.units(timelines.clone());
        let has_groups = timelines.clone().any(|timeline| units(timeline).len() > 1);
        let mut cells = PictureCells::blank(timelines.clone(), width, mode, has_groups);
        let mut previews: Vec<(u32, &StatePreview)> = previews
            .iter()
            .filter_map(|preview| Some((layout.unit(preview.line)?, preview)))
            .filter(|preview| drawn.contains(&preview.0))
            .collect();
        previews.sort_by_key(|preview| preview.0);
        let (mut painter, mut units_sum) = (UnitPainter::default(), UnitsSum::default());
        for timeline in timelines.clone() {
            let units = units(timeline);
            let from = previews.partition_point(|preview| preview.0 < units.start);
            let to = previews.partition_point(|preview| preview.0 < units.end);
            let (previews, offset) = (&previews[from..to], (timeline - timelines.start) * width);
            if units.len() == 1 && previews.is_empty() {
                let mut out = SingleUnitCells {
                    cells: &mut cells,
                    offset,
                    mode,
                };
                painter.unit(states.of(units.start), columns, width, &mut out);
                continue;
            }
            units_sum.begin(width, mode);
            let mut previews = previews.iter().peekable();
            for unit in units.clone() {
                let is_previewed = previews.peek().is_some_and(|preview| preview.0 == unit);
                units_sum.begin_unit(is_previewed);
                painter.unit(states.of(unit), columns, width, &mut units_sum);
                while let Some((_, preview)) = previews.next_if(|preview| preview.0 == unit) {
                    units_sum.preview(preview, columns);
                }
                units_sum.end_unit();
            }
            units_sum.write(&mut cells, offset, units.len() as u32);
        }
        cells
    }
}

/// Buffers that are used again from timeline to timeline.
#[derive(Default)]
pub(crate) struct UnitPainter {
    sweeper: ColumnFiller,
    running: Vec<u32>,
}

impl UnitPainter {
    /// Says what is in each column of the states of a unit, which must be in order.
    pub fn unit(
        &mut self,
        of_unit: &[TraceState],
        columns: &WindowColumns,
        width: usize,
        fill: &mut impl ColumnSink,
    ) {
        let end = (width as i64) * COLUMN;
        let sweeper = &mut self.sweeper;
        let shown = |nth: usize, from: f64, to: f64| {
            let (a, b) = (columns.at(from), columns.at(to));
            // A state that only touches the window has no part in it.
            if columns.overlap(from, to) {
                sweeper.add(of_unit[nth].kind, a, b, end, fill);
            }
        };
        for_each_shown(of_unit, &mut self.running, shown, |_, _| {});
        self.sweeper.finish(fill);
    }
}

/// Cells of a timeline with one unit.
struct SingleUnitCells<'c> {
    cells: &'c mut PictureCells,
    offset: usize,
    mode: ColorMode,
}

impl ColumnSink for SingleUnitCells<'_> {
    #[inline]
    fn column(&mut self, column: usize, parts: &[(u32, i64)]) {
        self.cells
            .set(self.offset + column, parts, COLUMN, self.mode);
    }

    fn whole(&mut self, columns: Range<usize>, kind: u32) {
        let range = self.offset + columns.start..self.offset + columns.end;
        if !matches!(self.mode, ColorMode::Heat(wanted) if wanted != kind) {
            self.cells.category[range.clone()].fill(kind as u16 + 1);
            self.cells.busy[range.clone()].fill(255);
            if self.mode == ColorMode::Stack {
                self.cells.share[range].fill(255);
            }
        }
    }
}
