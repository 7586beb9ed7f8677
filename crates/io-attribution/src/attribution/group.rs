//! Groups of data accesses that belong together, their transfers, and whose bytes the transfers moved (rules 4 to 8).

use super::link::CauseLink;
use super::open_accesses::AskedBytes;
use super::overwritten::OverwrittenBytes;
use super::resolved::{CallCredit, TransferShare};
use crate::event;
use crate::event::{AccessEvent, AccessPosition};
use crate::intervals::Intervals;
use crate::ranges::{Ranges, ViewLayout};
use crate::record::{DataAccessCall, PicturePoint, Precision};
use std::sync::Arc;
use trace_model::hash::Map;

/// Maximum number of calls that a transfer is linked to although it may have no byte of them. More calls are linked only in
/// proportion to their bounding extents.
const MAX_POSSIBLE_CALLS: usize = 64;

/// One rank's call in a group.
#[derive(Debug)]
pub(super) struct GroupMember {
    pub access: AccessEvent,
    /// Name of the function.
    pub name: Arc<str>,
    pub place: PicturePoint,
    /// Rank in MPI_COMM_WORLD.
    pub world: u32,
    /// Rank among those that opened the file.
    pub rank: u32,
    /// Number of the file.
    pub file: u32,
    pub layout: Option<Arc<ViewLayout>>,
    pub ranges: Option<Ranges>,
    /// Bytes moved according to the status; `None` if not known.
    pub moved: Option<u64>,
    /// Completion, ns on rank 0's clock.
    pub complete: Option<i64>,
    /// Bytes of the access for which transfers have been given to it.
    claimed: Intervals,
    /// Bytes of the access that have been found in a transfer, and those found in more than one.
    delivered: Intervals,
    twice: Intervals,
}

impl GroupMember {
    pub fn new(
        access: AccessEvent,
        name: Arc<str>,
        place: PicturePoint,
        world: u32,
        rank: u32,
        file: u32,
        layout: Option<Arc<ViewLayout>>,
    ) -> GroupMember {
        let ranges = match (access.position, access.bytes, &layout) {
            (AccessPosition::At(etypes), Some(bytes), Some(layout)) => {
                Ranges::new(layout, etypes, bytes)
            }
            _ => None,
        };
        GroupMember {
            access,
            name,
            place,
            world,
            rank,
            file,
            layout,
            ranges,
            moved: None,
            complete: None,
            claimed: Intervals::default(),
            delivered: Intervals::default(),
            twice: Intervals::default(),
        }
    }

    /// Attribution record of the call. `overlaps`: another call of the group writes some of its bytes, too.
    pub fn call(&self, overlaps: bool) -> DataAccessCall {
        DataAccessCall {
            call: self.access.call,
            function: self.access.function,
            name: Arc::clone(&self.name),
            place: self.place,
            stop: self.access.stop,
            complete: self.complete.unwrap_or(self.access.stop),
            file: self.file,
            sequence: self.access.sequence,
            writes: self.access.writes,
            bytes: self.access.bytes.unwrap_or(0),
            bounding_extent: self.ranges.as_ref().and_then(Ranges::bounding_extent),
            pieces: match &self.ranges {
                Some(ranges) if ranges.is_exact() => ranges.pieces(),
                _ => 0,
            },
            overlaps,
            failed: self.access.failed,
        }
    }

    /// Bytes that it moved, or asked for where that is not known, and that no transfer moved.
    pub fn missing(&self) -> u64 {
        let bytes = self.access.bytes.unwrap_or(0);
        let bytes = bytes.min(self.moved.unwrap_or(u64::MAX));
        bytes.saturating_sub(self.delivered.covered())
    }

    fn overlap(&self, range: (u64, u64)) -> (u64, u64) {
        let ranges = self.ranges.as_ref();
        ranges.map_or((0, 0), |r| r.overlap(range.0, range.1))
    }

    /// Where the bytes are that the call asks for.
    pub fn asked(&self) -> AskedBytes {
        match &self.ranges {
            Some(ranges) if ranges.is_exact() => (ranges.bounding_extent())
                .map_or(AskedBytes::None, |(low, high)| {
                    AskedBytes::Within(low, high)
                }),
            _ => AskedBytes::Unknown,
        }
    }

    /// Whether it is known to the byte what the call asked for.
    pub fn is_exact(&self) -> bool {
        self.ranges.as_ref().is_some_and(Ranges::is_exact)
    }

    /// The call's share of a transfer of the bytes `range`; `None` if it has none. For a write, bytes that an
    /// earlier transfer has moved do not count.
    pub fn credit(&mut self, range: (u64, u64)) -> Option<CallCredit> {
        let span = self.overlap(range);
        let ranges = self.ranges.clone()?;
        let new = self.delivered.add(span.0, span.1);
        let bytes = if self.access.writes {
            new
        } else {
            span.1 - span.0
        };
        let precision = if self.twice.within(span.0, span.1) > 0 {
            Precision::Ambiguous
        } else {
            Precision::Exact
        };
        (bytes > 0).then_some(CallCredit {
            call: self.access.call,
            from: self.place,
            ranges,
            span,
            bytes,
            precision,
        })
    }

    /// The possible share of a call of which only the bounding extent is known. `None` if the transfer is outside of it. With
    /// `is_own` the transfer moved bytes of this call and no others. Else the number of bytes is an estimate, and may be 0.
    fn possible_credit(&mut self, range: (u64, u64), is_own: bool) -> Option<CallCredit> {
        let ranges = self.ranges.clone()?;
        let (low, high) = ranges.bounding_extent()?;
        let size = range.1.min(high).checked_sub(range.0.max(low))?;
        let span = self.overlap(range);
        let bytes = if is_own {
            let from = self.delivered.covered();
            let left = ranges.bytes().saturating_sub(from);
            self.delivered.add(from, from + size.min(left))
        } else {
            let new = self.delivered.add(span.0, span.1);
            if self.access.writes {
                new
            } else {
                span.1 - span.0
            }
        };
        (size > 0).then_some(CallCredit {
            call: self.access.call,
            from: self.place,
            ranges,
            span,
            bytes,
            precision: Precision::BoundingExtent,
        })
    }

    /// The call's share of a transfer that writes bytes which another transfer has written before.
    fn again(&self, span: (u64, u64)) -> Option<CallCredit> {
        Some(CallCredit {
            call: self.access.call,
            from: self.place,
            ranges: self.ranges.clone()?,
            span,
            bytes: span.1 - span.0,
            precision: Precision::Ambiguous,
        })
    }
}

/// A transfer that waits until it is known whose bytes it moved.
#[derive(Debug)]
pub(super) struct Transfer {
    pub operation: event::OperationEvent,
    pub world: u32,
    pub thread: u32,
    pub file: Option<u32>,
    /// Bytes of the file that it moved.
    pub range: (u64, u64),
    pub link: CauseLink,
}

impl Transfer {
    /// Bytes of the file that it was to move: more than it did behind the end of the file.
    fn asked(&self) -> (u64, u64) {
        let size = u64::try_from(self.operation.record.size).unwrap_or(0);
        let end = self.range.0.saturating_add(size);
        (self.range.0, end.max(self.range.1))
    }
}

/// The calls of a collective access, or a single call.
#[derive(Debug)]
pub(super) struct AccessGroup {
    /// Number of the collective access among those of its file, from 0.
    pub number: u64,
    /// Number of calls, recorded or not.
    pub expected: u32,
    /// Number of calls that are known not to be recorded.
    pub missing: u32,
    pub complete: u32,
    pub writes: bool,
    /// For a group that writes: the bytes that each rank of MPI_COMM_WORLD has read in these calls.
    pub read: Map<u32, Intervals>,
    pub members: Vec<GroupMember>,
    pub transfers: Vec<Transfer>,
    /// Whether nothing has to be waited for: the one call is known, with its ranges, and returns when all is done.
    pub at_once: bool,
}

impl AccessGroup {
    /// Whether all calls that are recorded have come and are complete.
    pub fn is_complete(&self) -> bool {
        self.complete.saturating_add(self.missing) >= self.expected
    }

    /// Whether it is known to the byte what all calls asked for.
    pub fn knows_all(&self) -> bool {
        let is_known = |m: &GroupMember| m.is_exact() || m.access.bytes == Some(0);
        self.members.len() as u64 >= u64::from(self.expected) && self.members.iter().all(is_known)
    }

    /// Rank and handle of a write by a shared file pointer that moved nothing: the library put its data aside, and a later call moves them.
    pub fn put_off(&self) -> Option<(u32, u32)> {
        let [member] = &self.members[..] else {
            return None;
        };
        let access = &member.access;
        let is_put_off = self.writes
            && self.transfers.is_empty()
            && access.position == AccessPosition::Unknown
            && access.bytes != Some(0)
            && member.moved != Some(0);
        Some((member.world, access.handle?)).filter(|_| is_put_off)
    }

    pub fn member(&mut self, call: u64) -> Option<&mut GroupMember> {
        self.members.iter_mut().find(|m| m.access.call == call)
    }

    /// Number of bytes in `range` that calls of the group ask for, and how many of these no transfer has claimed.
    pub fn asks_for(&self, range: (u64, u64)) -> (u64, u64) {
        self.members.iter().fold((0, 0), |(all, new), m| {
            let (a, b) = m.overlap(range);
            (
                all + (b - a),
                new + (b - a).saturating_sub(m.claimed.within(a, b)),
            )
        })
    }

    /// Whether the range of some of its calls is known only from its transfers.
    pub fn has_unknown(&self) -> bool {
        self.members
            .iter()
            .any(|m| m.ranges.is_none() && m.access.bytes != Some(0))
    }

    /// Adds a transfer. With `claims`, its bytes count as claimed in [`AccessGroup::asks_for`].
    pub fn take(&mut self, transfer: Transfer, claims: bool) {
        if claims {
            for member in &mut self.members {
                let (a, b) = member.overlap(transfer.range);
                member.claimed.add(a, b);
            }
        }
        self.transfers.push(transfer);
    }

    /// Finds out where accesses by the shared pointer took place: their own transfers tell.
    pub fn place_shared(&mut self) {
        let ordered = |m: &GroupMember| m.access.position == AccessPosition::Ordered;
        let ordered = self.members.iter().any(ordered);
        for member in &mut self.members {
            let (None, Some(bytes), Some(layout)) =
                (&member.ranges, member.access.bytes, &member.layout)
            else {
                continue;
            };
            let call = member.access.call;
            let own = self.transfers.iter().filter(|t| match ordered {
                true => t.world == member.world,
                false => t.operation.inside.is_some_and(|i| i.call == call),
            });
            let first = own.map(|t| t.range.0).min();
            member.ranges = first
                .and_then(|first| layout.data_at(first))
                .and_then(|from| Ranges::from_data(layout, from, bytes));
        }
        // If each rank has worked for itself, this happens: ROMIO's pointer may be moved by a rank's next call before
        // the others have come to this one.
        if ordered && !self.is_independent() {
            self.place_in_order();
        }
    }

    /// Ordered accesses stand one behind the other in the order of ranks; the first one begins where the first transfer does.
    fn place_in_order(&mut self) {
        self.members.sort_by_key(|m| m.rank);
        let first = self.transfers.iter().map(|t| t.range.0).min();
        let Some(layout) = self.members.iter().find_map(|m| m.layout.clone()) else {
            return;
        };
        let mut from = first.and_then(|first| layout.data_at(first));
        for member in &mut self.members {
            let (Some(at), Some(bytes)) = (from, member.access.bytes) else {
                member.ranges = None;
                continue;
            };
            let layout = member.layout.as_ref().unwrap_or(&layout);
            member.ranges = Ranges::from_data(layout, at, bytes);
            from = at.checked_add(bytes);
        }
    }

    /// Whether every rank's own transfers cover what it asked for: then each has worked for itself (rule 8).
    pub fn is_independent(&self) -> bool {
        if self.members.len() < 2 {
            return false;
        }
        let by_rank = self.transfers_by_rank();
        self.members.iter().all(|member| {
            let own = by_rank.get(&member.world).map_or(&[][..], Vec::as_slice);
            let Some(ranges) = &member.ranges else {
                return member.access.bytes == Some(0);
            };
            if !ranges.is_exact() {
                return ranges.bytes() == 0 || moved_as_many_bytes(member, own, true);
            }
            let wanted = ranges.bytes().min(member.moved.unwrap_or(u64::MAX));
            let mut found = Intervals::default();
            for transfer in own {
                let (start, end) = transfer.asked();
                let (a, b) = ranges.overlap(start, end);
                found.add(a, b);
            }
            found.covered() >= wanted
        })
    }

    fn transfers_by_rank(&self) -> Map<u32, Vec<&Transfer>> {
        let mut by_rank: Map<u32, Vec<&Transfer>> = Map::default();
        for transfer in &self.transfers {
            by_rank.entry(transfer.world).or_default().push(transfer);
        }
        by_rank
    }

    /// Shares each transfer out among the calls whose bytes it moved: one share per transfer, in the order of the transfers.
    /// `independent`: each rank has worked for itself.
    pub fn share_out(
        &mut self,
        independent: bool,
        overwritten: &OverwrittenBytes,
    ) -> Vec<TransferShare> {
        let mut order: Vec<usize> = (0..self.transfers.len()).collect();
        let mut doubtful = vec![false; self.transfers.len()];
        if !independent && self.writes {
            // An aggregator that reads, changes and writes back may have another one's whole transfer inside of its own.
            order.sort_by_key(|&i| self.transfers.get(i).map(|t| t.range.1 - t.range.0));
            self.find_crossing(&mut doubtful);
        } else if !independent {
            self.find_twice();
        }
        let is_complete = self.knows_all();
        let is_own = independent || self.is_single_with_own_bytes();
        let mut shares: Vec<TransferShare> = Vec::new();
        shares.resize_with(self.transfers.len(), TransferShare::default);
        for i in order {
            let (Some(transfer), Some(share), Some(&doubtful)) =
                (self.transfers.get(i), shares.get_mut(i), doubtful.get(i))
            else {
                continue;
            };
            let (start, end) = transfer.range;
            let read = self.read.get(&transfer.world);
            let was_read = read.map_or(0, |read| read.within(start, end)) == end - start;
            let is_overwritten = !independent && overwritten.twice.within(start, end) > 0;
            let mut credits = Vec::new();
            for (n, member) in self.members.iter_mut().enumerate() {
                if independent && member.world != transfer.world {
                    continue;
                }
                if !member.is_exact() {
                    credits.extend(member.possible_credit(transfer.range, is_own));
                    continue;
                }
                let span = member.overlap(transfer.range);
                let Some(mut credit) = member.credit(transfer.range) else {
                    // All of it was in a smaller transfer: written back as it was read, or a second time.
                    if self.writes && !was_read && span.0 < span.1 {
                        credits.extend(member.again(span));
                    }
                    continue;
                };
                if self.writes && !was_read && credit.bytes < span.1 - span.0 {
                    credit.bytes = span.1 - span.0;
                    credit.precision = credit.precision.max(Precision::Ambiguous);
                }
                if doubtful || !independent && overwritten.is_uncertain(n) {
                    credit.precision = credit.precision.max(Precision::Ambiguous);
                }
                if is_overwritten && overwritten.calls.get(n) == Some(&true) {
                    credit.precision = Precision::MayCarry;
                }
                credits.push(credit);
            }
            if credits.len() > MAX_POSSIBLE_CALLS {
                credits.retain(|credit| credit.bytes > 0);
            }
            *share = TransferShare::new(transfer.range, credits, is_complete);
            if is_overwritten {
                let asked = overwritten.any.within(start, end);
                share.hole_bytes = share
                    .hole_bytes
                    .map(|_| (end - start).saturating_sub(asked));
            }
        }
        shares
    }

    /// Whether this is a single call of which only the bounding extent is known, and its transfers moved as many bytes.
    fn is_single_with_own_bytes(&self) -> bool {
        let [member] = &self.members[..] else {
            return false;
        };
        let own: Vec<&Transfer> = self.transfers.iter().collect();
        self.expected == 1 && !member.is_exact() && moved_as_many_bytes(member, &own, false)
    }

    /// The bytes that several calls write.
    pub fn overwritten(&self) -> OverwrittenBytes {
        if !self.writes {
            return OverwrittenBytes::default();
        }
        let ranges = self.members.iter().map(|m| m.ranges.as_ref());
        OverwrittenBytes::of(&ranges.collect::<Vec<_>>())
    }

    /// Finds out which bytes are read by several transfers.
    fn find_twice(&mut self) {
        for member in &mut self.members {
            let mut once = Intervals::default();
            for transfer in &self.transfers {
                let (a, b) = member.overlap(transfer.range);
                let twice = &mut member.twice;
                once.add_and_tell(a, b, |from, to| {
                    twice.add(from, to);
                });
            }
        }
    }

    /// Marks transfers that write the same bytes without one being inside the other: which of them carried a call's bytes is
    /// not known.
    fn find_crossing(&self, doubtful: &mut [bool]) {
        let mut by_start: Vec<(u64, u64, usize)> = self
            .transfers
            .iter()
            .enumerate()
            .map(|(i, t)| (t.range.0, t.range.1, i))
            .collect();
        by_start.sort_by_key(|&(start, end, i)| (start, std::cmp::Reverse(end), i));
        let mut around: Vec<(u64, u64, usize)> = Vec::new();
        for this in by_start {
            while around.last().is_some_and(|a| a.1 <= this.0) {
                around.pop();
            }
            if let Some(&outer) = around.last()
                && (this.1 > outer.1 || (this.0, this.1) == (outer.0, outer.1))
            {
                for i in [outer.2, this.2] {
                    if let Some(doubtful) = doubtful.get_mut(i) {
                        *doubtful = true;
                    }
                }
            }
            around.push(this);
        }
    }
}

/// Whether transfers moved as many bytes as a call asked for of which only the bounding extent is known, and none outside of the
/// extent; with `both_ends` also its first and its last byte. Transfers that move bytes of other calls, or sieving holes, do that only by a
/// rare chance; the links are not called exact.
fn moved_as_many_bytes(member: &GroupMember, own: &[&Transfer], both_ends: bool) -> bool {
    let extent = member.ranges.as_ref().and_then(Ranges::bounding_extent);
    let first = own.iter().map(|t| t.range.0).min();
    let end = own.iter().map(|t| t.range.1).max();
    let (Some((low, high)), Some(first), Some(end)) = (extent, first, end) else {
        return false;
    };
    let mut moved = Intervals::default();
    for transfer in own {
        moved.add(transfer.range.0, transfer.range.1);
    }
    let wanted = member.access.bytes.unwrap_or(0);
    let wanted = wanted.min(member.moved.unwrap_or(u64::MAX));
    let is_inside = low <= first && end <= high;
    is_inside && moved.covered() == wanted && (!both_ends || (low, high) == (first, end))
}
