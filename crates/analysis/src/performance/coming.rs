//! A call comes to its next collective operation: on a communicator or an intercommunicator, on a file or window, or on what it makes.

use super::arrivals::Arrival;
use super::call_info::{CallInfo, MadeComm};
use super::collective::{OperationKind, OperationQueue, Part, RankInOperation};
use super::comm_sums::moved;
use super::lane::{LineUse, PreparedOperation, SharedObject};
use super::pass::WaitPass;
use super::role::{CollectiveRole, Members, Needs, SharedUse};

/// Requests, files, windows and persistent operations of a rank that are kept.
pub(super) const MAX_REQUESTS: usize = 1 << 16;

/// The largest number that MPI_ROOT has in any MPI library. MPI_PROC_NULL lies between it and 0.
const MAX_MPI_ROOT: i32 = -3;

/// What a rank is in an operation on an intercommunicator or not, with this root.
fn part(root: Option<i32>, rank: i32, is_inter: bool) -> Part {
    match (root, is_inter) {
        (None, _) => Part::Unknown,
        (Some(root), false) if root == rank => Part::Root,
        (Some(0..), _) => Part::Other,
        (Some(_), false) => Part::Unknown,
        (Some(root), true) if root <= MAX_MPI_ROOT => Part::Root,
        (Some(_), true) => Part::Bystander,
    }
}

impl WaitPass<'_> {
    /// A call of a category on a line comes to its operation.
    pub(super) fn come(
        &mut self,
        line: LineUse,
        category: u32,
        role: CollectiveRole,
        info: &CallInfo,
        arrival: Arrival,
    ) -> RankInOperation {
        let mut shared = None;
        if let (Some(handle), SharedUse::Uses | SharedUse::Frees) = (info.handle, role.shared) {
            let open = &mut self.requests_of(line.lane).shared;
            shared = match role.shared {
                SharedUse::Frees => open.remove(&handle),
                _ => open.get(&handle).copied(),
            };
        }
        let shared = shared.filter(|object| self.is_known_to_all(object.queue));
        let inter = match role.shared {
            SharedUse::Nothing => self.intercomms.of(line.comm, role, info.made.as_deref()),
            _ => None,
        };
        let side = inter.flatten();
        let mut part = part(info.root, line.rank, side.is_some());
        let made = match role.members {
            Members::ItsOwn | Members::BothSides => None,
            _ => info
                .made
                .as_deref()
                .and_then(|made| self.queue_of_made(made)),
        };
        if inter == Some(None) && made.is_none() {
            self.counts.unknown_intercomms += 1;
            part = Part::Bystander;
        }
        let is_unknown = role.members == Members::MadeOnly && made.is_none();
        if is_unknown {
            part = Part::Bystander;
        }
        let is_used = matches!(role.shared, SharedUse::Uses | SharedUse::Frees);
        if is_used && info.handle.is_some() && shared.is_none() {
            self.counts.unknown_objects += 1;
            part = Part::Bystander;
        }
        if matches!(role.needs, Needs::Root | Needs::AtRoot) && part == Part::Unknown {
            self.counts.unknown_roots += 1;
        }
        let (queue, rank, place) = match (role.shared, info.handle, shared, side, made) {
            (.., Some(made)) => (made, line.rank, line.rank),
            (.., Some(side), None) => (side.queue, line.rank, side.first + line.rank),
            (_, _, Some(shared), ..) => (shared.queue, shared.rank, shared.rank),
            // Ranks come together in a call that fails, too.
            (SharedUse::Makes, None, ..) if info.makes_nothing => (line.comm, line.rank, line.rank),
            (SharedUse::Nothing, ..) | (SharedUse::Makes, Some(_), ..)
                if !is_unknown && !self.lacking.has_no_arguments(category) =>
            {
                (line.comm, line.rank, line.rank)
            }
            // What it is about, the trace does not tell.
            _ => (self.queue_of_category(line, category), line.rank, line.rank),
        };
        let mut come = RankInOperation {
            queue,
            number: 0,
            rank,
            side: side.map(|side| side.side),
            part,
            role,
            kind: OperationKind {
                needs: role.needs,
                pattern: role.pattern,
                operation: self.operations[category as usize],
            },
            after_gap: None,
            frees_queue: role.shared == SharedUse::Frees && shared.is_some(),
        };
        let gaps = self.requests_of(line.lane).gaps();
        match made {
            Some(_) => {
                let number = self.made_by.entry((queue, line.lane)).or_default();
                come.number = *number;
                *number += 1;
                self.comms[queue as usize].come_to(&come, arrival);
            }
            None => self.comms[queue as usize].come(place, &mut come, arrival, gaps),
        }
        if let Some(first) = self.comms[queue as usize].left_early(&come) {
            self.end_early_leaves(first, &come, arrival);
        }
        if let (SharedUse::Makes, Some(handle)) = (role.shared, info.handle)
            && let Some(made) = self.shared.make(&mut self.comms, queue, come.number)
        {
            let is_unsure = !self.requests_of(line.lane).has_init;
            self.comms[made as usize].is_made_unsurely |= is_unsure;
            let open = &mut self.requests_of(line.lane).shared;
            if open.len() < MAX_REQUESTS {
                open.insert(handle, SharedObject { queue: made, rank });
            }
        }
        come
    }

    /// Whether the calls of all ranks that made a file or window are recorded, and surely belong together. Where a rank lacks calls, its first call
    /// that is recorded need not be its first one.
    fn is_known_to_all(&self, queue: u32) -> bool {
        let queue = &self.comms[queue as usize];
        let lacks_none = || self.requests.iter().all(|rank| rank.gaps() == 0);
        !queue.is_made_unsurely && (queue.makers >= queue.size || lacks_none())
    }

    /// Bytes that a rank gives to the operation of a call and gets from it; `None` is not known.
    pub(super) fn moved(
        &self,
        line: LineUse,
        category: u32,
        role: CollectiveRole,
        info: &CallInfo,
    ) -> [Option<u64>; 2] {
        if self.is_second {
            // Nobody asks.
            return [None; 2];
        }
        let Some(operation) = self.operations[category as usize] else {
            // What neighbours pass depends on their number; other calls pass no data of the program.
            let moves_nothing = role.needs != Needs::Neighbours;
            return [moves_nothing.then_some(0); 2];
        };
        if self.intercomms.of(line.comm, role, None).is_some() {
            return [None; 2];
        }
        let ranks = self
            .comms
            .get(line.comm as usize)
            .map_or(0, |comm| comm.size);
        moved(operation, info.told, info.root, line.rank, ranks)
    }

    /// Adds what a rank gives to an operation and gets from it.
    pub(super) fn add_moved(&mut self, line: LineUse, time: f64, moved: [Option<u64>; 2]) {
        if !self.is_second
            && self.focus.has(time)
            && let Some(sums) = self.by_comm.get_mut(line.comm as usize)
        {
            sums.add_moved(moved);
        }
    }

    /// The queue of the calls by which the ranks of a communicator make it, those of both sides of an intercommunicator. The trace has one
    /// number for communicators of the same ranks.
    fn queue_of_made(&mut self, made: &MadeComm) -> Option<u32> {
        let size = |number: i32| {
            let place = self.comm_places.get(&number)?;
            self.comms.get(*place as usize).map(|comm| comm.size)
        };
        let own = size(made.number)?;
        let other = made.remote.map_or(Some(0), size)?;
        let remote = made.remote.unwrap_or(made.number);
        let sides = (made.number.min(remote), made.number.max(remote));
        let comms = &mut self.comms;
        let queue = self.made.entry(sides).or_insert_with(|| {
            comms.push(OperationQueue::new(own.saturating_add(other)));
            comms.len() as u32 - 1
        });
        Some(*queue)
    }

    /// The queue of calls of a category, made on one communicator, on files or windows that the trace does not tell.
    fn queue_of_category(&mut self, line: LineUse, category: u32) -> u32 {
        let comms = &mut self.comms;
        let size = comms.get(line.comm as usize).map_or(0, |comm| comm.size);
        *self.others.entry((category, line.comm)).or_insert_with(|| {
            comms.push(OperationQueue::new(size));
            comms.len() as u32 - 1
        })
    }

    /// A rank begins a collective operation that the completion of a request ends.
    pub(super) fn start_operation(
        &mut self,
        lane: u32,
        request: Option<u32>,
        part: RankInOperation,
    ) {
        let requests = self.requests_of(lane);
        match request {
            Some(request) if requests.operations.len() < MAX_REQUESTS => {
                requests.operations.insert(request, part);
            }
            _ => self.comms[part.queue as usize].leave(part.number),
        }
    }

    /// The operation of a request needs nobody else.
    pub(super) fn forget_operation(&mut self, lane: u32, request: u32) {
        if let Some(part) = self.requests_of(lane).operations.remove(&request) {
            self.comms[part.queue as usize].leave(part.number);
        }
    }

    /// A rank begins a persistent collective operation, by the number that it has for it. Gives whether there is one.
    pub(super) fn start_prepared(
        &mut self,
        lane: u32,
        category: u32,
        number: u32,
        request: Option<u32>,
        arrival: Arrival,
    ) -> bool {
        let Some(prepared) = self.requests_of(lane).prepared.get(&number).copied() else {
            return false;
        };
        let info = CallInfo {
            root: prepared.root,
            ..CallInfo::default()
        };
        let PreparedOperation {
            line, role, moved, ..
        } = prepared;
        self.add_moved(line, arrival.time, moved);
        let part = self.come(line, category, role, &info, arrival);
        self.start_operation(lane, request, part);
        true
    }

    /// A rank makes a communicator.
    pub(super) fn make_comm(&mut self, lane: u32, made: &MadeComm) {
        let place = |number: i32| self.comm_places.get(&number).copied();
        let Some(comm) = place(made.number) else {
            return;
        };
        match made.remote {
            Some(remote) => {
                if let Some(remote) = place(remote).filter(|&remote| remote != comm) {
                    self.intercomms.add(&mut self.comms, comm, remote);
                }
            }
            None => {
                let rank = self.lanes[lane as usize].rank_place;
                self.neighbours.insert((comm, rank), made.sources.clone());
            }
        }
    }
}
