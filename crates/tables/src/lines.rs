//! What rows say of the timelines they are on.

use std::collections::BTreeMap;
use trace_model::{Actor, Definitions, Line, NumberMap, lane_of};

/// Ranks whose rows are in the same files.
const GROUP_RANKS: u32 = 64;
/// Number in place of that of a group of ranks, for what is of no rank.
const NO_RANK: i64 = -1;

/// Rank, thread and communicator of a timeline, as rows have them.
#[derive(Clone, Copy, Debug)]
pub struct LineColumns {
    /// Rank in MPI_COMM_WORLD; `None` for servers and devices.
    pub rank: Option<u32>,
    /// Thread of the process.
    pub thread: u32,
    /// Number of the communicator in this trace, 0 for MPI_COMM_WORLD.
    pub communicator: i32,
    /// Place of its group of ranks among those of the trace.
    pub group: u32,
}

impl LineColumns {
    /// What rows have of a timeline.
    pub fn of(line: &Line) -> LineColumns {
        let lane = lane_of(line);
        LineColumns {
            rank: match lane.actor {
                Actor::Rank(rank) => Some(rank),
                _ => None,
            },
            thread: lane.thread,
            communicator: line.comm,
            group: 0,
        }
    }

    /// Number of its group of ranks, −1 if it is of no rank.
    pub fn group_number(&self) -> i64 {
        let rank = self.rank;
        rank.map_or(NO_RANK, |rank| (rank / GROUP_RANKS).into())
    }
}

/// All timelines by their numbers.
pub fn columns(definitions: &Definitions) -> NumberMap<LineColumns> {
    let mut groups: BTreeMap<i64, u32> = BTreeMap::new();
    let columns = definitions.lines.iter().map(|line| {
        let mut columns = LineColumns::of(line);
        let next = groups.len() as u32;
        columns.group = *groups.entry(columns.group_number()).or_insert(next);
        (line.id, columns)
    });
    columns.collect()
}
