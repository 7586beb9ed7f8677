//! The communicators of a run: who is in them, found from the calls that made them on all ranks.
//!
//! DUMPI gives each rank its own numbers for communicators and says neither size nor members. Those of MPI_Comm_dup,
//! MPI_Comm_create, MPI_Comm_split, MPI_Cart_create and MPI_Graph_create follow from what their members said in the call:
//! a communicator's calls of this kind come in the same order on all of them.

use std::collections::{BTreeMap, HashMap};
use trace_formats::dumpi::functions::{FieldCode, FieldMoment};
use trace_formats::dumpi::ids;
use trace_formats::dumpi::types::Record;
use trace_formats::dumpi::value::Arg;

const COMM_NULL: i32 = 1;
const COMM_WORLD: i32 = 2;
const COMM_SELF: i32 = 3;
const GROUP_EMPTY: i32 = 2;

/// World ranks, in the order of the ranks in the group.
type Members = Vec<u32>;

/// A call that makes a communicator or a group, with the numbers of its rank.
enum CommCall {
    Comm {
        old: i32,
        new: i32,
        how: CommCallArguments,
    },
    CommGroup {
        comm: i32,
        new: i32,
    },
    Group {
        how: GroupCallArguments,
        new: i32,
    },
}

/// What a member said in the call.
enum CommCallArguments {
    /// All members of the old one.
    Same,
    /// Members that got one, in the order of the old one.
    Part,
    Split {
        color: i32,
        key: i32,
    },
    Group(i32),
    /// By a call that says too little.
    Unknown,
}

enum GroupCallArguments {
    Union(i32, i32),
    Intersection(i32, i32),
    Difference(i32, i32),
    Include(i32, Vec<i32>),
    Exclude(i32, Vec<i32>),
}

/// Collects the calls of all ranks, then works out the communicators.
pub struct Collector {
    ranks: u32,
    ops: Vec<Vec<CommCall>>,
}

/// The communicators of a run.
pub struct Comms {
    ranks: u32,
    members: Vec<Members>,
    /// By rank, what its calls made, in order: positions in `members`.
    made: Vec<Vec<Option<usize>>>,
}

/// Argument by name, of those that are numbers.
fn int(record: &Record<'_>, name: &str) -> i32 {
    let found = record.args().find(|(field, _)| field.name == name);
    match found {
        Some((_, Arg::Int(value))) => value,
        _ => 0,
    }
}

fn ranks(record: &Record<'_>) -> Vec<i32> {
    let mut found = Vec::new();
    for (_, arg) in record.args() {
        match arg {
            Arg::Ints(ranks) => found.extend(ranks.iter()),
            Arg::Rows(rows) => {
                for row in rows.iter() {
                    let row: Vec<i32> = row.iter().collect();
                    let [first, last, stride] = row[..] else {
                        continue;
                    };
                    // Groups have at most as many ranks as there are files; more is damage.
                    let steps = i64::from(last) - i64::from(first);
                    let count = steps.checked_div(stride.into()).unwrap_or(0);
                    let step = |n: i64| i64::from(first) + n * i64::from(stride);
                    let all = (0..=count.clamp(-1, 1 << 20)).map(step);
                    found.extend(all.filter_map(|rank| i32::try_from(rank).ok()));
                }
            }
            _ => {}
        }
    }
    found
}

/// The number of the communicator that a call made.
fn new_comm(record: &Record<'_>) -> Option<i32> {
    let fields = record.function.fields();
    if !fields
        .iter()
        .any(|f| f.code == FieldCode::Comm && f.moment == FieldMoment::After)
    {
        return None;
    }
    let mut made = record
        .args()
        .filter(|(field, _)| field.code == FieldCode::Comm && field.moment == FieldMoment::After);
    match made.next() {
        Some((_, Arg::Int(number))) => Some(number),
        _ => None,
    }
}

impl Collector {
    pub fn new(ranks: u32) -> Self {
        Collector {
            ranks,
            ops: (0..ranks).map(|_| Vec::new()).collect(),
        }
    }

    /// Takes the next call of a rank.
    pub fn add(&mut self, rank: u32, record: &Record<'_>) {
        let Some(ops) = self.ops.get_mut(rank as usize) else {
            return;
        };
        let id = record.function.id;
        let get = |name| int(record, name);
        let group = |how| CommCall::Group {
            how,
            new: get("newgroup"),
        };
        let op = match id {
            ids::COMM_GROUP => CommCall::CommGroup {
                comm: get("comm"),
                new: get("group"),
            },
            ids::GROUP_UNION => group(GroupCallArguments::Union(get("group1"), get("group2"))),
            ids::GROUP_INTERSECTION => group(GroupCallArguments::Intersection(
                get("group1"),
                get("group2"),
            )),
            ids::GROUP_DIFFERENCE => {
                group(GroupCallArguments::Difference(get("group1"), get("group2")))
            }
            ids::GROUP_INCL | ids::GROUP_RANGE_INCL => {
                group(GroupCallArguments::Include(get("group"), ranks(record)))
            }
            ids::GROUP_EXCL | ids::GROUP_RANGE_EXCL => {
                group(GroupCallArguments::Exclude(get("group"), ranks(record)))
            }
            _ => {
                let Some(new) = new_comm(record) else {
                    return;
                };
                CommCall::Comm {
                    old: get("oldcomm"),
                    new,
                    how: match id {
                        ids::COMM_DUP => CommCallArguments::Same,
                        ids::COMM_CREATE => CommCallArguments::Group(get("group")),
                        ids::COMM_SPLIT => CommCallArguments::Split {
                            color: get("color"),
                            key: get("key"),
                        },
                        ids::CART_CREATE | ids::GRAPH_CREATE => CommCallArguments::Part,
                        _ => CommCallArguments::Unknown,
                    },
                }
            }
        };
        ops.push(op);
    }

    /// Works out the members of all communicators.
    pub fn finish(self) -> Comms {
        let ranks = self.ranks;
        let mut comms = Comms {
            ranks,
            members: vec![(0..ranks).collect()],
            made: (0..ranks).map(|_| Vec::new()).collect(),
        };
        let mut states: Vec<State> = (0..ranks).map(|_| State::default()).collect();
        for rank in 0..ranks {
            states[rank as usize].comms.insert(COMM_WORLD, Some(0));
            states[rank as usize]
                .comms
                .insert(COMM_SELF, Some(comms.members.len()));
            comms.members.push(vec![rank]);
        }
        // Ranks that have come to a call of their communicator, by communicator.
        let mut waiting: HashMap<usize, Vec<u32>> = HashMap::new();
        let mut ready: Vec<u32> = (0..ranks).rev().collect();
        while let Some(rank) = ready.pop() {
            let state = &mut states[rank as usize];
            let ops = &self.ops[rank as usize];
            let Some(old) = state.advance(ops, rank, &comms.members, &mut comms.made) else {
                continue;
            };
            let here = waiting.entry(old).or_default();
            here.push(rank);
            if here.len() == comms.members[old].len() {
                let here = waiting.remove(&old).unwrap_or_default();
                comms.complete(old, &mut states, &self.ops);
                ready.extend(here);
            }
        }
        comms
    }
}

/// How far a rank has come.
#[derive(Default)]
struct State {
    next: usize,
    comms: HashMap<i32, Option<usize>>,
    groups: HashMap<i32, Option<Members>>,
}

impl State {
    /// Goes on to the next call that needs other ranks, and gives its communicator.
    fn advance(
        &mut self,
        ops: &[CommCall],
        rank: u32,
        members: &[Members],
        made: &mut [Vec<Option<usize>>],
    ) -> Option<usize> {
        while let Some(op) = ops.get(self.next) {
            match op {
                CommCall::CommGroup { comm, new } => {
                    let comm = self.comms.get(comm).copied().flatten();
                    let found = comm.and_then(|comm| members.get(comm)).cloned();
                    self.groups.insert(*new, found);
                }
                CommCall::Group { how, new } => {
                    let found = self.group(how);
                    self.groups.insert(*new, found);
                }
                CommCall::Comm { old, new, how } => {
                    let known = self.comms.get(old).copied().flatten();
                    match known {
                        Some(old) if !matches!(how, CommCallArguments::Unknown) => {
                            return Some(old);
                        }
                        _ => {
                            self.comms.insert(*new, None);
                            made[rank as usize].push(None);
                        }
                    }
                }
            }
            self.next += 1;
        }
        None
    }

    fn members(&self, group: i32) -> Option<Members> {
        match group {
            GROUP_EMPTY => Some(Vec::new()),
            _ => self.groups.get(&group).cloned().flatten(),
        }
    }

    fn group(&self, how: &GroupCallArguments) -> Option<Members> {
        Some(match how {
            GroupCallArguments::Union(a, b) => {
                let (mut a, b) = (self.members(*a)?, self.members(*b)?);
                let more: Vec<u32> = b.into_iter().filter(|rank| !a.contains(rank)).collect();
                a.extend(more);
                a
            }
            GroupCallArguments::Intersection(a, b) => {
                let (a, b) = (self.members(*a)?, self.members(*b)?);
                a.into_iter().filter(|rank| b.contains(rank)).collect()
            }
            GroupCallArguments::Difference(a, b) => {
                let (a, b) = (self.members(*a)?, self.members(*b)?);
                a.into_iter().filter(|rank| !b.contains(rank)).collect()
            }
            GroupCallArguments::Include(group, ranks) => {
                let group = self.members(*group)?;
                let at = |rank: &i32| group.get(usize::try_from(*rank).ok()?).copied();
                ranks.iter().map(at).collect::<Option<_>>()?
            }
            GroupCallArguments::Exclude(group, ranks) => {
                let group = self.members(*group)?.into_iter().enumerate();
                let kept =
                    group.filter(|(nth, _)| !ranks.iter().any(|&r| usize::try_from(r) == Ok(*nth)));
                kept.map(|(_, rank)| rank).collect()
            }
        })
    }
}

impl Comms {
    /// All members of `old` have come to their next call: makes what it makes.
    fn complete(&mut self, old: usize, states: &mut [State], ops: &[Vec<CommCall>]) {
        let olds = self.members[old].clone();
        // By a number that those of one new communicator have in common: its members with their place in it.
        let mut news: BTreeMap<i32, Vec<(i32, usize, u32)>> = BTreeMap::new();
        let mut explicit: Option<Members> = None;
        for (nth, &rank) in olds.iter().enumerate() {
            let state = &states[rank as usize];
            let Some(CommCall::Comm { new, how, .. }) = ops[rank as usize].get(state.next) else {
                continue;
            };
            if *new == COMM_NULL {
                continue;
            }
            let (color, key) = match how {
                CommCallArguments::Split { color, key } => (*color, *key),
                CommCallArguments::Group(group) => {
                    explicit = explicit.or_else(|| state.members(*group));
                    (0, 0)
                }
                CommCallArguments::Same | CommCallArguments::Part | CommCallArguments::Unknown => {
                    (0, 0)
                }
            };
            news.entry(color).or_default().push((key, nth, rank));
        }
        let mut made: HashMap<u32, usize> = HashMap::new();
        for mut new in news.into_values() {
            new.sort_unstable();
            let mut members: Members = new.iter().map(|&(_, _, rank)| rank).collect();
            if let Some(order) = &explicit {
                let place = |rank: &u32| order.iter().position(|other| other == rank);
                members.sort_by_key(|rank| place(rank).unwrap_or(usize::MAX));
            }
            for &rank in &members {
                made.insert(rank, self.members.len());
            }
            self.members.push(members);
        }
        for &rank in &olds {
            let state = &mut states[rank as usize];
            if let Some(CommCall::Comm { new, .. }) = ops[rank as usize].get(state.next) {
                let found = made.get(&rank).copied();
                state.comms.insert(*new, found);
                self.made[rank as usize].push(found);
                state.next += 1;
            }
        }
    }

    /// Follows the calls of a rank again.
    pub fn of_rank(&self, rank: u32) -> Rank<'_> {
        Rank {
            comms: self,
            rank,
            next: 0,
            known: HashMap::new(),
        }
    }
}

/// The communicators of a rank at one point of its run.
pub struct Rank<'c> {
    comms: &'c Comms,
    rank: u32,
    next: usize,
    known: HashMap<i32, Option<usize>>,
}

/// A communicator as one of its members sees it.
#[derive(Clone, Copy, Debug)]
pub struct Comm<'c> {
    pub size: u32,
    pub own_rank: i32,
    members: &'c [u32],
}

impl Comm<'_> {
    /// The rank in MPI_COMM_WORLD of a rank in it.
    pub fn world_rank(&self, rank: i32) -> Option<i32> {
        let rank = self.members.get(usize::try_from(rank).ok()?)?;
        i32::try_from(*rank).ok()
    }
}

impl<'c> Rank<'c> {
    /// Takes note of what a call made, once it is over.
    pub fn learn(&mut self, record: &Record<'_>) {
        if let Some(new) = new_comm(record) {
            let made = self.comms.made.get(self.rank as usize);
            let found = made.and_then(|made| made.get(self.next)).copied().flatten();
            self.next += 1;
            self.known.insert(new, found);
        }
    }

    /// The communicator that a number stands for now, if it can be told.
    pub fn comm(&self, number: i32) -> Option<Comm<'c>> {
        let at = match number {
            COMM_WORLD => 0,
            COMM_SELF => 1 + self.rank as usize,
            _ => self.known.get(&number).copied().flatten()?,
        };
        let members = self.comms.members.get(at)?;
        let own = match at {
            0 => self.rank as usize,
            _ => members.iter().position(|&rank| rank == self.rank)?,
        };
        Some(Comm {
            size: if at == 0 {
                self.comms.ranks
            } else {
                members.len() as u32
            },
            own_rank: i32::try_from(own).ok()?,
            members,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn comm(old: i32, new: i32, how: CommCallArguments) -> CommCall {
        CommCall::Comm { old, new, how }
    }

    #[test]
    fn split_dup_group_and_create() {
        // 0..4 split into even and odd by falling key, each part duplicated; world's ranks 3 and 1 made one of a group.
        let mut collector = Collector::new(4);
        for rank in 0..4 {
            let ops = &mut collector.ops[rank as usize];
            ops.push(comm(
                COMM_WORLD,
                4,
                CommCallArguments::Split {
                    color: rank % 2,
                    key: -rank,
                },
            ));
            ops.push(comm(4, 5, CommCallArguments::Same));
            ops.push(CommCall::CommGroup {
                comm: COMM_WORLD,
                new: 3,
            });
            ops.push(CommCall::Group {
                how: GroupCallArguments::Include(3, vec![3, 1]),
                new: 4,
            });
            let new = if rank % 2 == 1 { 6 } else { COMM_NULL };
            ops.push(comm(COMM_WORLD, new, CommCallArguments::Group(4)));
            ops.push(comm(COMM_WORLD, 7, CommCallArguments::Unknown));
            ops.push(comm(7, 8, CommCallArguments::Same));
        }
        let comms = collector.finish();
        let members = |at: Option<usize>| at.map(|at| comms.members[at].clone());
        for rank in 0..4u32 {
            let made: Vec<_> = comms.made[rank as usize]
                .iter()
                .map(|&at| members(at))
                .collect();
            let half = Some(vec![2 + rank % 2, rank % 2]);
            let pair = (rank % 2 == 1).then(|| vec![3, 1]);
            assert_eq!(made, [half.clone(), half, pair, None, None], "rank {rank}");
        }
    }

    #[test]
    fn a_rank_that_never_comes() {
        let mut collector = Collector::new(2);
        collector.ops[0].push(comm(COMM_WORLD, 4, CommCallArguments::Same));
        collector.ops[0].push(comm(COMM_SELF, 5, CommCallArguments::Same));
        let comms = collector.finish();
        assert!(comms.made.iter().all(Vec::is_empty));
    }
}
