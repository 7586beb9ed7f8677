//! One call with everything that it caused, down to the disk.
//!
//! The attribution records are read twice: [`Search::look`] finds what belongs to the call, [`ChainCollector::collect`] takes it. So memory
//! depends on the call and not on the trace.

use super::calls::{HashMap, HashSet};
use super::kinds::{Doing, duration};
use blockfile::operation::{self as op, Layer};
use io_attribution::{
    Actor, AttributedOperation, AttributionEdge, AttributionRecord, DataAccessCall, OpenedFile,
    Precision, Relation,
};
use std::collections::BTreeMap;

/// Operations of one call that are shown.
const OPERATIONS: usize = 1 << 16;
/// Other calls that are named with an operation.
const SHARERS: usize = 1 << 16;
/// Operations looked at to find the one that another happened in.
const CANDIDATES: usize = 1 << 10;

/// The first time through the attribution records: what belongs to the call.
#[derive(Debug)]
pub struct Search {
    call: u64,
    made: Option<DataAccessCall>,
    operations: HashSet<u64>,
    edges: HashMap<u64, EdgeTotals>,
    more: u64,
}

/// Sum of the edges between a call and one operation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EdgeTotals {
    /// Whether the call triggered it.
    pub triggered: bool,
    /// Bytes of the call that it carried, and how sure that is.
    pub carries: Option<(u64, Precision)>,
}

impl Search {
    /// A search for the call with this CallID.
    pub fn new(call: u64) -> Self {
        Search {
            call,
            made: None,
            operations: HashSet::default(),
            edges: HashMap::default(),
            more: 0,
        }
    }

    /// Takes the next record.
    pub fn look(&mut self, record: &AttributionRecord) {
        match record {
            AttributionRecord::Call(call) if call.call == self.call => {
                self.made = Some(call.clone())
            }
            AttributionRecord::Operation(operation) if operation.call == Some(self.call) => {
                self.wants(operation.id);
            }
            AttributionRecord::Edge(edge)
                if edge.call == self.call && self.wants(edge.operation) =>
            {
                let own = self.edges.entry(edge.operation).or_default();
                match edge.relation {
                    Relation::Triggers => own.triggered = true,
                    Relation::Carries => {
                        let before = own.carries.map_or(0, |(bytes, _)| bytes);
                        own.carries = Some((before.saturating_add(edge.bytes), edge.precision));
                    }
                }
            }
            _ => {}
        }
    }

    fn wants(&mut self, operation: u64) -> bool {
        let room = self.operations.len() < OPERATIONS;
        if room {
            self.operations.insert(operation);
        }
        let wanted = self.operations.contains(&operation);
        self.more += u64::from(!wanted);
        wanted
    }

    /// Ends the first pass and returns the collector of the second one; `None` if no record names the call.
    pub fn found(self) -> Option<ChainCollector> {
        let is_there = self.made.is_some() || !self.operations.is_empty();
        is_there.then(|| ChainCollector {
            search: self,
            files: BTreeMap::new(),
            group: Vec::new(),
            operations: Vec::new(),
            sharers: HashMap::default(),
            named: 0,
        })
    }
}

/// The second time through the attribution records: takes what belongs to the call.
#[derive(Debug)]
pub struct ChainCollector {
    search: Search,
    files: BTreeMap<u32, OpenedFile>,
    group: Vec<DataAccessCall>,
    operations: Vec<AttributedOperation>,
    sharers: HashMap<u64, Vec<Sharer>>,
    named: usize,
}

/// Another call whose data an operation carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sharer {
    /// CallID of the call.
    pub call: u64,
    /// Rank, server or device that made the operation.
    pub actor: Actor,
    /// Bytes of its own.
    pub bytes: u64,
}

impl ChainCollector {
    /// Takes the next record.
    pub fn collect(&mut self, record: &AttributionRecord) {
        match record {
            AttributionRecord::File(file) => {
                if self.files.len() < OPERATIONS {
                    self.files.insert(file.id, file.clone());
                }
            }
            AttributionRecord::Call(call) => {
                let is_of_group = self.search.made.as_ref().is_some_and(|made| {
                    let group = made.sequence.is_some() && call.sequence == made.sequence;
                    group && call.file == made.file && call.call != made.call
                });
                if is_of_group && self.group.len() < OPERATIONS {
                    self.group.push(call.clone());
                }
            }
            AttributionRecord::Operation(operation) => {
                if self.search.operations.contains(&operation.id) {
                    self.operations.push(operation.clone());
                }
            }
            AttributionRecord::Edge(edge) => self.edge(edge),
        }
    }

    fn edge(&mut self, edge: &AttributionEdge) {
        let is_shared = edge.relation == Relation::Carries
            && edge.call != self.search.call
            && self.search.operations.contains(&edge.operation);
        if is_shared && self.named < SHARERS {
            self.named += 1;
            let sharer = Sharer {
                call: edge.call,
                actor: edge.from.lane.actor,
                bytes: edge.bytes,
            };
            self.sharers.entry(edge.operation).or_default().push(sharer);
        }
    }

    /// The call and its operations, each in the one that it happened in.
    pub fn chain(mut self) -> CallChain {
        self.operations
            .sort_by_key(|o| (level(o), o.place.ns, o.place.lane, o.id));
        let parents = parents(&self.operations);
        let mut children: Vec<Vec<usize>> = vec![Vec::new(); self.operations.len()];
        let mut top = Vec::new();
        for (nth, parent) in parents.into_iter().enumerate() {
            match parent {
                Some(parent) => children[parent].push(nth),
                None => top.push(nth),
            }
        }
        for list in children.iter_mut().chain([&mut top]) {
            list.sort_by_key(|&nth| self.operations[nth].place.ns);
        }
        let mut links = Vec::with_capacity(self.operations.len());
        for (operation, children) in self.operations.into_iter().zip(children) {
            let own = self.search.edges.get(&operation.id);
            let mut own = own.copied().unwrap_or_default();
            own.triggered |= operation.call == Some(self.search.call);
            links.push(CausedOperation {
                own,
                sharers: self.sharers.remove(&operation.id).unwrap_or_default(),
                operation,
                children,
            });
        }
        CallChain {
            call: self.search.call,
            made: self.search.made,
            files: self.files,
            group: self.group,
            links,
            top,
            more: self.search.more,
        }
    }
}

/// A call and what it caused.
#[derive(Clone, Debug, PartialEq)]
pub struct CallChain {
    /// CallID.
    pub call: u64,
    /// The call, if it is a data access.
    pub made: Option<DataAccessCall>,
    /// The files of the run.
    pub files: BTreeMap<u32, OpenedFile>,
    /// The other calls of its group, if it is collective.
    pub group: Vec<DataAccessCall>,
    /// The operations.
    pub links: Vec<CausedOperation>,
    /// Positions in `links` of those that happened in no other one, in order of time.
    pub top: Vec<usize>,
    /// Operations that are left out because there are too many.
    pub more: u64,
}

/// An operation that a call caused.
#[derive(Clone, Debug, PartialEq)]
pub struct CausedOperation {
    /// The operation.
    pub operation: AttributedOperation,
    /// Sum of the edges between the call and this operation.
    pub own: EdgeTotals,
    /// Other calls whose data it carries.
    pub sharers: Vec<Sharer>,
    /// Positions of what happened during it, in order of time.
    pub children: Vec<usize>,
}

/// Level of an operation below the call: the larger, the closer to the disk.
fn level(operation: &AttributedOperation) -> u8 {
    let layer = op::kind(operation.kind).map(|kind| kind.layer);
    match (operation.place.lane.actor, layer) {
        (Actor::Rank(_), _) => 0,
        (Actor::Device(_), _) => 5,
        (_, Some(Layer::Request)) => 1,
        (Actor::FrontEnd(_), Some(Layer::Stripe)) => 2,
        (Actor::DataServer(_), Some(Layer::Stripe)) => 3,
        _ => 4,
    }
}

/// The operation that each one happened in; they are sorted by level and start.
fn parents(operations: &[AttributedOperation]) -> Vec<Option<usize>> {
    let starts = |level_: u8| operations.partition_point(|o| level(o) < level_);
    let levels: Vec<usize> = (0..=6).map(starts).collect();
    let mut parents = Vec::with_capacity(operations.len());
    for child in operations {
        let mut found = None;
        for above in (0..level(child)).rev() {
            let (first, end) = (levels[usize::from(above)], levels[usize::from(above) + 1]);
            let begun =
                first + operations[first..end].partition_point(|o| o.place.ns <= child.place.ns);
            let candidates = (first..begun).rev().take(CANDIDATES);
            found = candidates
                .filter_map(|nth| Some((fits(&operations[nth], child)?, nth)))
                .max();
            if found.is_some() {
                break;
            }
        }
        parents.push(found.map(|(_, nth)| nth));
    }
    parents
}

/// Rates an operation as the one in which another happened; `None` if it does not fit.
fn fits(parent: &AttributedOperation, child: &AttributedOperation) -> Option<u8> {
    let during = child.place.ns <= parent.stop;
    if !during || child.kind == op::REQUEST_QUEUED && level(parent) > 0 {
        return None;
    }
    let unique = |o: &AttributedOperation| o.record.request.map(|request| request.unique);
    if level(parent) > 0 && level(child) < 5 {
        let is_same = unique(parent).is_some() && unique(parent) == unique(child);
        let at_home = parent.place.lane.actor == child.place.lane.actor;
        // A data server accesses its disk for its own piece of the request.
        if !is_same || !at_home && level(child) == 4 || overlap(parent, child) == Some(false) {
            return None;
        }
        let range = |o: &AttributedOperation| (o.record.offset, o.record.size);
        return Some(1 + u8::from(at_home) + u8::from(range(parent) == range(child)));
    }
    let (above, below) = (Doing::of(parent.kind), Doing::of(child.kind));
    if level(child) == 5 {
        // A device's offsets are its own.
        let writes_out = above == Doing::Sync && below != Doing::Read;
        let is_own = parent.call == child.call && (above == below || writes_out);
        return is_own.then_some(1);
    }
    if parent.call != child.call {
        return None;
    }
    match overlap(parent, child) {
        Some(true) if above == below => Some(3),
        Some(false) if above == below && above.is_transfer() => None,
        _ => Some(u8::from(above == below) + u8::from(duration(child) <= duration(parent))),
    }
}

/// Whether two transfers have bytes of the file in common; `None` if one is no transfer, or it is not known.
fn overlap(a: &AttributedOperation, b: &AttributedOperation) -> Option<bool> {
    let range = |o: &AttributedOperation| {
        let is_known = Doing::of(o.kind).is_transfer() && o.record.offset >= 0;
        let end = o.record.offset.checked_add(o.record.size.max(1))?;
        is_known.then_some((o.record.offset, end))
    };
    // In the file of a data server the data lie elsewhere than in that of the program.
    let is_moved = |o: &AttributedOperation| {
        let layer = op::kind(o.kind).map(|kind| kind.layer);
        matches!(o.place.lane.actor, Actor::DataServer(_)) || layer == Some(Layer::Stripe)
    };
    if is_moved(a) || is_moved(b) {
        return None;
    }
    let ((a, a_end), (b, b_end)) = (range(a)?, range(b)?);
    Some(a < b_end && b < a_end)
}
