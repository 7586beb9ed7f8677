//! Makes an [`Index`] in one pass over a trace, in steps, so that it can be made beside other work and given up.

use formats::slog2::{Category, Error, TimeBBox, Topology};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};

use super::grid::GridWriter;
use super::merge::{Done, Merge, Take};
use super::sweep::{Cells, Lane, Open};
use super::totals::{
    Flow, KindTotals, LONGEST, LineTotals, Long, MOST_GROUPS, Messages, SizePlace, Sum, Totals,
    Volume, duration_class, size_class,
};
use super::{Events, Index, Overview};
use crate::columns::{COLUMN, Columns};
use crate::trace::{Item, Trace};

/// Cells of the finest level at most: with [`super::NAMES`] bytes for names and shares each, some 200 MB.
const MOST_CELLS: u64 = 24 << 20;
/// Bins of the finest level, at most.
const MOST_BINS: u32 = 1 << 14;
/// Bins of the finest level, at least.
const FEWEST_BINS: u32 = 1 << 6;
/// Bins of the overview, at most.
const OVERVIEW_BINS: u32 = 1 << 10;
/// Lines times kinds up to which places of sums are kept in a table.
const MOST_PLACES: usize = 1 << 24;

/// What an index is to have.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    /// The stretch of time of its cells.
    pub window: TimeBBox,
    /// Bins of the finest level.
    pub bins: u32,
    /// Whether it has [`Totals`].
    pub totals: bool,
}

impl Shape {
    /// What suits a trace: as many bins as memory allows, and no more bytes than a small part of the file.
    pub fn of(trace: &Trace<'_>) -> Self {
        let directory = trace.reader().directory();
        let lanes = u64::from(lanes(trace)).max(1);
        let cells = (directory.node_bytes() / 64).clamp(1 << 16, MOST_CELLS);
        let bins = u32::try_from(cells / lanes).unwrap_or(MOST_BINS).max(1);
        let power = 1u32 << bins.ilog2();
        Shape {
            window: trace.bounds(),
            bins: power.clamp(FEWEST_BINS, MOST_BINS),
            totals: true,
        }
    }
}

/// How many units there are.
fn lanes(trace: &Trace<'_>) -> u32 {
    let lanes = trace.lines().iter().map(|line| line.lane + 1);
    lanes.max().unwrap_or(0)
}

/// Makes an [`Index`].
#[derive(Debug)]
pub struct Builder<'t, 'a> {
    merge: Merge<'t, 'a>,
    found: Found<'t>,
    more: bool,
}

impl<'t, 'a> Builder<'t, 'a> {
    /// Begins; nothing is read yet.
    ///
    /// # Errors
    /// The tree directory is damaged.
    pub fn new(trace: &'t Trace<'a>, shape: Shape) -> Result<Self, Error> {
        Ok(Builder {
            merge: Merge::new(trace, shape.window)?,
            found: Found::new(trace, shape),
            more: true,
        })
    }

    /// Reads some more drawables, about so many; false once there are none left.
    ///
    /// # Errors
    /// A node is damaged. Then there will be no index.
    pub fn step(&mut self, drawables: u64) -> Result<bool, Error> {
        if self.more {
            self.more = self.merge.step(drawables, &mut self.found)?;
        }
        Ok(self.more)
    }

    /// What was read so far.
    pub fn done(&self) -> Done {
        self.merge.done()
    }

    /// The index, of what was read.
    pub fn finish(self) -> Index<'static> {
        let done = self.merge.done();
        self.found.finish(done)
    }
}

/// What was found.
#[derive(Debug)]
struct Found<'t> {
    shape: Shape,
    bins: u32,
    cells: Cells,
    lanes: Vec<Lane>,
    /// By line.
    lane_of: Vec<u32>,
    /// By line until when it is known to be in some state.
    covered: Vec<f64>,
    /// Events by unit and bin; empty as long as there are none.
    events: Vec<u16>,
    places: Places,
    /// Of kinds on lines.
    sums: Vec<Sum>,
    /// Of each of `sums` line and kind.
    owners: Vec<(u32, u32)>,
    kinds: Vec<KindFound<'t>>,
    lines: Vec<LineTotals>,
    messages: Messages,
    groups: u32,
    flows: Vec<Volume>,
    out_of_order: u64,
}

#[derive(Debug)]
struct KindFound<'t> {
    category: &'t Category,
    size: SizePlace,
    totals: KindTotals,
    longest: BinaryHeap<Reverse<(u64, Ends)>>,
    /// What is shorter is none of the longest.
    floor: f64,
}

/// Bits of the start, negated so that of equal ones the first are kept, and the line.
type Ends = (Reverse<u64>, u32);

impl KindFound<'_> {
    #[inline]
    fn add(&mut self, duration: f64, start: f64, line: u32) {
        self.totals.durations[duration_class(duration)] += 1;
        if duration > self.floor {
            self.keep(duration, start, line);
        }
    }

    fn keep(&mut self, duration: f64, start: f64, line: u32) {
        // Bits of floats that are not negative ascend as their values do; of starts only the order among equals hangs on it.
        let ends = (Reverse(start.to_bits()), line);
        self.longest.push(Reverse((duration.to_bits(), ends)));
        if self.longest.len() > LONGEST {
            self.longest.pop();
        }
        if self.longest.len() == LONGEST
            && let Some(Reverse((least, _))) = self.longest.peek()
        {
            self.floor = f64::from_bits(*least);
        }
    }

    fn finish(self) -> KindTotals {
        let mut totals = self.totals;
        let longest = self.longest.into_sorted_vec().into_iter();
        totals.longest = longest
            .map(|Reverse((duration, (Reverse(start), line)))| Long {
                duration: f64::from_bits(duration),
                start: f64::from_bits(start),
                line,
            })
            .collect();
        totals
    }
}

/// Where the sum of a kind on a line is.
#[derive(Debug)]
enum Places {
    /// By line and kind; `u32::MAX` if there is none yet.
    Table(Vec<u32>),
    Map(HashMap<(u32, u32), u32>),
}

impl<'t> Found<'t> {
    fn new(trace: &'t Trace<'_>, shape: Shape) -> Self {
        let (lines, kinds) = (trace.lines().len(), trace.kinds().len());
        let (lanes, bins) = (lanes(trace), shape.bins.max(1));
        let per_overview = (bins / OVERVIEW_BINS).max(1);
        let overview = bins.div_ceil(per_overview) as usize * kinds;
        let group = (lines as u32).div_ceil(MOST_GROUPS).max(1);
        let groups = (lines as u32).div_ceil(group);
        let table = lines * kinds <= MOST_PLACES;
        Found {
            bins,
            lanes: (0..lanes).map(Lane::new).collect(),
            lane_of: trace.lines().iter().map(|line| line.lane).collect(),
            covered: vec![f64::NEG_INFINITY; lines],
            cells: Cells {
                columns: Columns::new(shape.window, bins),
                end: i64::from(bins) * COLUMN,
                grid: GridWriter::new(lanes, kinds as u32, bins),
                overview: vec![0; overview],
                per_overview,
                kinds: kinds as u32,
            },
            events: Vec::new(),
            places: match table {
                true => Places::Table(vec![u32::MAX; lines * kinds]),
                false => Places::Map(HashMap::new()),
            },
            sums: Vec::new(),
            owners: Vec::new(),
            kinds: (trace.kinds().iter())
                .map(|kind| KindFound {
                    category: &kind.category,
                    size: SizePlace::of(&kind.category),
                    totals: KindTotals::default(),
                    longest: BinaryHeap::new(),
                    floor: -1.0,
                })
                .collect(),
            lines: vec![LineTotals::default(); lines],
            messages: Messages {
                group,
                ..Messages::default()
            },
            groups,
            flows: vec![Volume::default(); groups as usize * groups as usize],
            out_of_order: 0,
            shape,
        }
    }

    /// Where the sum of a kind on a line is.
    #[inline]
    fn slot(&mut self, line: u32, kind: u32) -> u32 {
        let place = match &mut self.places {
            Places::Table(table) => &mut table[line as usize * self.kinds.len() + kind as usize],
            Places::Map(map) => map.entry((line, kind)).or_insert(u32::MAX),
        };
        if *place == u32::MAX {
            *place = self.sums.len() as u32;
            self.sums.push(Sum::default());
            self.owners.push((line, kind));
        }
        *place
    }

    fn finish(mut self, done: Done) -> Index<'static> {
        for lane in &mut self.lanes {
            lane.finish(&mut self.cells);
        }
        drop(self.places);
        let mut kinds: Vec<KindTotals> = self.kinds.into_iter().map(KindFound::finish).collect();
        for (&(line, kind), sum) in self.owners.iter().zip(&self.sums) {
            self.lines[line as usize].kinds.push((kind, *sum));
        }
        for line in &mut self.lines {
            line.kinds.sort_unstable_by_key(|entry| entry.0);
            for (kind, sum) in &line.kinds {
                kinds[*kind as usize].sum.join(sum);
            }
        }
        let mut messages = self.messages;
        for (place, &volume) in (0u32..).zip(&self.flows) {
            if volume.count > 0 {
                let (from, to) = (place / self.groups, place % self.groups);
                messages.flows.push(Flow { from, to, volume });
            }
        }
        let second = self.shape.window.duration() / f64::from(self.bins) / COLUMN as f64;
        let seconds = self.cells.overview.iter().map(|&sum| sum as f64 * second);
        Index {
            window: self.shape.window,
            events: Events::of(self.bins, &self.events),
            overview: Overview {
                bins: self.bins.div_ceil(self.cells.per_overview),
                kinds: self.cells.kinds,
                seconds: seconds.collect(),
            },
            totals: self.shape.totals.then_some(Totals {
                drawables: done.drawables,
                placeless: done.placeless,
                out_of_order: self.out_of_order,
                kinds,
                lines: self.lines,
                messages,
            }),
            out_of_order: self.out_of_order > 0,
            grid: self.cells.grid.finish(),
        }
    }
}

impl Take for Found<'_> {
    #[inline]
    fn state(&mut self, state: &Item<'_>) {
        let (start, end) = (state.start.min(state.end), state.start.max(state.end));
        let duration = end - start;
        let window = self.shape.window;
        let is_in = match start == end {
            true => window.earliest <= start && end <= window.latest,
            false => start < window.latest && window.earliest < end,
        };
        if !is_in {
            return;
        }
        let lane = self.lane_of[state.line as usize] as usize;
        self.out_of_order += u64::from(start < self.lanes[lane].until());
        self.lanes[lane].advance(start, &mut self.cells);
        let outer = self.lanes[lane].covering(state.line, start, end);
        let mut slot = 0;
        if self.shape.totals {
            slot = self.slot(state.line, state.kind);
            if let Some(outer) = outer {
                self.sums[outer.slot as usize].exclusive -= duration;
            }
            let sum = &mut self.sums[slot as usize];
            sum.add(duration);
            sum.exclusive += duration;
            self.kinds[state.kind as usize].add(duration, start, state.line);
            let line = &mut self.lines[state.line as usize];
            line.first = line.first.min(start);
            line.last = line.last.max(end);
            let covered = &mut self.covered[state.line as usize];
            if end > *covered {
                line.busy += end - start.max(*covered);
                *covered = end;
            }
        }
        let open = Open {
            start,
            end,
            kind: state.kind,
            line: state.line,
            slot,
        };
        self.lanes[lane].begin(open, &mut self.cells);
    }

    fn other(&mut self, item: &Item<'_>) {
        let (earliest, latest) = (item.start.min(item.end), item.start.max(item.end));
        let window = self.shape.window;
        if latest < window.earliest || earliest > window.latest {
            return;
        }
        if item.topology == Topology::Event {
            let bins = self.bins as usize;
            if self.events.is_empty() {
                self.events = vec![0; bins * self.lanes.len()];
            }
            let lane = self.lane_of[item.line as usize] as usize;
            let at = lane * bins + self.cells.columns.column(item.start);
            self.events[at] = self.events[at].saturating_add(1);
        }
        if !self.shape.totals {
            return;
        }
        let duration = latest - earliest;
        let slot = self.slot(item.line, item.kind);
        self.sums[slot as usize].add(duration);
        for (line, time) in [(item.line, item.start), (item.to_line, item.end)] {
            let line = &mut self.lines[line as usize];
            line.first = line.first.min(time);
            line.last = line.last.max(time);
        }
        if item.topology != Topology::Arrow {
            return;
        }
        let kind = &mut self.kinds[item.kind as usize];
        kind.add(duration, item.start, item.line);
        let size = kind.size.get(kind.category, item.info);
        let bytes = size.unwrap_or(0);
        kind.totals.bytes = kind.totals.bytes.saturating_add(bytes);
        match size {
            Some(size) => self.messages.sizes[size_class(size)].add(size),
            None => self.messages.without_size += 1,
        }
        self.messages.backward += u64::from(item.end < item.start);
        self.lines[item.line as usize].sent.add(bytes);
        self.lines[item.to_line as usize].received.add(bytes);
        let [from, to] = [item.line, item.to_line].map(|line| line / self.messages.group);
        self.flows[(from * self.groups + to) as usize].add(bytes);
    }
}
