//! Cells: for each timeline and column of pixels the kind of state that takes most of it, and how much of it is taken.
//!
//! A timeline of one unit is drawn as its states come. In a timeline of several each of them is, and what they say is added up.

use std::ops::Range;

use super::rare::RareParts;
use crate::base::columns::{COLUMN, WindowColumns};

/// The kind that gives a cell its colour.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ColorMode {
    /// The kind with most exclusive time; where many units share a timeline, what few of all units of the picture do.
    #[default]
    Dominant,
    /// The kind with least exclusive time, so that rare things are seen.
    Rare,
    /// One kind wherever it occurs; the busy share is that of this kind.
    Heat(u32),
    /// The three with most time.
    Stack,
}

/// Channels of cells, timeline by timeline.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PictureCells {
    /// Columns.
    pub width: usize,
    /// The first timeline.
    pub first: usize,
    /// Timelines.
    pub timelines: usize,
    /// 0 for nothing, else one more than the kind.
    pub category: Vec<u16>,
    /// Share of the cell in states, or of the kind in a heat map, of 255; at least 1 if there is anything.
    pub busy: Vec<u8>,
    /// Difference between the units of the timeline in that, if any timeline has several.
    pub deviation: Vec<u8>,
    /// 0 for no events, else 1 + log2 of their number.
    pub events: Vec<u8>,
    /// Hits of a search: 0 for none, else 1 + log2 of their number.
    pub hits: Vec<u8>,
    /// Share of the first kind, in a stack.
    pub share: Vec<u8>,
    /// Second and third kind and their shares, in a stack.
    pub others: [(Vec<u16>, Vec<u8>); 2],
    /// What is rare, until it is shown.
    rare: Option<RareParts>,
}

/// A share as a byte: 255 is all, and what is there at all is not 0.
#[inline]
pub fn share(part: i64, whole: i64) -> u8 {
    let bytes = (part.saturating_mul(255) + whole / 2) / whole.max(1);
    bytes.clamp(1, 255) as u8
}

impl PictureCells {
    /// Cells with nothing in them; `has_groups` says whether any timeline has several units.
    pub(crate) fn blank(
        timelines: Range<usize>,
        width: usize,
        mode: ColorMode,
        has_groups: bool,
    ) -> Self {
        let size = width * timelines.len();
        let channel = |wanted: bool| vec![0u8; if wanted { size } else { 0 }];
        let is_stack = mode == ColorMode::Stack;
        let other = || {
            (
                vec![0u16; if is_stack { size } else { 0 }],
                channel(is_stack),
            )
        };
        PictureCells {
            width,
            first: timelines.start,
            timelines: timelines.len(),
            category: vec![0; size],
            busy: channel(true),
            deviation: channel(has_groups),
            events: Vec::new(),
            hits: Vec::new(),
            share: channel(is_stack),
            others: [other(), other()],
            rare: (has_groups && mode == ColorMode::Dominant).then(|| RareParts::new(width, size)),
        }
    }

    /// Adds the timelines that follow.
    pub fn extend(&mut self, below: PictureCells) {
        let before = self.width * self.timelines;
        self.timelines += below.timelines;
        let sizes = (before, self.width * self.timelines);
        append_channel(&mut self.category, below.category, sizes);
        append_channel(&mut self.busy, below.busy, sizes);
        append_channel(&mut self.deviation, below.deviation, sizes);
        append_channel(&mut self.events, below.events, sizes);
        append_channel(&mut self.hits, below.hits, sizes);
        append_channel(&mut self.share, below.share, sizes);
        for ((kinds, shares), (more_kinds, more_shares)) in self.others.iter_mut().zip(below.others)
        {
            append_channel(kinds, more_kinds, sizes);
            append_channel(shares, more_shares, sizes);
        }
        if let (Some(rare), Some(more)) = (&mut self.rare, below.rare) {
            rare.extend(more);
        }
    }

    /// Shows what few of all units do where they do it, now that all timelines of the picture are there.
    pub(super) fn show_rare(&mut self) {
        let Some(rare) = self.rare.take() else {
            return;
        };
        rare.for_each(|at, kind| {
            self.category[at] = kind.map_or(0, |kind| kind + 1);
            self.busy[at] = if kind.is_some() { 255 } else { 0 };
        });
    }

    /// Counts events: timeline and time.
    pub fn count_events(
        &mut self,
        columns: &WindowColumns,
        events: impl Iterator<Item = (u32, f64)>,
    ) {
        self.events = self.levels(columns, events);
    }

    /// Counts hits of a search: timeline and time.
    pub fn count_hits(&mut self, columns: &WindowColumns, hits: impl Iterator<Item = (u32, f64)>) {
        self.hits = self.levels(columns, hits);
    }

    /// By cell 0, or 1 + log2 of how many there are; nothing at all if there are none.
    fn levels(&self, columns: &WindowColumns, marks: impl Iterator<Item = (u32, f64)>) -> Vec<u8> {
        let mut counts = Vec::new();
        for (timeline, time) in marks {
            let Some(timeline) = (timeline as usize)
                .checked_sub(self.first)
                .filter(|&timeline| timeline < self.timelines)
            else {
                continue;
            };
            if counts.is_empty() {
                counts = vec![0u32; self.width * self.timelines];
            }
            let count = &mut counts[timeline * self.width + columns.column(time)];
            *count = count.saturating_add(1);
        }
        let level = |n: u32| if n == 0 { 0 } else { 1 + n.ilog2() as u8 };
        counts.into_iter().map(level).collect()
    }

    /// Writes a cell of so many units: the parts of kinds, in all units together, what else there is without a kind's name, and
    /// by how much of a column units differ.
    #[inline]
    pub(super) fn set_units(
        &mut self,
        at: usize,
        parts: &[(u32, i64)],
        rest: i64,
        units: i64,
        difference: i64,
        mode: ColorMode,
    ) {
        let whole = units * COLUMN;
        if let Some(rare) = &mut self.rare
            && units > 1
        {
            rare.add(at, parts, rest, units);
        }
        self.set(at, parts, whole, mode);
        if rest > 0 && !matches!(mode, ColorMode::Heat(_)) && !parts.is_empty() {
            let sum: i64 = parts.iter().map(|part| part.1).sum();
            self.busy[at] = share(sum + rest, whole);
        }
        if units > 1 && difference > 0 {
            self.deviation[at] = share(difference, COLUMN);
        }
    }

    /// Writes a cell of these parts of a whole. Order of the parts does not matter.
    #[inline]
    pub(crate) fn set(&mut self, at: usize, parts: &[(u32, i64)], whole: i64, mode: ColorMode) {
        let mut sum = 0;
        let mut best: Option<(u32, i64)> = None;
        for &(kind, much) in parts {
            sum += much;
            let is_better = |old: (u32, i64)| match mode {
                ColorMode::Rare => (much, kind) < (old.1, old.0),
                _ => much > old.1 || (much == old.1 && kind < old.0),
            };
            let takes = match mode {
                ColorMode::Heat(wanted) => kind == wanted,
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
        let shown = if matches!(mode, ColorMode::Heat(_)) {
            much
        } else {
            sum
        };
        self.busy[at] = share(shown, whole);
        if mode == ColorMode::Stack {
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

/// Makes a channel longer, if either part has anything.
fn append_channel<T: Copy + Default>(
    channel: &mut Vec<T>,
    below: Vec<T>,
    (before, behind): (usize, usize),
) {
    if !(channel.is_empty() && below.is_empty()) {
        channel.resize(before, T::default());
        channel.extend(below);
        channel.resize(behind, T::default());
    }
}
