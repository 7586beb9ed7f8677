//! States with what is within them on their line, found in drawables that come in order of their start.

use std::cmp::Ordering;
use std::collections::{BinaryHeap, HashMap};

use super::bundle::{BundlePart, MAX_PARTS};
use trace_model::{Drawable, Topology, Vertex};

/// The heads that have not ended.
#[derive(Debug, Default)]
pub(super) struct Nested {
    /// By line, in order of their start.
    open: HashMap<i32, Vec<NestedHead>>,
    /// Ends, the earliest first.
    ends: BinaryHeap<HeadEnd>,
    next: u64,
}

/// A state and what is within it.
#[derive(Debug)]
struct NestedHead {
    number: u64,
    end: f64,
    parts: Vec<BundlePart>,
}

/// Whether a drawable became a part.
pub(super) enum TakenAsPart {
    Yes,
    /// The drawable is neither a head nor within one.
    No,
    /// The composite of the drawable would get too large; these are the parts so far.
    TooMany(Vec<BundlePart>),
}

impl Nested {
    /// Takes the next drawable, if it is a head or within one. The outermost of them counts.
    pub(super) fn take(&mut self, drawable: &Drawable<'_>, is_head: bool) -> TakenAsPart {
        let (line, end) = match (drawable.topology, drawable.vertices) {
            (Topology::Event, [Vertex { time, line }]) => (*line, *time),
            (Topology::State, [first, last]) => (first.line, first.time.max(last.time)),
            _ => return TakenAsPart::No,
        };
        let heads = self.open.entry(line).or_default();
        if let Some(at) = heads.iter().position(|head| end <= head.end) {
            if heads[at].parts.len() == MAX_PARTS {
                return TakenAsPart::TooMany(heads.remove(at).parts);
            }
            heads[at].parts.push(BundlePart::of(drawable));
            return TakenAsPart::Yes;
        }
        if !is_head || drawable.topology != Topology::State {
            return TakenAsPart::No;
        }
        let number = self.next;
        self.next += 1;
        heads.push(NestedHead {
            number,
            end,
            parts: vec![BundlePart::of(drawable)],
        });
        self.ends.push(HeadEnd { end, line, number });
        TakenAsPart::Yes
    }

    /// A head that ended before `time`, and its parts.
    pub(super) fn take_ended(&mut self, time: f64) -> Option<Vec<BundlePart>> {
        while let Some(next) = self.ends.peek() {
            if next.end >= time && time < f64::INFINITY {
                return None;
            }
            let HeadEnd { line, number, .. } = self.ends.pop()?;
            let heads = self.open.get_mut(&line)?;
            // One that got too large is gone.
            if let Some(at) = heads.iter().position(|head| head.number == number) {
                return Some(heads.remove(at).parts);
            }
        }
        None
    }
}

/// When a head ends; the heap gives the earliest first.
#[derive(Clone, Copy, Debug)]
struct HeadEnd {
    end: f64,
    line: i32,
    number: u64,
}

impl Ord for HeadEnd {
    fn cmp(&self, other: &Self) -> Ordering {
        let ends = other.end.total_cmp(&self.end);
        ends.then(other.number.cmp(&self.number))
    }
}

impl PartialOrd for HeadEnd {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for HeadEnd {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for HeadEnd {}
