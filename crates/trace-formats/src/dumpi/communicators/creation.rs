//! The calls of a rank that make communicators and groups, in order, as the records tell them: what the resolution in
//! [`super`] works on. A walk over the records meets the same calls in the same order each time.

use std::collections::HashMap;
use std::rc::Rc;

use super::super::ids;
use super::super::types::DumpiRecord;
use super::super::value::FieldValue;

/// A communicator as a rank names it at some moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum CommName {
    /// MPI_COMM_WORLD.
    World,
    /// MPI_COMM_SELF.
    SelfComm,
    /// The one that the creation of this number made.
    Made(u32),
    /// Communicator whose creation was not recorded.
    Unknown,
}

/// A group, by how it was made.
#[derive(Debug)]
pub(super) enum GroupExpression {
    Empty,
    Of(CommName),
    Ranks(Rc<GroupNode>, Vec<i32>, bool),
    Union(Rc<GroupNode>, Rc<GroupNode>),
    Intersection(Rc<GroupNode>, Rc<GroupNode>),
    Difference(Rc<GroupNode>, Rc<GroupNode>),
}

/// A group and how many steps made it: deep ones are given up, since they are evaluated step within step.
#[derive(Debug)]
pub(super) struct GroupNode {
    pub(super) group: GroupExpression,
    depth: u32,
}

const DEEPEST: u32 = 200;

/// Creation of a communicator.
#[derive(Debug)]
pub(super) enum CreationKind {
    Dup,
    Create(Option<Rc<GroupNode>>),
    Split {
        color: i32,
        key: i32,
    },
    Cart {
        dims: Vec<i32>,
        reorder: bool,
    },
    Graph {
        nodes: i32,
        reorder: bool,
    },
    CartSub {
        remain: Vec<bool>,
    },
    Intercomm {
        leader: i32,
        remote: CommName,
        remote_leader: i32,
        tag: i32,
    },
    Merge {
        high: bool,
    },
    /// With processes that have no part in the trace.
    Opaque,
}

/// A call that makes a communicator.
#[derive(Debug)]
pub struct CommCreation {
    pub(super) kind: CreationKind,
    pub(super) parent: CommName,
    /// Whether the caller is no member.
    pub(super) is_null: bool,
}

const COMM_NULL: i32 = 1;
const COMM_WORLD: i32 = 2;
const COMM_SELF: i32 = 3;
const GROUP_EMPTY: i32 = 2;

/// A communicator, and when the call that made it returned, by the wall clock, ns.
#[derive(Clone, Copy, Debug)]
struct MadeComm {
    name: CommName,
    made: i64,
}

/// The communicators and groups that numbers refer to in one rank.
#[derive(Debug, Default)]
pub struct HandleNames {
    comms: HashMap<i32, MadeComm>,
    groups: HashMap<i32, Rc<GroupNode>>,
    made: u32,
    /// Ranks that short triples were spread to, in all groups.
    spread: usize,
}

/// Whether [`HandleNames`] must see the calls of the function with this id: those that make or free communicators and groups.
pub fn is_creation(function: u16) -> bool {
    matches!(
        function,
        ids::COMM_GROUP
            | ids::GROUP_UNION
            | ids::GROUP_INTERSECTION
            | ids::GROUP_DIFFERENCE
            | ids::GROUP_INCL
            | ids::GROUP_EXCL
            | ids::GROUP_RANGE_INCL
            | ids::GROUP_RANGE_EXCL
            | ids::GROUP_FREE
            | ids::COMM_DUP
            | ids::COMM_CREATE
            | ids::COMM_SPLIT
            | ids::COMM_FREE
            | ids::COMM_REMOTE_GROUP
            | ids::INTERCOMM_CREATE
            | ids::INTERCOMM_MERGE
            | ids::CART_CREATE
            | ids::GRAPH_CREATE
            | ids::CART_SUB
            | ids::COMM_ACCEPT
            | ids::COMM_CONNECT
            | ids::COMM_DISCONNECT
            | ids::COMM_GET_PARENT
            | ids::COMM_JOIN
            | ids::COMM_SPAWN
            | ids::COMM_SPAWN_MULTIPLE
    )
}

impl HandleNames {
    /// Communicator that `number` refers to at the current position.
    pub fn comm(&self, number: i32) -> CommName {
        match number {
            COMM_WORLD => CommName::World,
            COMM_SELF => CommName::SelfComm,
            number => self
                .comms
                .get(&number)
                .map_or(CommName::Unknown, |known| known.name),
        }
    }

    /// Communicator that the next call makes which makes one.
    pub fn next(&self) -> CommName {
        CommName::Made(self.made)
    }

    fn group(&self, number: i32) -> Option<Rc<GroupNode>> {
        if number == GROUP_EMPTY {
            let group = GroupExpression::Empty;
            return Some(Rc::new(GroupNode { group, depth: 0 }));
        }
        self.groups.get(&number).cloned()
    }

    /// A call that began at this time has freed the communicator of this number. If another thread has been given the same number for a new one
    /// before the call returned, it keeps that.
    fn free(&mut self, number: i32, began: i64) {
        if self
            .comms
            .get(&number)
            .is_some_and(|known| known.made <= began)
        {
            self.comms.remove(&number);
        }
    }

    /// Takes a call of one of the functions of [`is_creation`]; gives what it made, if that is a communicator.
    pub fn take(&mut self, record: &DumpiRecord<'_>) -> Option<CommCreation> {
        let (function, args, wall) = (record.function.id, &record.arg_array(), record.wall);
        let int = |i: usize| match args[i] {
            FieldValue::Int(value) => value,
            _ => 0,
        };
        let ints = |i: usize| match args[i] {
            FieldValue::Ints(values) => values.iter().collect(),
            _ => Vec::new(),
        };
        let (parent, made, kind) = match function {
            ids::COMM_GROUP => {
                let group = GroupExpression::Of(self.comm(int(0)));
                self.set_group(int(1), Some(group), 0);
                return None;
            }
            ids::GROUP_UNION | ids::GROUP_INTERSECTION | ids::GROUP_DIFFERENCE => {
                let (a, b) = (self.group(int(0)), self.group(int(1)));
                let group = a.zip(b).map(|(a, b)| {
                    let depth = a.depth.max(b.depth);
                    let group = match function {
                        ids::GROUP_UNION => GroupExpression::Union(a, b),
                        ids::GROUP_INTERSECTION => GroupExpression::Intersection(a, b),
                        _ => GroupExpression::Difference(a, b),
                    };
                    (group, depth)
                });
                self.set(int(2), group);
                return None;
            }
            ids::GROUP_INCL | ids::GROUP_EXCL | ids::GROUP_RANGE_INCL | ids::GROUP_RANGE_EXCL => {
                let excluded = matches!(function, ids::GROUP_EXCL | ids::GROUP_RANGE_EXCL);
                let ranks = match args[2] {
                    FieldValue::Ints(ranks) => Some(ranks.iter().collect()),
                    FieldValue::Rows(rows) => {
                        let rows = rows.iter().map(|row| row.iter().collect());
                        spread(rows, &mut self.spread)
                    }
                    _ => None,
                };
                let group = self.group(int(0)).zip(ranks).map(|(group, ranks)| {
                    let depth = group.depth;
                    (GroupExpression::Ranks(group, ranks, excluded), depth)
                });
                self.set(int(3), group);
                return None;
            }
            ids::GROUP_FREE => {
                self.groups.remove(&int(0));
                return None;
            }
            ids::COMM_FREE | ids::COMM_DISCONNECT => {
                self.free(int(0), wall.start.ns());
                return None;
            }
            // The remote group of an intercommunicator is not followed.
            ids::COMM_REMOTE_GROUP => {
                self.set(int(1), None);
                return None;
            }
            ids::COMM_DUP => (int(0), int(1), CreationKind::Dup),
            ids::COMM_CREATE => (int(0), int(2), CreationKind::Create(self.group(int(1)))),
            ids::COMM_SPLIT => {
                let (color, key) = (int(1), int(2));
                (int(0), int(3), CreationKind::Split { color, key })
            }
            ids::INTERCOMM_CREATE => {
                let kind = CreationKind::Intercomm {
                    leader: int(1),
                    remote: self.comm(int(2)),
                    remote_leader: int(3),
                    tag: int(4),
                };
                (int(0), int(5), kind)
            }
            ids::INTERCOMM_MERGE => (int(0), int(2), CreationKind::Merge { high: int(1) != 0 }),
            ids::CART_CREATE => {
                let kind = CreationKind::Cart {
                    dims: ints(2),
                    reorder: int(4) != 0,
                };
                (int(0), int(5), kind)
            }
            ids::GRAPH_CREATE => {
                let kind = CreationKind::Graph {
                    nodes: int(2),
                    reorder: int(5) != 0,
                };
                (int(1), int(6), kind)
            }
            ids::CART_SUB => {
                let remain = ints(2).into_iter().map(|remains: i32| remains != 0);
                let remain = remain.collect();
                (int(1), int(3), CreationKind::CartSub { remain })
            }
            ids::COMM_ACCEPT | ids::COMM_CONNECT => (int(3), int(4), CreationKind::Opaque),
            ids::COMM_GET_PARENT => (0, int(0), CreationKind::Opaque),
            ids::COMM_JOIN => (0, int(1), CreationKind::Opaque),
            ids::COMM_SPAWN => (int(2), int(3), CreationKind::Opaque),
            ids::COMM_SPAWN_MULTIPLE => (int(3), int(4), CreationKind::Opaque),
            _ => return None,
        };
        let creation = CommCreation {
            kind,
            parent: self.comm(parent),
            is_null: made == COMM_NULL,
        };
        if !creation.is_null {
            let known = MadeComm {
                name: CommName::Made(self.made),
                made: wall.stop.ns(),
            };
            self.comms.insert(made, known);
        }
        self.made = self.made.saturating_add(1);
        Some(creation)
    }

    fn set_group(&mut self, number: i32, group: Option<GroupExpression>, depth: u32) {
        self.set(number, group.map(|group| (group, depth)));
    }

    /// A number stands for this group now, made of one of that depth.
    fn set(&mut self, number: i32, group: Option<(GroupExpression, u32)>) {
        match group {
            Some((group, depth)) if depth < DEEPEST => {
                let depth = depth + 1;
                self.groups
                    .insert(number, Rc::new(GroupNode { group, depth }));
            }
            _ => {
                self.groups.remove(&number);
            }
        }
    }
}

/// The ranks of (first, last, stride) triples.
fn spread(rows: impl Iterator<Item = Vec<i32>>, so_far: &mut usize) -> Option<Vec<i32>> {
    /// A few damaged bytes must not take up all memory.
    const MAX_RANKS: usize = 1 << 22;
    let mut ranks = Vec::new();
    for row in rows {
        let [first, last, stride] = row[..] else {
            return None;
        };
        if stride == 0 {
            return None;
        }
        let mut rank = i64::from(first);
        while (stride > 0 && rank <= i64::from(last)) || (stride < 0 && rank >= i64::from(last)) {
            *so_far += 1;
            if *so_far > MAX_RANKS {
                return None;
            }
            ranks.push(i32::try_from(rank).ok()?);
            rank += i64::from(stride);
        }
    }
    Some(ranks)
}
