//! Drawables that overlap on a line without being nested, such as the requests of a server, go to sub-lines of their own.
//!
//! Each state, in order of start, goes to the first sub-line on which it is alone or nested in what is there. Events and
//! the ends of arrows go where the state is that they are in, the one with their CallID if there is such.

use std::cmp::{Ordering, Reverse};
use std::collections::{BTreeMap, BinaryHeap, HashMap};

use super::call_id::CallIdCategories;
use super::in_order::in_order;
use super::views;
use trace_formats::slog2::LineIdMap;
use trace_model::{
    Definitions, Drawable, DrawableOrder, Line, Losses, Source, Stop, Topology, Vertex,
};

/// A trace whose overlapping drawables are on sub-lines.
pub struct Split<'s> {
    source: &'s dyn Source,
    definitions: Definitions,
    call_ids: CallIdCategories,
    /// By line the first of its new lines: sub-line 1.
    first: BTreeMap<i32, i32>,
    /// By new line the old one and the number of the sub-line.
    origins: BTreeMap<i32, (i32, i32)>,
}

impl<'s> Split<'s> {
    /// Goes over the trace once to see how many sub-lines each line needs.
    ///
    /// # Errors
    /// The errors of the source, and if line numbers run out.
    pub fn new(source: &'s dyn Source) -> Result<Self, Stop> {
        let mut placing = Placing::default();
        in_order(source, DrawableOrder::Start, &mut |drawable| {
            if let (Topology::State, Some((start, end))) = (drawable.topology, ends(drawable)) {
                placing.place(start, end.time, None);
            }
            Ok(())
        })?;
        let mut definitions = source.definitions().clone();
        let used = placing.lines.keys().copied();
        let known = definitions.lines.iter().map(|line| line.id);
        let mut next = i64::from(known.chain(used).max().unwrap_or(-1)) + 1;
        let threads = definitions.lines.iter().map(|line| line.thread).max();
        let threads = threads.unwrap_or(0).saturating_add(1);
        let (mut first, mut origins) = (BTreeMap::new(), BTreeMap::new());
        let mut split: Vec<(i32, usize)> = placing
            .lines
            .iter()
            .map(|(&line, sub_lines)| (line, sub_lines.len()))
            .filter(|&(_, sub_lines)| sub_lines > 1)
            .collect();
        split.sort_unstable();
        for (line, sub_lines) in split {
            for sub in 1..sub_lines as i32 {
                let id = i32::try_from(next).map_err(|_| "the line numbers exceed 32 bits")?;
                next += 1;
                first.entry(line).or_insert(id);
                origins.insert(id, (line, sub));
                let Some(old) = source.definitions().line(line) else {
                    continue;
                };
                // Formats that know lines by rank and thread must be able to tell them apart.
                let thread = old.thread.saturating_add(sub.saturating_mul(threads));
                definitions.lines.push(Line {
                    id,
                    thread,
                    ..old.clone()
                });
            }
        }
        Ok(Split {
            call_ids: CallIdCategories::new(&definitions.categories),
            source,
            definitions,
            first,
            origins,
        })
    }

    /// Old line and number of the sub-line, by new line. Sub-line 0 is the old line itself.
    pub fn sub_lines(&self) -> &BTreeMap<i32, (i32, i32)> {
        &self.origins
    }

    /// Two views that name line and sub-line, and the old ones, in which sub-lines are called as the lines they come from.
    pub fn views(&self, old: &[LineIdMap]) -> Vec<LineIdMap> {
        views::split(old, &self.origins)
    }

    fn sub_line(&self, line: i32, sub: usize) -> i32 {
        match (sub, self.first.get(&line)) {
            (1.., Some(&first)) => first + (sub - 1) as i32,
            _ => line,
        }
    }
}

impl Source for Split<'_> {
    fn definitions(&self) -> &Definitions {
        &self.definitions
    }

    fn for_each(
        &self,
        put: &mut dyn FnMut(&Drawable<'_>) -> Result<(), Stop>,
    ) -> Result<Losses, Stop> {
        let mut placing = Placing::default();
        let mut waiting = WaitingDrawables::default();
        let losses = in_order(self.source, DrawableOrder::Start, &mut |drawable| {
            let Some((start, end)) = ends(drawable) else {
                return put(drawable);
            };
            // All states that begin at or before a point must be placed before it is.
            waiting.resolve(start.time, self, &mut placing, put)?;
            let call_id = self.call_ids.of(drawable.category, drawable.info);
            if drawable.topology == Topology::State {
                let sub = placing.place(start, end.time, call_id);
                let line = self.sub_line(start.line, sub);
                let mut vertices = drawable.vertices.to_vec();
                for vertex in &mut vertices {
                    vertex.line = line;
                }
                return put(&Drawable {
                    vertices: &vertices,
                    ..*drawable
                });
            }
            if self.first.is_empty() {
                return put(drawable);
            }
            waiting.push(drawable, call_id);
            Ok(())
        })?;
        waiting.resolve(f64::INFINITY, self, &mut placing, put)?;
        waiting.give_up(put)?;
        Ok(losses)
    }
}

/// The earliest and the latest vertex.
fn ends(drawable: &Drawable<'_>) -> Option<(Vertex, Vertex)> {
    let by_time = |a: &&Vertex, b: &&Vertex| a.time.total_cmp(&b.time);
    let first = drawable.vertices.iter().min_by(by_time)?;
    let last = drawable.vertices.iter().max_by(by_time)?;
    Some((*first, *last))
}

/// Sub-lines that a line can have. What does not fit goes to the last one, overlapping or not: nobody could look at more,
/// and trying each of very many for each state would take for ever.
const MAX_SUBLINES: usize = 1000;
/// Open states among which one with the CallID of a point is searched, from the innermost on.
const SEARCHED: usize = 100;

/// Which states are on which sub-lines now.
#[derive(Debug, Default)]
struct Placing {
    /// By line, its sub-lines.
    lines: HashMap<i32, Vec<SubLine>>,
}

#[derive(Debug, Default)]
struct SubLine {
    /// States that are not over, each within the one before.
    open: Vec<OpenState>,
    /// States that ended when the state placed last began: a point at this time may still be in them.
    ended: Vec<OpenState>,
}

/// A state that may not be over yet.
#[derive(Clone, Copy, Debug)]
struct OpenState {
    start: f64,
    end: f64,
    call_id: Option<u64>,
}

impl SubLine {
    /// Takes away what is over by now.
    fn advance(&mut self, now: f64) {
        self.ended.retain(|state| state.end >= now);
        while let Some(state) = self.open.pop_if(|state| state.end <= now) {
            if state.end == now {
                self.ended.push(state);
            }
        }
    }

    /// The state around a point of now: the one with its CallID, else the one that began last.
    fn around(&mut self, now: f64, call_id: Option<u64>) -> Option<OpenState> {
        self.advance(now);
        let states = || self.open.iter().rev().chain(self.ended.iter().rev());
        let same = |state: &&OpenState| call_id.is_some() && state.call_id == call_id;
        let with_id = states().take(SEARCHED).find(same);
        let innermost = [self.open.last(), self.ended.last()].into_iter().flatten();
        let last = innermost.max_by(|a, b| a.start.total_cmp(&b.start));
        with_id.or(last).copied()
    }
}

impl Placing {
    /// Finds the sub-line of a state. States must come in order of start, the longer one first.
    fn place(&mut self, start: Vertex, end: f64, call_id: Option<u64>) -> usize {
        let sub_lines = self.lines.entry(start.line).or_default();
        let new = OpenState {
            start: start.time,
            end,
            call_id,
        };
        for (sub, sub_line) in sub_lines.iter_mut().enumerate() {
            sub_line.advance(new.start);
            if sub_line.open.last().is_none_or(|top| top.end >= new.end) {
                sub_line.open.push(new);
                return sub;
            }
        }
        if sub_lines.len() < MAX_SUBLINES {
            let open = vec![new];
            let ended = Vec::new();
            sub_lines.push(SubLine { open, ended });
        }
        sub_lines.len() - 1
    }

    /// The sub-line of a point: that of the state around it with the same CallID, else of the one that began last. Points
    /// must come in order of time, each before the states that begin after it.
    fn around(&mut self, at: Vertex, call_id: Option<u64>) -> usize {
        let Some(sub_lines) = self.lines.get_mut(&at.line) else {
            return 0;
        };
        let around = sub_lines.iter_mut().enumerate().filter_map(|(sub, line)| {
            let state = line.around(at.time, call_id)?;
            let same = call_id.is_some() && state.call_id == call_id;
            Some((same, state.start, sub))
        });
        let best = around.max_by(|a, b| {
            (a.0.cmp(&b.0))
                .then(a.1.total_cmp(&b.1))
                .then(b.2.cmp(&a.2))
        });
        best.map_or(0, |(_, _, sub)| sub)
    }
}

/// Events and arrows whose points in time have not all come.
#[derive(Debug, Default)]
struct WaitingDrawables {
    next: u64,
    drawables: HashMap<u64, Owned>,
    points: BinaryHeap<Reverse<UnplacedVertex>>,
}

#[derive(Debug)]
struct Owned {
    topology: Topology,
    category: i32,
    info: Vec<u8>,
    vertices: Vec<Vertex>,
    call_id: Option<u64>,
    /// Vertices that are not placed yet.
    left: usize,
}

/// A vertex that is not placed yet.
#[derive(Clone, Copy, Debug)]
struct UnplacedVertex {
    time: f64,
    drawable: u64,
    vertex: usize,
}

impl WaitingDrawables {
    fn push(&mut self, drawable: &Drawable<'_>, call_id: Option<u64>) {
        let number = self.next;
        self.next += 1;
        for (vertex, at) in drawable.vertices.iter().enumerate() {
            self.points.push(Reverse(UnplacedVertex {
                time: at.time,
                drawable: number,
                vertex,
            }));
        }
        self.drawables.insert(
            number,
            Owned {
                topology: drawable.topology,
                category: drawable.category,
                info: drawable.info.to_vec(),
                vertices: drawable.vertices.to_vec(),
                call_id,
                left: drawable.vertices.len(),
            },
        );
    }

    /// Places all points before this time, and gives the drawables that are complete.
    fn resolve(
        &mut self,
        before: f64,
        split: &Split<'_>,
        placing: &mut Placing,
        put: &mut dyn FnMut(&Drawable<'_>) -> Result<(), Stop>,
    ) -> Result<(), Stop> {
        while let Some(&Reverse(point)) = self.points.peek()
            && point.time < before
        {
            self.points.pop();
            let Some(drawable) = self.drawables.get_mut(&point.drawable) else {
                continue;
            };
            if let Some(vertex) = drawable.vertices.get_mut(point.vertex) {
                let sub = placing.around(*vertex, drawable.call_id);
                vertex.line = split.sub_line(vertex.line, sub);
            }
            drawable.left -= 1;
            if drawable.left == 0
                && let Some(complete) = self.drawables.remove(&point.drawable)
            {
                complete.give(put)?;
            }
        }
        Ok(())
    }

    /// Gives what has a time that comes behind all others: not a number, or infinite.
    fn give_up(self, put: &mut dyn FnMut(&Drawable<'_>) -> Result<(), Stop>) -> Result<(), Stop> {
        let mut left: Vec<(u64, Owned)> = self.drawables.into_iter().collect();
        left.sort_by_key(|(number, _)| *number);
        left.iter().try_for_each(|(_, drawable)| drawable.give(put))
    }
}

impl Owned {
    fn give(&self, put: &mut dyn FnMut(&Drawable<'_>) -> Result<(), Stop>) -> Result<(), Stop> {
        put(&Drawable {
            topology: self.topology,
            category: self.category,
            info: &self.info,
            vertices: &self.vertices,
        })
    }
}

impl Ord for UnplacedVertex {
    fn cmp(&self, other: &Self) -> Ordering {
        let key = |point: &UnplacedVertex| (point.drawable, point.vertex);
        let time = self.time.total_cmp(&other.time);
        time.then_with(|| key(self).cmp(&key(other)))
    }
}

impl PartialOrd for UnplacedVertex {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for UnplacedVertex {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for UnplacedVertex {}
