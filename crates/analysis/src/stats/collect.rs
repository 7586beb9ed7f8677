//! Takes drawables in order of start and adds them up.

use super::messages::MessageCounter;
use super::{
    CategoryStatistics, DrawableTally, HashMap, Histogram, Nesting, Statistics, StatisticsOptions,
    ThreadCategoryStatistics, ThreadStatistics, Untold, callids, counters, polls,
};
use io_attribution::draw::is_message;
use std::collections::BTreeMap;
use trace_formats::clog2::annotations::is_annotation;
use trace_model::{
    Actor, Category, Definitions, Drawable, Line, Text, TimeBBox, Topology, lane_of, message,
    thread_of,
};

/// Categories and lines that are not defined are told apart up to this many; damaged files have no end of them.
const MAX_UNKNOWN_CATEGORIES: u32 = 1 << 14;

/// Makes [`Statistics`] of drawables, which must come in [`DrawableOrder::Start`](trace_model::DrawableOrder::Start).
#[derive(Debug)]
pub struct StatisticsCollector {
    options: StatisticsOptions,
    kinds: Vec<CategoryState>,
    /// Position in `kinds` by category index.
    kind_of: HashMap<i32, u32>,
    rows: Vec<ThreadState>,
    /// Where the drawables of a line count, by line.
    line_of: HashMap<i32, LinePlace>,
    /// By row and kind.
    cells: HashMap<(u32, u32), DrawableTally>,
    stacks: Vec<StateStack>,
    bounds: TimeBBox,
    drawables: u64,
    messages: MessageCounter,
    callids: callids::CallIdCounter,
    counters: counters::CounterTotals,
    counted: BTreeMap<String, u64>,
    untold: Untold,
    unknown_kinds: u32,
    unknown_rows: u32,
}

/// A category and what was found of it.
#[derive(Debug)]
struct CategoryState {
    category: Category,
    is_known: bool,
    /// Whether its arrows are messages.
    is_message: bool,
    /// Whether its events are annotations of the recorder.
    is_annotation: bool,
    callid: Option<callids::CallIdIndex>,
    counters: counters::CounterIndices,
    tally: DrawableTally,
    durations: Histogram,
}

impl CategoryState {
    fn new(category: Category, is_known: bool) -> Self {
        CategoryState {
            is_message: is_message(&category),
            is_annotation: is_annotation(&category),
            callid: callids::CallIdIndex::of(&category),
            counters: counters::CounterIndices::new(),
            category,
            is_known,
            tally: DrawableTally::default(),
            durations: Histogram::default(),
        }
    }
}

/// Where the drawables of a line count.
#[derive(Clone, Copy, Debug)]
struct LinePlace {
    /// Position of the thread in the collector's `rows`.
    row: u32,
    /// Position of the stack that states nest on.
    stack: u32,
    /// Whether it lies beside its thread, as asynchronous I/O does: the thread is not in what happens there.
    is_beside: bool,
}

/// A thread.
#[derive(Debug)]
struct ThreadState {
    row: ThreadStatistics,
    /// The stack of its own lines, where states nest by thread.
    stack: Option<u32>,
    is_known: bool,
    is_used: bool,
    /// Until when states are known to last.
    covered_until: f64,
}

impl ThreadState {
    fn new(rank: i32, thread: i32, is_known: bool) -> Self {
        ThreadState {
            row: ThreadStatistics {
                rank,
                thread,
                ..ThreadStatistics::default()
            },
            stack: None,
            is_known,
            is_used: false,
            covered_until: f64::NEG_INFINITY,
        }
    }
}

/// The states that lie on top of each other at the start of the last one.
#[derive(Debug, Default)]
struct StateStack {
    open: Vec<OpenState>,
    last_start: Option<f64>,
}

#[derive(Clone, Copy, Debug)]
struct OpenState {
    bounds: TimeBBox,
    kind: u32,
    row: u32,
}

impl StatisticsCollector {
    /// A collector for a trace with these definitions.
    pub fn new(definitions: &Definitions, options: StatisticsOptions) -> Self {
        let mut kinds = Vec::new();
        let mut kind_of = HashMap::default();
        let mut counters = counters::CounterTotals::default();
        for category in &definitions.categories {
            kind_of.entry(category.index).or_insert_with(|| {
                kinds.push(CategoryState {
                    counters: counters.places(category),
                    ..CategoryState::new(category.clone(), true)
                });
                kinds.len() as u32 - 1
            });
        }
        let with_callid = kinds.iter().filter(|kind| kind.callid.is_some()).count();
        let mut collector = StatisticsCollector {
            options,
            kinds,
            kind_of,
            rows: Vec::new(),
            line_of: HashMap::default(),
            cells: HashMap::default(),
            stacks: Vec::new(),
            bounds: TimeBBox::EMPTY,
            drawables: 0,
            messages: MessageCounter::default(),
            callids: callids::CallIdCounter::new(with_callid as u64),
            counters,
            counted: BTreeMap::new(),
            untold: Untold::default(),
            unknown_kinds: 0,
            unknown_rows: 0,
        };
        let mut row_of = HashMap::default();
        for line in &definitions.lines {
            let (thread, is_of_server, is_beside) = thread_and_kind(line);
            let row = *row_of.entry((line.rank, thread)).or_insert_with(|| {
                let mut state = ThreadState::new(line.rank, thread, true);
                state.row.is_of_server = is_of_server;
                collector.rows.push(state);
                collector.rows.len() as u32 - 1
            });
            collector.add_line(line.id, row, is_beside);
        }
        collector
    }

    fn add_line(&mut self, line: i32, row: u32, is_beside: bool) -> LinePlace {
        let of_thread = &mut self.rows[row as usize].stack;
        let shared = self.options.nesting == Nesting::Thread && !is_beside;
        let stack = match *of_thread {
            Some(stack) if shared => stack,
            _ => {
                self.stacks.push(StateStack::default());
                self.stacks.len() as u32 - 1
            }
        };
        if shared {
            *of_thread = Some(stack);
        }
        *self.line_of.entry(line).or_insert(LinePlace {
            row,
            stack,
            is_beside,
        })
    }

    /// Takes the next drawable.
    pub fn put(&mut self, drawable: &Drawable<'_>) {
        let (Some(first), Some(last)) = (drawable.vertices.first(), drawable.vertices.last())
        else {
            self.untold.without_time += 1;
            return;
        };
        let bounds = TimeBBox {
            earliest: first.time.min(last.time),
            latest: first.time.max(last.time),
        };
        if !(first.time.is_finite() && last.time.is_finite()) {
            self.untold.without_time += 1;
            return;
        }
        self.bounds.include(bounds);
        let clipped = match self.options.window {
            None => bounds,
            Some(window) if takes_part(bounds, window) => TimeBBox {
                earliest: bounds.earliest.max(window.earliest),
                latest: bounds.latest.min(window.latest),
            },
            // States nested in such a state do not take part either.
            Some(_) => return,
        };
        let duration = clipped.duration();
        let kind = self.kind(drawable);
        let LinePlace {
            row,
            stack,
            is_beside,
        } = self.line(first.line);
        let end_row = match last.line == first.line {
            true => row,
            false => self.line(last.line).row,
        };
        self.drawables += 1;
        self.untold.unknown_category += u64::from(!self.kinds[kind as usize].is_known);
        let lines_known = [row, end_row].map(|row| self.rows[row as usize].is_known);
        self.untold.unknown_line += u64::from(lines_known.contains(&false));
        for row in [row, end_row] {
            self.rows[row as usize].is_used = true;
        }

        let found = &mut self.kinds[kind as usize];
        found.tally.add(duration);
        if drawable.topology != Topology::Event {
            found.durations.add(duration);
        }
        self.cells.entry((row, kind)).or_default().add(duration);
        if let Some(id) = found
            .callid
            .and_then(|place| place.get(&found.category, drawable.info))
        {
            self.callids.add(id, drawable.category);
        }
        if !found.counters.is_empty() {
            (self.counters).add((row, kind), &found.category, &found.counters, drawable.info);
        }
        match drawable.topology {
            Topology::Event if found.is_annotation => {
                polls::add(&mut self.counted, &found.category, drawable.info);
            }
            Topology::Event => {}
            Topology::Arrow if !found.is_message => {}
            Topology::Arrow => {
                let size = message(&found.category, drawable.info)
                    .and_then(|message| u64::try_from(message.size).ok());
                let ranks = [row, end_row].map(|row| self.rows[row as usize].row.rank);
                self.messages
                    .add(ranks[0], ranks[1], size, last.time < first.time);
                let bytes = size.unwrap_or(0);
                self.rows[row as usize].row.sent.add(bytes);
                self.rows[end_row as usize].row.received.add(bytes);
            }
            Topology::State => {
                self.nest(stack, OpenState { bounds, kind, row }, duration);
                let place = &mut self.rows[row as usize];
                let from = clipped.earliest.max(place.covered_until);
                if clipped.latest > from && !is_beside {
                    place.row.covered += clipped.latest - from;
                    place.covered_until = clipped.latest;
                }
            }
        }
    }

    /// Finds the state that this one is nested in, and takes its duration from that one's exclusive time.
    fn nest(&mut self, stack: u32, state: OpenState, duration: f64) {
        let stack = &mut self.stacks[stack as usize];
        let start = state.bounds.earliest;
        if stack.last_start.is_some_and(|last| start < last) {
            self.untold.out_of_order += 1;
        }
        stack.last_start = Some(start);
        while let Some(outer) = stack.open.last().copied() {
            if outer.bounds.covers(state.bounds) {
                self.kinds[outer.kind as usize].tally.exclusive -= duration;
                if let Some(cell) = self.cells.get_mut(&(outer.row, outer.kind)) {
                    cell.exclusive -= duration;
                }
                break;
            }
            stack.open.pop();
        }
        stack.open.push(state);
        self.kinds[state.kind as usize].tally.exclusive += duration;
        if let Some(cell) = self.cells.get_mut(&(state.row, state.kind)) {
            cell.exclusive += duration;
        }
    }

    fn kind(&mut self, drawable: &Drawable<'_>) -> u32 {
        if let Some(&kind) = self.kind_of.get(&drawable.category) {
            return kind;
        }
        let kind = self.kinds.len() as u32;
        self.unknown_kinds += 1;
        if self.unknown_kinds > MAX_UNKNOWN_CATEGORIES {
            return kind - 1;
        }
        let category = Category::new(
            drawable.category,
            Text::default(),
            drawable.topology,
            trace_model::Color::WHITE,
        );
        self.kinds.push(CategoryState::new(category, false));
        self.kind_of.insert(drawable.category, kind);
        kind
    }

    fn line(&mut self, line: i32) -> LinePlace {
        if let Some(&found) = self.line_of.get(&line) {
            return found;
        }
        let row = self.rows.len() as u32;
        self.unknown_rows += 1;
        if self.unknown_rows > MAX_UNKNOWN_CATEGORIES {
            return LinePlace {
                row: row - 1,
                stack: self.stacks.len() as u32 - 1,
                is_beside: false,
            };
        }
        self.rows.push(ThreadState::new(line, 0, false));
        self.add_line(line, row, false)
    }

    /// Ends the input and returns the statistics.
    pub fn finish(self) -> Statistics {
        let key = |row: u32, kind: u32| {
            let row = &self.rows[row as usize].row;
            (
                row.rank,
                row.thread,
                self.kinds[kind as usize].category.index,
            )
        };
        let mut cells: Vec<ThreadCategoryStatistics> = Vec::with_capacity(self.cells.len());
        let nothing = vec![None; self.counters.names.len()];
        let mut counted = vec![nothing; self.kinds.len()];
        for (&(row, kind), tally) in &self.cells {
            let sums = self.counters.sums(row, kind);
            if let Some(counted) = counted.get_mut(kind as usize) {
                counters::join(counted, &sums);
            }
            let (rank, thread, category) = key(row, kind);
            cells.push(ThreadCategoryStatistics {
                rank,
                thread,
                category,
                tally: tally.finished(),
                counters: sums,
            });
        }
        cells.sort_unstable_by_key(|cell| (cell.rank, cell.thread, cell.category));
        let kinds = self.kinds.into_iter().zip(counted);
        let used = kinds.filter(|(kind, _)| kind.tally.count > 0);
        let mut categories: Vec<CategoryStatistics> = used
            .map(|(kind, counters)| CategoryStatistics {
                counters,
                index: kind.category.index,
                name: kind.category.name,
                topology: kind.category.topology,
                tally: kind.tally.finished(),
                durations: kind.durations,
            })
            .collect();
        categories.sort_unstable_by_key(|category| category.index);
        let used = self.rows.into_iter().filter(|place| place.is_used);
        let mut rows: Vec<ThreadStatistics> = used.map(|place| place.row).collect();
        rows.sort_by_key(|row| (row.rank, row.thread));
        Statistics {
            window: self.options.window.unwrap_or(self.bounds),
            drawables: self.drawables,
            categories,
            rows,
            cells,
            messages: self.messages.finish(),
            callids: self.callids.finish(),
            counters: self.counters.names,
            counted: self.counted,
            untold: self.untold,
        }
    }
}

/// The thread that a line counts for, whether that is of a server or a device, and whether the line lies beside a thread of a rank. Overlapping operations
/// of a server keep a row for each of its lines, as they are no threads that shares are of.
fn thread_and_kind(line: &Line) -> (i32, bool, bool) {
    let lane = lane_of(line);
    match lane.actor {
        Actor::Rank(_) => (thread_of(line), false, lane.lane > 0),
        _ => (line.thread, true, false),
    }
}

/// Whether a drawable takes part in a window: it has some of its duration there, or no duration and lies there.
fn takes_part(bounds: TimeBBox, window: TimeBBox) -> bool {
    if bounds.earliest == bounds.latest {
        window.earliest <= bounds.earliest && bounds.latest <= window.latest
    } else {
        bounds.earliest < window.latest && window.earliest < bounds.latest
    }
}

/// Statistics of everything in `source`, and what it says is not in them. If the drawables of the source come in another
/// order than that of their starts, they are sorted on the way, in temporary files if they are many.
///
/// # Errors
/// The errors of the source and of the temporary files.
#[cfg(feature = "spill")]
pub fn collect(
    source: &dyn trace_model::Source,
    options: StatisticsOptions,
) -> Result<(Statistics, trace_model::Losses), trace_model::Stop> {
    use trace_model::{DrawableOrder, for_each_in_order};
    let mut collector = StatisticsCollector::new(source.definitions(), options);
    let losses = for_each_in_order(source, DrawableOrder::Start, &mut |drawable| {
        collector.put(drawable);
        Ok(())
    })?;
    let log = collector.bounds;
    let mut found = collector.finish();
    found.window = found.window.common(log);
    Ok((found, losses))
}
