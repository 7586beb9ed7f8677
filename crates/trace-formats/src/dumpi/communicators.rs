//! Members of communicators, from the calls of all ranks that made them.
//!
//! Communicators are made collectively, and each rank makes the children of one in the same order as the others: so the
//! n-th child of a communicator is the same in all its members.

use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use std::rc::Rc;

mod creation;
#[cfg(test)]
mod tests;

pub use creation::{CommCreation, CommName, HandleNames, is_creation};
use creation::{CreationKind, GroupExpression, GroupNode};

type WorldRanks = Rc<[u32]>;

/// A communicator.
#[derive(Debug)]
struct Communicator {
    /// World ranks by rank in it; of an intercommunicator, those of one side.
    local: WorldRanks,
    /// Ranks of the remote group of an intercommunicator.
    remote: Option<WorldRanks>,
    /// Name of the communicator in the records of each member.
    names: Vec<(u32, CommName)>,
    /// Size in each dimension of a Cartesian communicator.
    dims: Option<Vec<usize>>,
}

/// All communicators of a run.
#[derive(Debug)]
pub struct Communicators {
    list: Vec<Communicator>,
    /// By rank and number of the creation.
    made: Vec<Vec<Option<u32>>>,
    size: u32,
    selves: u32,
}

/// Assumption about the ranks in a topology whose creation allowed MPI to reorder them. The trace does not say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReorderedTopologies {
    /// Such a communicator and its children cannot be followed.
    Unknown,
    /// Ranks are assumed to have kept the order of the parent, as MPI libraries that do not reorder leave them.
    KeepOrder,
}

/// Index of MPI_COMM_WORLD.
const WORLD: u32 = 0;

impl Communicators {
    /// Puts the calls of all ranks together. `creations` are those of each rank that has a file, in order; `size` is that of
    /// MPI_COMM_WORLD.
    pub fn new(
        size: u32,
        creations: &[(u32, Vec<CommCreation>)],
        reordered: ReorderedTopologies,
    ) -> Self {
        let made = creations.iter().map(|(_, list)| vec![None; list.len()]);
        let mut comms = Communicators {
            list: Vec::new(),
            made: made.collect(),
            size,
            selves: creations.len() as u32,
        };
        if creations.iter().any(|(_, list)| !list.is_empty()) {
            Resolution::new(&mut comms, creations, reordered).run();
        }
        comms
    }

    /// The communicator that a rank names so, by an index that all ranks share; `None` if it cannot be followed. `place`
    /// is the rank's among those that have a file.
    pub fn index(&self, place: usize, name: CommName) -> Option<u32> {
        match name {
            CommName::World => Some(WORLD),
            CommName::SelfComm => Some(1 + u32::try_from(place).ok()?),
            CommName::Made(at) => *self.made.get(place)?.get(at as usize)?,
            CommName::Unknown => None,
        }
    }

    /// World rank of the partner `peer` of the process `own` in a communicator.
    pub fn world_rank(&self, comm: u32, own: u32, peer: i32) -> Option<u32> {
        let peer = u32::try_from(peer).ok()?;
        if comm == WORLD {
            return Some(peer).filter(|&peer| peer < self.size);
        }
        if comm <= self.selves {
            return (peer == 0).then_some(own);
        }
        let comm = self.list.get((comm - self.selves - 1) as usize)?;
        let ranks = match &comm.remote {
            Some(remote) if comm.local.contains(&own) => remote,
            _ => &comm.local,
        };
        ranks.get(peer as usize).copied()
    }

    /// Number of processes in a communicator, and the rank in it of the process with the world rank `own`. `None` if the process
    /// is not in it, and for an intercommunicator.
    pub fn size_and_rank(&self, comm: u32, own: u32) -> Option<(u32, u32)> {
        if comm == WORLD {
            return Some((self.size, own));
        }
        if comm <= self.selves {
            return Some((1, 0));
        }
        let comm = self.list.get((comm - self.selves - 1) as usize)?;
        if comm.remote.is_some() {
            return None;
        }
        let rank = comm.local.iter().position(|&rank| rank == own)?;
        Some((comm.local.len() as u32, rank as u32))
    }

    /// Where the process with the world rank `own` is in a communicator: its rank in its own group, whether that is the second one of an
    /// intercommunicator, and whether there are two. `None` if the process is not in it.
    pub fn side(&self, comm: u32, own: u32) -> Option<CommSide> {
        let one_group = |rank| CommSide {
            rank,
            is_second: false,
            is_intercomm: false,
        };
        if let Some((_, rank)) = self.size_and_rank(comm, own) {
            return Some(one_group(rank));
        }
        let comm = self.list.get(comm.checked_sub(self.selves + 1)? as usize)?;
        let remote = comm.remote.as_ref()?;
        let rank_in = |ranks: &WorldRanks| ranks.iter().position(|&rank| rank == own);
        let (rank, is_second) = match rank_in(&comm.local) {
            Some(rank) => (rank, false),
            None => (rank_in(remote)?, true),
        };
        Some(CommSide {
            rank: u32::try_from(rank).ok()?,
            is_second,
            is_intercomm: true,
        })
    }
}

/// Place of a process in a communicator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CommSide {
    /// Rank in the group of the process.
    pub rank: u32,
    /// Whether the group is the second one of an intercommunicator.
    pub is_second: bool,
    /// Whether the communicator has two groups.
    pub is_intercomm: bool,
}

/// The work of putting the calls together.
struct Resolution<'c> {
    comms: &'c mut Communicators,
    creations: &'c [(u32, Vec<CommCreation>)],
    reordered: ReorderedTopologies,
    places: HashMap<u32, usize>,
    /// By place and parent the creations, in order.
    children: HashMap<(usize, CommName), Vec<u32>>,
    /// Communicators whose children are to be looked at from this one on.
    work: VecDeque<(PendingComm, usize)>,
    /// Halves of intercommunicators.
    halves: Vec<IntercommSide>,
}

/// A communicator whose children are looked at.
#[derive(Clone, Copy)]
enum PendingComm {
    World,
    /// MPI_COMM_SELF of the rank at this place.
    SelfComm(usize),
    /// Communicator at this place in the list.
    Listed(usize),
}

/// One side of an intercommunicator.
struct IntercommSide {
    ranks: WorldRanks,
    leader: u32,
    remote_leader: u32,
    tag: i32,
    events: Vec<(u32, u32)>,
}

impl<'c> Resolution<'c> {
    fn new(
        comms: &'c mut Communicators,
        creations: &'c [(u32, Vec<CommCreation>)],
        reordered: ReorderedTopologies,
    ) -> Self {
        let mut children: HashMap<(usize, CommName), Vec<u32>> = HashMap::new();
        for (place, (_, list)) in creations.iter().enumerate() {
            for (nth, creation) in (0..).zip(list) {
                let siblings = children.entry((place, creation.parent)).or_default();
                siblings.push(nth);
            }
        }
        let places = creations.iter().map(|(rank, _)| *rank).zip(0..).collect();
        let mut work = VecDeque::from([(PendingComm::World, 0)]);
        work.extend((0..creations.len()).map(|place| (PendingComm::SelfComm(place), 0)));
        Resolution {
            comms,
            creations,
            reordered,
            places,
            children,
            work,
            halves: Vec::new(),
        }
    }

    fn run(mut self) {
        // A call that waits for a group of a communicator that is not known yet comes again; when all wait, there is no hope.
        let mut waits = 0;
        while let Some((work, from)) = self.work.pop_front() {
            let (members, sides, dims) = match work {
                PendingComm::World => {
                    // Every rank takes part, so every file is needed.
                    if self.comms.size as usize != self.creations.len() {
                        continue;
                    }
                    let ranks: WorldRanks = (0..self.comms.size).collect();
                    let names = ranks.iter().map(|&rank| (rank, CommName::World)).collect();
                    (names, (ranks, None), None)
                }
                PendingComm::SelfComm(place) => {
                    let rank = self.creations[place].0;
                    let ranks: WorldRanks = Rc::new([rank]);
                    (vec![(rank, CommName::SelfComm)], (ranks, None), None)
                }
                PendingComm::Listed(at) => {
                    let comm = &self.comms.list[at];
                    let sides = (comm.local.clone(), comm.remote.clone());
                    (comm.names.clone(), sides, comm.dims.clone())
                }
            };
            match self.look(&members, &sides, dims.as_deref(), from) {
                None => waits = 0,
                Some(at) => {
                    waits = if at > from { 0 } else { waits + 1 };
                    self.work.push_back((work, at));
                    if waits > self.work.len() {
                        break;
                    }
                }
            }
        }
    }

    /// Takes the children from this one on; gives the one at which it has to wait.
    fn look(
        &mut self,
        members: &[(u32, CommName)],
        sides: &(WorldRanks, Option<WorldRanks>),
        dims: Option<&[usize]>,
        from: usize,
    ) -> Option<usize> {
        for nth in from.. {
            let mut events: Vec<(u32, u32)> = Vec::with_capacity(members.len());
            for &(rank, name) in members {
                let place = *self.places.get(&rank)?;
                let event = *self.children.get(&(place, name))?.get(nth)?;
                events.push((rank, event));
            }
            match self.make(&events, sides, dims) {
                CreatedComm::Wait => return Some(nth),
                CreatedComm::Comms(comms) => {
                    for comm in comms {
                        self.add(comm);
                    }
                }
            }
        }
        None
    }

    fn add(&mut self, comm: Communicator) {
        // One without members (a grid of no processes) has no children to look for. And a damaged file may name the
        // communicator that a call makes as its parent, or make a circle of such names.
        let is_made = |&(rank, name): &(u32, CommName)| {
            let place = self.places.get(&rank).copied();
            place.is_some_and(|place| self.comms.index(place, name).is_some())
        };
        if comm.names.is_empty() || comm.names.iter().any(is_made) {
            return;
        }
        let at = self.comms.list.len();
        let index = self.comms.selves + 1 + at as u32;
        for &(rank, name) in &comm.names {
            if let (CommName::Made(event), Some(&place)) = (name, self.places.get(&rank))
                && let Some(made) = self.comms.made[place].get_mut(event as usize)
            {
                *made = Some(index);
            }
        }
        self.comms.list.push(comm);
        self.work.push_back((PendingComm::Listed(at), 0));
    }

    fn creation(&self, (rank, event): (u32, u32)) -> Option<&'c CommCreation> {
        let place = *self.places.get(&rank)?;
        self.creations[place].1.get(event as usize)
    }

    /// Makes the communicators of a call that all members of a communicator took part in.
    fn make(
        &mut self,
        events: &[(u32, u32)],
        (local, remote): &(WorldRanks, Option<WorldRanks>),
        dims: Option<&[usize]>,
    ) -> CreatedComm {
        let nothing = CreatedComm::Comms(Vec::new());
        let calls: Option<Vec<&CommCreation>> =
            events.iter().map(|&event| self.creation(event)).collect();
        let Some(calls) = calls else {
            return nothing;
        };
        let Some(first) = calls.first() else {
            return nothing;
        };
        let same = |call: &&CommCreation| {
            std::mem::discriminant(&call.kind) == std::mem::discriminant(&first.kind)
        };
        if !calls.iter().all(same) {
            return nothing;
        }
        let made = |&(rank, event): &(u32, u32)| (rank, CommName::Made(event));
        let comm = |events: &[(u32, u32)], dims| Communicator {
            local: events.iter().map(|&(rank, _)| rank).collect(),
            remote: None,
            names: events.iter().map(made).collect(),
            dims,
        };
        let one = |comm| CreatedComm::Comms(vec![comm]);
        match &first.kind {
            CreationKind::Dup => one(Communicator {
                local: local.clone(),
                remote: remote.clone(),
                names: events.iter().map(made).collect(),
                dims: dims.map(<[usize]>::to_vec),
            }),
            CreationKind::Merge { .. } => {
                let Some(remote) = remote else {
                    return nothing;
                };
                let events = merged_events(events, &calls, local, remote);
                events.map_or(nothing, |events| one(comm(&events, None)))
            }
            _ if remote.is_some() => nothing,
            CreationKind::Split { .. } => {
                let parts = split_events(events, &calls);
                CreatedComm::Comms(parts.iter().map(|part| comm(part, None)).collect())
            }
            CreationKind::Create(_) => self.create(events, &calls, comm),
            CreationKind::Cart { dims, reorder } => {
                let dims: Option<Vec<usize>> = dims
                    .iter()
                    .map(|&size| usize::try_from(size).ok())
                    .collect();
                let size = dims.as_ref().and_then(|dims| {
                    dims.iter()
                        .try_fold(1usize, |size, &dim| size.checked_mul(dim))
                });
                match size.and_then(|size| events.get(..size)) {
                    Some(part) if self.is_followed(*reorder) => one(comm(part, dims)),
                    _ => nothing,
                }
            }
            CreationKind::Graph { nodes, reorder } => {
                let part = usize::try_from(*nodes)
                    .ok()
                    .and_then(|size| events.get(..size));
                match part {
                    Some(part) if self.is_followed(*reorder) => one(comm(part, None)),
                    _ => nothing,
                }
            }
            CreationKind::CartSub { remain } => match dims {
                Some(dims) if dims.len() == remain.len() => {
                    let parts = slices(dims, remain, events);
                    let kept = dims.iter().zip(remain).filter(|(_, remains)| **remains);
                    let kept: Vec<usize> = kept.map(|(dim, _)| *dim).collect();
                    let parts = parts.iter().map(|part| comm(part, Some(kept.clone())));
                    CreatedComm::Comms(parts.collect())
                }
                _ => nothing,
            },
            CreationKind::Intercomm { leader, tag, .. } => {
                let leader = usize::try_from(*leader)
                    .ok()
                    .and_then(|leader| events.get(leader));
                let Some(&leader) = leader else {
                    return nothing;
                };
                let Some(remote_leader) = self.remote_leader(leader) else {
                    return CreatedComm::Wait;
                };
                let half = IntercommSide {
                    ranks: local.clone(),
                    leader: leader.0,
                    remote_leader,
                    tag: *tag,
                    events: events.to_vec(),
                };
                CreatedComm::Comms(self.meet(half).into_iter().collect())
            }
            CreationKind::Opaque => nothing,
        }
    }

    /// Whether the ranks in a topology are taken for those of its parent, given whether MPI was allowed to reorder them.
    fn is_followed(&self, reorder: bool) -> bool {
        !reorder || matches!(self.reordered, ReorderedTopologies::KeepOrder)
    }

    fn create(
        &self,
        events: &[(u32, u32)],
        calls: &[&CommCreation],
        comm: impl Fn(&[(u32, u32)], Option<Vec<usize>>) -> Communicator,
    ) -> CreatedComm {
        let by_rank: HashMap<u32, u32> = events.iter().copied().collect();
        let mut made = Vec::new();
        let mut done: HashSet<u32> = HashSet::new();
        for (&(rank, _), call) in events.iter().zip(calls) {
            let CreationKind::Create(Some(group)) = &call.kind else {
                continue;
            };
            if call.is_null || done.contains(&rank) {
                continue;
            }
            let Some(&place) = self.places.get(&rank) else {
                continue;
            };
            let mut known = HashMap::new();
            match self.members(place, group, &mut known) {
                Members::Wait => return CreatedComm::Wait,
                Members::Unknown => {}
                Members::Are(ranks) => {
                    let part: Option<Vec<_>> = ranks
                        .iter()
                        .map(|rank| Some((*rank, *by_rank.get(rank)?)))
                        .collect();
                    if let Some(part) = part {
                        done.extend(&ranks);
                        made.push(comm(&part, None));
                    }
                }
            }
        }
        CreatedComm::Comms(made)
    }

    /// The members of a group of the rank at `place`. `known` has what was found on the way, since groups share parts.
    fn members(
        &self,
        place: usize,
        node: &Rc<GroupNode>,
        known: &mut HashMap<*const GroupNode, Vec<u32>>,
    ) -> Members {
        if let Some(ranks) = known.get(&Rc::as_ptr(node)) {
            return Members::Are(ranks.clone());
        }
        let mut both = |a: &Rc<GroupNode>,
                        b: &Rc<GroupNode>,
                        join: fn(Vec<u32>, Vec<u32>) -> Vec<u32>| match (
            self.members(place, a, known),
            self.members(place, b, known),
        ) {
            (Members::Are(a), Members::Are(b)) => Members::Are(join(a, b)),
            (Members::Wait, _) | (_, Members::Wait) => Members::Wait,
            _ => Members::Unknown,
        };
        let found = match &node.group {
            GroupExpression::Empty => Members::Are(Vec::new()),
            // A size that no files stand for may be any number.
            GroupExpression::Of(CommName::World)
                if self.comms.size as usize != self.creations.len() =>
            {
                Members::Unknown
            }
            GroupExpression::Of(CommName::World) => Members::Are((0..self.comms.size).collect()),
            GroupExpression::Of(CommName::SelfComm) => Members::Are(vec![self.creations[place].0]),
            GroupExpression::Of(CommName::Unknown) => Members::Unknown,
            GroupExpression::Of(name @ CommName::Made(_)) => match self.comms.index(place, *name) {
                None => Members::Wait,
                Some(index) => {
                    let own = self.creations[place].0;
                    let comm = &self.comms.list[(index - self.comms.selves - 1) as usize];
                    match &comm.remote {
                        Some(remote) if remote.contains(&own) => Members::Are(remote.to_vec()),
                        _ => Members::Are(comm.local.to_vec()),
                    }
                }
            },
            GroupExpression::Ranks(of, ranks, excluded) => match self.members(place, of, known) {
                Members::Are(all) => {
                    let at = |rank: &i32| usize::try_from(*rank).ok();
                    if *excluded {
                        let out: HashSet<usize> = ranks.iter().filter_map(at).collect();
                        let kept = all.iter().enumerate().filter(|(nth, _)| !out.contains(nth));
                        Members::Are(kept.map(|(_, rank)| *rank).collect())
                    } else {
                        let mut chosen = ranks.iter().map(|rank| all.get(at(rank)?).copied());
                        let chosen: Option<Vec<u32>> = chosen.by_ref().collect();
                        chosen.map_or(Members::Unknown, Members::Are)
                    }
                }
                other => other,
            },
            GroupExpression::Union(a, b) => both(a, b, |mut a, b| {
                let known: HashSet<u32> = a.iter().copied().collect();
                a.extend(b.into_iter().filter(|rank| !known.contains(rank)));
                a
            }),
            GroupExpression::Intersection(a, b) => both(a, b, |mut a, b| {
                let other: HashSet<u32> = b.into_iter().collect();
                a.retain(|rank| other.contains(rank));
                a
            }),
            GroupExpression::Difference(a, b) => both(a, b, |mut a, b| {
                let other: HashSet<u32> = b.into_iter().collect();
                a.retain(|rank| !other.contains(rank));
                a
            }),
        };
        if let Members::Are(ranks) = &found {
            known.insert(Rc::as_ptr(node), ranks.clone());
        }
        found
    }

    /// World rank of the leader of the other side, as the leader of this one names it.
    fn remote_leader(&self, leader: (u32, u32)) -> Option<u32> {
        let CreationKind::Intercomm {
            remote,
            remote_leader,
            ..
        } = &self.creation(leader)?.kind
        else {
            return None;
        };
        let place = *self.places.get(&leader.0)?;
        let comm = self.comms.index(place, *remote)?;
        self.comms.world_rank(comm, leader.0, *remote_leader)
    }

    /// Puts a half to the other one, or lets it wait.
    fn meet(&mut self, half: IntercommSide) -> Option<Communicator> {
        let fits = |other: &IntercommSide| {
            other.leader == half.remote_leader
                && other.remote_leader == half.leader
                && other.tag == half.tag
        };
        let Some(at) = self.halves.iter().position(fits) else {
            self.halves.push(half);
            return None;
        };
        let other = self.halves.remove(at);
        let events = other.events.iter().chain(&half.events);
        Some(Communicator {
            local: other.ranks,
            remote: Some(half.ranks),
            names: events
                .map(|&(rank, event)| (rank, CommName::Made(event)))
                .collect(),
            dims: None,
        })
    }
}

/// The calls of a merge of both sides of an intercommunicator, by rank in what it made: first the side that said it is not
/// high. `None` if both sides said the same, since the MPI library decides then.
fn merged_events(
    events: &[(u32, u32)],
    calls: &[&CommCreation],
    local: &WorldRanks,
    remote: &WorldRanks,
) -> Option<Vec<(u32, u32)>> {
    let high = |ranks: &WorldRanks| {
        let mut calls = events.iter().zip(calls);
        let (_, call) = calls.find(|((rank, _), _)| ranks.contains(rank))?;
        Some(matches!(call.kind, CreationKind::Merge { high: true }))
    };
    let (first, second) = match (high(local), high(remote)) {
        (Some(false), Some(true)) => (local, remote),
        (Some(true), Some(false)) => (remote, local),
        _ => return None,
    };
    let by_rank: HashMap<u32, u32> = events.iter().copied().collect();
    first
        .iter()
        .chain(&**second)
        .map(|rank| Some((*rank, *by_rank.get(rank)?)))
        .collect()
}

/// The calls of a split, one list for each communicator that it made: by ascending color, in each by key and rank.
fn split_events(events: &[(u32, u32)], calls: &[&CommCreation]) -> Vec<Vec<(u32, u32)>> {
    let mut colors: BTreeMap<i32, Vec<(i32, usize)>> = BTreeMap::new();
    for (nth, call) in calls.iter().enumerate() {
        if let CreationKind::Split { color, key } = call.kind
            && !call.is_null
        {
            colors.entry(color).or_default().push((key, nth));
        }
    }
    let parts = colors.into_values().map(|mut part| {
        part.sort_unstable();
        part.into_iter().map(|(_, nth)| events[nth]).collect()
    });
    parts.collect()
}

/// Communicator that a call made.
enum CreatedComm {
    Comms(Vec<Communicator>),
    /// Something has to be known first.
    Wait,
}

/// The members of a group.
enum Members {
    Are(Vec<u32>),
    Unknown,
    Wait,
}

/// The parts that MPI_Cart_sub divides a grid into, each in order of its ranks.
fn slices(dims: &[usize], remain: &[bool], events: &[(u32, u32)]) -> Vec<Vec<(u32, u32)>> {
    let mut parts: BTreeMap<usize, Vec<(u32, u32)>> = BTreeMap::new();
    for (rank, &event) in events.iter().enumerate() {
        // The coordinates that are given up tell the part; ranks count the last dimension fastest.
        let (mut rest, mut part, mut scale) = (rank, 0, 1);
        for (&dim, &remains) in dims.iter().zip(remain).rev() {
            let coordinate = rest % dim.max(1);
            rest /= dim.max(1);
            if !remains {
                part += coordinate * scale;
                scale *= dim.max(1);
            }
        }
        parts.entry(part).or_default().push(event);
    }
    parts.into_values().collect()
}
