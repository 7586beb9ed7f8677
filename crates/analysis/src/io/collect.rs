//! Takes attribution records one by one and adds them up.

use super::access::{AccessTotals, OtherCalls};
use super::attribution::Attributions;
use super::calls::{Brief, HashMap, HashSet, OpenAccess, OpenCalls};
use super::collectives::Groups;
use super::findings::TINY;
use super::independent::AccessesCollector;
use super::kinds::{Doing, KindKey, OperationOwner, duration, moved};
use super::slowest::Slowest;
use super::{Aggregator, Cache, IoReport, IoReportOptions};
use crate::stats::Volume;
use io_attribution::{
    Actor, AttributedOperation, AttributionEdge, AttributionRecord, DataAccessCall, FileRole,
    OpenedFile, Precision, Relation,
};
use std::collections::BTreeMap;

/// Pairs of ranks of which it is told how much one moved for the other.
const PAIRS: usize = 1 << 20;
/// Files that are told apart.
const FILES: usize = 1 << 16;

/// Edges that wait for their operation.
const WAITING: usize = 1 << 18;

/// Makes a [`IoReport`] of attribution records, which come in the order of [`io_attribution::record`] or, after the files, in order of time.
///
/// Memory depends on ranks, files, functions and on what is outstanding, not on the length of the trace.
#[derive(Debug)]
pub struct IoReportCollector {
    options: IoReportOptions,
    report: IoReport,
    selected: HashSet<u32>,
    calls: OpenCalls,
    groups: Groups,
    attributions: Attributions,
    /// By operation, which has not come.
    waiting: HashMap<u64, Vec<AttributionEdge>>,
    waiting_count: usize,
    slowest: Slowest,
    served: BTreeMap<(u32, u32), Volume>,
    accesses: AccessesCollector,
}

impl IoReportCollector {
    /// A collector for a report with these options.
    pub fn new(options: IoReportOptions) -> Self {
        IoReportCollector {
            slowest: Slowest::new(options.slowest),
            options,
            report: IoReport::default(),
            selected: HashSet::default(),
            calls: OpenCalls::default(),
            groups: Groups::default(),
            attributions: Attributions::default(),
            waiting: HashMap::default(),
            waiting_count: 0,
            served: BTreeMap::new(),
            accesses: AccessesCollector::default(),
        }
    }

    /// Takes the next record.
    pub fn put(&mut self, record: &AttributionRecord) {
        match record {
            AttributionRecord::File(file) => self.file(file),
            AttributionRecord::Call(call) => self.call(call),
            AttributionRecord::Operation(operation) => self.operation(operation),
            AttributionRecord::Edge(edge) => self.edge(edge),
        }
        let overdue = self.calls.overdue();
        if !overdue.is_empty() {
            self.close(overdue);
        }
    }

    fn file(&mut self, file: &OpenedFile) {
        if let Some(part) = &self.options.file {
            if !file.name.contains(part.as_str()) {
                return;
            }
            self.selected.insert(file.id);
        }
        if self.report.files.len() < FILES {
            self.report.files.insert(file.id, file.clone());
        }
    }

    fn has_file(&self, file: Option<u32>) -> bool {
        self.options.file.is_none() || file.is_some_and(|file| self.selected.contains(&file))
    }

    fn has_rank(&self, actor: Actor, call: Option<u64>) -> bool {
        let Some(wanted) = self.options.rank else {
            return true;
        };
        match actor {
            Actor::Rank(rank) => rank == wanted,
            _ => call.is_some_and(|call| {
                let rank = call.checked_shr(self.options.counter_bits);
                rank.unwrap_or(0) == u64::from(wanted)
            }),
        }
    }

    fn call(&mut self, call: &DataAccessCall) {
        let Actor::Rank(rank) = call.place.lane.actor else {
            return;
        };
        if !self.has_file(Some(call.file)) || !self.has_rank(call.place.lane.actor, None) {
            return;
        }
        self.report.lasts(call.place.ns, call.stop);
        if !call.failed {
            self.accesses.call(rank, call);
        }
        let Some(open) = self.calls.get(call.call) else {
            self.report.late += 1;
            return;
        };
        open.made = Some(call.clone());
        if let Some(sequence) = call.sequence {
            let key = (call.file, sequence);
            self.groups.join(&mut self.calls, key, call.call, rank);
        }
    }

    fn operation(&mut self, operation: &AttributedOperation) {
        let actor = operation.place.lane.actor;
        let has_file = self.has_file(operation.file);
        if !has_file || !self.has_rank(actor, operation.call) {
            // It may carry data of a call that is selected.
            self.attributions.operation(operation, false, has_file);
            self.take_waiting(operation.id);
            return;
        }
        self.report.lasts(operation.place.ns, operation.stop);
        let file = operation.file.and_then(|file| self.report.files.get(&file));
        let role = file.map_or(FileRole::Data, |file| file.role);
        let is_data = role == FileRole::Data;
        self.report.opens_other_files |= role == FileRole::Other
            && operation.call.is_some()
            && Doing::of(operation.kind) == Doing::Open;
        let key = KindKey::of(actor, operation.kind, role);
        self.report.kinds.entry(key).or_default().add(operation);
        self.report.below.add(operation);
        let is_libc = key.who == OperationOwner::Rank;
        // An operation inside of MPI without a call belongs to one that is not recorded.
        let is_own = is_libc && operation.record.flags & blockfile::operation::OUTSIDE != 0;
        let counts = is_data && (operation.call.is_some() || !is_own);
        self.attributions.operation(operation, counts, true);
        let doing = Doing::of(operation.kind);
        if is_libc && counts && doing.is_transfer() {
            let bytes = moved(operation);
            let (sizes, cache) = match doing {
                Doing::Read => (&mut self.report.read_sizes, &mut self.report.cache_reads),
                _ => (&mut self.report.write_sizes, &mut self.report.cache_writes),
            };
            sizes.add(bytes);
            cache.add(operation, doing, bytes);
            let ns = duration(operation);
            if bytes < TINY {
                self.report.tiny_ns = self.report.tiny_ns.saturating_add(ns);
            }
            if operation.hole_bytes > 0 {
                let sum = &mut self.report.hole_ns[usize::from(doing == Doing::Write)];
                *sum = sum.saturating_add(ns);
            }
        }
        self.accesses.operation(operation, &mut self.report.own);
        if let Some(call) = operation.call {
            let in_time = self.calls.triggers(call, operation, key);
            self.report.late += u64::from(!in_time);
        }
        self.take_waiting(operation.id);
    }

    fn edge(&mut self, edge: &AttributionEdge) {
        if !self.has_rank(edge.from.lane.actor, Some(edge.call)) {
            return;
        }
        if self.attributions.get(edge.operation).is_some() {
            self.settled_edge(edge);
            return;
        }
        // In order of time an arrow comes before the operation that it leads to.
        let waiting = self.waiting.entry(edge.operation).or_default();
        waiting.push(edge.clone());
        self.waiting_count += 1;
        if self.waiting_count > WAITING {
            self.give_up_waiting();
        }
    }

    /// Takes the edges that have waited for this operation.
    fn take_waiting(&mut self, operation: u64) {
        let waiting = self.waiting.remove(&operation);
        for edge in waiting.into_iter().flatten() {
            self.waiting_count -= 1;
            self.settled_edge(&edge);
        }
    }

    /// Takes the edges whose operations have not come, and that may have been taken long ago.
    fn give_up_waiting(&mut self) {
        self.waiting_count = 0;
        let mut edges: Vec<AttributionEdge> =
            self.waiting.drain().flat_map(|(_, edges)| edges).collect();
        edges.sort_by_key(|edge| edge.operation);
        edges.iter().for_each(|edge| self.settled_edge(edge));
    }

    fn settled_edge(&mut self, edge: &AttributionEdge) {
        let known = self.attributions.get(edge.operation);
        let is_selected = known.map_or(self.options.file.is_none(), |seen| seen.is_selected);
        if !is_selected {
            return;
        }
        if edge.relation == Relation::Triggers {
            self.report.triggers += 1;
            self.report.below.triggers(edge.kind);
            return;
        }
        let seen = self.attributions.carries(edge);
        self.report.carries += 1;
        let actor = edge.to.lane.actor;
        self.report.below.carries(actor, edge.kind);
        // An operation that carries data of a call moves them to or from the call's file.
        let key = KindKey::of(actor, edge.kind, FileRole::Data);
        if let Some(row) = self.report.kinds.get_mut(&key) {
            row.carried_calls += 1;
        }
        if let (Actor::Rank(worker), Actor::Rank(owner)) = (actor, edge.from.lane.actor)
            && Doing::of(edge.kind).is_transfer()
            && (self.served.len() < PAIRS || self.served.contains_key(&(worker, owner)))
        {
            let volume = self.served.entry((worker, owner)).or_default();
            volume.count += 1;
            volume.bytes = volume.bytes.saturating_add(edge.bytes);
        }
        let elsewhere = seen
            .and_then(|seen| seen.call)
            .filter(|call| *call != edge.call);
        if let Some(server) = elsewhere.and_then(|call| self.calls.look(call)) {
            server.served = server.served.saturating_add(edge.bytes);
        }
        let Some(open) = self.calls.get(edge.call) else {
            self.report.late += 1;
            return;
        };
        open.may_carry |= edge.precision == Precision::MayCarry;
        if key.is_of_rank() {
            open.carried = open.carried.saturating_add(edge.bytes);
        }
        let is_elsewhere = seen.is_some_and(|seen| seen.call != Some(edge.call));
        if key.is_of_rank() && is_elsewhere {
            open.carried_elsewhere = open.carried_elsewhere.saturating_add(edge.bytes);
        }
        // Operations during the call itself were counted when they came.
        if seen.is_none_or(|seen| seen.call != Some(edge.call)) {
            open.cause(Brief {
                key,
                place: edge.to,
                ns: seen.map_or(0, |seen| seen.ns),
                offset: seen.map_or(-1, |seen| seen.offset),
                bytes: edge.bytes,
                elsewhere: true,
            });
        }
    }

    /// Adds up these calls, after the groups that they belong to.
    fn close(&mut self, calls: Vec<u64>) {
        for &call in &calls {
            let open = self.calls.look(call);
            let made = open.as_ref().and_then(|open| open.made.as_ref());
            if let Some(made) = made
                && let Some(sequence) = made.sequence
            {
                let key = (made.file, sequence);
                self.groups.close(&mut self.calls, key);
            }
        }
        for call in calls {
            if let Some(open) = self.calls.take(call) {
                self.add(open);
            }
        }
    }

    fn add(&mut self, mut open: OpenAccess) {
        let causes: u64 = open.caused.iter().map(|caused| caused.operations).sum();
        let report = &mut self.report;
        report.callids += 1;
        report.causing += u64::from(causes > 0);
        report.caused += causes;
        let Some(made) = open.made.take() else {
            let other = &mut report.other;
            other.calls += 1;
            other.operations += open.operations;
            other.transfers += open.transfers;
            other.hole_bytes += open.hole_bytes_read.saturating_add(open.hole_bytes_written);
            other.times.join(&open.times);
            return;
        };
        let Actor::Rank(rank) = made.place.lane.actor else {
            return;
        };
        if made.writes {
            report.modify_ns = report.modify_ns.saturating_add(open.reading_ns);
        }
        let name = made.name.to_string();
        add(report.functions.entry(name).or_default(), &made, &open);
        let file = (made.file, made.writes);
        add(report.by_file.entry(file).or_default(), &made, &open);
        add(report.by_rank.entry(rank).or_default(), &made, &open);
        add(
            if made.writes {
                &mut report.writes
            } else {
                &mut report.reads
            },
            &made,
            &open,
        );
        self.slowest.add(&made, &mut open);
    }

    /// The report.
    pub fn finish(mut self) -> IoReport {
        self.give_up_waiting();
        self.groups.close_all(&mut self.calls);
        let calls = self.calls.all();
        self.close(calls);
        let mut report = self.report;
        report.collectives = self.groups.found;
        report.accesses = self.accesses.finish(&mut report.own);
        report.attribution = self.attributions.finish();
        report.slowest = self.slowest.finish();
        for ((worker, owner), volume) in self.served {
            let aggregator: &mut Aggregator = report.aggregators.entry(worker).or_default();
            if worker == owner {
                aggregator.own_bytes = volume.bytes;
            } else {
                aggregator.serves.insert(owner, volume);
            }
        }
        report.aggregators.retain(|_, a| !a.serves.is_empty());
        report
    }
}

/// Adds a call to a row.
fn add(row: &mut AccessTotals, made: &DataAccessCall, open: &OpenAccess) {
    row.calls += 1;
    row.writes = made.writes;
    // What a failed call asked for was not wanted again from another one.
    if made.failed {
        row.failed += 1;
    } else {
        row.asked = row.asked.saturating_add(made.bytes);
        row.sizes.add(made.bytes);
        // Where the pieces of a call are not known, what it got of an operation is an estimate.
        if made.pieces > 0 || open.caused.is_empty() {
            let missing = made.bytes.saturating_sub(open.carried);
            row.missing = row.missing.saturating_add(missing);
        }
    }
    row.carried = row.carried.saturating_add(open.carried);
    row.hole_bytes_read = row.hole_bytes_read.saturating_add(open.hole_bytes_read);
    row.hole_bytes_written = row
        .hole_bytes_written
        .saturating_add(open.hole_bytes_written);
    row.modifying += u64::from(made.writes && open.read > 0);
    row.operations += open.operations;
    row.transfers += open.transfers;
    row.ns = row.ns.saturating_add(made.duration());
    row.times.join(&open.times);
    row.pending = row.pending.saturating_add(made.pending());
    row.deferred += u64::from(made.pending() > 0);
    row.durations.add(made.duration() as f64);
    row.caused.add(open.of_ranks());
    for caused in &open.caused {
        let per_call = row.kinds.entry(caused.key).or_default();
        per_call.add(caused.operations);
    }
}

impl Cache {
    fn add(&mut self, operation: &AttributedOperation, doing: Doing, bytes: u64) {
        let Some((read, written)) = operation.record.sectors else {
            return;
        };
        let sectors = if doing == Doing::Read { read } else { written };
        self.transfers += 1;
        self.bytes = self.bytes.saturating_add(bytes);
        self.sectors = self.sectors.saturating_add(sectors);
        if sectors == 0 {
            self.cached += 1;
            self.cached_bytes = self.cached_bytes.saturating_add(bytes);
        }
    }
}

impl OtherCalls {
    /// Whether there are any.
    pub fn is_empty(&self) -> bool {
        self.calls == 0
    }
}
