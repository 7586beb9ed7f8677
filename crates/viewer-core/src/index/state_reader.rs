//! Goes over the nodes of a tree from left to right and gives the states batch by batch, in memory that does not grow with
//! the file.
//!
//! Exclusive time and nesting need the states of a unit by start. Each node holds its own in order, and the nodes of a level
//! follow each other, so one node of each level at a time is read up to the same moment; what was read up to there is a batch,
//! and is put in order unit by unit. Units come in two halves with batches of their own, so that two threads can work on
//! them. Arrows and events are in no order.

use std::iter::Peekable;
use std::ops::Range;
use trace_formats::slog2::{
    DirEntry, NodeDirectory, NodeDirectoryEntries, NodeScan, PlainDrawable, ScannedDrawable,
    Slog2Error, TimeBBox, Topology,
};

use super::arrows_and_events::ArrowsAndEvents;
use super::batch::StateBatch;
use crate::trace::states::TraceState;
use crate::trace::{OpenTrace, TraceItem};

/// Amount of data read so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReadProgress {
    /// Drawables.
    pub drawables: u64,
    /// Drawables that cannot be placed: their times are no numbers, or nothing defines their lines.
    pub placeless: u64,
    /// Nodes.
    pub nodes: u64,
    /// Bytes of the nodes read, whole ones.
    pub bytes: u64,
    /// Bytes of all nodes to read.
    pub of_bytes: u64,
}

/// Reads the drawables of a window.
#[derive(Debug)]
pub struct StateReader<'t, 'a> {
    /// By level the nodes that are not yet open.
    levels: Vec<Peekable<NodeDirectoryEntries<'a>>>,
    streams: Vec<NodeStates<'a>>,
    from: StateSource<'t, 'a>,
    /// States of a batch, about so many.
    wanted: usize,
    /// States that start before this time have been read.
    until: f64,
    /// Seconds that are read at a time.
    span: f64,
}

/// Sources of drawables, and the collector of all but the states of streams.
#[derive(Debug)]
struct StateSource<'t, 'a> {
    trace: &'t OpenTrace<'a>,
    done: ReadProgress,
    /// By line whether its unit is in the second half.
    half_of: Vec<bool>,
    /// States of both halves that are in no batch yet.
    states: [Vec<TraceState>; 2],
    /// Whether some of them may belong to a later one.
    is_mixed: bool,
    arrows_and_events: ArrowsAndEvents<'t>,
}

/// The states of a node.
#[derive(Debug)]
struct NodeStates<'a> {
    /// The next one does not start before this.
    next: f64,
    rest: NodeScan<'a>,
}

/// Position of a stream.
enum StreamPosition {
    /// To its end.
    Over,
    /// Before this.
    Until(f64),
}

/// States of a unit in a batch: enough for what is known of it to be fetched once for many.
const STATES_PER_LANE: usize = 64;
/// States of a batch at least and at most.
const BATCH_STATES: (usize, usize) = (1 << 15, 1 << 19);

impl<'t, 'a> StateReader<'t, 'a> {
    /// Reads the nodes that reach into a window. All that they hold is read, also outside of the window.
    pub(super) fn new(
        trace: &'t OpenTrace<'a>,
        window: TimeBBox,
        arrows_and_events: ArrowsAndEvents<'t>,
    ) -> Result<Self, Slog2Error> {
        // Nodes that overlap would be read again and again.
        trace.reader().whole_directory()?;
        let levels = trace.reader().levels_in(window)?;
        let done = ReadProgress {
            of_bytes: levels.iter().map(NodeDirectory::node_bytes).sum(),
            ..ReadProgress::default()
        };
        let lanes = trace.lanes();
        let wanted = (STATES_PER_LANE * lanes).clamp(BATCH_STATES.0, BATCH_STATES.1);
        let [_, second] = halves(lanes);
        let lines = trace.lines().iter();
        Ok(StateReader {
            levels: levels.iter().map(|level| level.iter().peekable()).collect(),
            streams: Vec::new(),
            from: StateSource {
                trace,
                done,
                half_of: lines.map(|line| second.contains(&line.lane)).collect(),
                states: [Vec::new(), Vec::new()],
                is_mixed: false,
                arrows_and_events,
            },
            wanted,
            until: f64::NEG_INFINITY,
            span: window.duration() / 1024.0,
        })
    }

    /// Amount of data read.
    pub fn done(&self) -> ReadProgress {
        self.from.done
    }

    /// Gives the arrows and events.
    pub(super) fn into_others(self) -> ArrowsAndEvents<'t> {
        self.from.arrows_and_events
    }

    /// The next states of each half of the units; false if there are none left.
    ///
    /// # Errors
    /// A node is damaged.
    pub fn next(&mut self, batches: [&mut StateBatch; 2]) -> Result<bool, Slog2Error> {
        let mut is_more = true;
        while is_more && self.from.waiting() < self.wanted {
            is_more = self.go_on()?;
        }
        // Above some number they go as they are: most of them start together.
        let are_kept = self.from.is_mixed && is_more && self.from.waiting() <= 8 * self.wanted;
        for (StateBatch { states }, waiting) in batches.into_iter().zip(&mut self.from.states) {
            states.clear();
            std::mem::swap(states, waiting);
            if are_kept {
                let until = self.until;
                let later = states.iter().filter(|state| state.start >= until);
                waiting.extend(later);
                states.retain(|state| state.start < until);
            }
        }
        self.from.is_mixed = self.from.waiting() > 0;
        Ok(is_more)
    }

    /// Reads a little of each level, up to the same moment; false if there is nothing left.
    fn go_on(&mut self) -> Result<bool, Slog2Error> {
        let Some(first) = self.first() else {
            return Ok(false);
        };
        // At least what starts first.
        let mut until = (first.max(self.until) + self.span).max(first.next_up());
        for level in 0..self.levels.len() {
            while let Some(node) = self.levels[level].next_if(|node| before(node.bounds) < until) {
                self.open(&node)?;
            }
        }
        let (step, found) = (self.wanted / 8, self.from.waiting());
        let mut nth = 0;
        while let Some(stream) = self.streams.get_mut(nth) {
            let most = self.from.waiting() + 2 * self.wanted;
            match self.from.run(stream, until, (most, first))? {
                StreamPosition::Over => drop(self.streams.remove(nth)),
                StreamPosition::Until(reached) => {
                    // If there was more than was thought, others need not come as far. What came farther has to wait.
                    self.from.is_mixed |= reached < until;
                    until = reached;
                    nth += 1;
                }
            }
        }
        self.until = until;
        let found = self.from.waiting() - found;
        if found > step {
            self.span /= 2.0;
        } else if found < step / 4 {
            self.span *= 2.0;
        }
        Ok(true)
    }

    /// The start of the first state or node that was not read.
    fn first(&mut self) -> Option<f64> {
        let nodes = self.levels.iter_mut().filter_map(|level| level.peek());
        let nodes = nodes.map(|node| before(node.bounds));
        let streams = self.streams.iter().map(|stream| stream.next);
        nodes.chain(streams).reduce(f64::min)
    }

    /// Opens a node.
    fn open(&mut self, node: &DirEntry) -> Result<(), Slog2Error> {
        let mut rest = self.from.trace.reader().scan(node.ptr)?;
        self.from.asides(&mut rest)?;
        let next = before(node.bounds);
        self.streams.push(NodeStates { next, rest });
        self.from.done.nodes += 1;
        self.from.done.bytes += u64::from(node.ptr.size.unsigned_abs());
        Ok(())
    }
}

/// The units of both halves.
pub(super) fn halves(lanes: usize) -> [Range<u32>; 2] {
    let lanes = lanes as u32;
    [0..lanes / 2, lanes / 2..lanes]
}

/// A time before everything in a node; damaged ones are opened at once.
fn before(bounds: TimeBBox) -> f64 {
    match bounds.earliest.is_finite() {
        true => bounds.earliest,
        false => f64::MIN,
    }
}

impl<'a> StateSource<'_, 'a> {
    /// Number of states that are in no batch yet.
    fn waiting(&self) -> usize {
        self.states.iter().map(Vec::len).sum()
    }

    /// Takes what starts before `until`; less, if that makes more than `most` states, but at least what starts at `first`.
    fn run(
        &mut self,
        stream: &mut NodeStates<'a>,
        until: f64,
        (most, first): (usize, f64),
    ) -> Result<StreamPosition, Slog2Error> {
        loop {
            let found = self.waiting();
            let (trace, half_of, states) = (self.trace, &self.half_of[..], &mut self.states);
            let (mut count, mut reached) = (found, None);
            stream.rest.for_plain(|plain| {
                let state = fast_state(trace, plain).or_else(|| slow_state(trace, plain));
                let Some(state) = state else {
                    return false;
                };
                if state.start >= until {
                    stream.next = state.start;
                    reached = Some(until);
                } else if count > most && state.start > first {
                    stream.next = state.start;
                    reached = Some(state.start);
                } else {
                    states[usize::from(half_of[state.line as usize])].push(state);
                    count += 1;
                }
                reached.is_none()
            });
            self.done.drawables += (count - found) as u64;
            if let Some(reached) = reached {
                return Ok(StreamPosition::Until(reached));
            }
            match stream.rest.next()? {
                Some(found) => self.aside(found),
                None => return Ok(StreamPosition::Over),
            }
        }
    }

    /// Takes the arrows and events of a node.
    fn asides(&mut self, scan: &mut NodeScan<'a>) -> Result<(), Slog2Error> {
        loop {
            if !self.arrows_and_events.takes_arrows() {
                let (trace, drawables) = (self.trace, &mut self.done.drawables);
                scan.for_plain(|plain| {
                    let is_arrow = |kind| trace.topology(kind) == Topology::Arrow;
                    let is_arrow =
                        plain.vertices > 1 && trace.kind(plain.category).is_some_and(is_arrow);
                    *drawables += u64::from(is_arrow);
                    is_arrow
                });
            }
            match scan.next()? {
                Some(found) => self.aside(found),
                None => return Ok(()),
            }
        }
    }

    /// Takes what comes in no order: arrows and events, and parts of composites.
    fn aside(&mut self, found: ScannedDrawable<'a>) {
        let mut take = |plain: &PlainDrawable<'a>| {
            let item = self.item(plain);
            if let Some(state) = item.and_then(|item| self.state(&item)) {
                self.is_mixed = true;
                self.states[usize::from(self.half_of[state.line as usize])].push(state);
            }
        };
        match found {
            ScannedDrawable::Plain(plain) => take(&plain),
            ScannedDrawable::Composite(composite) => {
                for primitive in &composite.primitives {
                    take(&PlainDrawable::of(primitive));
                }
            }
        }
    }

    /// A state; what is none is taken.
    #[inline]
    fn state(&mut self, item: &TraceItem<'a>) -> Option<TraceState> {
        if item.topology != Topology::State {
            self.arrows_and_events.take(item);
            return None;
        }
        Some(TraceState::of(item))
    }

    /// A drawable in the trace's terms, as [`OpenTrace::item`] has them.
    #[inline]
    fn item(&mut self, plain: &PlainDrawable<'a>) -> Option<TraceItem<'a>> {
        self.done.drawables += 1;
        let item = self.trace.locate(plain);
        self.done.placeless += u64::from(item.is_none());
        item
    }
}

/// Whether a drawable is, as nearly all in a list of states, a state of a known category on a known line.
#[inline]
fn fast_state(trace: &OpenTrace<'_>, plain: &PlainDrawable<'_>) -> Option<TraceState> {
    let (first, last) = (plain.first, plain.last);
    let kind = trace.kind(plain.category)?;
    let line = trace.line(first.line)?;
    let is_plain = plain.vertices > 1
        && trace.topology(kind) == Topology::State
        && first.time <= last.time
        && first.time.is_finite()
        && last.time.is_finite();
    is_plain.then_some(TraceState {
        start: first.time,
        end: last.time,
        kind,
        line,
    })
}

/// The others: of categories that nothing defines, or that end before they start.
#[cold]
fn slow_state<'a>(trace: &OpenTrace<'a>, plain: &PlainDrawable<'a>) -> Option<TraceState> {
    let item = trace.locate(plain)?;
    (item.topology == Topology::State).then(|| TraceState::of(&item))
}
