//! Pictures of stretches of time that are too long to read: from the cells of an index.
//!
//! All cells of all units of the picture are added up, some ten million of them for a large trace: without branches, which
//! none of them can foretell, and half of the timelines on another thread.

use std::ops::Range;
use trace_formats::slog2::TimeBBox;

use super::bin_columns::BinColumns;
use super::cells::{ColorMode, PictureCells};
use super::encode::{PictureSummary, encode};
use super::frame::flag;
use super::halves::draw_in_halves;
use super::request::PictureRequest;
use crate::base::columns::WindowColumns;
use crate::base::parallel::Cancel;
use crate::index::levels::{CellStretch, NAMES_PER_CELL};
use crate::index::{DetailLevel, OverviewIndex};
use crate::search::hits::SearchHit;
use crate::timelines::layout::TimelineLayout;
use crate::trace::OpenTrace;

/// How many times fewer bins than columns a picture is made of when time is up: each is a blur then, but none is blank.
const BLUR: f64 = 32.0;

/// Cells of units from which on it is worth it that two threads share the timelines.
const MIN_PARALLEL_CELLS: usize = 1 << 19;

impl OverviewIndex<'_> {
    /// The frame of a picture, and whether it is exact to the precision of its bytes; `None` if the index does not know, for
    /// timelines have parts of units. When `cancel` says that time is up, the picture is made of far fewer bins, without a look at the time.
    pub fn frame(
        &self,
        trace: &OpenTrace<'_>,
        request: &PictureRequest<'_>,
        cancel: Cancel<'_>,
    ) -> Option<(Vec<u8>, bool)> {
        let (cells, exact) = match self.cells(trace, request, 1.0, cancel) {
            Some(found) => found,
            None => (self.cells(trace, request, BLUR, &|| false)?.0, false),
        };
        let kind = if exact { flag::EXACT } else { flag::COARSE };
        let part = request.window.duration() / self.window().duration();
        let frame = encode(request, &cells, trace.kinds().len(), |_| PictureSummary {
            flags: flag::FROM_INDEX | kind,
            drawables: (self.drawables() as f64 * part.clamp(0.0, 1.0)) as u64,
            // An index has no arrows.
            arrows: 0,
        });
        Some((frame, exact))
    }

    /// The cells of a picture, of `blur` times fewer bins than columns, and whether columns are whole bins, so that they are exact to the precision of
    /// their bytes; `None` if the index does not know, or if it was cancelled.
    fn cells(
        &self,
        trace: &OpenTrace<'_>,
        request: &PictureRequest<'_>,
        blur: f64,
        cancel: Cancel<'_>,
    ) -> Option<(PictureCells, bool)> {
        let PictureRequest { window, width, .. } = *request;
        let lanes_of = lanes(trace, request.layout, request.timelines.clone())?;
        let bins = width as f64 * self.window().duration() / window.duration();
        let level = self.detail().level(bins / blur);
        let bin_columns = BinColumns::new(self.window(), level, window, width);
        let is_aligned = bin_columns.is_aligned;
        let picture = IndexPicture {
            level,
            slots: NameSlot::all(self.detail(), level, request),
            bin_columns,
            width,
            mode: request.mode,
            has_groups: lanes_of.iter().any(|lanes| lanes.len() > 1),
        };
        let mut cells = picture.draw_all(&lanes_of, cancel)?;
        cells.first = request.timelines.start;
        cells.show_rare();
        self.add_events(&mut cells, &lanes_of, window);
        // The index knows no single drawables: where hits are was found beside it.
        if let Some(places) = &request.places {
            let items = places.iter().map(SearchHit::item);
            let items = items.filter(|item| {
                window.earliest <= item.start
                    && item.start <= window.latest
                    && request.hidden.get(item.kind as usize) != Some(&true)
            });
            let timeline = |line| request.layout.timeline(line);
            let marks = items.filter_map(|item| Some((timeline(item.line)?, item.start)));
            cells.count_hits(&WindowColumns::new(window, width as u32), marks);
        }
        let is_plain = !request.hidden.contains(&true) && !self.is_out_of_order();
        Some((cells, is_aligned && is_plain && self.events().is_none()))
    }

    /// The events of the units of each timeline, if there are any.
    fn add_events(&self, cells: &mut PictureCells, lanes_of: &[Vec<u32>], window: TimeBBox) {
        let Some(events) = self.events() else {
            return;
        };
        let width = cells.width;
        cells.events = vec![0; width * cells.timelines];
        let bins = f64::from(events.bins());
        let of = WindowColumns::new(window, width as u32);
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

/// The units of each timeline; `None` if a timeline has but a part of one's lines, for cells are of whole units.
fn lanes(
    trace: &OpenTrace<'_>,
    layout: &TimelineLayout,
    timelines: Range<usize>,
) -> Option<Vec<Vec<u32>>> {
    let mut sizes: Vec<usize> = Vec::new();
    for line in trace.lines() {
        let lane = line.lane as usize;
        if sizes.len() <= lane {
            sizes.resize(lane + 1, 0);
        }
        sizes[lane] += 1;
    }
    let mut lanes_of = Vec::with_capacity(timelines.len());
    for timeline in timelines {
        let lines = layout.lines_of(timeline).iter();
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

/// Place of the shares of a name.
#[derive(Clone, Copy, Debug, PartialEq)]
struct NameSlot {
    /// Start of the sums of the kind.
    place: u32,
    /// All bits if it counts as busy, none if not.
    mask: u32,
}

/// Sums of what is left out, and of shares without a name.
const NO_SLOT: NameSlot = NameSlot { place: 0, mask: 0 };
/// A bit that no place has.
const NO_PLACE: u32 = 1 << 31;

impl NameSlot {
    /// By name as it stands in the cells, before anything has a place.
    fn all(
        levels: &crate::index::DetailLevels<'_>,
        level: &DetailLevel<'_>,
        request: &PictureRequest<'_>,
    ) -> Vec<NameSlot> {
        let mut slots = vec![NO_SLOT; level.names_end()];
        let arrows_and_events = slots.len() - 1;
        let kinds = levels.kinds().min(arrows_and_events as u32 - 1);
        for kind in 0..kinds {
            let is_shown = match request.mode {
                ColorMode::Heat(wanted) => wanted == kind,
                _ => true,
            };
            if request.hidden.get(kind as usize) != Some(&true) {
                slots[kind as usize + 1] = NameSlot::of(is_shown);
            }
        }
        slots[arrows_and_events] = NameSlot::of(!matches!(request.mode, ColorMode::Heat(_)));
        slots
    }

    fn of(is_shown: bool) -> NameSlot {
        NameSlot {
            place: NO_PLACE,
            mask: if is_shown { u32::MAX } else { 0 },
        }
    }
}

/// A name as it stands in the cells.
trait CellName: Copy {
    fn number(self) -> usize;
}

impl CellName for u8 {
    #[inline]
    fn number(self) -> usize {
        self.into()
    }
}

impl CellName for [u8; 2] {
    #[inline]
    fn number(self) -> usize {
        u16::from_le_bytes(self).into()
    }
}

/// Data that is the same for all timelines of a picture.
struct IndexPicture<'s> {
    level: &'s DetailLevel<'s>,
    slots: Vec<NameSlot>,
    bin_columns: BinColumns,
    width: usize,
    mode: ColorMode,
    /// Whether any timeline has several units.
    has_groups: bool,
}

impl IndexPicture<'_> {
    /// The cells of timelines with these units; `None` if it was cancelled.
    fn draw_all(&self, lanes_of: &[Vec<u32>], cancel: Cancel<'_>) -> Option<PictureCells> {
        let work = |timeline: usize| lanes_of[timeline].len() * self.bin_columns.count;
        let draw =
            |timelines: Range<usize>, cancel: Cancel<'_>| self.draw(&lanes_of[timelines], cancel);
        draw_in_halves(0..lanes_of.len(), work, MIN_PARALLEL_CELLS, cancel, draw)
    }

    /// The cells of timelines with these units.
    fn draw(&self, lanes_of: &[Vec<u32>], cancel: Cancel<'_>) -> Option<PictureCells> {
        let timelines = 0..lanes_of.len();
        let mut cells = PictureCells::blank(timelines, self.width, self.mode, self.has_groups);
        let mut timeline = TimelineSum::new(self);
        for (nth, lanes) in lanes_of.iter().enumerate() {
            if cancel() {
                return None;
            }
            for &lane in lanes {
                timeline.add(lane, lanes.len() > 1);
            }
            timeline.write(&mut cells, nth * self.width, lanes.len());
        }
        Some(cells)
    }
}

/// Sums over the units of a timeline. Units are added bin by bin; their sum is then divided among columns.
struct TimelineSum<'s> {
    picture: &'s IndexPicture<'s>,
    slots: Vec<NameSlot>,
    /// Names that have a place, in the order of their places.
    names: Vec<usize>,
    /// By place and bin the sum of shares. The first place is that of [`NO_SLOT`]. Behind each some more, which stay 0.
    sums: Vec<u32>,
    /// By bin the busy share of the unit that is being added.
    unit: Vec<u32>,
    /// By place and column the sums over its bins, 255 times how much of it.
    columns: Vec<u64>,
    /// Least and most busy share of a unit, by bin and by mixed column; the latter times [`crate::base::columns::COLUMN`].
    of_bins: RangeByPlace,
    of_mixed: RangeByPlace,
    parts: Vec<(u32, i64)>,
}

/// The share of a whole cell of the index.
const WHOLE_SHARE: u32 = 255;

impl<'s> TimelineSum<'s> {
    fn new(picture: &'s IndexPicture<'s>) -> Self {
        let length = picture.bin_columns.count + picture.bin_columns.columns.max_bins;
        TimelineSum {
            picture,
            slots: picture.slots.clone(),
            names: Vec::new(),
            sums: vec![0; length],
            unit: vec![0; length],
            columns: Vec::new(),
            of_bins: RangeByPlace::new(picture.bin_columns.count),
            of_mixed: RangeByPlace::new(picture.bin_columns.mixed.len()),
            parts: Vec::new(),
        }
    }

    fn add(&mut self, lane: u32, is_group: bool) {
        let bin_columns = &self.picture.bin_columns;
        let end = bin_columns.first + bin_columns.count as u32;
        match self.picture.level.stretch(lane, bin_columns.first, end) {
            CellStretch::Narrow(names, shares) => self.add_all::<{ 1 << 8 }, _>(names, shares),
            CellStretch::Wide(names, shares) => self.add_all::<{ 1 << 16 }, _>(names, shares),
        }
        if is_group {
            let bins = self.unit[..bin_columns.count].iter().enumerate();
            bins.for_each(|(bin, &busy)| self.of_bins.add(bin, busy.into()));
            let of_mixed = &mut self.of_mixed;
            (bin_columns.of_mixed).for_each(&self.unit, |nth, busy| of_mixed.add(nth, busy));
        }
    }

    /// Adds the cells of a unit. `NAMES_END` is how many names there can be.
    fn add_all<const NAMES_END: usize, N: CellName>(
        &mut self,
        names: &[[N; NAMES_PER_CELL]],
        shares: &[[u8; NAMES_PER_CELL]],
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

    /// Adds cells from a bin on, up to a name that has no slot yet. Gives how many were added.
    #[inline]
    fn add_known<const NAMES_END: usize, N: CellName>(
        &mut self,
        from: usize,
        names: &[[N; NAMES_PER_CELL]],
        shares: &[[u8; NAMES_PER_CELL]],
    ) -> usize {
        let Some(slots) = self.slots.first_chunk::<NAMES_END>() else {
            return names.len();
        };
        let unit = &mut self.unit[from..];
        for (bin, ((names, shares), unit)) in names.iter().zip(shares).zip(unit).enumerate() {
            let slots = names.map(|name| slots[name.number() % NAMES_END]);
            if slots.iter().fold(0, |bits, slot| bits | slot.place) & NO_PLACE != 0 {
                return bin;
            }
            let mut busy = 0;
            for (slot, &share) in slots.iter().zip(shares) {
                let sum = &mut self.sums[slot.place as usize + from + bin];
                *sum = sum.wrapping_add(u32::from(share));
                busy += u32::from(share) & slot.mask;
            }
            // More than all is what rounding makes.
            *unit = busy.min(WHOLE_SHARE);
        }
        names.len()
    }

    #[cold]
    fn give_place(&mut self, name: usize) {
        let slot = &mut self.slots[name];
        if slot.place == NO_PLACE {
            slot.place = self.sums.len() as u32;
            self.names.push(name);
            self.sums.resize(self.sums.len() + self.unit.len(), 0);
        }
    }

    /// Writes what was added, and starts anew.
    fn write(&mut self, cells: &mut PictureCells, offset: usize, units: usize) {
        let IndexPicture {
            bin_columns,
            mode,
            width,
            ..
        } = self.picture;
        let arrows_and_events = self.slots.len() - 1;
        self.columns.resize(self.names.len() * width, 0);
        let channels = self.sums.chunks_exact(self.unit.len()).skip(1);
        for (channel, sums) in channels.zip(self.columns.chunks_exact_mut(*width)) {
            (bin_columns.columns).for_each(channel, |column, sum| sums[column] = sum);
        }
        let mut mixed = (0..).zip(&bin_columns.mixed).peekable();
        for column in 0..*width {
            self.parts.clear();
            let mut rest = 0;
            for (nth, &name) in self.names.iter().enumerate() {
                let found = self.columns[nth * width + column];
                let much = (found / u64::from(WHOLE_SHARE)) as i64;
                match found {
                    0 => {}
                    _ if name == arrows_and_events => rest = much,
                    _ => {
                        self.parts.push((name as u32 - 1, much));
                    }
                }
            }
            let difference = match mixed.next_if(|(_, mixed)| **mixed as usize == column) {
                Some((nth, _)) => self.of_mixed.difference(nth),
                None => {
                    let bin = bin_columns.columns.bins[column] as usize;
                    let part = bin_columns.columns.parts[column * bin_columns.columns.max_bins];
                    self.of_bins.difference(bin) * u64::from(part)
                }
            };
            let difference = (difference / u64::from(WHOLE_SHARE)) as i64;
            cells.set_units(
                offset + column,
                &self.parts,
                rest,
                units as i64,
                difference,
                *mode,
            );
        }
        for name in self.names.drain(..) {
            self.slots[name] = self.picture.slots[name];
        }
        self.sums.truncate(self.unit.len());
        self.sums.fill(0);
        self.of_bins.clear();
        self.of_mixed.clear();
    }
}

/// The least and the most of numbers by place.
struct RangeByPlace(Vec<(u64, u64)>);

/// The range of no numbers.
const EMPTY_RANGE: (u64, u64) = (u64::MAX, 0);

impl RangeByPlace {
    fn new(places: usize) -> Self {
        RangeByPlace(vec![EMPTY_RANGE; places])
    }

    #[inline]
    fn add(&mut self, place: usize, number: u64) {
        let (least, most) = &mut self.0[place];
        *least = (*least).min(number);
        *most = (*most).max(number);
    }

    fn difference(&self, place: usize) -> u64 {
        let (least, most) = self.0.get(place).copied().unwrap_or(EMPTY_RANGE);
        most.saturating_sub(least)
    }

    fn clear(&mut self) {
        self.0.fill(EMPTY_RANGE);
    }
}
