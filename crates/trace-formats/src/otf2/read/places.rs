//! Ranks and threads: what the locations of an archive are.

use std::collections::BTreeMap;

use trace_model::hash::Map;
use trace_model::{Line, named_lane};

use super::super::numbers::{CPU_THREAD, PROCESS, group_type, paradigm};
use super::definitions::{GlobalDefinitions, Location};

/// A location, and where it is drawn.
#[derive(Clone, Copy, Debug)]
pub(super) struct LocationPlace {
    pub definition: Location,
    /// Rank of its process.
    pub rank: i32,
    /// Line of the thread.
    pub line: i32,
}

/// Locations and lines of an archive.
#[derive(Debug, Default)]
pub(super) struct Places {
    /// By rank and thread, those of one process together.
    pub locations: Vec<LocationPlace>,
    pub lines: Vec<Line>,
    /// By position in MPI's list of locations, the rank; those of other locations are `None`.
    pub ranks: Vec<Option<i32>>,
}

/// What mpitrace itself calls a rank and a thread, and what it adds to the name of a location for states that overlap.
const RANK: &str = "rank ";
const OVERLAP: &str = " overlap ";
const THREAD: &str = "thread ";

impl Places {
    /// The places of the locations. `is_own` says that mpitrace has written the archive: its names tell ranks and threads.
    pub(super) fn new(definitions: &GlobalDefinitions, is_own: bool) -> Places {
        let members = mpi_locations(definitions);
        let group_of: Map<u64, u32> = definitions
            .locations
            .iter()
            .map(|location| (location.id, location.group))
            .collect();
        let ranks = ranks_of_groups(definitions, members, &group_of, is_own);
        let mut by_rank: BTreeMap<i32, Vec<Location>> = BTreeMap::new();
        let mut seen = Map::default();
        for definition in &definitions.locations {
            if seen.insert(definition.id, ()).is_none() {
                let rank = ranks.get(&definition.group).copied().unwrap_or(0);
                by_rank.entry(rank).or_default().push(*definition);
            }
        }
        let place_of: Map<u64, usize> = (0..).zip(members).map(|(at, &id)| (id, at)).collect();
        let mut places = Places::default();
        for (rank, mut locations) in by_rank {
            // The thread of MPI first, then other threads, then what is no thread.
            locations
                .sort_by_key(|found| (!place_of.contains_key(&found.id), found.kind != CPU_THREAD));
            places.add_process(definitions, rank, &locations, is_own);
        }
        let rank_of: Map<u64, i32> = (places.locations.iter())
            .map(|place| (place.definition.id, place.rank))
            .collect();
        places.ranks = members.iter().map(|id| rank_of.get(id).copied()).collect();
        places
    }

    fn add_process(
        &mut self,
        definitions: &GlobalDefinitions,
        rank: i32,
        locations: &[Location],
        is_own: bool,
    ) {
        let mut own_lines: Map<String, i32> = Map::default();
        let threads = locations.iter();
        let threads = threads.filter_map(|location| own_thread(definitions.text(location.name)));
        // A thread that no line has.
        let mut free = threads.max().map_or(0, |last| last.saturating_add(1));
        for (nth, definition) in (0i32..).zip(locations) {
            let group = definitions.location_groups.get(&definition.group);
            let (name, mut thread) = (definitions.text(definition.name), nth);
            let mut line_name = None;
            let mut key = String::new();
            if is_own {
                let bare = name.split(OVERLAP).next().unwrap_or(name);
                let process = group.map_or("", |group| definitions.text(group.name));
                key = format!("{process} {bare}");
                thread = own_thread(bare).unwrap_or(nth);
                let is_plain = process.starts_with(RANK) && key.split(' ').count() == 4;
                let lane = Line {
                    name: Some(key.clone()),
                    ..Line::default()
                };
                let lane = named_lane(&lane).filter(|_| !is_plain);
                line_name = lane.map(|_| key.clone());
                // What lies beside a thread has a number of its own, as in files of other formats; its name tells the thread.
                if lane.is_some_and(|lane| lane.lane > 0) && !own_lines.contains_key(&key) {
                    thread = free;
                    free = free.saturating_add(1);
                }
            } else if definition.kind != CPU_THREAD {
                let id = definition.id;
                line_name = Some(match name {
                    "" => format!("rank {rank} location {id}"),
                    name => format!("rank {rank} {name}"),
                });
            }
            let known = own_lines.get(&key).copied().filter(|_| is_own);
            let line = known.unwrap_or_else(|| {
                let line = i32::try_from(self.lines.len()).unwrap_or(i32::MAX);
                self.lines.push(Line {
                    host: group.and_then(|group| definitions.host(group.node)),
                    name: line_name,
                    ..Line::of_thread(line, rank, thread)
                });
                own_lines.insert(key, line);
                line
            });
            self.locations.push(LocationPlace {
                definition: *definition,
                rank,
                line,
            });
        }
    }
}

/// The number in a name such as `thread 3 AIO 1`, which mpitrace gives to a location.
fn own_thread(name: &str) -> Option<i32> {
    let number = name.strip_prefix(THREAD)?.split(' ').next()?;
    number.parse().ok()
}

/// The locations of MPI's ranks, in the order of the ranks in the list that communicators refer to.
fn mpi_locations(definitions: &GlobalDefinitions) -> &[u64] {
    let mut lists = definitions.groups.values();
    let list = lists
        .find(|found| found.kind == group_type::COMM_LOCATIONS && found.paradigm == paradigm::MPI);
    list.map_or(&[], |list| list.members.as_slice())
}

/// Ranks of the groups of locations: of processes of MPI those there, of others numbers behind these; an accelerator belongs to the process that
/// uses it.
fn ranks_of_groups(
    definitions: &GlobalDefinitions,
    members: &[u64],
    group_of: &Map<u64, u32>,
    is_own: bool,
) -> Map<u32, i32> {
    let mut ranks: Map<u32, i32> = Map::default();
    for (rank, id) in (0i32..).zip(members) {
        if let Some(&group) = group_of.get(id) {
            let name = definitions.location_groups.get(&group);
            let name = name.map_or("", |group| definitions.text(group.name));
            let named = name
                .strip_prefix(RANK)
                .and_then(|number| number.parse().ok());
            let named = named.filter(|rank: &i32| is_own && *rank >= 0);
            ranks.entry(group).or_insert(named.unwrap_or(rank));
        }
    }
    let mut next = ranks
        .values()
        .max()
        .map_or(0, |last| last.saturating_add(1));
    for (&reference, group) in &definitions.location_groups {
        if group.kind == PROCESS && !ranks.contains_key(&reference) {
            ranks.insert(reference, next);
            next = next.saturating_add(1);
        }
    }
    for (&reference, group) in &definitions.location_groups {
        if !ranks.contains_key(&reference) {
            let creator = ranks.get(&group.creator).copied();
            let rank = creator.unwrap_or_else(|| {
                next = next.saturating_add(1);
                next - 1
            });
            ranks.insert(reference, rank);
        }
    }
    ranks
}
