//! What few of all timelines do at a time, shown where they do it in timelines that are drawn as one: by the rule of the viewer's pictures.

use std::ops::Range;
use trace_formats::slog2::{Ratios, TimeBBox};

use crate::base::columns::WindowColumns;
use crate::drawing::band::{NestingBand, SpanFill, range};
use crate::drawing::content::{DrawnPreview, WindowContent};
use crate::picture::cells::ColorMode;
use crate::picture::rare::RareParts;
use crate::picture::states_as_cells::UnitPainter;
use crate::picture::units_sum::UnitsSum;
use crate::trace::scan::StatePreview;
use crate::trace::states::TraceState;

/// Lets the bands of groups of timelines show what is rare among all of them. Says whether anything is.
pub(crate) fn show_rare(
    content: &WindowContent,
    columns: u32,
    groups: &[Range<u32>],
    bands: &mut [Vec<NestingBand>],
) -> bool {
    let is_told_apart = content.kinds.len() < usize::from(u16::MAX);
    if columns == 0 || !is_told_apart || groups.iter().all(|group| group.len() < 2) {
        return false;
    }
    let rare = rare_parts(content, columns, groups);
    let mut of_group: Vec<Vec<(u32, Option<u32>)>> = vec![Vec::new(); groups.len()];
    rare.for_each(|at, kind| {
        let (group, column) = (at / columns as usize, at % columns as usize);
        of_group[group].push((column as u32, kind.map(u32::from)));
    });
    let mut has_any = false;
    for (bands, rare) in bands.iter_mut().zip(of_group) {
        if rare.is_empty() {
            continue;
        }
        has_any = true;
        bands.resize(bands.len().max(1), NestingBand::default());
        for (depth, band) in bands.iter_mut().enumerate() {
            // The outermost band is as high as all of them.
            let shown = rare.iter().map(|&(column, kind)| {
                let kind = kind.filter(|_| depth == 0);
                (column, kind.map(|kind| SpanFill::Cells { kind, busy: 4 }))
            });
            band.replace(shown);
        }
    }
    has_any
}

/// The rarest parts of the columns of each group.
fn rare_parts(content: &WindowContent, width: u32, groups: &[Range<u32>]) -> RareParts {
    let columns = WindowColumns::new(content.window, width);
    let width = width as usize;
    let mut rare = RareParts::new(width, groups.len() * width);
    let (mut painter, mut sum) = (UnitPainter::default(), UnitsSum::default());
    let mut states: Vec<TraceState> = Vec::new();
    for (nth, group) in groups.iter().enumerate() {
        if group.len() < 2 {
            continue;
        }
        sum.begin(width, ColorMode::Dominant);
        for timeline in group.clone() {
            let found = range(&content.states, timeline, |state| state.timeline);
            states.clear();
            states.extend(content.states[found].iter().map(|state| TraceState {
                start: state.start,
                end: state.end,
                line: timeline,
                kind: state.kind,
            }));
            let previews = range(&content.previews, timeline, |preview| preview.timeline);
            sum.begin_unit(!previews.is_empty());
            painter.unit(&states, &columns, width, &mut sum);
            for preview in &content.previews[previews] {
                sum.preview(&of_unit(preview), &columns);
            }
            sum.end_unit();
        }
        sum.for_each_column(group.len() as u32, |column, parts, _| {
            rare.add(nth * width + column, parts, 0, group.len() as i64);
        });
    }
    rare
}

/// A preview as one of a unit.
fn of_unit(preview: &DrawnPreview) -> StatePreview {
    let shares = preview.shares.iter().map(|&(kind, share)| {
        let ratios = Ratios {
            exclusive: share as f32,
            ..Ratios::default()
        };
        (kind, ratios)
    });
    StatePreview {
        line: preview.timeline,
        bounds: TimeBBox {
            earliest: preview.start,
            latest: preview.end,
        },
        count: 0,
        shares: shares.collect(),
    }
}
