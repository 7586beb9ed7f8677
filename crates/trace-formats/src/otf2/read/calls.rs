//! Regions that are open on a location, and what the events inside tell of them.

use std::collections::BTreeSet;
use std::collections::hash_map::Entry;

use trace_model::hash::Map;

use super::super::numbers::{FIRST_NO_ROOT, UNDEFINED_REF};
use super::comms::Comms;
use super::definitions::GlobalDefinitions;
use super::event::{Attribute, CollectiveEnd, Event, EventKind};
use super::requests::RequestNumbers;

/// Requests that a call makes or completes, beyond which no more are noted.
const MAX_REQUESTS: usize = 1 << 16;
/// Regions that are open on a location, beyond which none are followed.
const MAX_OPEN: usize = 1 << 16;
/// Open regions among which the one that ends is searched, from the innermost one on.
const LOOKED_AT: usize = 1 << 10;
/// Accumulated metrics of a location that are followed.
const MAX_SUMS: usize = 64;
/// Calls whose operations are not complete, of all ranks.
const MAX_BEGUN: usize = 1 << 18;

/// What the events inside a region tell of the call. Negative numbers and `None` stand for nothing.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct CallFacts {
    /// Reference of the communicator on which ranks come together.
    pub comm: Option<u32>,
    pub root: Option<u32>,
    /// Bytes of a collective operation, as the call counts them, or of an access to a file or a window.
    pub bytes: Option<u64>,
    /// Numbers of the requests by which the call begins sends, receives and collective operations.
    pub sends: Vec<u32>,
    pub receives: Vec<u32>,
    pub collectives: Vec<u32>,
    /// Numbers of the requests that the call completes.
    pub completes: Vec<u32>,
    pub window: Option<u32>,
    pub target: Option<u32>,
    pub is_exclusive: Option<bool>,
    /// Reference of the group that the call names.
    pub group: Option<u32>,
    /// Reference of the handle of a file.
    pub handle: Option<u32>,
    /// Bytes that an access to a file has read or written.
    pub done: Option<u64>,
    /// Number of an access to a file that is not complete.
    pub pending: Option<u64>,
    /// Time from the start of the call until its access to a file was complete, where that was after the call, ticks.
    pub complete_after: Option<u64>,
}

impl CallFacts {
    const NONE: CallFacts = CallFacts {
        comm: None,
        root: None,
        bytes: None,
        sends: Vec::new(),
        receives: Vec::new(),
        collectives: Vec::new(),
        completes: Vec::new(),
        window: None,
        target: None,
        is_exclusive: None,
        group: None,
        handle: None,
        done: None,
        pending: None,
        complete_after: None,
    };

    /// The request that the call makes.
    pub(super) fn request(&self) -> Option<u32> {
        let mut requests = (self.sends.iter())
            .chain(&self.receives)
            .chain(&self.collectives);
        requests.next().copied()
    }

    /// Takes what the end of a collective operation of a rank tells.
    fn collective(&mut self, end: &CollectiveEnd, comm: u32, size_and_rank: Option<(u64, i32)>) {
        self.comm = Some(comm);
        self.root = Some(end.root).filter(|&root| root < FIRST_NO_ROOT);
        let (size, rank) = size_and_rank.unwrap_or((1, 0));
        self.bytes = own_bytes(end, size, u64::try_from(rank).unwrap_or(0));
    }
}

/// Bytes that a rank's call names, of those that Score-P counts: of a function with one count for each rank those for one.
fn own_bytes(end: &CollectiveEnd, ranks: u64, rank: u64) -> Option<u64> {
    use super::super::numbers::collective as op;
    // In place, the rank itself is not counted.
    let share = |total: u64| match ranks {
        0 | 1 => total,
        _ if total.is_multiple_of(ranks) => total / ranks,
        _ => total / (ranks - 1),
    };
    match end.op {
        op::BCAST if end.received == 0 => Some(share(end.sent)),
        op::BCAST | op::SCATTER | op::SCATTERV => Some(end.received),
        op::GATHER | op::GATHERV | op::REDUCE => Some(end.sent),
        op::ALLGATHER | op::ALLTOALL | op::ALLREDUCE => Some(share(end.received)),
        op::ALLGATHERV | op::REDUCE_SCATTER_BLOCK => Some(share(end.sent)),
        op::SCAN => Some(end.received / (rank + 1)),
        op::EXSCAN if rank > 0 => Some(end.received / rank),
        _ => None,
    }
}

/// A region that a location is in, or was in.
#[derive(Clone, Debug)]
pub(super) struct RegionVisit {
    pub region: u32,
    /// Line of the thread.
    pub thread: i32,
    pub rank: i32,
    /// Ticks.
    pub start: u64,
    /// Ticks; that of the start while it is open.
    pub end: u64,
    pub attributes: Box<[Attribute]>,
    pub facts: CallFacts,
    /// Sums of accumulated metrics since the start of the location: at the start, then at the end, by member.
    pub sums: Vec<(u32, i64)>,
}

impl RegionVisit {
    /// Takes attributes of the end, where mpitrace tells what it did not know at the start.
    pub(super) fn take_attributes(&mut self, at_end: &[Attribute], is_own: bool) {
        if is_own && !at_end.is_empty() {
            self.attributes = [&self.attributes, at_end].concat().into();
        }
    }

    /// Whether the attributes are those of this set.
    pub(super) fn has_attributes(&self, set: &BTreeSet<u32>) -> bool {
        let mut attributes = self.attributes.iter();
        self.attributes.len() == set.len()
            && attributes.all(|(reference, ..)| set.contains(reference))
    }

    /// Takes the communicator from the attribute that tells it, which is no attribute of the region any more. Other communicators among the
    /// attributes become those numbers that lines have for them.
    pub(super) fn take_comm(&mut self, comms: &Comms) {
        if let Some(told) = comms.take_told(&mut self.attributes) {
            self.facts.comm = Some(told);
        }
        comms.number_attributes(&mut self.attributes);
    }
}

/// What is known while the events of a location are read.
#[derive(Debug, Default)]
pub(super) struct LocationState {
    thread: i32,
    rank: i32,
    /// Ticks of the event before.
    now: u64,
    open: Vec<RegionVisit>,
    /// Latest values of accumulated metrics, by member.
    pub sums: Vec<(u32, i64)>,
    /// Ends without a start.
    pub surplus_ends: u64,
    /// Starts that were not followed.
    surplus_starts: u64,
}

impl LocationState {
    pub(super) fn new(thread: i32, rank: i32) -> LocationState {
        LocationState {
            thread,
            rank,
            ..LocationState::default()
        }
    }

    /// Time of an event: not before that of the one before.
    pub(super) fn time(&mut self, event: &Event) -> u64 {
        self.now = self.now.max(event.time);
        self.now
    }

    /// Number of regions that have not ended.
    pub(super) fn open(&self) -> u64 {
        self.open.len() as u64 + self.surplus_starts
    }

    pub(super) fn enter(&mut self, region: u32, time: u64, attributes: Box<[Attribute]>) {
        if self.open.len() >= MAX_OPEN {
            self.surplus_starts += 1;
            return;
        }
        self.open.push(RegionVisit {
            region,
            thread: self.thread,
            rank: self.rank,
            start: time,
            end: time,
            attributes,
            facts: CallFacts::NONE,
            sums: self.sums.clone(),
        });
    }

    /// The region that ends.
    pub(super) fn leave(&mut self, region: u32, time: u64) -> Option<RegionVisit> {
        let mut inner = self.open.iter().rev().take(LOOKED_AT);
        let Some(above) = inner.position(|open| open.region == region) else {
            self.surplus_ends += 1;
            return None;
        };
        let at = self.open.len() - 1 - above;
        let mut visit = self.open.remove(at);
        visit.end = time;
        // What the sums were is what they have become, less what they were.
        let spent = self.sums.iter().map(|&(member, sum)| {
            let before = visit.sums.iter().find(|(known, _)| *known == member);
            // A counter begins with its first value.
            (
                member,
                sum.wrapping_sub(before.map_or(sum, |(_, before)| *before)),
            )
        });
        visit.sums = spent.collect();
        Some(visit)
    }

    /// Notes the value of an accumulated metric.
    pub(super) fn accumulate(&mut self, member: u32, value: i64) {
        let has_room = self.sums.len() < MAX_SUMS;
        match self.sums.iter_mut().find(|(known, _)| *known == member) {
            Some((_, sum)) => *sum = value,
            None if has_room => self.sums.push((member, value)),
            None => {}
        }
    }

    /// Takes what an event inside a region tells of it. Gives the request of a collective operation that is complete, with the facts of the call
    /// that began it.
    pub(super) fn take(
        &mut self,
        kind: &EventKind,
        definitions: &GlobalDefinitions,
        comms: &Comms,
        requests: &mut RequestNumbers,
    ) -> Option<(u32, CallFacts)> {
        let rank = self.rank;
        let number = match *kind {
            EventKind::Send(_, Some(request))
            | EventKind::ReceiveRequest(request)
            | EventKind::CollectiveRequest(request) => requests.begin(rank, request),
            EventKind::SendComplete(request)
            | EventKind::Cancelled(request)
            | EventKind::Receive(_, Some(request))
            | EventKind::CollectiveEnd(_, Some(request)) => requests.complete(rank, request),
            _ => None,
        };
        let mut begun = None;
        if let (EventKind::CollectiveEnd(end, Some(_)), Some(number)) = (kind, number) {
            let mut facts = CallFacts::NONE;
            facts.collective(end, end.object, comms.size_and_rank(end.object, rank));
            begun = Some((number, facts));
        }
        let Some(call) = self.open.last_mut() else {
            return begun;
        };
        let facts = &mut call.facts;
        let note = |requests: &mut Vec<u32>| {
            if requests.len() < MAX_REQUESTS {
                requests.extend(number);
            }
        };
        // A call that completes requests may do so of many communicators.
        if let EventKind::Send(end, _) | EventKind::Receive(end, None) = kind {
            facts.comm = facts.comm.or(comms.of_message(end));
        }
        let one_rank = |target: u32| Some(target).filter(|&target| target != UNDEFINED_REF);
        let window_comm = |window: u32| definitions.windows.get(&window).copied();
        match *kind {
            EventKind::Send(_, Some(_)) => note(&mut facts.sends),
            EventKind::ReceiveRequest(_) => note(&mut facts.receives),
            EventKind::CollectiveRequest(_) => note(&mut facts.collectives),
            EventKind::SendComplete(_)
            | EventKind::Cancelled(_)
            | EventKind::Receive(_, Some(_))
            | EventKind::CollectiveEnd(_, Some(_)) => note(&mut facts.completes),
            EventKind::CollectiveEnd(ref end, None) => {
                facts.collective(end, end.object, comms.size_and_rank(end.object, rank));
            }
            EventKind::WindowCollective(ref end) => {
                facts.window = Some(end.object);
                facts.comm = window_comm(end.object);
            }
            EventKind::OneSided {
                window,
                target,
                bytes,
            } => {
                facts.window = Some(window);
                facts.target = Some(target);
                facts.bytes = Some(facts.bytes.unwrap_or(0).saturating_add(bytes));
            }
            EventKind::GroupSync { window, group } => {
                facts.window = Some(window);
                facts.group = Some(group);
            }
            EventKind::Lock {
                window,
                target,
                is_exclusive,
            } => {
                facts.window = Some(window);
                facts.target = one_rank(target);
                facts.is_exclusive = Some(is_exclusive);
            }
            EventKind::Unlock { window, target } => {
                facts.window = Some(window);
                facts.target = one_rank(target);
            }
            EventKind::IoOpen { handle } => {
                facts.handle = Some(handle);
                let comm = definitions
                    .io_handles
                    .get(&handle)
                    .map(|handle| handle.comm);
                facts.comm = comm.filter(|comm| definitions.comms.contains_key(comm));
            }
            EventKind::IoClose { handle } => facts.handle = Some(handle),
            EventKind::IoComplete { handle, bytes, id } if facts.handle == Some(handle) => {
                facts.done = Some(facts.done.unwrap_or(0).saturating_add(bytes));
                facts.pending = facts.pending.filter(|&pending| pending != id);
            }
            EventKind::IoBegin { handle, bytes, id } => {
                facts.handle = Some(handle);
                facts.pending = Some(id);
                // The largest number says that nobody knows.
                if bytes != u64::MAX {
                    facts.bytes = Some(facts.bytes.unwrap_or(0).saturating_add(bytes));
                }
            }
            _ => {}
        }
        begun
    }
}

/// What the names of functions begin with that access files and do not wait.
const NONBLOCKING_ACCESS: &str = "MPI_File_i";

/// Calls that have ended and whose operation has not: what a collective one is on is told when it is complete, and so is how long an access to a file
/// takes.
#[derive(Debug, Default)]
pub(super) struct BegunCalls {
    calls: Map<(i32, u32), RegionVisit>,
    /// By rank and number of the access.
    accesses: Map<(i32, u64), RegionVisit>,
}

impl BegunCalls {
    /// Keeps a call that begins one collective operation, or one access to a file; gives any other back. MPI_Start begins operations that were made
    /// before.
    pub(super) fn keep(&mut self, visit: RegionVisit, name: &str) -> Option<RegionVisit> {
        let facts = &visit.facts;
        if let Some(access) = facts.pending
            && name.starts_with(NONBLOCKING_ACCESS)
            && self.accesses.len() < MAX_BEGUN
        {
            return match self.accesses.entry((visit.rank, access)) {
                Entry::Vacant(entry) => {
                    entry.insert(visit);
                    None
                }
                Entry::Occupied(_) => Some(visit),
            };
        }
        match facts.collectives.as_slice() {
            &[request]
                if facts.comm.is_none()
                    && !name.starts_with("MPI_Start")
                    && self.calls.len() < MAX_BEGUN =>
            {
                self.calls.insert((visit.rank, request), visit)
            }
            _ => Some(visit),
        }
    }

    /// The call that has begun an operation that is complete now.
    pub(super) fn complete(
        &mut self,
        rank: i32,
        request: u32,
        facts: &CallFacts,
    ) -> Option<RegionVisit> {
        let mut visit = self.calls.remove(&(rank, request))?;
        visit.facts.comm = facts.comm;
        visit.facts.root = facts.root;
        visit.facts.bytes = facts.bytes;
        Some(visit)
    }

    /// The call that has begun an access to a file which is complete at this time, ticks.
    pub(super) fn complete_access(
        &mut self,
        rank: i32,
        access: u64,
        time: u64,
    ) -> Option<RegionVisit> {
        let mut visit = self.accesses.remove(&(rank, access))?;
        visit.facts.complete_after = Some(time.saturating_sub(visit.start));
        Some(visit)
    }

    /// The calls whose operations were never complete.
    pub(super) fn left(&mut self) -> impl Iterator<Item = RegionVisit> {
        let calls = std::mem::take(&mut self.calls).into_values();
        let accesses = std::mem::take(&mut self.accesses).into_values();
        let mut left: Vec<RegionVisit> = calls.chain(accesses).collect();
        left.sort_unstable_by_key(|visit| (visit.start, visit.thread));
        left.into_iter()
    }
}
