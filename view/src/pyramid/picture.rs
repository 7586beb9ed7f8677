//! Pictures of stretches of time that are too long to read: from the cells of an index.

use formats::slog2::TimeBBox;

use super::{Index, Level, Name};
use crate::cells::{Cells, share};
use crate::columns::{BITS, COLUMN, Columns};
use crate::frame::{Question, write_cells};
use crate::layout::Layout;
use crate::trace::Trace;
use crate::wire::{Header, Writer, flag};

impl Index<'_> {
    /// The frame of a picture, and whether it is exact to the precision of its bytes; `None` if the index cannot tell, for
    /// rows have parts of units.
    pub fn frame(&self, trace: &Trace<'_>, question: &Question<'_>) -> Option<(Vec<u8>, bool)> {
        let (cells, exact) = self.cells(trace, question)?;
        let mut writer = Writer::default();
        write_cells(&mut writer, &cells, trace.kinds().len() <= 254);
        let kind = if exact { flag::EXACT } else { flag::COARSE };
        let part = question.window.duration() / self.window.duration();
        let all = self.totals.as_ref().map_or(0, |totals| totals.drawables);
        let frame = writer.finish(&Header {
            kind: 1,
            columns: question.width as u32,
            rows: question.rows.len() as u32,
            flags: flag::FROM_INDEX | kind,
            seq: question.seq,
            first_row: question.rows.start as u32,
            window: [question.window.earliest, question.window.latest],
            drawables: (all as f64 * part.clamp(0.0, 1.0)) as u64,
        });
        Some((frame, exact))
    }

    /// The cells of a picture, and whether columns are whole bins, so that they are exact to the precision of their bytes.
    pub fn cells(&self, trace: &Trace<'_>, question: &Question<'_>) -> Option<(Cells, bool)> {
        let Question {
            window,
            width,
            ref rows,
            layout,
            mode,
            ..
        } = *question;
        let lanes_of = lanes(trace, layout, rows.clone())?;
        let bins = width as f64 * self.window.duration() / window.duration();
        let level = self.grid.level(bins)?;
        let spread = Spread::new(self.window, level, window, width);
        let size = width * rows.len();
        let plane = |wanted: bool| vec![0u8; if wanted { size } else { 0 }];
        let is_stack = mode == crate::cells::Mode::Stack;
        let other = || (vec![0u16; if is_stack { size } else { 0 }], plane(is_stack));
        let mut cells = Cells {
            width,
            first: rows.start,
            rows: rows.len(),
            category: vec![0; size],
            busy: plane(true),
            spread: plane(lanes_of.iter().any(|lanes| lanes.len() > 1)),
            events: plane(self.events.is_some()),
            // The index knows no single drawables.
            hits: Vec::new(),
            share: plane(is_stack),
            others: [other(), other()],
        };
        let mut row = Row::new(self.grid.kinds(), width);
        for (nth, lanes) in lanes_of.iter().enumerate() {
            for &lane in lanes {
                row.add(level, lane, &spread, &question.hidden);
            }
            let units = lanes.len() as i64;
            row.write(&mut cells, &spread, nth * width, units, mode);
        }
        if let Some(events) = &self.events {
            let bins = f64::from(events.bins());
            let of = Columns::new(window, width as u32);
            let per_second = bins / self.window.duration();
            let [first, behind] = [window.earliest, window.latest]
                .map(|time| (time - self.window.earliest) * per_second)
                .map(|bin| bin.clamp(0.0, bins) as usize);
            let behind = behind + 1;
            for (nth, lanes) in lanes_of.iter().enumerate() {
                for &lane in lanes {
                    let classes = events.lane(lane).iter().enumerate();
                    for (bin, &class) in classes.take(behind).skip(first) {
                        if class == 0 {
                            continue;
                        }
                        let middle = (bin as f64 + 0.5) / bins * self.window.duration();
                        let time = self.window.earliest + middle;
                        if window.earliest <= time && time <= window.latest {
                            let cell = &mut cells.events[nth * width + of.column(time)];
                            *cell = class.max(*cell);
                        }
                    }
                }
            }
        }
        let is_plain = !question.hidden.contains(&true) && !self.out_of_order;
        let has_no_events = self.events.is_none();
        Some((cells, spread.is_aligned && is_plain && has_no_events))
    }
}

/// The units of each row; `None` if a row has but a part of one's lines, for cells are of whole units.
fn lanes(
    trace: &Trace<'_>,
    layout: &Layout,
    rows: std::ops::Range<usize>,
) -> Option<Vec<Vec<u32>>> {
    let mut sizes: Vec<usize> = Vec::new();
    for line in trace.lines() {
        let lane = line.lane as usize;
        if sizes.len() <= lane {
            sizes.resize(lane + 1, 0);
        }
        sizes[lane] += 1;
    }
    let mut lanes_of = Vec::with_capacity(rows.len());
    for row in rows {
        let lines = layout.lines_of(row).iter();
        let mut lanes: Vec<u32> = lines.map(|&l| trace.lines()[l as usize].lane).collect();
        lanes.sort_unstable();
        let whole = |same: &[u32]| sizes[same[0] as usize] == same.len();
        if !lanes.chunk_by(|a, b| a == b).all(whole) {
            return None;
        }
        lanes.dedup();
        lanes_of.push(lanes);
    }
    Some(lanes_of)
}

/// Where the bins of a level are among columns.
struct Spread {
    /// The first bin that reaches into the window.
    first: u32,
    /// Of each bin from the first on the parts of columns that it covers: from which place in `parts` on, and behind the
    /// last one.
    starts: Vec<u32>,
    /// Columns, and how much of them.
    parts: Vec<(u32, i64)>,
    is_aligned: bool,
}

impl Spread {
    fn new(all: TimeBBox, level: &Level<'_>, window: TimeBBox, width: usize) -> Self {
        let bins = f64::from(level.bins());
        let per_second = bins / all.duration();
        let [from, to] = [window.earliest, window.latest].map(|t| (t - all.earliest) * per_second);
        let first = from.floor().clamp(0.0, bins) as u32;
        let behind = to.ceil().clamp(f64::from(first), bins) as u32;
        let columns = Columns::new(window, width as u32);
        let border = |bin: u32| {
            let time = all.earliest + all.duration() * (f64::from(bin) / bins);
            columns.at(time)
        };
        let (mut starts, mut parts) = (vec![0], Vec::new());
        for bin in first..behind {
            let (mut from, to) = (border(bin), border(bin + 1));
            while from < to {
                let column = from >> BITS;
                let end = to.min((column + 1) << BITS);
                parts.push((column as u32, end - from));
                from = end;
            }
            starts.push(parts.len() as u32);
        }
        let is_whole = |number: f64| (number - number.round()).abs() < 1e-6;
        Spread {
            first,
            starts,
            parts,
            is_aligned: is_whole(from) && is_whole((to - from) / width as f64) && to - from >= 0.5,
        }
    }

    /// Bins.
    fn count(&self) -> usize {
        self.starts.len() - 1
    }

    /// Of a bin, counted from the first.
    #[inline]
    fn parts(&self, bin: usize) -> &[(u32, i64)] {
        &self.parts[self.starts[bin] as usize..self.starts[bin + 1] as usize]
    }
}

/// Sums over the units of a row. Units are added bin by bin, and all of them spread over columns at once.
struct Row {
    width: usize,
    /// By kind the position of its sums, and behind all kinds that of what has no name.
    place_of: Vec<u32>,
    kinds: Vec<u32>,
    /// By place and bin how often the kind is there, from the bit [`COUNT`] on, and below the sum of its shares.
    bins: Vec<u64>,
    /// By place and column 255 times how much of the column, [`ABSENT`] where the kind is not.
    sums: Vec<i64>,
    /// By bin of the unit that is added, and by column, the latter 255 times; and the least and the most of one.
    unit_bins: Vec<u32>,
    unit: Vec<i64>,
    least: Vec<i64>,
    most: Vec<i64>,
    parts: Vec<(u32, i64)>,
}

const NOWHERE: u32 = u32::MAX;
const ABSENT: i64 = -1;
/// Bits for sums of shares.
const COUNT: u32 = 36;
/// What the whole is of shares in the grid.
const SHARES: i64 = 255;

impl Row {
    fn new(kinds: u32, width: usize) -> Self {
        Row {
            width,
            place_of: vec![NOWHERE; kinds as usize + 1],
            kinds: Vec::new(),
            bins: Vec::new(),
            sums: Vec::new(),
            unit_bins: Vec::new(),
            unit: vec![0; width],
            least: vec![i64::MAX; width],
            most: vec![0; width],
            parts: Vec::new(),
        }
    }

    fn add(&mut self, level: &Level<'_>, lane: u32, spread: &Spread, hidden: &[bool]) {
        let (first, count) = (spread.first, spread.count());
        self.unit_bins.clear();
        self.unit_bins.resize(count, 0);
        let others = self.place_of.len() as u32 - 1;
        level.for_each(lane, first, first + count as u32, |bin, name, share| {
            let kind = match name {
                Name::Kind(kind) if kind >= others || hidden.get(kind as usize) == Some(&true) => {
                    return;
                }
                Name::Kind(kind) => kind,
                Name::Others => others,
            };
            let mut place = self.place_of[kind as usize];
            if place == NOWHERE {
                place = self.kinds.len() as u32;
                self.kinds.push(kind);
                self.place_of[kind as usize] = place;
                self.bins.resize(self.kinds.len() * count, 0);
            }
            let at = (bin - first) as usize;
            self.bins[place as usize * count + at] += (1 << COUNT) + u64::from(share);
            self.unit_bins[at] += u32::from(share);
        });
        self.unit.fill(0);
        for (bin, &share) in self.unit_bins.iter().enumerate() {
            for &(column, much) in spread.parts(bin) {
                self.unit[column as usize] += much * i64::from(share);
            }
        }
        for (busy, (least, most)) in
            (self.unit.iter()).zip(self.least.iter_mut().zip(&mut self.most))
        {
            *least = (*least).min(*busy);
            *most = (*most).max(*busy);
        }
    }

    /// Writes what was added, and starts anew.
    fn write(
        &mut self,
        cells: &mut Cells,
        spread: &Spread,
        offset: usize,
        units: i64,
        mode: crate::cells::Mode,
    ) {
        self.sums.clear();
        self.sums.resize(self.kinds.len() * self.width, ABSENT);
        let bins = self.bins.chunks_exact(spread.count().max(1));
        for (bins, sums) in bins.zip(self.sums.chunks_exact_mut(self.width.max(1))) {
            for (bin, &found) in bins.iter().enumerate().filter(|(_, found)| **found > 0) {
                let share = (found & ((1 << COUNT) - 1)) as i64;
                for &(column, much) in spread.parts(bin) {
                    let sum = &mut sums[column as usize];
                    *sum = (*sum).max(0) + much * share;
                }
            }
        }
        let others = self.place_of.len() as u32 - 1;
        let whole = units * COLUMN;
        for column in 0..self.width {
            self.parts.clear();
            let mut rest = 0;
            for (nth, &kind) in self.kinds.iter().enumerate() {
                match self.sums[nth * self.width + column] {
                    ABSENT => {}
                    much if kind == others => rest += much / SHARES,
                    much => self.parts.push((kind, much / SHARES)),
                }
            }
            cells.set(offset + column, &self.parts, whole, mode);
            let is_heat = matches!(mode, crate::cells::Mode::Heat(_));
            if rest > 0 && !is_heat && !self.parts.is_empty() {
                let sum: i64 = self.parts.iter().map(|part| part.1).sum();
                cells.busy[offset + column] = share(sum + rest, whole);
            }
            let most = self.most[column];
            let difference = (most - self.least[column].min(most)) / SHARES;
            if units > 1 && difference > 0 {
                cells.spread[offset + column] = share(difference, COLUMN);
            }
        }
        for &kind in &self.kinds {
            self.place_of[kind as usize] = NOWHERE;
        }
        self.kinds.clear();
        self.bins.clear();
        self.least.fill(i64::MAX);
        self.most.fill(0);
    }
}
