//! Sums values of all drawables that a search takes, by rank, name or value.
//!
//! The tree is gone over from left to right, without the parts that previews say have nothing. When time is up, what was summed is of all drawables
//! that start before a moment: those of inner nodes are held back until what lies before them is done.

use std::collections::HashMap;
use trace_formats::slog2::{NodeShadow, Primitive, Stub, Topology, VisitNode};
use trace_model::InfoValue;

use super::aggregation::{AggregateQuery, AggregatedValue, GroupedBy};
use super::plan::{SearchPlan, values};
use crate::base::error::ApiError;
use crate::trace::class::ActivityClass;
use crate::trace::scan::ReadBudget;
use crate::trace::states::TraceState;
use crate::trace::waits::TraceWaits;
use crate::trace::{DrawableKind, OpenTrace, TraceItem};

/// Groups at most.
const MAX_GROUPS: usize = 100_000;

/// What the drawables of a group have in common.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum GroupKey {
    /// Number of a line of the rank.
    Rank(u32),
    /// Thread or communicator.
    Number(i64),
    /// The first kind that has the name.
    Kind(u32),
    /// Name of the class.
    Class(&'static str),
    /// Lines of sender and receiver.
    Peers(u32, u32),
    /// A whole number in the info.
    Integer(i64),
    /// A hexadecimal number in the info.
    Hex(u64),
    /// Bits of a floating-point number in the info.
    Real(u64),
    /// A text in the info.
    Text(Box<[u8]>),
}

/// Sum over the drawables of a group.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AggregateTally {
    /// Number of drawables.
    pub count: u64,
    /// Sum of their values.
    pub sum: f64,
    /// Least value.
    pub min: f64,
    /// Largest value.
    pub max: f64,
}

impl AggregateTally {
    const NONE: AggregateTally = AggregateTally {
        count: 0,
        sum: 0.0,
        min: f64::INFINITY,
        max: f64::NEG_INFINITY,
    };

    fn add(&mut self, value: f64) {
        self.count += 1;
        self.sum += value;
        self.min = self.min.min(value);
        self.max = self.max.max(value);
    }
}

/// Result of an aggregation.
#[derive(Clone, Debug)]
pub struct Aggregation {
    /// Groups, in the order in which they were found, each with what its drawables have in common, in the order of the query.
    pub groups: Vec<(Box<[GroupKey]>, AggregateTally)>,
    /// Drawables that fit the search but have no such value, or are in no group.
    pub without: u64,
    /// Drawables that start before this time are summed; none of the others.
    pub until: f64,
    /// Whether that is all of the trace.
    pub exact: bool,
}

/// Sums over all drawables that fit, until the budget is used up.
///
/// # Errors
/// The file is damaged, or there are too many groups.
pub fn aggregate(
    trace: &OpenTrace<'_>,
    plan: &SearchPlan,
    query: &AggregateQuery,
    waits: Option<&TraceWaits>,
    budget: ReadBudget<'_>,
) -> Result<Aggregation, ApiError> {
    let mut sums = GroupSums {
        trace,
        plan,
        query,
        waits,
        rank_lines: HashMap::new(),
        first_kinds: first_kinds(trace.kinds()),
        numbers: HashMap::new(),
        keys: Vec::new(),
        groups: Vec::new(),
        without: 0,
    };
    let mut until = trace.bounds().latest;
    let (Some(root), true) = (trace.reader().root(), plan.is_possible()) else {
        return Ok(sums.finish(until, true));
    };
    let mut bytes = u64::from(root.ptr.size.unsigned_abs());
    let mut open = vec![sums.visit(root.ptr, root.id.depth)?];
    let mut exact = true;
    while let Some(node) = open.last_mut() {
        let Some(child) = node.children.pop() else {
            let rows = open.pop().map_or(Vec::new(), |node| node.rows);
            rows.iter().for_each(|row| sums.add(row));
            continue;
        };
        let size = u64::from(child.ptr.size.unsigned_abs());
        if (budget.cancel)() || bytes.saturating_add(size) > budget.bytes {
            (until, exact) = (child.bounds.earliest, false);
            break;
        }
        bytes += size;
        let node = sums.visit(child.ptr, child.id.depth)?;
        if sums.groups.len() > MAX_GROUPS {
            return Err(ApiError::too_large(format!(
                "there are more than {MAX_GROUPS} groups: a search after where makes them fewer"
            )));
        }
        open.push(node);
    }
    let held_back = open.iter().flat_map(|node| &node.rows);
    for row in held_back.filter(|row| row.start < until) {
        sums.add(row);
    }
    Ok(sums.finish(until, exact))
}

/// Whether bytes of a kind are counted: those of messages, calls and operations. What links a call of MPI-IO to its operations, the event `I/O access` and arrows
/// that are no messages, repeats those of the call.
pub(crate) fn counts_bytes(kind: &DrawableKind) -> bool {
    match (kind.category.topology, kind.class) {
        (Topology::Arrow, class) => class == ActivityClass::Message,
        (Topology::Event, class) => class != ActivityClass::Io,
        _ => true,
    }
}

/// By kind the first one that has its name: several categories may have one, such as a state and an event.
fn first_kinds(kinds: &[DrawableKind]) -> Vec<u32> {
    let mut first = HashMap::new();
    let numbered = (0..).zip(kinds);
    let first = numbered.map(|(number, kind)| *first.entry(kind.name.as_str()).or_insert(number));
    first.collect()
}

/// A drawable that is to be added to its group.
#[derive(Clone, Copy, Debug)]
struct AggregateRow {
    start: f64,
    group: u32,
    value: f64,
}

/// A node that was read: its drawables, and the children that may have more, the last one first.
#[derive(Debug, Default)]
struct VisitedNode {
    rows: Vec<AggregateRow>,
    children: Vec<Stub>,
}

/// Sums by group.
struct GroupSums<'p, 'a> {
    trace: &'p OpenTrace<'a>,
    plan: &'p SearchPlan,
    query: &'p AggregateQuery,
    waits: Option<&'p TraceWaits>,
    /// By rank the first of its lines that was met.
    rank_lines: HashMap<i32, u32>,
    /// By kind the first one that has its name.
    first_kinds: Vec<u32>,
    numbers: HashMap<Box<[GroupKey]>, u32>,
    /// The keys of the drawable that is looked at.
    keys: Vec<GroupKey>,
    groups: Vec<(Box<[GroupKey]>, AggregateTally)>,
    without: u64,
}

impl<'p, 'a> GroupSums<'p, 'a> {
    fn visit(
        &mut self,
        ptr: trace_formats::slog2::FileBlockPtr,
        depth: i16,
    ) -> Result<VisitedNode, ApiError> {
        let trace = self.trace;
        let mut visit = NodeVisit {
            sums: self,
            depth,
            node: VisitedNode::default(),
            has_hits: false,
        };
        trace.reader().visit_node(ptr, &mut visit)?;
        let mut node = visit.node;
        let by_start = |a: &Stub, b: &Stub| b.bounds.earliest.total_cmp(&a.bounds.earliest);
        node.children.sort_by(by_start);
        Ok(node)
    }

    fn add(&mut self, row: &AggregateRow) {
        if let Some((_, tally)) = self.groups.get_mut(row.group as usize) {
            tally.add(row.value);
        }
    }

    fn finish(self, until: f64, exact: bool) -> Aggregation {
        let groups = self.groups.into_iter();
        Aggregation {
            groups: groups.filter(|(_, tally)| tally.count > 0).collect(),
            without: self.without,
            until,
            exact,
        }
    }

    /// The row of a drawable that fits; `None` if it has no such value or is in no group.
    fn row(&mut self, item: &TraceItem<'a>) -> Option<AggregateRow> {
        let value = self.value(item).filter(|value| value.is_finite())?;
        self.keys.clear();
        for by in &self.query.by {
            let key = self.key(by, item)?;
            self.keys.push(key);
        }
        let next = self.groups.len() as u32;
        let group = match self.numbers.get(self.keys.as_slice()) {
            Some(&group) => group,
            None => {
                let keys: Box<[GroupKey]> = self.keys.as_slice().into();
                self.numbers.insert(keys.clone(), next);
                self.groups.push((keys, AggregateTally::NONE));
                next
            }
        };
        Some(AggregateRow {
            start: item.start,
            group,
            value,
        })
    }

    fn value(&self, item: &TraceItem<'a>) -> Option<f64> {
        let kind = &self.trace.kinds()[item.kind as usize];
        match &self.query.value {
            AggregatedValue::Duration => Some((item.end - item.start).abs()),
            AggregatedValue::Bytes => {
                let bytes = kind.bytes_of(item.info).filter(|_| counts_bytes(kind));
                bytes.map(|bytes| bytes as f64)
            }
            AggregatedValue::Wait => {
                let state = TraceState::of(item);
                let own = self.waits?.of_state(&state);
                let wanted = own.filter(|wait| self.plan.takes_wait(self.trace, wait));
                let seconds: f64 = wanted.map(|wait| wait.to - wait.from).sum();
                (item.topology == Topology::State && seconds > 0.0).then_some(seconds)
            }
            AggregatedValue::Key(key) => {
                values(kind, key, item.info).find_map(|value| match value {
                    InfoValue::Integer(value) => Some(value as f64),
                    InfoValue::Hex(value) => Some(value as f64),
                    InfoValue::Real(value) => Some(value),
                    InfoValue::Text(_) => None,
                })
            }
        }
    }

    fn key(&mut self, by: &GroupedBy, item: &TraceItem<'a>) -> Option<GroupKey> {
        let line = &self.trace.lines()[item.line as usize].line;
        let kind = &self.trace.kinds()[item.kind as usize];
        let is_arrow = item.topology == Topology::Arrow;
        let is_message = is_arrow && kind.class == ActivityClass::Message;
        Some(match by {
            GroupedBy::Rank => GroupKey::Rank(self.line_of_rank(item.line)),
            GroupedBy::Thread if !is_arrow => GroupKey::Number(i64::from(line.thread)),
            GroupedBy::Comm if !is_arrow => GroupKey::Number(i64::from(line.comm)),
            GroupedBy::Peer if is_message => {
                let from = self.line_of_rank(item.line);
                GroupKey::Peers(from, self.line_of_rank(item.to_line))
            }
            GroupedBy::Thread | GroupedBy::Comm | GroupedBy::Peer => return None,
            GroupedBy::Name => GroupKey::Kind(self.first_kinds[item.kind as usize]),
            GroupedBy::Class => GroupKey::Class(kind.class.name()),
            GroupedBy::Key(key) => match values(kind, key, item.info).next()? {
                InfoValue::Integer(value) => GroupKey::Integer(value),
                InfoValue::Hex(value) => GroupKey::Hex(value),
                InfoValue::Real(value) => GroupKey::Real(value.to_bits()),
                InfoValue::Text(text) => GroupKey::Text(text.into()),
            },
        })
    }

    /// The line that stands for the rank of a line.
    fn line_of_rank(&mut self, line: u32) -> u32 {
        let rank = self.trace.lines()[line as usize].line.rank;
        *self.rank_lines.entry(rank).or_insert(line)
    }
}

/// A node while it is read.
struct NodeVisit<'v, 'p, 'a> {
    sums: &'v mut GroupSums<'p, 'a>,
    depth: i16,
    node: VisitedNode,
    /// Whether the previews of the next child say that it may have something.
    has_hits: bool,
}

impl<'a> VisitNode<'a> for NodeVisit<'_, '_, 'a> {
    fn primitive(&mut self, primitive: &Primitive<'a>) {
        let GroupSums { trace, plan, .. } = *self.sums;
        if !plan.takes_category(trace, primitive.category) {
            return;
        }
        let Some(item) = trace.item(primitive) else {
            return;
        };
        if plan.fits(trace, &item) {
            match self.sums.row(&item) {
                Some(row) => self.node.rows.push(row),
                None => self.sums.without += 1,
            }
        }
    }

    fn shadow(&mut self, shadow: NodeShadow<'a>) {
        self.has_hits = self.has_hits || self.sums.plan.count(self.sums.trace, &shadow) > 0;
    }

    fn child(&mut self, child: Stub) {
        if std::mem::take(&mut self.has_hits) && child.id.depth < self.depth {
            self.node.children.push(child);
        }
    }
}
