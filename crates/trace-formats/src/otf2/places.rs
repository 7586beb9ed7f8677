//! Processes and locations: where the timelines of a trace go.

use std::collections::BTreeMap;

use trace_model::hash::Map;
use trace_model::{Actor, Definitions, Line, lane_of, named_lane};

/// A rank, a server or a device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Process {
    /// Rank in MPI_COMM_WORLD; `None` for servers and devices.
    pub rank: Option<u32>,
    /// `rank 3`, `server 0`, `device 1`, or the name that the trace gives.
    pub name: String,
    /// Host, where it is known.
    pub host: Option<String>,
    /// Position of the location of its first thread.
    pub main: usize,
}

/// A thread, or operations under way at the same time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Location {
    /// Number of the location in the archive: the rank, plus 2^32 times the thread.
    pub id: u64,
    /// `thread 0`, `thread 0 AIO 1`, `thread 0 overlap 1`.
    pub name: String,
    /// Position of its process.
    pub process: usize,
}

/// Where a timeline goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct LinePlace {
    /// Position of the location.
    pub location: usize,
    /// Position of the process.
    pub process: usize,
    /// Thread of the process.
    pub thread: u32,
    /// Communicator that the timeline is about, as the trace counts them; 0 for MPI_COMM_WORLD.
    pub comm: i32,
    /// Rank in that communicator.
    pub comm_rank: i32,
}

/// Processes and locations of a trace. Locations are added while it is written.
#[derive(Debug, Default)]
pub(super) struct Places {
    /// Ranks in their order, then servers and devices.
    pub processes: Vec<Process>,
    pub locations: Vec<Location>,
    lines: Map<i32, LinePlace>,
    by_id: Map<u64, usize>,
}

/// Bits of the number of a location above the rank: thread, lane or overlap, kind of process.
const THREAD_SHIFT: u32 = 32;
const LANE_SHIFT: u32 = 48;
const KIND_SHIFT: u32 = 60;
/// First number of overlaps among those of lanes.
const FIRST_OVERLAP: u64 = 1 << 11;
/// Numbers of lanes and overlaps that are tried before the rank in the number of a location is given up.
const MAX_LANES: u32 = 1 << 12;

impl Places {
    /// The places of the timelines. Timelines of one thread that differ only by communicator share a location.
    pub(super) fn new(definitions: &Definitions) -> Self {
        let mut grouped: BTreeMap<Actor, BTreeMap<(u32, u32), Vec<&Line>>> = BTreeMap::new();
        for line in &definitions.lines {
            let lane = lane_of(line);
            let threads = grouped.entry(lane.actor).or_default();
            threads
                .entry((lane.thread, lane.lane))
                .or_default()
                .push(line);
        }
        let mut places = Places::default();
        for (process, (actor, threads)) in grouped.into_iter().enumerate() {
            let lines = || threads.values().flatten();
            let own_name = |line: &&Line| match named_lane(line) {
                Some(_) => None,
                None => line.name.clone(),
            };
            let (kind, number, mut name) = match actor {
                Actor::Rank(number) => (0, number, format!("rank {number}")),
                Actor::FrontEnd(number) => (1, number, format!("server {number}")),
                Actor::DataServer(number) => (2, number, format!("data server {number}")),
                Actor::Device(number) => (3, number, format!("device {number}")),
            };
            if lines().count() == 1
                && let Some(own) = lines().find_map(own_name)
            {
                name = own;
            }
            places.processes.push(Process {
                rank: (kind == 0).then_some(number),
                name,
                host: lines().find_map(|line| line.host.clone()),
                main: places.locations.len(),
            });
            for ((thread, lane), lines) in threads {
                let name = match (lines.iter().find_map(own_name), lane) {
                    (Some(name), 0) => name,
                    (_, 0) => format!("thread {thread}"),
                    (_, lane) if kind == 0 => format!("thread {thread} AIO {lane}"),
                    (_, lane) => format!("thread {thread} lane {lane}"),
                };
                let id = u64::from(number)
                    | u64::from(thread) << THREAD_SHIFT
                    | u64::from(lane) << LANE_SHIFT
                    | kind << KIND_SHIFT;
                let location = places.add(id, name, process);
                for line in lines {
                    let place = LinePlace {
                        location,
                        process,
                        thread,
                        comm: line.comm,
                        comm_rank: line.comm_rank,
                    };
                    places.lines.insert(line.id, place);
                }
            }
        }
        places
    }

    /// Position of the location with this number; one that is not known is added.
    pub(super) fn of_id(&mut self, id: u64, name: &str, process: usize) -> usize {
        match self.by_id.get(&id) {
            Some(&known) => known,
            None => self.add(id, name.to_owned(), process),
        }
    }

    /// Adds a location, under the number `id` or the next one that is free.
    fn add(&mut self, mut id: u64, name: String, process: usize) -> usize {
        let mut tries = 0;
        while self.by_id.contains_key(&id) || id == u64::MAX {
            // An odd step leads to every number.
            let step = (1 << LANE_SHIFT) | u64::from(tries >= MAX_LANES);
            id = id.wrapping_add(step);
            tries += 1;
        }
        let location = self.locations.len();
        self.by_id.insert(id, location);
        self.locations.push(Location { id, name, process });
        location
    }

    /// Adds a location beside that of a thread, for states that overlap those that are there. `row` counts them from 1.
    pub(super) fn add_beside(&mut self, location: usize, row: usize) -> Option<&Location> {
        let own = self.locations.get(location)?.clone();
        let name = format!("{} overlap {row}", own.name);
        // Numbers of lanes come before.
        let id = own
            .id
            .wrapping_add((FIRST_OVERLAP + row as u64 - 1) << LANE_SHIFT);
        let added = self.add(id, name, own.process);
        self.locations.get(added)
    }

    /// Place of the timeline with this id.
    pub(super) fn of_line(&self, id: i32) -> Option<LinePlace> {
        self.lines.get(&id).copied()
    }

    /// Places of all timelines.
    pub(super) fn line_places(&self) -> impl Iterator<Item = &LinePlace> {
        self.lines.values()
    }

    /// Number of ranks, which come before all other processes.
    pub(super) fn ranks(&self) -> usize {
        self.processes
            .iter()
            .take_while(|process| process.rank.is_some())
            .count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_locations_tell_rank_and_thread() {
        let named = |id, name: &str| Line {
            name: Some(name.to_owned()),
            ..Line::of_thread(id, 0, 0)
        };
        let lines = vec![
            Line::of_thread(0, 0, 0),
            Line::of_thread(1, 5, 0),
            Line {
                comm: 3,
                comm_rank: 1,
                ..Line::of_thread(2, 5, 0)
            },
            Line::of_thread(3, 5, 2),
            named(4, "rank 5 thread 0 AIO 1"),
            named(5, "server 0 thread 1"),
            Line::of_thread(6, 5, 1 << 16),
        ];
        let definitions = Definitions {
            lines,
            ..Definitions::default()
        };
        let mut places = Places::new(&definitions);
        let found: Vec<(u64, String)> = places
            .locations
            .iter()
            .map(|l| {
                (
                    l.id,
                    format!("{}: {}", places.processes[l.process].name, l.name),
                )
            })
            .collect();
        let expected = [
            (0, "rank 0: thread 0"),
            (5, "rank 5: thread 0"),
            (5 | 1 << 48, "rank 5: thread 0 AIO 1"),
            (5 | 2 << 32, "rank 5: thread 2"),
            // A thread with this number would have the number of the lane.
            (5 | 2 << 48, "rank 5: thread 65536"),
            (1 << 32 | 1 << 60, "server 0: thread 1"),
        ];
        assert_eq!(found, expected.map(|(id, name)| (id, name.to_owned())));
        assert_eq!(
            places.of_line(2).map(|p| (p.location, p.comm)),
            Some((1, 3))
        );
        assert_eq!(places.ranks(), 2);
        assert_eq!(places.processes[1].main, 1);
        let beside = places.add_beside(1, 1).map(|l| (l.id, l.name.clone()));
        assert_eq!(beside, Some((5 | 1 << 59, "thread 0 overlap 1".into())));
    }
}
