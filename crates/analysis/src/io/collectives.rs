//! Waits of ranks in collective accesses, and the ranks whose operations ran meanwhile.

use super::busy::BusyTime;
use super::calls::{HashMap, OpenCalls};
use super::kinds::Doing;
use super::waits::Waits;
use std::collections::BTreeMap;

/// Ranks of one group that others are said to have waited for: those with most to do.
const WORKERS: usize = 16;
/// Pairs of ranks of which it is told how long one waited for the other.
const PAIRS: usize = 1 << 18;

/// The blocking collective accesses of a rank.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RankWaits {
    /// Number of calls.
    pub calls: u64,
    /// Time of the calls by cause.
    pub waits: Waits,
}

/// Time that a rank waited while operations of another rank ran, ns, by kind of work of these operations.
pub type WaitedFor = BTreeMap<Doing, u64>;

/// Everything about collective accesses. Waits are those of blocking ones.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Collectives {
    /// Groups of blocking calls: accesses of several ranks that belong together.
    pub groups: u64,
    /// All groups, also of nonblocking and split calls.
    pub all_groups: u64,
    /// Groups in which the operations of one rank did it all, for several.
    pub with_one_worker: u64,
    /// Groups in which ranks wrote the same bytes.
    pub overwriting: u64,
    /// Bytes that blocking collective calls asked for.
    pub bytes: u64,
    /// Collective accesses that each rank executed by itself although the data interleave.
    pub independent: MadeIndependent,
    /// Waits of each rank.
    pub ranks: BTreeMap<u32, RankWaits>,
    /// Waits by pair of ranks: the one that waited and the one whose operations ran. Where several ran at once, each counts.
    pub waited_for: BTreeMap<(u32, u32), WaitedFor>,
}

/// Collective accesses that each rank executed by itself although its data lie between those of others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MadeIndependent {
    /// Number of groups.
    pub groups: u64,
    /// Transfers of all their ranks.
    pub transfers: u64,
    /// Bytes that they asked for.
    pub bytes: u64,
    /// Time in the calls, ns.
    pub ns: u64,
}

impl Collectives {
    /// A part of the waits of all ranks together, ns.
    pub fn sum(&self, part: impl Fn(&Waits) -> u64) -> u64 {
        let parts = self.ranks.values().map(|rank| part(&rank.waits));
        parts.fold(0, u64::saturating_add)
    }
}

/// Groups that are not complete.
#[derive(Debug, Default)]
pub(super) struct Groups {
    members: HashMap<(u32, u64), Vec<(u64, u32)>>,
    pub found: Collectives,
}

/// A call of a group.
struct CollectiveMember {
    call: u64,
    rank: u32,
    start: i64,
    stop: i64,
    busy: BusyTime,
    is_blocking: bool,
    /// First byte that it wrote, and the one behind the last, if it wrote all in between.
    written: Option<(u64, u64)>,
    /// Whether it is known that another one wrote bytes of its own.
    overwritten: bool,
    failed: bool,
    bytes: u64,
    extent: Option<(u64, u64)>,
    /// Transfers during the call, if they moved all of its data and none of others.
    own_transfers: Option<u64>,
}

impl Groups {
    /// Notes that a rank made a call of this group.
    pub fn join(&mut self, calls: &mut OpenCalls, key: (u32, u64), call: u64, rank: u32) {
        let members = self.members.entry(key).or_default();
        if members.iter().any(|&(_, other)| other == rank) {
            // The file was opened again, and its accesses are counted anew.
            self.close(calls, key);
        }
        self.members.entry(key).or_default().push((call, rank));
    }

    /// Ends a group, of which no more calls come, and adds up how its members waited.
    pub fn close(&mut self, calls: &mut OpenCalls, key: (u32, u64)) {
        let Some(members) = self.members.remove(&key) else {
            return;
        };
        let member = |(call, rank)| {
            let open = calls.look(call)?;
            let made = open.made.as_ref()?;
            let (start, stop) = (made.place.ns, made.stop);
            let is_blocking = made.is_blocking_collective();
            let overlaps = made.overlaps;
            let served_itself = open.carried_elsewhere == 0 && open.served == 0;
            let own_transfers = (served_itself && open.transfers > 0).then_some(open.transfers);
            let mut busy = match is_blocking {
                true => std::mem::take(&mut open.busy),
                false => BusyTime::default(),
            };
            busy.straighten();
            let made = open.made.as_ref()?;
            Some(CollectiveMember {
                call,
                rank,
                start,
                stop: stop.max(start),
                busy,
                is_blocking,
                written: made
                    .bounding_extent
                    .filter(|_| made.writes && made.pieces == 1),
                overwritten: overlaps || open.may_carry,
                failed: made.failed,
                bytes: if made.failed { 0 } else { made.bytes },
                extent: made.bounding_extent,
                own_transfers,
            })
        };
        let members: Vec<CollectiveMember> = members.into_iter().filter_map(member).collect();
        if members.len() < 2 {
            return;
        }
        self.found.all_groups += 1;
        self.found.overwriting += u64::from(is_overwritten(&members));
        if members.iter().all(|member| member.is_blocking) {
            self.add(calls, &members);
        }
    }

    fn add(&mut self, calls: &mut OpenCalls, members: &[CollectiveMember]) {
        self.found.groups += 1;
        let bytes = members.iter().map(|member| member.bytes);
        self.found.bytes = bytes.fold(self.found.bytes, u64::saturating_add);
        self.found.independent.add(members);
        let mut any = BusyTime::default();
        for member in members {
            any.extend(&member.busy);
        }
        any.straighten();
        let mut workers: Vec<&CollectiveMember> =
            members.iter().filter(|m| m.busy.total() > 0).collect();
        self.found.with_one_worker += u64::from(workers.len() == 1);
        workers.sort_by_key(|m| (std::cmp::Reverse(m.busy.total()), m.rank));
        workers.truncate(WORKERS);
        let all_there = members.iter().map(|m| m.start).max().unwrap_or(i64::MIN);
        for member in members {
            let (start, stop) = (member.start, member.stop);
            let whole = u64::try_from(stop.saturating_sub(start)).unwrap_or(0);
            let own = member.busy.within(start, stop);
            let running = any.within(start, stop);
            let there = all_there.clamp(start, stop);
            let before = u64::try_from(there.saturating_sub(start)).unwrap_or(0);
            let late = before.saturating_sub(any.within(start, there));
            let waits = Waits {
                own,
                others: running.saturating_sub(own),
                late,
                rest: whole.saturating_sub(running).saturating_sub(late),
            };
            if let Some(open) = calls.look(member.call) {
                open.waits = Some(waits);
            }
            let rank = self.found.ranks.entry(member.rank).or_default();
            rank.calls += 1;
            rank.waits.add(&waits);
            for worker in workers.iter().filter(|worker| worker.rank != member.rank) {
                self.waited(member, worker);
            }
        }
    }

    fn waited(&mut self, member: &CollectiveMember, worker: &CollectiveMember) {
        let mut waited = WaitedFor::new();
        worker.busy.each_within(member.start, member.stop, |s| {
            let ns = u64::try_from(s.stop - s.start).unwrap_or(0);
            let ns = ns.saturating_sub(member.busy.within(s.start, s.stop));
            if ns > 0 {
                *waited.entry(s.doing).or_default() += ns;
            }
        });
        let key = (member.rank, worker.rank);
        let pairs = &mut self.found.waited_for;
        if waited.is_empty() || pairs.len() >= PAIRS && !pairs.contains_key(&key) {
            return;
        }
        let sums = pairs.entry(key).or_default();
        for (doing, ns) in waited {
            *sums.entry(doing).or_default() += ns;
        }
    }

    /// Ends all groups.
    pub fn close_all(&mut self, calls: &mut OpenCalls) {
        let mut keys: Vec<(u32, u64)> = self.members.keys().copied().collect();
        keys.sort_unstable();
        for key in keys {
            self.close(calls, key);
        }
    }
}

impl MadeIndependent {
    /// Adds a group if each rank moved its own data in several pieces, and these lie between those of others.
    fn add(&mut self, members: &[CollectiveMember]) {
        let asking = || members.iter().filter(|member| member.bytes > 0);
        let mut extents: Vec<(u64, u64)> = asking().filter_map(|member| member.extent).collect();
        extents.sort_unstable();
        let interleave = extents.windows(2).any(|pair| pair[1].0 < pair[0].1);
        let transfers: Option<u64> = asking().map(|member| member.own_transfers).sum();
        let Some(transfers) = transfers.filter(|n| interleave && *n > asking().count() as u64)
        else {
            return;
        };
        self.groups += 1;
        self.transfers += transfers;
        for member in asking() {
            let ns = u64::try_from(member.stop.saturating_sub(member.start)).unwrap_or(0);
            self.ns = self.ns.saturating_add(ns);
            self.bytes = self.bytes.saturating_add(member.bytes);
        }
    }
}

/// Whether several members wrote the same bytes. What those that failed have written is not known.
fn is_overwritten(members: &[CollectiveMember]) -> bool {
    let members: Vec<&CollectiveMember> = members.iter().filter(|m| !m.failed).collect();
    let mut written: Vec<(u64, u64)> = members.iter().filter_map(|m| m.written).collect();
    written.sort_unstable();
    members.len() > 1
        && (members.iter().any(|m| m.overwritten) || written.windows(2).any(|w| w[1].0 < w[0].1))
}
