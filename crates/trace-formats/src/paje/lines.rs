//! Timelines made of containers.

use std::collections::{HashMap, HashSet};

use super::tables::{Container, PajeTables};
use trace_model::Line;

/// Name that the writer gives to the node of a process whose host is not known.
pub const UNKNOWN_NODE: &str = "unknown node";

/// The timelines of the containers that have one, by ascending id; and by container the id of its line.
///
/// Rank and thread are read from the names where all containers have such names, else the containers are numbered.
pub fn lines(tables: &PajeTables, used: &[bool]) -> (Vec<Line>, Vec<Option<i32>>) {
    let count = tables.containers.len() as u32;
    let all = (0..count).filter(|&number| used.get(number as usize) == Some(&true));
    let mut found: Vec<(u32, Option<LinePlace>)> = all
        .map(|number| (number, LinePlace::of(tables.container(number))))
        .collect();
    let mut seen = HashSet::new();
    let mut is_new = |place: &Option<LinePlace>| place.is_some_and(|place| seen.insert(place));
    let named = found.iter().all(|(_, place)| is_new(place));
    if named {
        found.sort_by_key(|(_, place)| *place);
    }
    let nodes = nodes(tables);
    let mut lines = Vec::new();
    let mut ids = vec![None; tables.containers.len()];
    for (id, (number, place)) in (0..).zip(&found) {
        let name = String::from_utf8_lossy(&tables.container(*number).name).into_owned();
        let node = nodes[*number as usize].map(|node| &tables.container(node).name);
        let host = node.map(|name| String::from_utf8_lossy(name).into_owned());
        let host = host.filter(|host| host != UNKNOWN_NODE);
        ids[*number as usize] = Some(id);
        lines.push(match place.filter(|_| named) {
            Some(place) => Line {
                comm: place.comm,
                comm_rank: place.comm_rank.unwrap_or(place.rank),
                host,
                name: (name != place.name()).then_some(name),
                ..Line::of_thread(id, place.rank, place.thread)
            },
            None => Line {
                host,
                name: Some(name),
                ..Line::of_thread(id, id, 0)
            },
        });
    }
    (lines, ids)
}

/// By container the one that is the node it is on: itself or what is above it, of a type of that name.
fn nodes(tables: &PajeTables) -> Vec<Option<u32>> {
    let is_node: Vec<bool> = tables
        .types
        .iter()
        .map(|kind| {
            let name = String::from_utf8_lossy(&kind.name).to_lowercase();
            matches!(name.as_str(), "node" | "host" | "machine")
        })
        .collect();
    let mut nodes = vec![None; tables.containers.len()];
    // Containers above a container were made before it.
    for (number, container) in tables.containers.iter().enumerate() {
        nodes[number] = match is_node[container.kind as usize] {
            true => Some(number as u32),
            false => nodes[container.parent as usize],
        };
    }
    nodes
}

/// Rank, thread and communicator of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct LinePlace {
    /// Rank in MPI_COMM_WORLD.
    pub rank: i32,
    /// Thread of the process.
    pub thread: i32,
    /// Number of the communicator, 0 for MPI_COMM_WORLD.
    pub comm: i32,
    /// Rank in that communicator; `None` where it is not told, as of MPI_COMM_WORLD, where it is the rank.
    pub comm_rank: Option<i32>,
}

impl LinePlace {
    /// The place of a line.
    pub fn of_line(line: &Line) -> Self {
        let is_told = line.comm != 0 && line.comm_rank >= 0;
        LinePlace {
            rank: line.rank,
            thread: line.thread,
            comm: line.comm,
            comm_rank: is_told.then_some(line.comm_rank),
        }
    }

    /// Reads the place from a container that the writer made (alias `R3T0`, `R3T0C1R2`), or one that is called `rank 3 thread 0`, `rank-3`,
    /// `Rank 3` and the like.
    fn of(container: &Container) -> Option<Self> {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).to_lowercase();
        let mut alias = LineParser(text(&container.identifier));
        let by_alias = alias.read(["r", "t", "c", "r"]);
        by_alias
            .filter(|place| {
                container.name.starts_with(b"rank")
                    || place.alias().as_bytes() == &*container.identifier
            })
            .or_else(|| LineParser(text(&container.name)).read(["rank", "thread", "comm", "rank"]))
    }

    /// The alias of its container.
    pub fn alias(self) -> String {
        let LinePlace {
            rank, thread, comm, ..
        } = self;
        match (comm, self.comm_rank) {
            (0, _) => format!("R{rank}T{thread}"),
            (_, None) => format!("R{rank}T{thread}C{comm}"),
            (_, Some(comm_rank)) => format!("R{rank}T{thread}C{comm}R{comm_rank}"),
        }
    }

    /// The name of its container.
    pub fn name(self) -> String {
        let LinePlace {
            rank, thread, comm, ..
        } = self;
        match (comm, self.comm_rank) {
            (0, _) => format!("rank {rank} thread {thread}"),
            (_, None) => format!("rank {rank} thread {thread} comm {comm}"),
            (_, Some(comm_rank)) => {
                format!("rank {rank} thread {thread} comm {comm} rank {comm_rank}")
            }
        }
    }
}

/// Gives aliases to lines, each one of its own.
#[derive(Debug)]
pub struct Aliases {
    taken: HashSet<LinePlace>,
    given: HashSet<LinePlace>,
    /// By rank a thread that no line has.
    free: HashMap<i32, i32>,
}

impl Aliases {
    /// The aliases of these lines are to be given.
    pub fn new(lines: &[Line]) -> Self {
        let mut free: HashMap<i32, i32> = HashMap::new();
        for line in lines {
            let next = free.entry(line.rank).or_default();
            *next = line.thread.saturating_add(1).max(*next);
        }
        Aliases {
            taken: lines.iter().map(LinePlace::of_line).collect(),
            given: HashSet::new(),
            free,
        }
    }

    /// The alias of a line. Of lines with one place the first one has the alias of that place; others have one of a thread that no line has,
    /// so that readers find their rank there, and their name tells the rest.
    pub fn of(&mut self, line: &Line) -> String {
        let mut place = LinePlace::of_line(line);
        if self.given.insert(place) {
            return place.alias();
        }
        let free = self.free.entry(line.rank).or_default();
        place.thread = *free;
        *free = free.saturating_add(1);
        match self.taken.insert(place) && self.given.insert(place) {
            true => place.alias(),
            false => format!("L{}", line.id),
        }
    }
}

/// Reads words with a number behind each.
struct LineParser(String);

impl LineParser {
    /// Rank, then thread, then communicator, then the rank in that, each behind its word; the last three may be left out. Nothing else.
    fn read(&mut self, [rank, thread, comm, comm_rank]: [&str; 4]) -> Option<LinePlace> {
        self.0 = self
            .0
            .trim()
            .strip_prefix("mpi ")
            .unwrap_or(self.0.trim())
            .to_owned();
        let rank = self.number(rank)?;
        let thread = self.number(thread).unwrap_or(0);
        let comm = self.number(comm).unwrap_or(0);
        let comm_rank = match comm {
            0 => None,
            _ => self.number(comm_rank),
        };
        self.0.is_empty().then_some(LinePlace {
            rank,
            thread,
            comm,
            comm_rank,
        })
    }

    fn number(&mut self, word: &str) -> Option<i32> {
        let separators = |c: char| matches!(c, ' ' | '-' | '_' | '#' | ':');
        let rest = self.0.trim_start_matches(separators).strip_prefix(word)?;
        let rest = rest.trim_start_matches(separators);
        let end = rest
            .find(|c: char| !c.is_ascii_digit())
            .unwrap_or(rest.len());
        let number = rest.get(..end)?.parse().ok()?;
        self.0 = rest.get(end..)?.to_owned();
        Some(number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(alias: &str, name: &str) -> Option<(i32, i32, i32)> {
        full_place(alias, name).map(|place| (place.rank, place.thread, place.comm))
    }

    fn full_place(alias: &str, name: &str) -> Option<LinePlace> {
        let container = Container {
            identifier: alias.as_bytes().into(),
            name: name.as_bytes().into(),
            kind: 0,
            parent: 0,
            start: 0.0,
            end: 0.0,
            destroyed: false,
            created: None,
            children: Vec::new(),
        };
        LinePlace::of(&container)
    }

    #[test]
    fn names_tell_ranks() {
        assert_eq!(place("R3T1", "rank 3 thread 1"), Some((3, 1, 0)));
        assert_eq!(place("R3T1C2", "I/O server"), Some((3, 1, 2)));
        assert_eq!(place("x", "rank-12"), Some((12, 0, 0)));
        assert_eq!(place("x", "MPI Rank 7"), Some((7, 0, 0)));
        assert_eq!(place("x", "Rank 7 of 9"), None);
        assert_eq!(place("r7", "node7"), None);
        assert_eq!(place("x", "rank 99999999999"), None);
    }

    /// A communicator may count its ranks in another order than MPI_COMM_WORLD; files of earlier versions do not tell it.
    #[test]
    fn names_tell_ranks_in_communicators() {
        for (comm, comm_rank, alias, name) in [
            (2, 0, "R3T1C2R0", "rank 3 thread 1 comm 2 rank 0"),
            (2, -1, "R3T1C2", "rank 3 thread 1 comm 2"),
            (0, 3, "R3T1", "rank 3 thread 1"),
        ] {
            let line = Line {
                comm,
                comm_rank,
                ..Line::of_thread(0, 3, 1)
            };
            let told = LinePlace::of_line(&line);
            assert_eq!((&*told.alias(), &*told.name()), (alias, name));
            assert_eq!(full_place(alias, name), Some(told));
            assert_eq!(full_place(alias, "a server"), Some(told));
            assert_eq!(full_place("x", name), Some(told));
        }
        assert_eq!(place("x", "rank 3 thread 1 rank 2"), None);
    }
}
