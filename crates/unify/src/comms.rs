//! Communicators over time: what a raw handle stands for at a moment, and a global id on which all members agree.
//!
//! A global id is the hash of what every member knows of a communicator by itself: the run, how it was made, from which
//! parent, its members, and how many such communicators were made before it. Calls that make a communicator come in the
//! same order on all its members (MPI demands it of collective calls), so all of them count alike, and nothing needs to be
//! sent.

use blockfile::define::{CommCreation, CommDefinition, CommDefinitionKind, Neighbours};
use blockfile::file::BlockFileInfo;
use std::sync::Arc;
use trace_formats::clog2::{Gid, crossing_gid, remote_of};
use trace_model::hash::{Map, Wide};

/// Number of a communicator of one process, in the order in which it got them. Never used again for another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CommId(pub u32);

impl CommId {
    /// MPI_COMM_WORLD.
    pub const WORLD: CommId = CommId(0);
    /// MPI_COMM_SELF.
    pub const SELF: CommId = CommId(1);
}

/// A communicator.
#[derive(Clone, Debug)]
pub struct Communicator {
    /// Raw handle.
    pub handle: u64,
    /// Intra or inter.
    pub kind: CommDefinitionKind,
    /// Creation of the communicator.
    pub origin: CommCreation,
    /// Rank of this process in it (in the local group).
    pub rank: i32,
    /// World ranks of its (local) members in order; −1 for processes outside MPI_COMM_WORLD. Communicators of the same group
    /// share the list.
    pub members: Arc<[i32]>,
    /// World ranks of the remote group's members; empty for an intracommunicator.
    pub remote: Arc<[i32]>,
    /// Global id. The two sides of an intercommunicator have different ones.
    pub gid: Gid,
    /// For an intercommunicator, the global ids of its two groups as intracommunicators: the local one, then the
    /// remote one, which is the other side's local one. All intercommunicators between two groups have the same. The group
    /// of all processes is MPI_COMM_WORLD, that of one process its MPI_COMM_SELF.
    pub sides: Option<(Gid, Gid)>,
    /// Ranks in it whose data neighbourhood calls of this process get; `None` if it has no topology.
    pub sources: Option<Vec<i32>>,
    /// Identity by which later communicators made from this one are told; both sides of an intercommunicator have the same.
    identity: Wide,
}

impl Communicator {
    /// Whether it has members that are not in MPI_COMM_WORLD.
    pub fn crosses_border(&self) -> bool {
        has_outsiders(&self.members) || has_outsiders(&self.remote)
    }

    /// Whether it is an intercommunicator.
    pub fn is_inter(&self) -> bool {
        self.kind == CommDefinitionKind::Inter
    }

    /// World ranks of those that messages go to and come from: the remote group if there is one.
    pub fn partners(&self) -> &[i32] {
        if self.is_inter() {
            &self.remote
        } else {
            &self.members
        }
    }
}

fn has_outsiders(members: &[i32]) -> bool {
    members.contains(&-1)
}

/// More ranks than any machine has.
pub const MAX_RANKS: i32 = 1 << 23;

/// The communicators that handles refer to at the current position.
#[derive(Clone, Debug, Default)]
pub struct CommHandles {
    by_handle: Map<u64, CommId>,
}

impl CommHandles {
    /// Sets the communicator that `handle` refers to from now on.
    pub fn insert(&mut self, handle: u64, id: CommId) {
        self.by_handle.insert(handle, id);
    }

    /// Communicator that the handle refers to; `None` if not known.
    #[inline]
    pub fn lookup(&self, handle: u64) -> Option<CommId> {
        self.by_handle.get(&handle).copied()
    }

    /// The call that freed `id` has returned. If another thread was given the same handle for a new communicator in the
    /// meantime, it keeps that.
    pub fn release(&mut self, handle: u64, id: CommId) {
        if self.lookup(handle) == Some(id) {
            self.by_handle.remove(&handle);
        }
    }
}

/// All communicators of one process.
#[derive(Clone, Debug)]
pub struct Comms {
    run: u64,
    list: Vec<Communicator>,
    handles: CommHandles,
    /// Number of communicators made so far with the same key.
    made: Map<Wide, u64>,
    /// Each list of members, once.
    groups: Map<Wide, Arc<[i32]>>,
}

impl Comms {
    /// The communicators every process begins with. Their handles are not known before their definitions were read.
    pub fn new(info: BlockFileInfo) -> Comms {
        // A damaged header must not decide how much memory is taken.
        let rank = info.rank.clamp(0, MAX_RANKS - 1);
        let size = i32::try_from(info.size).map_or(MAX_RANKS, |n| n.clamp(rank + 1, MAX_RANKS));
        let mut comms = Comms {
            run: info.run,
            list: Vec::new(),
            handles: CommHandles::default(),
            made: Map::default(),
            groups: Map::default(),
        };
        for (origin, rank, members) in [
            (CommCreation::World, rank, (0..size).collect()),
            (CommCreation::SelfComm, 0, vec![rank]),
        ] {
            let identity = comms.root(origin, &members);
            let members = comms.group(members);
            comms.list.push(Communicator {
                handle: 0,
                kind: CommDefinitionKind::Intra,
                origin,
                rank,
                members,
                remote: Arc::new([]),
                gid: gid(identity),
                sides: None,
                sources: None,
                identity,
            });
        }
        comms
    }

    /// Takes in a definition: from now on its handle stands for this communicator.
    pub fn define(&mut self, comm: CommDefinition) -> CommId {
        let id = match comm.origin {
            CommCreation::World => CommId::WORLD,
            CommCreation::SelfComm => CommId::SELF,
            _ => CommId(u32::try_from(self.list.len()).unwrap_or(u32::MAX)),
        };
        let handle = comm.handle;
        match self.list.get_mut(id.0 as usize) {
            Some(known) => known.handle = handle,
            None => {
                let made = self.communicator(comm);
                self.list.push(made);
            }
        }
        self.handles.insert(handle, id);
        id
    }

    /// Takes in the neighbours in the topology of a communicator that has been defined.
    pub fn define_neighbours(&mut self, neighbours: Neighbours) {
        let id = self.lookup(neighbours.comm);
        if let Some(comm) = id.and_then(|id| self.list.get_mut(id.0 as usize)) {
            comm.sources = Some(neighbours.sources);
        }
    }

    /// Communicator that the handle refers to at the current position; `None` if not known.
    pub fn lookup(&self, handle: u64) -> Option<CommId> {
        self.handles.lookup(handle)
    }

    /// A communicator by its number.
    #[inline]
    pub fn get(&self, id: CommId) -> Option<&Communicator> {
        self.list.get(id.0 as usize)
    }

    /// All communicators by number, freed ones too.
    pub fn all(&self) -> &[Communicator] {
        &self.list
    }

    fn group(&mut self, members: Vec<i32>) -> Arc<[i32]> {
        let key = Wide::new().list(&members).finish();
        let known = self.groups.entry(key);
        known.or_insert_with(|| members.into()).clone()
    }

    fn communicator(&mut self, comm: CommDefinition) -> Communicator {
        // The two groups of an intercommunicator in an order that does not depend on the side.
        let (low, high) = if comm.members <= comm.remote {
            (&comm.members, &comm.remote)
        } else {
            (&comm.remote, &comm.members)
        };
        let parent = match comm.origin {
            CommCreation::Parent => self
                .lookup(comm.parent)
                .and_then(|id| self.get(id))
                .map_or(Wide::new(), |parent| parent.identity),
            _ => Wide::new(),
        };
        let key = Wide::new()
            .word(self.run)
            .word(comm.origin as u64)
            .word(u64::from(comm.kind == CommDefinitionKind::Inter))
            .wide(parent)
            .list(low)
            .list(high)
            .finish();
        let count = self.made.entry(key).or_default();
        let identity = key.word(*count).finish();
        *count += 1;
        let (gid, sides) = match comm.kind {
            CommDefinitionKind::Intra => (
                match has_outsiders(&comm.members) {
                    true => {
                        let outside = comm.members.iter().filter(|&&m| m == -1).count();
                        crossing(identity, [comm.members.len() - outside, outside])
                    }
                    false => gid(identity),
                },
                None,
            ),
            CommDefinitionKind::Inter => {
                let own = identity.list(&comm.members).finish();
                let sizes = [comm.members.len(), comm.remote.len()];
                let crosses = has_outsiders(&comm.members) || has_outsiders(&comm.remote);
                let gid = match crosses {
                    true => crossing(own, sizes),
                    false => gid(own),
                };
                let remote = match crosses {
                    // Nothing but the intercommunicator tells which processes these are.
                    true => remote_of(&gid),
                    false => self.side(&comm.remote),
                };
                (gid, Some((self.side(&comm.members), remote)))
            }
        };
        Communicator {
            handle: comm.handle,
            kind: comm.kind,
            origin: comm.origin,
            rank: comm.rank,
            members: self.group(comm.members),
            remote: self.group(comm.remote),
            gid,
            sides,
            sources: None,
            identity,
        }
    }

    fn root(&self, origin: CommCreation, members: &[i32]) -> Wide {
        Wide::new()
            .word(self.run)
            .word(origin as u64)
            .list(members)
            .finish()
    }

    fn side(&self, members: &[i32]) -> Gid {
        gid(match members {
            world if Some(world) == self.list.first().map(|w| &w.members[..]) => {
                self.root(CommCreation::World, world)
            }
            one @ [rank] if *rank >= 0 => self.root(CommCreation::SelfComm, one),
            // Shares nothing with the hashes above: origins end at 4.
            group => Wide::new().word(self.run).word(64).list(group).finish(),
        })
    }
}

/// 136 bits of the hash in the form in which MPE's readers expect a global id: a number, a time in seconds, a host name.
fn gid(hash: Wide) -> Gid {
    let [a, b, c] = hash.0;
    // 40 bits with 20 of them behind the point: up to 12 days, and exact in a double.
    let time = (b >> 24) as f64 / f64::from(1 << 20);
    Gid::new(a as i32, time, format!("lt-{c:016x}").as_bytes())
}

/// The identity of a communicator that has members outside MPI_COMM_WORLD.
fn crossing(hash: Wide, sizes: [usize; 2]) -> Gid {
    let [a, b, c] = hash.0;
    let time = (b >> 24) as f64 / f64::from(1 << 20);
    crossing_gid(a as i32, time, sizes, c as u32)
}

#[cfg(test)]
mod tests {
    use super::*;
    use blockfile::layout::{Clock, Family};
    use trace_formats::clog2::across_border;

    fn info(rank: i32, size: u32) -> BlockFileInfo {
        BlockFileInfo {
            family: Family::Mpich,
            table: 0,
            clock: Clock::Monotonic,
            counter_bits: 40,
            pid: 1,
            rank,
            size,
            ended: 1,
            lost: 0,
            run: 77,
            dropped: 0,
            lost_since: None,
        }
    }

    fn intra(handle: u64, parent: u64, origin: CommCreation, members: &[i32]) -> CommDefinition {
        CommDefinition {
            handle,
            parent,
            kind: CommDefinitionKind::Intra,
            origin,
            rank: 0,
            members: members.to_vec(),
            remote: Vec::new(),
        }
    }

    fn inter(
        handle: u64,
        parent: u64,
        origin: CommCreation,
        local: &[i32],
        remote: &[i32],
    ) -> CommDefinition {
        CommDefinition {
            kind: CommDefinitionKind::Inter,
            remote: remote.to_vec(),
            ..intra(handle, parent, origin, local)
        }
    }

    fn world(comms: &mut Comms) {
        let members = comms.all()[0].members.to_vec();
        assert_eq!(
            comms.define(intra(91, 0, CommCreation::World, &members)),
            CommId::WORLD
        );
    }

    #[test]
    fn members_agree_whatever_else_a_rank_has_made() {
        let (mut a, mut b) = (Comms::new(info(0, 4)), Comms::new(info(1, 4)));
        world(&mut a);
        world(&mut b);
        assert_eq!(a.all()[0].gid, b.all()[0].gid);
        assert_ne!(a.all()[1].gid, b.all()[1].gid);
        // Only rank 0 has made this one, and with the handle that rank 1 uses for another.
        a.define(intra(5, 91, CommCreation::Parent, &[0]));
        let first = a.define(intra(6, 91, CommCreation::Parent, &[0, 1]));
        let second = a.define(intra(7, 91, CommCreation::Parent, &[0, 1]));
        let other_first = b.define(intra(5, 91, CommCreation::Parent, &[0, 1]));
        let other_second = b.define(intra(9, 91, CommCreation::Parent, &[0, 1]));
        let gid = |c: &Comms, id| c.get(id).unwrap().gid;
        assert_eq!(gid(&a, first), gid(&b, other_first));
        assert_eq!(gid(&a, second), gid(&b, other_second));
        assert_ne!(gid(&a, first), gid(&a, second));
        // A child of each: told apart by its parent.
        let x = a.define(intra(20, 6, CommCreation::Parent, &[0, 1]));
        let y = b.define(intra(21, 9, CommCreation::Parent, &[0, 1]));
        assert_ne!(gid(&a, x), gid(&b, y));
    }

    #[test]
    fn a_handle_stands_for_the_latest_communicator_and_is_released_only_for_that() {
        let mut c = Comms::new(info(0, 2));
        world(&mut c);
        let old = c.define(intra(5, 91, CommCreation::Parent, &[0, 1]));
        let new = c.define(intra(5, 91, CommCreation::Parent, &[0, 1]));
        assert_ne!(old, new);
        assert_eq!(c.lookup(5), Some(new));
        let mut handles = CommHandles::default();
        handles.insert(5, new);
        handles.release(5, old);
        assert_eq!(handles.lookup(5), Some(new));
        handles.release(5, new);
        assert_eq!(handles.lookup(5), None);
        let [a, b] = [old, new].map(|id| c.get(id).unwrap().members.clone());
        assert!(Arc::ptr_eq(&a, &b));
    }

    #[test]
    fn the_sides_of_an_intercommunicator_mirror_each_other() {
        let (mut a, mut b) = (Comms::new(info(0, 5)), Comms::new(info(3, 5)));
        world(&mut a);
        world(&mut b);
        let i = a.define(inter(5, 0, CommCreation::Members, &[0, 1], &[3, 2, 4]));
        let j = b.define(inter(8, 0, CommCreation::Members, &[3, 2, 4], &[0, 1]));
        let (x, y) = (a.get(i).unwrap(), b.get(j).unwrap());
        let ((local, remote), mirrored) = (x.sides.unwrap(), y.sides.unwrap());
        assert_eq!(mirrored, (remote, local));
        assert_ne!(local, remote);
        assert_ne!(x.gid, y.gid);
        // Merged from both sides, it is one communicator.
        let m = a.define(intra(6, 5, CommCreation::Parent, &[0, 1, 3, 2, 4]));
        let n = b.define(intra(6, 8, CommCreation::Parent, &[0, 1, 3, 2, 4]));
        assert_eq!(a.get(m).unwrap().gid, b.get(n).unwrap().gid);
        // And a duplicate has the same sides and another global id.
        let d = a.define(inter(12, 5, CommCreation::Parent, &[0, 1], &[3, 2, 4]));
        assert_eq!(a.get(d).unwrap().sides, Some((local, remote)));
        assert_ne!(a.get(d).unwrap().gid, a.get(i).unwrap().gid);
    }

    #[test]
    fn sides_of_one_or_of_all_processes_are_known_communicators() {
        let mut c = Comms::new(info(0, 2));
        world(&mut c);
        let pair = c.define(inter(5, 0, CommCreation::Members, &[0], &[1]));
        let (local, remote) = c.get(pair).unwrap().sides.unwrap();
        assert_eq!(local, c.get(CommId::SELF).unwrap().gid);
        assert_eq!(remote, Comms::new(info(1, 2)).all()[1].gid);
        let spawned = c.define(inter(6, 91, CommCreation::Outside, &[0, 1], &[-1]));
        let (local, remote) = c.get(spawned).unwrap().sides.unwrap();
        assert_eq!(local, c.get(CommId::WORLD).unwrap().gid);
        assert_ne!(remote, c.get(CommId::SELF).unwrap().gid);
        let gid = c.get(spawned).unwrap().gid;
        assert_eq!(across_border(&gid), Some([2, 1]));
        assert_eq!(across_border(&local), None);
        // Another one of as many processes: these are others.
        let again = c.define(inter(7, 91, CommCreation::Outside, &[0, 1], &[-1]));
        assert_ne!(c.get(again).unwrap().sides.unwrap().1, remote);
        let merged = c.define(intra(8, 6, CommCreation::Parent, &[-1, -1, -1, 0, 1]));
        let merged = c.get(merged).unwrap();
        assert!(merged.crosses_border());
        assert_eq!(across_border(&merged.gid), Some([2, 3]));
    }
}
