//! Communicators: who is in them, and the lines of calls on them.

use std::collections::BTreeMap;

use trace_model::Line;
use trace_model::hash::Map;

use super::super::comms::number_of_name;
use super::super::numbers::{TIMELINE_COMM, group_type, value_type};
use super::definitions::GlobalDefinitions;
use super::event::{Attribute, MessageEnd};
use super::places::Places;

/// A group of ranks that communicate: a communicator, or a side of one.
#[derive(Debug, Default)]
struct CommSide {
    /// Number for lines; 0 for MPI_COMM_WORLD.
    number: i32,
    /// Ranks in MPI_COMM_WORLD by rank in the group; `None` for one that nobody knows.
    members: Vec<Option<i32>>,
    /// Rank in the group by rank in MPI_COMM_WORLD.
    places: Map<i32, i32>,
    /// Whether each rank has one of its own.
    is_self: bool,
}

impl CommSide {
    fn new(definitions: &GlobalDefinitions, reference: u32, places: &Places) -> CommSide {
        let Some(found) = definitions.groups.get(&reference) else {
            return CommSide::default();
        };
        let rank = |&member: &u64| {
            let at = usize::try_from(member).ok()?;
            places.ranks.get(at).copied().flatten()
        };
        let members: Vec<Option<i32>> = found.members.iter().map(rank).collect();
        let known = (0..)
            .zip(&members)
            .filter_map(|(at, rank)| Some(((*rank)?, at)));
        CommSide {
            number: 0,
            places: known.collect(),
            members,
            is_self: found.kind == group_type::COMM_SELF,
        }
    }

    /// Rank in the group of a rank of MPI_COMM_WORLD.
    fn own_rank(&self, rank: i32) -> Option<i32> {
        match self.is_self {
            true => Some(0),
            false => self.places.get(&rank).copied(),
        }
    }
}

/// The communicators of an archive, and their lines.
#[derive(Debug, Default)]
pub(super) struct Comms {
    /// One side, or the two of an intercommunicator.
    comms: BTreeMap<u32, Vec<CommSide>>,
    /// First number that no communicator has.
    next_number: i32,
    /// Lines of calls on a communicator, by line of the thread and reference.
    lines: Map<(i32, u32), i32>,
    /// Line of calls on a communicator, by line of the thread and number of the communicator.
    by_number: Map<(i32, i32), i32>,
    /// Whether mpitrace has written the archive.
    is_own: bool,
    /// The attribute by which it tells the communicator of a region.
    attribute: Option<u32>,
}

impl Comms {
    /// The communicators of an archive. `is_own` says that mpitrace has written it: its names tell their numbers.
    pub(super) fn new(definitions: &GlobalDefinitions, places: &Places, is_own: bool) -> Comms {
        let mut comms: BTreeMap<u32, Vec<CommSide>> = BTreeMap::new();
        for (&reference, comm) in &definitions.comms {
            let groups = std::iter::once(comm.group).chain(comm.remote);
            let sides = groups.map(|group| CommSide::new(definitions, group, places));
            comms.insert(reference, sides.collect());
        }
        let world = world(definitions, &comms, places.ranks.len());
        let mut next_number = 1;
        let mut by_group: Map<u32, i32> = Map::default();
        for (&reference, comm) in &definitions.comms {
            if comm.remote.is_some() {
                continue;
            }
            let name = definitions.text(comm.name);
            let named = number_of_name(name).filter(|number| is_own && *number > 0);
            let number = match Some(reference) == world {
                true => 0,
                false => named.unwrap_or(next_number),
            };
            next_number = next_number.max(number.saturating_add(1));
            by_group.entry(comm.group).or_insert(number);
            if let Some([side]) = comms.get_mut(&reference).map(Vec::as_mut_slice) {
                side.number = number;
            }
        }
        // A side of an intercommunicator is the communicator with its group, if there is one.
        for (reference, comm) in &definitions.comms {
            let (Some(remote), Some(sides)) = (comm.remote, comms.get_mut(reference)) else {
                continue;
            };
            for (side, group) in sides.iter_mut().zip([comm.group, remote]) {
                side.number = *by_group.entry(group).or_insert_with(|| {
                    next_number = next_number.saturating_add(1);
                    next_number - 1
                });
            }
        }
        let mut attributes = definitions.attributes.iter();
        let told = |(_, (name, kind)): &(&u32, &(u32, u8))| {
            *kind == value_type::COMM && definitions.text(*name) == TIMELINE_COMM
        };
        let attribute = attributes.find(told).map(|(&reference, _)| reference);
        Comms {
            comms,
            next_number,
            lines: Map::default(),
            by_number: Map::default(),
            is_own,
            attribute: attribute.filter(|_| is_own),
        }
    }

    /// The communicator of a message that is sent or received in a call, if that is the one of the call, too. Archives of mpitrace tell that by an
    /// attribute.
    pub(super) fn of_message(&self, end: &MessageEnd) -> Option<u32> {
        (!self.is_own && self.comms.contains_key(&end.comm)).then_some(end.comm)
    }

    /// Takes the attribute that tells the communicator of a region out of its attributes. Gives that communicator.
    pub(super) fn take_told(&self, attributes: &mut Box<[Attribute]>) -> Option<u32> {
        let attribute = self.attribute?;
        let told = |&&(reference, ..): &&Attribute| reference == attribute;
        let &(_, _, bits) = attributes.iter().find(told)?;
        let rest = attributes.iter().filter(|found| !told(found));
        *attributes = rest.copied().collect();
        // The value of a reference is the first half of the union.
        Some(bits as u32)
    }

    /// Puts the numbers that lines have for communicators in place of references, in an archive of mpitrace: there each is of one group.
    pub(super) fn number_attributes(&self, attributes: &mut [Attribute]) {
        if !self.is_own {
            return;
        }
        for (_, kind, bits) in attributes {
            // The value of a reference is the first half of the union.
            let sides = self.comms.get(&(*bits as u32));
            if *kind == value_type::COMM
                && let Some([side]) = sides.map(Vec::as_slice)
            {
                (*kind, *bits) = (value_type::INT32, side.number as u32 as u64);
            }
        }
    }

    /// Numbers and names of the communicators that have names. The name of MPI_COMM_WORLD is known, and MPI_COMM_SELF is one for each rank.
    pub(super) fn named<'a>(
        &'a self,
        definitions: &'a GlobalDefinitions,
    ) -> impl Iterator<Item = (i32, &'a str)> {
        self.comms.iter().filter_map(|(reference, sides)| {
            let name = definitions.text(definitions.comms.get(reference)?.name);
            match sides.as_slice() {
                [side] if side.number > 0 && !side.is_self && !name.is_empty() => {
                    Some((side.number, name))
                }
                _ => None,
            }
        })
    }

    /// The side of a communicator that a rank of MPI_COMM_WORLD is on.
    fn side(&self, reference: u32, rank: i32) -> Option<&CommSide> {
        let sides = self.comms.get(&reference)?;
        sides.iter().find(|side| side.own_rank(rank).is_some())
    }

    /// The rank in MPI_COMM_WORLD of the one that has the rank `partner` in a communicator, seen by `own`, which sends to it or receives from it.
    pub(super) fn world_rank(&self, reference: u32, own: i32, partner: u32) -> Option<i32> {
        let sides = self.comms.get(&reference)?;
        let side = match sides.as_slice() {
            [local, remote] if local.own_rank(own).is_some() => remote,
            [side, ..] => side,
            [] => return None,
        };
        if side.is_self {
            return Some(own);
        }
        *side.members.get(usize::try_from(partner).ok()?)?
    }

    /// Number of ranks in a communicator, and the rank in it of a rank of MPI_COMM_WORLD.
    pub(super) fn size_and_rank(&self, reference: u32, rank: i32) -> Option<(u64, i32)> {
        let side = self.side(reference, rank)?;
        let size = if side.is_self {
            1
        } else {
            side.members.len() as u64
        };
        Some((size, side.own_rank(rank)?))
    }

    /// Makes the line of calls of a thread on a communicator. Those on MPI_COMM_WORLD are on the line of the thread.
    pub(super) fn add_line(&mut self, thread: i32, reference: u32, lines: &mut Vec<Line>) {
        if self.lines.contains_key(&(thread, reference)) {
            return;
        }
        let own = usize::try_from(thread)
            .ok()
            .and_then(|at| lines.get(at))
            .cloned();
        let Some(own) = own else {
            return;
        };
        let Some(side) = self.side(reference, own.rank) else {
            return;
        };
        let number = match side.is_self {
            true => self.next_number.saturating_add(own.rank),
            false => side.number,
        };
        let Some(comm_rank) = side.own_rank(own.rank).filter(|_| number != 0) else {
            return;
        };
        // Two references may stand for one communicator.
        let id = *self.by_number.entry((thread, number)).or_insert_with(|| {
            let id = i32::try_from(lines.len()).unwrap_or(i32::MAX);
            lines.push(Line {
                id,
                comm: number,
                comm_rank,
                ..own
            });
            id
        });
        self.lines.insert((thread, reference), id);
    }

    /// Line of a thread's calls on a communicator.
    pub(super) fn line(&self, thread: i32, reference: u32) -> i32 {
        self.lines
            .get(&(thread, reference))
            .copied()
            .unwrap_or(thread)
    }
}

/// The reference of MPI_COMM_WORLD: of the communicators with all ranks in their order the one of that name, else the first one.
fn world(
    definitions: &GlobalDefinitions,
    comms: &BTreeMap<u32, Vec<CommSide>>,
    ranks: usize,
) -> Option<u32> {
    let is_whole = |sides: &[CommSide]| {
        let [side] = sides else {
            return false;
        };
        let is_in_order = side.members.is_sorted() && side.members.iter().all(Option::is_some);
        ranks > 0 && !side.is_self && side.members.len() == ranks && is_in_order
    };
    let whole = comms.iter().filter(|(_, sides)| is_whole(sides));
    let mut whole = whole.map(|(&reference, _)| reference);
    let name = |reference: &u32| {
        let comm = definitions.comms.get(reference);
        comm.map_or("", |comm| definitions.text(comm.name))
    };
    let named = whole
        .clone()
        .find(|reference| name(reference) == "MPI_COMM_WORLD");
    named.or_else(|| whole.next())
}
