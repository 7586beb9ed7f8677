//! The states of a timeline as bands, one for each level of nesting: which columns of pixels show which state or category.
//!
//! A column shows the category that takes most of its time on this level. A state that fills columns is shown as itself;
//! what is smaller is added up, so that however many there are, every column in which something happens shows something.

use std::ops::Range;

use crate::drawing::content::{DrawnPreview, DrawnState, WindowContent};
use crate::drawing::scale::PixelScale;

/// A level of nesting of a timeline: what its columns show, from left to right; columns between show nothing.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NestingBand {
    /// Spans from left to right; they do not overlap.
    pub spans: Vec<BandSpan>,
}

impl NestingBand {
    /// Lets columns show something else, or nothing; columns are in ascending order.
    pub(crate) fn replace(&mut self, columns: impl Iterator<Item = (u32, Option<SpanFill>)>) {
        let mut fills: Vec<Option<SpanFill>> = Vec::new();
        for span in &self.spans {
            fills.resize(span.to as usize, None);
            fills[span.from as usize..].fill(Some(span.fill));
        }
        for (column, fill) in columns {
            let least = column as usize + 1;
            fills.resize(fills.len().max(least), None);
            fills[column as usize] = fill;
        }
        self.spans = joined(fills.into_iter());
    }
}

/// Columns that show the same.
#[derive(Clone, Debug, PartialEq)]
pub struct BandSpan {
    /// The first column.
    pub from: u32,
    /// The column behind the last one.
    pub to: u32,
    /// Content of the columns.
    pub fill: SpanFill,
}

/// Content of a run of columns.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SpanFill {
    /// The state at this position of the content.
    DrawnState(usize),
    /// States smaller than a column, of which those of this kind take most time.
    Cells {
        /// Position of the kind.
        kind: u32,
        /// Share of the time that is spent in states, in quarters: 1 for some to 4 for nearly all.
        busy: u8,
    },
    /// The preview at this position of the content.
    DrawnPreview(usize),
}

/// Length given to states without length, so that they are not lost.
const SOME: f64 = f64::MIN_POSITIVE;

/// On how many states each one lies, in the order of the content.
pub(crate) fn depths(states: &[DrawnState]) -> Vec<u32> {
    let mut open: Vec<f64> = Vec::new();
    let mut timeline = None;
    let mut depths = Vec::with_capacity(states.len());
    for state in states {
        if timeline != Some(state.timeline) {
            open.clear();
            timeline = Some(state.timeline);
        }
        while open.last().is_some_and(|&end| end <= state.start) {
            open.pop();
        }
        depths.push(open.len() as u32);
        open.push(state.end);
    }
    depths
}

/// On how many states the previews of a timeline lie, in their middle. Both by start.
fn preview_depths(previews: &[DrawnPreview], states: &[DrawnState], depths: &[u32]) -> Vec<u32> {
    let middle = |preview: &DrawnPreview| preview.start / 2.0 + preview.end / 2.0;
    let mut order: Vec<usize> = (0..previews.len()).collect();
    order.sort_by(|&a, &b| middle(&previews[a]).total_cmp(&middle(&previews[b])));
    let mut found = vec![0; previews.len()];
    let mut open: Vec<(f64, u32)> = Vec::new();
    let mut next = 0;
    for nth in order {
        let time = middle(&previews[nth]);
        while let Some(state) = states.get(next).filter(|state| state.start <= time) {
            while open.last().is_some_and(|&(end, _)| end <= state.start) {
                open.pop();
            }
            open.push((state.end, depths[next]));
            next += 1;
        }
        while open.last().is_some_and(|&(end, _)| end <= time) {
            open.pop();
        }
        found[nth] = open.last().map_or(0, |&(_, depth)| depth + 1);
    }
    found
}

/// Paints timelines, one after the other.
pub(crate) struct BandPainter<'c> {
    content: &'c WindowContent,
    depths: &'c [u32],
    scale: PixelScale,
    /// Most bands of a timeline; what is nested deeper is shown in the last.
    most: u32,
    levels: Vec<BandLevel>,
}

impl<'c> BandPainter<'c> {
    pub fn new(
        content: &'c WindowContent,
        depths: &'c [u32],
        scale: PixelScale,
        most: u32,
    ) -> Self {
        BandPainter {
            content,
            depths,
            scale,
            most: most.max(1),
            levels: Vec::new(),
        }
    }

    /// The bands of these timelines of the content together. Of more than one, no states are shown as themselves.
    pub fn paint(&mut self, timelines: Range<u32>) -> Vec<NestingBand> {
        let content = self.content;
        let lanes = timelines.len() as f64;
        let single = lanes <= 1.0;
        let mut used = 0;
        for timeline in timelines {
            let states = range(&content.states, timeline, |state| state.timeline);
            for nth in states.clone() {
                let state = &content.states[nth];
                let Some(stretch) = self.scale.stretch(state.start, state.end) else {
                    continue;
                };
                let level = self.level(self.depths[nth], &mut used);
                level.add(
                    stretch,
                    &[(state.kind, 1.0)],
                    single.then_some(SpanFill::DrawnState(nth)),
                );
            }
            let previews = range(&content.previews, timeline, |preview| preview.timeline);
            let depths = preview_depths(
                &content.previews[previews.clone()],
                &content.states[states.clone()],
                &self.depths[states],
            );
            for (nth, depth) in previews.zip(depths) {
                let preview = &content.previews[nth];
                let Some(stretch) = self.scale.stretch(preview.start, preview.end) else {
                    continue;
                };
                let level = self.level(depth, &mut used);
                level.add(
                    stretch,
                    &preview.shares,
                    single.then_some(SpanFill::DrawnPreview(nth)),
                );
            }
        }
        let levels = &mut self.levels[..used];
        levels
            .iter_mut()
            .map(|level| level.take(content, lanes))
            .collect()
    }

    fn level(&mut self, depth: u32, used: &mut usize) -> &mut BandLevel {
        let depth = depth.min(self.most - 1) as usize;
        while self.levels.len() <= depth {
            self.levels.push(BandLevel::new(self.scale.columns));
        }
        *used = (*used).max(depth + 1);
        &mut self.levels[depth]
    }
}

/// Range of the items of a timeline in a list that is sorted by timeline.
pub(crate) fn range<T>(list: &[T], timeline: u32, of: impl Fn(&T) -> u32) -> Range<usize> {
    list.partition_point(|item| of(item) < timeline)
        ..list.partition_point(|item| of(item) <= timeline)
}

/// A level of nesting while it is added up.
struct BandLevel {
    columns: u32,
    /// Position in `slots` by kind.
    slot_of: Vec<Option<usize>>,
    slots: Vec<KindTimes>,
    /// Lists of zeros for further slots.
    spare: Vec<Vec<f64>>,
    /// Spans that fill whole columns.
    whole: Vec<BandSpan>,
}

/// Time of a kind in each column, in columns.
struct KindTimes {
    kind: u32,
    times: Vec<f64>,
}

impl BandLevel {
    fn new(columns: u32) -> Self {
        BandLevel {
            columns,
            slot_of: Vec::new(),
            slots: Vec::new(),
            spare: Vec::new(),
            whole: Vec::new(),
        }
    }

    /// Adds what is between two places, of these kinds by their parts of the time.
    fn add(&mut self, (from, to): (f64, f64), parts: &[(u32, f64)], fill: Option<SpanFill>) {
        let first = (from.floor() as u32).min(self.columns - 1);
        let last = (to.ceil() as u32).clamp(first + 1, self.columns);
        let mut whole = (from.ceil() as u32)..(to.floor() as u32);
        match fill {
            // A share that is but a pixel wide shows no shares.
            Some(SpanFill::DrawnPreview(_)) if whole.len() < 2 => whole = 0..0,
            Some(fill) if !whole.is_empty() => self.whole.push(BandSpan {
                from: whole.start,
                to: whole.end,
                fill,
            }),
            Some(_) => {}
            None => whole = 0..0,
        }
        for &(kind, part) in parts {
            let times = self.slot(kind);
            for column in (first..last).filter(|column| !whole.contains(column)) {
                let (left, right) = (f64::from(column), f64::from(column) + 1.0);
                let time = (to.min(right) - from.max(left)).max(0.0) * part;
                times[column as usize] += time.max(SOME);
            }
        }
    }

    fn slot(&mut self, kind: u32) -> &mut [f64] {
        let at = kind as usize;
        if self.slot_of.len() <= at {
            self.slot_of.resize(at + 1, None);
        }
        let slot = *self.slot_of[at].get_or_insert_with(|| {
            let zeros = vec![0.0; self.columns as usize];
            let times = self.spare.pop().unwrap_or(zeros);
            self.slots.push(KindTimes { kind, times });
            self.slots.len() - 1
        });
        &mut self.slots[slot].times
    }

    /// Takes the band out, and starts anew.
    fn take(&mut self, content: &WindowContent, lanes: f64) -> NestingBand {
        let cells = self.cells(lanes);
        for mut slot in self.slots.drain(..) {
            self.slot_of[slot.kind as usize] = None;
            slot.times.fill(0.0);
            self.spare.push(slot.times);
        }
        let whole = std::mem::take(&mut self.whole);
        let spans = spans(content, cells, whole);
        NestingBand { spans }
    }

    /// By column the kind that takes most time, of several the one defined first, and how much time anything takes.
    fn cells(&self, lanes: f64) -> Vec<Option<(u32, u8)>> {
        let mut slots: Vec<&KindTimes> = self.slots.iter().collect();
        slots.sort_by_key(|slot| slot.kind);
        let column = |column: usize| {
            let (mut most, mut sum, mut kind) = (0.0, 0.0, None);
            for slot in &slots {
                let time = slot.times[column];
                sum += time;
                if time > most {
                    (most, kind) = (time, Some(slot.kind));
                }
            }
            let busy = (sum / lanes * 4.0).ceil().clamp(1.0, 4.0) as u8;
            kind.map(|kind| (kind, busy))
        };
        (0..self.columns as usize).map(column).collect()
    }
}

/// The columns from left to right, equal neighbours together. A state takes a column at its end as well that it fills only
/// in part, if its kind prevails there.
fn spans(
    content: &WindowContent,
    mut cells: Vec<Option<(u32, u8)>>,
    whole: Vec<BandSpan>,
) -> Vec<BandSpan> {
    let mut owner: Vec<Option<SpanFill>> = vec![None; cells.len()];
    for span in &whole {
        for column in span.from..span.to {
            owner[column as usize] = Some(span.fill);
            cells[column as usize] = None;
        }
    }
    for span in &whole {
        let SpanFill::DrawnState(nth) = span.fill else {
            continue;
        };
        let kind = content.states[nth].kind;
        let ends = [span.from.checked_sub(1), Some(span.to)];
        for column in ends.into_iter().flatten().map(|column| column as usize) {
            if owner.get(column) == Some(&None) && cells[column].is_some_and(|cell| cell.0 == kind)
            {
                owner[column] = Some(span.fill);
                cells[column] = None;
            }
        }
    }
    let fills = owner.into_iter().zip(cells).map(|(owner, cell)| {
        let cell = cell.map(|(kind, busy)| SpanFill::Cells { kind, busy });
        owner.or(cell)
    });
    joined(fills)
}

/// What columns show, equal neighbours together.
fn joined(fills: impl Iterator<Item = Option<SpanFill>>) -> Vec<BandSpan> {
    let mut spans: Vec<BandSpan> = Vec::new();
    for (column, fill) in fills.enumerate() {
        let Some(fill) = fill else {
            continue;
        };
        let column = column as u32;
        match spans.last_mut() {
            Some(last) if last.to == column && last.fill == fill => last.to = column + 1,
            _ => spans.push(BandSpan {
                from: column,
                to: column + 1,
                fill,
            }),
        }
    }
    spans
}
