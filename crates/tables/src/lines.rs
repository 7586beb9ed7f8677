//! What rows say of the timelines they are on.

use trace_model::{Actor, Definitions, Line, NumberMap, lane_of};

/// Rank, thread and communicator of a timeline, as rows have them.
#[derive(Clone, Copy, Debug)]
pub struct LineColumns {
    /// Rank in MPI_COMM_WORLD; `None` for servers and devices.
    pub rank: Option<u32>,
    /// Thread of the process.
    pub thread: u32,
    /// Number of the communicator in this trace, 0 for MPI_COMM_WORLD.
    pub communicator: i32,
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
        }
    }
}

/// All timelines by their numbers.
pub fn columns(definitions: &Definitions) -> NumberMap<LineColumns> {
    let lines = definitions.lines.iter();
    lines.map(|line| (line.id, LineColumns::of(line))).collect()
}
