//! Pictures of stretches of time that are too long to read: from the cells of an index.
//!
//! All cells of all units of the picture are added up, some ten million of them for a large trace: without branches, which
//! none of them can foretell, and half of the rows on another thread.

use std::ops::Range;
use trace_formats::slog2::TimeBBox;

use super::bin_columns::Spread;
use crate::base::columns::{COLUMN, Columns};
use crate::base::parallel::{Stop, both_until};
use crate::index::grid::{NAMES, Stretch};
use crate::index::{Index, Level};
use crate::picture::cells::{Cells, Mode, share};
use crate::picture::from_drawables::{Question, write_cells};
use crate::picture::wire::{Header, Writer, flag};
use crate::search::hits::Hit;
use crate::timelines::layout::Layout;
use crate::trace::Trace;

/// Cells of units from which on it is worth it that two threads share the rows.
const MANY: usize = 1 << 19;

impl Index<'_> {
    /// The frame of a picture, and whether it is exact to the precision of its bytes; `None` if the index cannot tell, for
    /// rows have parts of units, or if it was stopped.
    pub fn frame(
        &self,
        trace: &Trace<'_>,
        question: &Question<'_>,
        stop: Stop<'_>,
    ) -> Option<(Vec<u8>, bool)> {
        let (cells, exact) = self.cells(trace, question, stop)?;
        let mut writer = Writer::default();
        write_cells(&mut writer, &cells, trace.kinds().len() <= 254);
        let kind = if exact { flag::EXACT } else { flag::COARSE };
        let part = question.window.duration() / self.window().duration();
        let frame = writer.finish(&Header {
            kind: 1,
            columns: question.width as u32,
            rows: question.rows.len() as u32,
            flags: flag::FROM_INDEX | kind,
            seq: question.seq,
            first_row: question.rows.start as u32,
            window: [question.window.earliest, question.window.latest],
            drawables: (self.drawables() as f64 * part.clamp(0.0, 1.0)) as u64,
            // None are in an index.
            arrows: 0,
        });
        Some((frame, exact))
    }

    /// The cells of a picture, and whether columns are whole bins, so that they are exact to the precision of their bytes.
    fn cells(
        &self,
        trace: &Trace<'_>,
        question: &Question<'_>,
        stop: Stop<'_>,
    ) -> Option<(Cells, bool)> {
        let Question { window, width, .. } = *question;
        let lanes_of = lanes(trace, question.layout, question.rows.clone())?;
        let bins = width as f64 * self.window().duration() / window.duration();
        let level = self.grid().level(bins);
        let spread = Spread::new(self.window(), level, window, width);
        let is_aligned = spread.is_aligned;
        let sketch = Sketch {
            level,
            slots: Slot::all(self.grid(), level, question),
            spread,
            width,
            mode: question.mode,
            has_groups: lanes_of.iter().any(|lanes| lanes.len() > 1),
        };
        let mut cells = sketch.draw_all(&lanes_of, stop)?;
        cells.first = question.rows.start;
        self.add_events(&mut cells, &lanes_of, window);
        // The index knows no single drawables: where hits are was found beside it.
        if let Some(places) = &question.places {
            let items = places.iter().map(Hit::item);
            let items = items.filter(|item| {
                window.earliest <= item.start
                    && item.start <= window.latest
                    && question.hidden.get(item.kind as usize) != Some(&true)
            });
            let row = |line| question.layout.row(line);
            let marks = items.filter_map(|item| Some((row(item.line)?, item.start)));
            cells.count_hits(&Columns::new(window, width as u32), marks);
        }
        let is_plain = !question.hidden.contains(&true) && !self.is_out_of_order();
        Some((cells, is_aligned && is_plain && self.events().is_none()))
    }

    /// The events of the units of each row, if there are any.
    fn add_events(&self, cells: &mut Cells, lanes_of: &[Vec<u32>], window: TimeBBox) {
        let Some(events) = self.events() else {
            return;
        };
        let width = cells.width;
        cells.events = vec![0; width * cells.rows];
        let bins = f64::from(events.bins());
        let of = Columns::new(window, width as u32);
        let per_second = bins / self.window().duration();
        let [first, behind] = [window.earliest, window.latest]
            .map(|time| (time - self.window().earliest) * per_second)
            .map(|bin| bin.clamp(0.0, bins) as usize);
        let behind = behind + 1;
        for (nth, lanes) in lanes_of.iter().enumerate() {
            for &lane in lanes {
                let classes = events.lane(lane).iter().enumerate();
                for (bin, &class) in classes.take(behind).skip(first) {
                    if class == 0 {
                        continue;
                    }
                    let middle = (bin as f64 + 0.5) / bins * self.window().duration();
                    let time = self.window().earliest + middle;
                    if window.earliest <= time && time <= window.latest {
                        let cell = &mut cells.events[nth * width + of.column(time)];
                        *cell = class.max(*cell);
                    }
                }
            }
        }
    }
}

/// The units of each row; `None` if a row has but a part of one's lines, for cells are of whole units.
fn lanes(trace: &Trace<'_>, layout: &Layout, rows: Range<usize>) -> Option<Vec<Vec<u32>>> {
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

/// Where shares go that stand behind a name.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Slot {
    /// Where the sums of the kind begin.
    place: u32,
    /// All bits if it counts as busy, none if not.
    mask: u32,
}

/// Sums of what is left out, and of shares without a name.
const NOTHING: Slot = Slot { place: 0, mask: 0 };
/// A bit that no place has.
const NOWHERE: u32 = 1 << 31;

impl Slot {
    /// By name as it stands in the cells, before anything has a place.
    fn all(grid: &crate::index::Grid<'_>, level: &Level<'_>, question: &Question<'_>) -> Vec<Slot> {
        let mut slots = vec![NOTHING; level.names_end()];
        let others = slots.len() - 1;
        let kinds = grid.kinds().min(others as u32 - 1);
        for kind in 0..kinds {
            let is_shown = match question.mode {
                Mode::Heat(wanted) => wanted == kind,
                _ => true,
            };
            if question.hidden.get(kind as usize) != Some(&true) {
                slots[kind as usize + 1] = Slot::of(is_shown);
            }
        }
        slots[others] = Slot::of(!matches!(question.mode, Mode::Heat(_)));
        slots
    }

    fn of(is_shown: bool) -> Slot {
        Slot {
            place: NOWHERE,
            mask: if is_shown { u32::MAX } else { 0 },
        }
    }
}

/// A name as it stands in the cells.
trait Named: Copy {
    fn number(self) -> usize;
}

impl Named for u8 {
    #[inline]
    fn number(self) -> usize {
        self.into()
    }
}

impl Named for [u8; 2] {
    #[inline]
    fn number(self) -> usize {
        u16::from_le_bytes(self).into()
    }
}

/// What is the same for all rows of a picture.
struct Sketch<'s> {
    level: &'s Level<'s>,
    slots: Vec<Slot>,
    spread: Spread,
    width: usize,
    mode: Mode,
    /// Whether any row has several units.
    has_groups: bool,
}

impl Sketch<'_> {
    /// The cells of rows with these units, half of the units on each of two threads; `None` if it was stopped.
    fn draw_all(&self, lanes_of: &[Vec<u32>], stop: Stop<'_>) -> Option<Cells> {
        let units: usize = lanes_of.iter().map(Vec::len).sum();
        if units * self.spread.count < MANY {
            return self.draw(lanes_of, stop);
        }
        let mut above = 0;
        let is_above = |lanes: &&Vec<u32>| {
            above += lanes.len();
            2 * above <= units
        };
        let middle = lanes_of.iter().take_while(is_above).count();
        let (upper, lower) = lanes_of.split_at(middle);
        let draw = |rows| move |stop: Stop<'_>| self.draw(rows, stop);
        let (above, below) = both_until(stop, draw(upper), draw(lower));
        let mut cells = above?;
        cells.extend(below?);
        Some(cells)
    }

    /// The cells of rows with these units.
    fn draw(&self, lanes_of: &[Vec<u32>], stop: Stop<'_>) -> Option<Cells> {
        let rows = 0..lanes_of.len();
        let mut cells = Cells::blank(rows, self.width, self.mode, self.has_groups);
        let mut row = Row::new(self);
        for (nth, lanes) in lanes_of.iter().enumerate() {
            if stop() {
                return None;
            }
            for &lane in lanes {
                row.add(lane, lanes.len() > 1);
            }
            row.write(&mut cells, nth * self.width, lanes.len());
        }
        Some(cells)
    }
}

/// Sums over the units of a row. Units are added bin by bin, and all of them spread over columns at once.
struct Row<'s> {
    sketch: &'s Sketch<'s>,
    slots: Vec<Slot>,
    /// Names that have a place, in the order of their places.
    names: Vec<usize>,
    /// By place and bin the sum of shares. The first place is that of [`NOTHING`]. Behind each some more, which stay 0.
    sums: Vec<u32>,
    /// The same of the unit that is added: all that is busy.
    unit: Vec<u32>,
    /// By place and column the sums over its bins, 255 times how much of it.
    columns: Vec<u64>,
    /// Of the units the least and the most, by bin and by mixed column, the latter [`COLUMN`] times.
    of_bins: Extremes,
    of_mixed: Extremes,
    parts: Vec<(u32, i64)>,
}

/// What the whole is of shares in the grid.
const SHARES: u32 = 255;

impl<'s> Row<'s> {
    fn new(sketch: &'s Sketch<'s>) -> Self {
        let length = sketch.spread.count + sketch.spread.columns.reach;
        Row {
            sketch,
            slots: sketch.slots.clone(),
            names: Vec::new(),
            sums: vec![0; length],
            unit: vec![0; length],
            columns: Vec::new(),
            of_bins: Extremes::new(sketch.spread.count),
            of_mixed: Extremes::new(sketch.spread.mixed.len()),
            parts: Vec::new(),
        }
    }

    fn add(&mut self, lane: u32, is_group: bool) {
        let spread = &self.sketch.spread;
        let end = spread.first + spread.count as u32;
        match self.sketch.level.stretch(lane, spread.first, end) {
            Stretch::Narrow(names, shares) => self.add_all::<{ 1 << 8 }, _>(names, shares),
            Stretch::Wide(names, shares) => self.add_all::<{ 1 << 16 }, _>(names, shares),
        }
        if is_group {
            let bins = self.unit[..spread.count].iter().enumerate();
            bins.for_each(|(bin, &busy)| self.of_bins.add(bin, busy.into()));
            let of_mixed = &mut self.of_mixed;
            (spread.of_mixed).for_each(&self.unit, |nth, busy| of_mixed.add(nth, busy));
        }
    }

    /// Adds the cells of a unit. `NAMES_END` is how many names there can be.
    fn add_all<const NAMES_END: usize, N: Named>(
        &mut self,
        names: &[[N; NAMES]],
        shares: &[[u8; NAMES]],
    ) {
        let mut done = 0;
        loop {
            done += self.add_known::<NAMES_END, N>(done, &names[done..], &shares[done..]);
            let Some(names) = names.get(done) else {
                // Of a damaged index there may be less.
                self.unit[done..].fill(0);
                return;
            };
            for &name in names {
                self.give_place(name.number());
            }
        }
    }

    /// The same from a bin on, up to a name that has no place yet; says how many it were.
    #[inline]
    fn add_known<const NAMES_END: usize, N: Named>(
        &mut self,
        from: usize,
        names: &[[N; NAMES]],
        shares: &[[u8; NAMES]],
    ) -> usize {
        let Some(slots) = self.slots.first_chunk::<NAMES_END>() else {
            return names.len();
        };
        let unit = &mut self.unit[from..];
        for (bin, ((names, shares), unit)) in names.iter().zip(shares).zip(unit).enumerate() {
            let slots = names.map(|name| slots[name.number() % NAMES_END]);
            if slots.iter().fold(0, |bits, slot| bits | slot.place) & NOWHERE != 0 {
                return bin;
            }
            let mut busy = 0;
            for (slot, &share) in slots.iter().zip(shares) {
                let sum = &mut self.sums[slot.place as usize + from + bin];
                *sum = sum.wrapping_add(u32::from(share));
                busy += u32::from(share) & slot.mask;
            }
            // More than all is what rounding makes.
            *unit = busy.min(SHARES);
        }
        names.len()
    }

    #[cold]
    fn give_place(&mut self, name: usize) {
        let slot = &mut self.slots[name];
        if slot.place == NOWHERE {
            slot.place = self.sums.len() as u32;
            self.names.push(name);
            self.sums.resize(self.sums.len() + self.unit.len(), 0);
        }
    }

    /// Writes what was added, and starts anew.
    fn write(&mut self, cells: &mut Cells, offset: usize, units: usize) {
        let Sketch {
            spread,
            mode,
            width,
            ..
        } = self.sketch;
        let others = self.slots.len() - 1;
        let whole = units as i64 * COLUMN;
        self.columns.resize(self.names.len() * width, 0);
        let planes = self.sums.chunks_exact(self.unit.len()).skip(1);
        for (plane, sums) in planes.zip(self.columns.chunks_exact_mut(*width)) {
            (spread.columns).for_each(plane, |column, sum| sums[column] = sum);
        }
        let mut mixed = (0..).zip(&spread.mixed).peekable();
        for column in 0..*width {
            self.parts.clear();
            let (mut sum, mut rest) = (0, 0);
            for (nth, &name) in self.names.iter().enumerate() {
                let found = self.columns[nth * width + column];
                let much = (found / u64::from(SHARES)) as i64;
                match found {
                    0 => {}
                    _ if name == others => rest = much,
                    _ => {
                        self.parts.push((name as u32 - 1, much));
                        sum += much;
                    }
                }
            }
            cells.set(offset + column, &self.parts, whole, *mode);
            if rest > 0 && !matches!(mode, Mode::Heat(_)) && !self.parts.is_empty() {
                cells.busy[offset + column] = share(sum + rest, whole);
            }
            let difference = match mixed.next_if(|(_, mixed)| **mixed as usize == column) {
                Some((nth, _)) => self.of_mixed.difference(nth),
                None => {
                    let bin = spread.columns.bins[column] as usize;
                    let part = spread.columns.parts[column * spread.columns.reach];
                    self.of_bins.difference(bin) * u64::from(part)
                }
            };
            let difference = (difference / u64::from(SHARES)) as i64;
            if units > 1 && difference > 0 {
                cells.spread[offset + column] = share(difference, COLUMN);
            }
        }
        for name in self.names.drain(..) {
            self.slots[name] = self.sketch.slots[name];
        }
        self.sums.truncate(self.unit.len());
        self.sums.fill(0);
        self.of_bins.clear();
        self.of_mixed.clear();
    }
}

/// The least and the most of numbers by place.
struct Extremes(Vec<(u64, u64)>);

/// Those of no numbers.
const NONE: (u64, u64) = (u64::MAX, 0);

impl Extremes {
    fn new(places: usize) -> Self {
        Extremes(vec![NONE; places])
    }

    #[inline]
    fn add(&mut self, place: usize, number: u64) {
        let (least, most) = &mut self.0[place];
        *least = (*least).min(number);
        *most = (*most).max(number);
    }

    fn difference(&self, place: usize) -> u64 {
        let (least, most) = self.0.get(place).copied().unwrap_or(NONE);
        most.saturating_sub(least)
    }

    fn clear(&mut self) {
        self.0.fill(NONE);
    }
}
