//! Precision of the attribution of operations' bytes to calls.

use super::calls::HashMap;
use super::kinds::{Doing, OperationOwner, duration, moved};
use blockfile::operation::{self as op, Layer};
use io_attribution::{AttributedOperation, AttributionEdge, Precision};
use std::collections::{BTreeMap, VecDeque};

/// Operations whose edges may still come.
const REMEMBERED: usize = 1 << 17;

/// A stage on the way from a call to the disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Stage {
    /// Owner of the operations.
    pub who: OperationOwner,
    /// Layer of the operations.
    pub layer: Layer,
}

/// Bytes of the transfers of a stage by what is known of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Attribution {
    /// Transfers.
    pub transfers: u64,
    /// Transfers of which every byte has a call or is in a sieving hole, without a guess.
    pub settled: u64,
    /// Bytes that they moved.
    pub moved: u64,
    /// Bytes of sieving holes: no call had asked for them, which is known exactly.
    pub hole_bytes: u64,
    /// Bytes known to be of a call: to the byte.
    pub exact: u64,
    /// Bytes attributed by pages of 4 KiB.
    pub page: u64,
    /// Bytes that were attributed by the range between the first and the last byte of the call.
    pub bounding_extent: u64,
    /// Bytes that may have served a call; several transfers moved them, and each counts.
    pub ambiguous: u64,
    /// Bytes that several calls of one collective access wrote; each of them counts.
    pub may_carry: u64,
    /// Bytes of which no call is known.
    pub unattributed: u64,
}

impl Attribution {
    fn add(&mut self, precision: Precision, bytes: u64) {
        let sum = match precision {
            Precision::Exact => &mut self.exact,
            Precision::Page => &mut self.page,
            Precision::BoundingExtent => &mut self.bounding_extent,
            Precision::Ambiguous => &mut self.ambiguous,
            Precision::MayCarry => &mut self.may_carry,
        };
        *sum = sum.saturating_add(bytes);
    }
}

/// The part of an operation that is remembered for the edges that lead to it.
#[derive(Clone, Copy, Debug)]
pub(super) struct SeenOperation {
    /// The call during which it happened.
    pub call: Option<u64>,
    /// Duration of the operation, ns.
    pub ns: u64,
    /// Offset in the file, bytes; -1 if not known.
    pub offset: i64,
    /// Whether it is one of those that the report is about.
    pub is_selected: bool,
    stage: Option<Stage>,
    /// Bytes without a call so far.
    left: u64,
    guessed: bool,
}

/// Operations, and how many of their bytes found their calls.
#[derive(Debug, Default)]
pub(super) struct Attributions {
    seen: HashMap<u64, SeenOperation>,
    order: VecDeque<u64>,
    stages: BTreeMap<Stage, Attribution>,
}

impl Attributions {
    /// The next operation; `counts` if its bytes should have a call, `is_selected` if the report is about it.
    pub fn operation(&mut self, operation: &AttributedOperation, counts: bool, is_selected: bool) {
        let who = OperationOwner::of(operation.place.lane.actor);
        let is_transfer = Doing::of(operation.kind).is_transfer();
        let layer = op::kind(operation.kind).map(|kind| kind.layer);
        let stage = layer.filter(|_| counts && is_transfer);
        let stage = stage.map(|layer| Stage { who, layer });
        let bytes = moved(operation);
        if let Some(stage) = stage {
            let sums = self.stages.entry(stage).or_default();
            sums.transfers += 1;
            sums.moved = sums.moved.saturating_add(bytes);
            sums.hole_bytes = sums.hole_bytes.saturating_add(operation.hole_bytes);
        }
        let seen = SeenOperation {
            call: operation.call,
            ns: duration(operation),
            offset: operation.record.offset,
            is_selected,
            stage,
            left: bytes.saturating_sub(operation.hole_bytes),
            guessed: false,
        };
        if self.seen.insert(operation.id, seen).is_none() {
            self.order.push_back(operation.id);
        }
        if self.order.len() > REMEMBERED
            && let Some(oldest) = self.order.pop_front()
        {
            self.settle(oldest);
        }
    }

    /// Notes that an operation carries data of a call. Returns the operation if it is remembered.
    pub fn carries(&mut self, edge: &AttributionEdge) -> Option<SeenOperation> {
        let seen = self.seen.get_mut(&edge.operation)?;
        seen.left = seen.left.saturating_sub(edge.bytes);
        seen.guessed |= edge.precision != Precision::Exact;
        let seen = *seen;
        if let Some(stage) = seen.stage {
            let sums = self.stages.entry(stage).or_default();
            sums.add(edge.precision, edge.bytes);
        }
        Some(seen)
    }

    /// The remembered operation with this number.
    pub fn get(&self, operation: u64) -> Option<&SeenOperation> {
        self.seen.get(&operation)
    }

    fn settle(&mut self, operation: u64) {
        let Some(seen) = self.seen.remove(&operation) else {
            return;
        };
        if let Some(stage) = seen.stage {
            let sums = self.stages.entry(stage).or_default();
            sums.unattributed = sums.unattributed.saturating_add(seen.left);
            sums.settled += u64::from(seen.left == 0 && !seen.guessed);
        }
    }

    pub fn finish(mut self) -> BTreeMap<Stage, Attribution> {
        while let Some(operation) = self.order.pop_front() {
            self.settle(operation);
        }
        self.stages
    }
}
