//! Arrows from each call to what carries its CallID: the operations of lower layers that it caused.
//!
//! Of all drawables with one CallID the first by start time is the call; from its start an arrow goes to the start of each
//! of the others. Where the trace has that arrow already, as one made of block files does, there is no second one. Events that
//! only tell more of a call get none.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::fmt;

use super::call_id::CallIdCategories;
use super::in_order::in_order;
use io_attribution::Relation;
use io_attribution::draw::{Shows, shows};
use trace_model::{
    Category, Definitions, Drawable, DrawableOrder, Losses, Sorter, Source, Stop, Topology, Vertex,
};

/// Pixels of an arrow, as of messages.
const WIDTH: i8 = 3;

/// A trace and the arrows of its CallIDs.
pub struct Arrows<'s> {
    source: &'s dyn Source,
    definitions: Definitions,
    call_ids: CallIdCategories,
    /// By index of the target's category that of its arrows.
    arrows: BTreeMap<i32, i32>,
    /// Categories of such arrows in the trace.
    old: BTreeSet<i32>,
    statistics: RefCell<ArrowStatistics>,
}

/// Counts of the CallIDs of a trace and of the arrows drawn for them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ArrowStatistics {
    /// Categories whose info has a CallID.
    pub categories: u64,
    /// Drawables of the trace, without the new arrows.
    pub drawables: u64,
    /// Different CallIDs.
    pub call_ids: u64,
    /// CallIDs that more than one drawable has.
    pub starts: u64,
    /// Arrows drawn.
    pub arrows: u64,
}

impl fmt::Display for ArrowStatistics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let count = self.categories;
        writeln!(f, "Found {count} categories with CallID info key.")?;
        writeln!(f, "Counted {} drawables.", self.drawables)?;
        writeln!(f, "Found {} different CallID values.", self.call_ids)?;
        if self.starts == 0 {
            return writeln!(f, "No arrow could be drawn.");
        }
        let mean = self.arrows as f64 / self.starts as f64;
        writeln!(
            f,
            "On average there are {mean} arrows per CallID having any."
        )
    }
}

impl<'s> Arrows<'s> {
    /// Prepares to draw arrows into this trace.
    pub fn new(source: &'s dyn Source) -> Self {
        let mut definitions = source.definitions().clone();
        let call_ids = CallIdCategories::new(&definitions.categories);
        let mut next = definitions.categories.iter().map(|c| c.index).max();
        let mut arrows = BTreeMap::new();
        let targets: Vec<Category> = definitions
            .categories
            .iter()
            .filter(|category| category.topology != Topology::Arrow)
            .filter(|category| call_ids.has(category.index))
            .filter(|category| shows(category) != Some(Shows::Access))
            .cloned()
            .collect();
        let old = definitions.categories.iter();
        let old = old.filter(|category| shows(category) == Some(Shows::Edge(Relation::Triggers)));
        let old = old.map(|category| category.index).collect();
        for target in targets {
            let Some(index) = next.and_then(|last| last.checked_add(1)) else {
                break;
            };
            next = Some(index);
            let name = format!("triggers {}", target.name.to_str());
            let mut arrow =
                Category::new(index, name.as_str().into(), Topology::Arrow, target.color);
            arrow.width = WIDTH;
            arrow.set_info_format(b"CallID=0x%X");
            definitions.categories.push(arrow);
            arrows.insert(target.index, index);
        }
        Arrows {
            source,
            definitions,
            call_ids,
            arrows,
            old,
            statistics: RefCell::default(),
        }
    }

    /// Counts, complete after all drawables have been read.
    pub fn statistics(&self) -> ArrowStatistics {
        *self.statistics.borrow()
    }
}

impl Source for Arrows<'_> {
    fn definitions(&self) -> &Definitions {
        &self.definitions
    }

    fn for_each(
        &self,
        put: &mut dyn FnMut(&Drawable<'_>) -> Result<(), Stop>,
    ) -> Result<Losses, Stop> {
        let mut statistics = ArrowStatistics {
            categories: self.call_ids.categories() as u64,
            ..ArrowStatistics::default()
        };
        let mut ids = IdSorter::new();
        let losses = in_order(self.source, DrawableOrder::Start, &mut |drawable| {
            statistics.drawables += 1;
            let has_id = self.arrows.contains_key(&drawable.category)
                || self.old.contains(&drawable.category);
            if has_id && let Some(id) = self.call_ids.of(drawable.category, drawable.info) {
                ids.push(id, drawable)?;
            }
            put(drawable)
        })?;
        let mut call: Option<OneCall> = None;
        ids.finish(&mut |id, category, at| {
            let is_old = self.old.contains(&category);
            if call.as_ref().is_none_or(|call| call.id != id) {
                call = Some(OneCall {
                    id,
                    start: None,
                    has_arrow: false,
                    old: HashSet::new(),
                });
            }
            let Some(call) = &mut call else {
                return Ok(());
            };
            if !is_old && call.start.is_none() {
                statistics.call_ids += 1;
                call.start = Some(at);
                return Ok(());
            }
            // An arrow comes before what it points to.
            let end = (at.time.to_bits(), at.line);
            if !is_old && call.old.remove(&end) {
                return Ok(());
            }
            statistics.starts += u64::from(!call.has_arrow);
            call.has_arrow = true;
            statistics.arrows += 1;
            if is_old {
                call.old.insert(end);
                return Ok(());
            }
            put(&Drawable {
                topology: Topology::Arrow,
                category: self.arrows.get(&category).copied().unwrap_or(category),
                info: &id.to_be_bytes(),
                vertices: &[call.start.unwrap_or(at), at],
            })
        })?;
        *self.statistics.borrow_mut() = statistics;
        Ok(losses)
    }
}

/// The state of the CallID at hand.
struct OneCall {
    id: u64,
    /// Start of its call.
    start: Option<Vertex>,
    /// Whether there was an arrow.
    has_arrow: bool,
    /// Ends of arrows that the trace has, as long as what they point to has not come.
    old: HashSet<(u64, i32)>,
}

/// Brings starts of drawables, and ends of arrows, together by CallID, those of one in the order in which they came, in bounded memory.
///
/// Sorts arrows with the sorter of drawables, given times that are halves of CallIDs: the second half is moved behind the first, as a
/// drawable's end is behind its start.
struct IdSorter {
    sorter: Sorter,
}

const BEHIND: f64 = (1u64 << 33) as f64;

impl IdSorter {
    fn new() -> Self {
        IdSorter {
            sorter: Sorter::new(DrawableOrder::Start),
        }
    }

    fn push(&mut self, id: u64, drawable: &Drawable<'_>) -> Result<(), Stop> {
        let Some(first) = drawable.vertices.first() else {
            return Ok(());
        };
        let last = drawable.vertices.last().unwrap_or(first);
        let start = match drawable.topology {
            Topology::Arrow => last,
            _ if last.time < first.time => last,
            _ => first,
        };
        let (high, low) = ((id >> 32) as u32, id as u32);
        let key = |time| Vertex { time, line: 0 };
        self.sorter.push(&Drawable {
            topology: Topology::Arrow,
            category: drawable.category,
            info: &[&start.time.to_be_bytes()[..], &start.line.to_be_bytes()].concat(),
            vertices: &[key(f64::from(high)), key(BEHIND + f64::from(low))],
        })?;
        Ok(())
    }

    /// Gives CallID, category and start of each drawable.
    fn finish(self, put: &mut dyn FnMut(u64, i32, Vertex) -> Result<(), Stop>) -> Result<(), Stop> {
        self.sorter.finish(&mut |drawable| {
            let [high, low] = *drawable.vertices else {
                return Ok(());
            };
            let id = (high.time as u64) << 32 | (low.time - BEHIND) as u64;
            let Some((time, line)) = drawable.info.split_first_chunk() else {
                return Ok(());
            };
            let line = line.first_chunk().copied().unwrap_or_default();
            let at = Vertex {
                time: f64::from_be_bytes(*time),
                line: i32::from_be_bytes(line),
            };
            put(id, drawable.category, at)
        })
    }
}

/// The CallIDs of a trace's states, each with the stretch of time that they take together. Of very many CallIDs those of
/// a part are given, chosen by their hash, so that memory is bounded and two traces give the same ones.
pub(super) fn spans(source: &dyn Source) -> Result<Spans, Stop> {
    let definitions = source.definitions();
    let call_ids = CallIdCategories::new(&definitions.categories);
    let states: BTreeSet<i32> = definitions
        .categories
        .iter()
        .filter(|category| category.topology != Topology::Arrow)
        .map(|category| category.index)
        .collect();
    let is_mpi = |category: &&Category| category.name.0.starts_with(b"MPI_");
    let calls = definitions.categories.iter().filter(is_mpi);
    let calls: BTreeSet<i32> = calls.map(|category| category.index).collect();
    let mut spans = Spans::default();
    source.for_each(&mut |drawable| {
        if states.contains(&drawable.category)
            && let Some(id) = call_ids.of(drawable.category, drawable.info)
        {
            if calls.contains(&drawable.category) && is_sampled(id, spans.zeros) {
                spans.calls.insert(id);
            }
            let times = drawable.vertices.iter().map(|vertex| vertex.time);
            let start = times.clone().fold(f64::INFINITY, f64::min);
            spans.add(id, start, times.fold(f64::NEG_INFINITY, f64::max));
        }
        Ok(())
    })?;
    Ok(spans)
}

/// Most CallIDs that [`spans`] remembers.
const MAX_CALLIDS: usize = 1 << 19;

/// See [`spans`].
#[derive(Debug, Default)]
pub(super) struct Spans {
    /// Only CallIDs whose hash ends with so many zero bits.
    pub(super) zeros: u32,
    pub(super) by_id: BTreeMap<u64, (f64, f64)>,
    /// CallIDs of which the trace has the MPI call itself, and not only what the call caused.
    pub(super) calls: BTreeSet<u64>,
}

impl Spans {
    fn add(&mut self, id: u64, start: f64, end: f64) {
        if !is_sampled(id, self.zeros) {
            return;
        }
        let span = self.by_id.entry(id).or_insert((start, end));
        span.0 = span.0.min(start);
        span.1 = span.1.max(end);
        if self.by_id.len() > MAX_CALLIDS {
            self.zeros += 1;
            let zeros = self.zeros;
            self.by_id.retain(|&id, _| is_sampled(id, zeros));
            self.calls.retain(|&id| is_sampled(id, zeros));
        }
    }
}

pub(super) fn is_sampled(id: u64, zeros: u32) -> bool {
    // Fibonacci hashing: neighbouring counters must not all be kept or all be dropped.
    (id.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 20).trailing_zeros() >= zeros
}
