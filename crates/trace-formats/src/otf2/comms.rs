//! Communicators and their groups, as far as the timelines of a trace tell them.

use trace_model::hash::Map;
use trace_model::{CommNames, Losses};

use super::places::{LinePlace, Places};

/// Reference of the first group; before it comes that of the locations of ranks.
pub(super) const FIRST_GROUP: u32 = 1;

/// A communicator of the archive. Its reference is its position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum CommDefinition {
    /// One group, by its position. The number is that of the communicator in the trace.
    Intra { number: i32, group: usize },
    /// Two groups that send to each other.
    Inter { name: String, groups: [usize; 2] },
}

impl CommDefinition {
    /// The name in an archive. Of `names` it has the one that the program has given, and the number all the same, by which mpitrace reads it again.
    pub(super) fn name(&self, names: &CommNames) -> String {
        match self {
            CommDefinition::Intra { number: 0, .. } => "MPI_COMM_WORLD".to_owned(),
            CommDefinition::Intra { number, .. } => match names.get(*number) {
                Some(name) => format!("{name} (communicator {number})"),
                None => format!("communicator {number}"),
            },
            CommDefinition::Inter { name, .. } => name.clone(),
        }
    }
}

/// Number in the trace of the communicator with this name in an archive.
pub(super) fn number_of_name(name: &str) -> Option<i32> {
    const WORD: &str = "communicator ";
    let number = match name.strip_suffix(')') {
        Some(rest) => rest.rsplit_once(" (communicator ")?.1,
        None => name.strip_prefix(WORD)?,
    };
    number.parse().ok()
}

/// Communicators and groups of a trace.
#[derive(Debug, Default)]
pub(super) struct Comms {
    /// By communicator of the trace the position of its definition.
    by_number: Map<i32, usize>,
    /// By position of a definition: ranks in the communicator, ascending, each with the position of its process.
    members: Vec<Vec<(i32, usize)>>,
    pairs: Map<(usize, usize), usize>,
    /// Of an intercommunicator's side, by its number, that of the other side.
    remotes: Map<i32, i32>,
    /// Groups that are no communicators: positions of processes.
    other_groups: Vec<Vec<u64>>,
    /// References of the groups that calls have named, by the positions of their processes.
    named_groups: Map<Vec<u64>, u32>,
    definitions: Vec<CommDefinition>,
}

impl Comms {
    /// The communicators that timelines are about. MPI_COMM_WORLD has all ranks of the trace; another one has those with a timeline about it.
    pub(super) fn new(places: &Places, losses: &mut Losses) -> Self {
        let mut by_comm: Map<i32, Vec<(i32, usize)>> = Map::default();
        let ranks = places.ranks();
        let world = places.processes.iter().take(ranks).enumerate();
        let world = world.map(|(process, of)| (of.rank.unwrap_or(0) as i32, process));
        by_comm.insert(0, world.collect());
        for place in places.line_places() {
            if place.comm != 0 && place.process < ranks {
                let members = by_comm.entry(place.comm).or_default();
                members.push((place.comm_rank, place.process));
            }
        }
        let mut numbers: Vec<i32> = by_comm.keys().copied().collect();
        // MPI_COMM_WORLD first, whatever numbers others have.
        numbers.sort_unstable_by_key(|&number| (number != 0, number));
        let mut comms = Comms::default();
        for number in numbers {
            let mut members = by_comm.remove(&number).unwrap_or_default();
            members.sort_unstable();
            members.dedup_by_key(|(rank, _)| *rank);
            let holes = (members.iter().map(|(rank, _)| *rank)).ne(0..members.len() as i32);
            if holes {
                let what = "communicator with ranks that are not in the trace, whose ranks are counted without them";
                losses.add(what, 1);
            }
            let group = comms.members.len();
            comms.by_number.insert(number, group);
            comms.members.push(members);
            comms
                .definitions
                .push(CommDefinition::Intra { number, group });
        }
        comms
    }

    /// Reference of a communicator of the trace; of one without ranks, that of MPI_COMM_WORLD.
    pub(super) fn reference(&self, comm: i32) -> u32 {
        self.by_number.get(&comm).map_or(0, |&at| at as u32)
    }

    /// Reference of a communicator of the trace; `None` of one without ranks.
    pub(super) fn known_reference(&self, comm: i32) -> Option<u32> {
        let at = self.by_number.get(&comm)?;
        u32::try_from(*at).ok()
    }

    /// Number of ranks of a communicator of the trace.
    pub(super) fn size(&self, comm: i32) -> usize {
        let members = self.by_number.get(&comm);
        members.map_or(0, |&at| self.members[at].len())
    }

    /// Rank in the archive's communicator of a rank in that of the trace: both are the same unless ranks are missing.
    pub(super) fn rank(&self, comm: i32, rank: i32) -> Option<u32> {
        let members = self.members.get(*self.by_number.get(&comm)?)?;
        let at = members
            .binary_search_by_key(&rank, |(rank, _)| *rank)
            .ok()?;
        u32::try_from(at).ok()
    }

    /// Reference of the communicator of a message from one timeline to another, and the rank of the other one there.
    pub(super) fn channel(&mut self, own: &LinePlace, other: &LinePlace) -> (u32, u32) {
        if own.comm == other.comm
            && let Some(rank) = self.rank(other.comm, other.comm_rank)
        {
            return (self.reference(own.comm), rank);
        }
        if own.comm != other.comm
            && own.comm != 0
            && other.comm != 0
            && let Some(rank) = self.rank(other.comm, other.comm_rank)
            && let Some(reference) = self.pair(own.comm, other.comm)
        {
            return (reference, rank);
        }
        (0, u32::try_from(other.process).unwrap_or(0))
    }

    /// Notes the numbers of the sides of an intercommunicator.
    pub(super) fn note_remote(&mut self, side: i32, other: i32) {
        self.remotes.insert(side, other);
    }

    /// Reference of the intercommunicator that a side has this number in, and the number of the other side; `None` for any other communicator.
    pub(super) fn across(&mut self, side: i32) -> Option<(u32, i32)> {
        let other = *self.remotes.get(&side)?;
        Some((self.pair(side, other)?, other))
    }

    /// Reference of the group of these ranks of MPI_COMM_WORLD, in this order, without those that are not in the trace.
    pub(super) fn group_of(&mut self, places: &Places, ranks: &[u32]) -> u32 {
        let of_rank = |rank: &u32| {
            let known = places.processes.get(..places.ranks()).unwrap_or_default();
            let found = known.binary_search_by_key(&Some(*rank), |process| process.rank);
            found.ok().map(|at| at as u64)
        };
        self.group_of_members(ranks.iter().filter_map(of_rank).collect())
    }

    /// Reference of the group of the processes at these positions, in this order.
    pub(super) fn group_of_members(&mut self, members: Vec<u64>) -> u32 {
        if let Some(&known) = self.named_groups.get(&members) {
            return known;
        }
        let same = self.groups().position(|known| known == members);
        let at = same.unwrap_or_else(|| {
            self.other_groups.push(members.clone());
            self.members.len() + self.other_groups.len() - 1
        });
        let reference = FIRST_GROUP + u32::try_from(at).unwrap_or(0);
        self.named_groups.insert(members, reference);
        reference
    }

    /// Reference of the intercommunicator between two groups; `None` if a process is in both.
    fn pair(&mut self, one: i32, other: i32) -> Option<u32> {
        let (&a, &b) = (self.by_number.get(&one)?, self.by_number.get(&other)?);
        self.pair_of_groups([a.min(b), a.max(b)])
    }

    /// Reference of the intercommunicator between the groups of two communicators, by their positions, the lower one first; `None` if a process is in
    /// both, or there are no such groups.
    pub(super) fn pair_of_groups(&mut self, groups: [usize; 2]) -> Option<u32> {
        if let Some(&at) = self.pairs.get(&(groups[0], groups[1])) {
            return u32::try_from(at).ok();
        }
        let [left, right] = groups.map(|at| self.members.get(at));
        let (left, right) = (left?, right?);
        let processes: std::collections::HashSet<usize> =
            left.iter().map(|(_, process)| *process).collect();
        if right.iter().any(|(_, process)| processes.contains(process)) {
            return None;
        }
        let number = |at: usize| match self.definitions.get(at) {
            Some(CommDefinition::Intra { number, .. }) => *number,
            _ => 0,
        };
        let [one, other] = groups.map(number);
        // Whichever side tells of it first.
        let name = format!("communicators {} and {}", one.min(other), one.max(other));
        let at = self.definitions.len();
        self.definitions
            .push(CommDefinition::Inter { name, groups });
        self.pairs.insert((groups[0], groups[1]), at);
        u32::try_from(at).ok()
    }

    /// Positions of the groups of the intercommunicators, in the order of their references, which come after those of the communicators with one group.
    pub(super) fn pairs(&self) -> impl Iterator<Item = [usize; 2]> {
        self.definitions.iter().filter_map(|comm| match comm {
            CommDefinition::Inter { groups, .. } => Some(*groups),
            CommDefinition::Intra { .. } => None,
        })
    }

    /// Number of communicators with one group, which have the first references.
    pub(super) fn intra_count(&self) -> usize {
        self.members.len()
    }

    /// Groups that are no communicators, in the order of their references, which come after those of the communicators.
    pub(super) fn other_groups(&self) -> &[Vec<u64>] {
        &self.other_groups
    }

    /// Communicators in the order of their references.
    pub(super) fn definitions(&self) -> &[CommDefinition] {
        &self.definitions
    }

    /// Members of the groups, by position: positions of processes in the order of their ranks. Those of communicators come first.
    pub(super) fn groups(&self) -> impl Iterator<Item = Vec<u64>> {
        self.members
            .iter()
            .map(|members| members.iter().map(|(_, process)| *process as u64).collect())
            .chain(self.other_groups.iter().cloned())
    }

    /// Number of members of the largest group.
    pub(super) fn largest(&self) -> usize {
        self.members.iter().map(Vec::len).max().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use trace_model::{Definitions, Line};

    #[test]
    fn names_tell_the_number() {
        assert_eq!(number_of_name("communicator 7"), Some(7));
        assert_eq!(number_of_name("rows (of 3) (communicator 12)"), Some(12));
        assert_eq!(number_of_name("MPI_COMM_WORLD"), None);
        assert_eq!(number_of_name("communicators 3 and 4"), None);
    }

    #[test]
    fn messages_name_the_rank_in_their_communicator() {
        let about = |id, rank, comm, comm_rank| Line {
            comm,
            comm_rank,
            ..Line::of_thread(id, rank, 0)
        };
        let lines = vec![
            about(0, 0, 0, 0),
            about(1, 1, 0, 1),
            about(2, 4, 0, 4),
            about(3, 0, 7, 1),
            about(4, 1, 7, 0),
            about(5, 4, 8, 0),
        ];
        let definitions = Definitions {
            lines,
            ..Definitions::default()
        };
        let places = Places::new(&definitions);
        let mut losses = Losses::default();
        let mut comms = Comms::new(&places, &mut losses);
        let place = |id| places.of_line(id).expect("defined");
        // Rank 4 is the third of those that are there.
        assert_eq!(comms.channel(&place(0), &place(2)), (0, 2));
        assert_eq!(comms.channel(&place(3), &place(4)), (1, 0));
        assert_eq!(comms.channel(&place(4), &place(3)), (1, 1));
        // An intercommunicator, in both directions.
        assert_eq!(comms.channel(&place(3), &place(5)), (3, 0));
        assert_eq!(comms.channel(&place(5), &place(3)), (3, 1));
        assert_eq!(losses.iter().map(|(_, count)| count).sum::<u64>(), 1);
        // The sides of an intercommunicator, which has both of them.
        assert_eq!(comms.across(7), None);
        comms.note_remote(7, 8);
        comms.note_remote(8, 7);
        assert_eq!(comms.across(7), Some((3, 8)));
        assert_eq!(comms.across(8), Some((3, 7)));
        // A group may be that of a communicator; rank 2 is not in the trace.
        assert_eq!(comms.group_of(&places, &[4]), 3);
        assert_eq!(comms.group_of(&places, &[1, 2, 4]), 4);
        assert_eq!(comms.group_of(&places, &[1, 4]), 4);
        assert_eq!(comms.other_groups, [vec![1, 2]]);
        comms.other_groups.clear();
        let groups: Vec<_> = comms.groups().collect();
        assert_eq!(groups, [vec![0, 1, 2], vec![1, 0], vec![2]]);
        assert_eq!((comms.size(7), comms.largest()), (2, 3));
    }
}
