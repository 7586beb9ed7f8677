//! The numbers that lines and categories of any trace get in a CLOG2 file: communicator, rank and thread of a line
//! (`spec/clog2.md` section 5.4), events of a category (`spec/clog2.md` section 6).

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use super::preamble::Preamble;
use super::record::{Clog2Body, Clog2EventDef, Clog2StateDef, msg_etype};
use super::text::FixedText;
use trace_model::{Category, Definitions, Line, Losses, Topology};

/// Place of a line in the file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct NumberedPlace {
    pub(super) comm: i32,
    pub(super) rank: i32,
    pub(super) thread: i32,
}

/// The file's description of a category.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DescribedCategory {
    /// Start and end event.
    State(i32, i32),
    /// An event.
    Event(i32),
    /// The two halves of a message.
    Message,
}

/// A member of a communicator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct CommMember {
    pub(super) comm: i32,
    pub(super) rank: i32,
    pub(super) world_rank: i32,
}

/// All numbers.
#[derive(Debug)]
pub(super) struct CategoryNumbering {
    places: HashMap<i32, NumberedPlace>,
    /// World rank by communicator and rank.
    members: BTreeMap<(i32, i32), i32>,
    threads: i32,
    categories: HashMap<i32, DescribedCategory>,
    arrows: HashMap<i32, Category>,
    states: BTreeMap<i32, Clog2StateDef>,
    events: BTreeMap<i32, Clog2EventDef>,
}

/// States of MPI functions and of the library have the events below this, two each.
const KNOWN_ETYPES: i32 = 600;
/// Solo events of users begin here, unless there are very many states.
const SOLO_ETYPES: i32 = 5000;
/// First number of a user state.
const USER_STATES: i32 = 300;
/// Communicators keep their numbers up to this one; each takes 40 bytes of the table.
const MAX_COMMS: i32 = 1 << 16;

impl CategoryNumbering {
    /// Numbers everything that is defined; counts in `losses` what cannot be kept.
    pub(super) fn new(definitions: &Definitions, losses: &mut Losses) -> Self {
        let mut numbering = CategoryNumbering {
            places: HashMap::new(),
            members: BTreeMap::new(),
            threads: 1,
            categories: HashMap::new(),
            arrows: HashMap::new(),
            states: BTreeMap::new(),
            events: BTreeMap::new(),
        };
        numbering.number_lines(&definitions.lines, losses);
        numbering.number_categories(definitions, losses);
        numbering
    }

    fn number_lines(&mut self, lines: &[Line], losses: &mut Losses) {
        let used: BTreeSet<i32> = lines.iter().map(|line| line.comm).collect();
        let keep = used.iter().all(|comm| (0..MAX_COMMS).contains(comm));
        let dense: HashMap<i32, i32> = used.iter().copied().filter(|&c| c != 0).zip(1..).collect();
        let comm = |comm: i32| match comm {
            0 => 0,
            comm if keep => comm,
            comm => dense.get(&comm).copied().unwrap_or(0),
        };
        let mut taken = HashSet::new();
        let mut homeless = Vec::new();
        let mut world = 0;
        for line in lines {
            losses.add("host of a line", line.host.is_some().into());
            losses.add("name of a line", line.name.is_some().into());
            let place = NumberedPlace {
                comm: comm(line.comm),
                rank: line.comm_rank,
                thread: line.thread,
            };
            world = world
                .max(place.rank.saturating_add(1))
                .max(line.rank.saturating_add(1));
            if place.rank < 0 || place.thread < 0 || !taken.insert(place) {
                homeless.push(line);
                continue;
            }
            self.places.insert(line.id, place);
            let rank = if place.comm == 0 {
                place.rank
            } else {
                line.rank
            };
            self.members.entry((place.comm, place.rank)).or_insert(rank);
            if line.rank >= 0 {
                self.members.entry((0, line.rank)).or_insert(line.rank);
            }
            self.threads = self.threads.max(place.thread.saturating_add(1));
        }
        let last = self.members.keys().last().map_or(0, |&(comm, _)| comm);
        let size = (i64::from(last) + 1)
            .saturating_mul(i64::from(world))
            .saturating_mul(i64::from(self.threads));
        if size > i64::from(i32::MAX) {
            // Readers could not tell the lines apart: all of them become ranks of MPI_COMM_WORLD.
            losses.add(
                "line whose number would be above 2^31, made a rank of its own",
                lines.len() as u64,
            );
            self.places.clear();
            self.members.clear();
            (self.threads, world) = (1, 0);
            homeless = lines.iter().collect();
        } else {
            let what = "line at the place of another one, made a rank of its own";
            losses.add(what, homeless.len() as u64);
        }
        for line in homeless {
            let place = NumberedPlace {
                rank: world,
                ..NumberedPlace::default()
            };
            self.places.insert(line.id, place);
            self.members.insert((0, world), world);
            world = world.saturating_add(1);
        }
    }

    fn number_categories(&mut self, definitions: &Definitions, losses: &mut Losses) {
        let real = || definitions.categories.iter().filter(|c| c.index >= 0);
        let mut used = HashSet::new();
        // MPE's own numbers for the functions of MPI, if some category has none of its source.
        let has_all = real().all(|category| definitions.etypes.contains_key(&category.index));
        let table = (!has_all).then(wrappers::table).and_then(Result::ok);
        let known = |category: &Category| {
            let state = i32::from(table.as_ref()?.get(&category.name.to_str())?.state?);
            Some((2 * state, 2 * state + 1))
        };
        // Categories with numbers of their own come first, so that nobody takes these.
        let mut rest = Vec::new();
        for category in real() {
            let etypes = definitions.etypes.get(&category.index).copied();
            let etypes = etypes.or_else(|| known(category));
            match (category.topology, etypes) {
                (Topology::Arrow, _) => self.add_arrow(category, losses),
                (topology, Some(etypes)) if fits(topology, etypes) && is_free(&used, etypes) => {
                    used.extend([etypes.0, etypes.1]);
                    self.add(category, etypes, losses);
                }
                _ => rest.push(category),
            }
        }
        let states = rest
            .iter()
            .filter(|c| c.topology == Topology::State)
            .count();
        let mut pairs = (KNOWN_ETYPES..).step_by(2).map(|etype| (etype, etype + 1));
        // All states end before the solo events begin.
        let highest = used.iter().copied().filter(|&e| e < SOLO_ETYPES).max();
        let highest = highest.unwrap_or(0).max(KNOWN_ETYPES) as usize;
        let first_solo =
            SOLO_ETYPES.max((highest + 2 * states + 2).min(i32::MAX as usize / 2) as i32);
        let mut solos = (first_solo..).map(|etype| (etype, etype));
        for category in rest {
            let free = match category.topology {
                Topology::State => pairs.find(|&etypes| is_free(&used, etypes)),
                _ => solos.find(|&etypes| is_free(&used, etypes)),
            };
            if let Some(etypes) = free {
                used.extend([etypes.0, etypes.1]);
                self.add(category, etypes, losses);
            }
        }
    }

    fn add(&mut self, category: &Category, (start, end): (i32, i32), losses: &mut Losses) {
        let (color, is_exact) = category.color.nearest_name();
        losses.add(
            "colour, for which the nearest one with a name is taken",
            (!is_exact).into(),
        );
        let name = category.name.to_str();
        losses.add("name above 31 bytes, cut", (name.len() > 31).into());
        let format = FixedText::new(&format(category, losses));
        let (color, name) = (FixedText::new(color), FixedText::new(&name));
        if category.topology == Topology::State {
            let state_id = if start < KNOWN_ETYPES {
                start / 2
            } else {
                USER_STATES + (start - KNOWN_ETYPES) / 2
            };
            let definition = Clog2StateDef {
                state_id,
                start_etype: start,
                final_etype: end,
                color,
                name,
                format,
            };
            self.states.insert(start, definition);
            self.categories
                .insert(category.index, DescribedCategory::State(start, end));
        } else {
            let definition = Clog2EventDef {
                etype: start,
                color,
                name,
                format,
            };
            self.events.insert(start, definition);
            self.categories
                .insert(category.index, DescribedCategory::Event(start));
        }
    }

    fn add_arrow(&mut self, category: &Category, losses: &mut Losses) {
        let is_usual = category.name.to_str() == "message";
        losses.add("category of arrows, drawn as messages", (!is_usual).into());
        self.categories
            .insert(category.index, DescribedCategory::Message);
        self.arrows.insert(category.index, category.clone());
    }

    /// The preamble that goes with the numbers.
    pub(super) fn preamble(&self) -> Preamble {
        let ranks = self
            .members
            .keys()
            .map(|&(_, rank)| rank)
            .max()
            .unwrap_or(0);
        let user_states = self.states.range(KNOWN_ETYPES..).next_back();
        let pairs = user_states.map_or(0, |(&start, _)| (start - KNOWN_ETYPES) / 2 + 1);
        let usual = Preamble::default();
        let mut solos = self.events.range(SOLO_ETYPES..);
        let solo_start = SOLO_ETYPES.max(KNOWN_ETYPES + 2 * pairs);
        let last_solo = solos
            .next_back()
            .map_or(0, |(&etype, _)| etype - solo_start + 1);
        Preamble {
            max_comm_world_size: ranks.saturating_add(1) as u32,
            max_thread_count: self.threads as u32,
            user_state_id_count: pairs,
            user_solo_event_id_start: solo_start,
            // A number far off does not make readers reserve what is below it: it is described in front of its use.
            user_solo_event_id_count: last_solo.clamp(0, 1 << 16),
            ..usual
        }
    }

    /// Place of a line; `None` for an unknown one.
    pub(super) fn place(&self, line: i32) -> Option<NumberedPlace> {
        self.places.get(&line).copied()
    }

    /// The file's description of a category; `None` for an unknown one.
    pub(super) fn category(&self, index: i32) -> Option<DescribedCategory> {
        self.categories.get(&index).copied()
    }

    /// A category of arrows.
    pub(super) fn arrow(&self, index: i32) -> Option<&Category> {
        self.arrows.get(&index)
    }

    /// All members of all communicators, MPI_COMM_WORLD first.
    pub(super) fn members(&self) -> impl Iterator<Item = CommMember> {
        self.members
            .iter()
            .map(|(&(comm, rank), &world_rank)| CommMember {
                comm,
                rank,
                world_rank,
            })
    }

    /// Definitions of all states and events.
    pub(super) fn definitions(&self) -> impl Iterator<Item = Clog2Body> {
        let states = self.states.values().map(|def| Clog2Body::StateDef(*def));
        states.chain(self.events.values().map(|def| Clog2Body::EventDef(*def)))
    }

    /// For each communicator from 0 on, whether anything is drawn on it.
    pub(super) fn comms(&self) -> Vec<bool> {
        let last = self.members.keys().next_back().map_or(0, |&(comm, _)| comm);
        let mut comms = vec![false; usize::try_from(last).unwrap_or(0) + 1];
        for &(comm, _) in self.members.keys() {
            if let Some(is_used) = usize::try_from(comm).ok().and_then(|at| comms.get_mut(at)) {
                *is_used = true;
            }
        }
        comms
    }
}

/// Whether readers take these numbers for what they are (`spec/clog2.md` section 6.1).
fn fits(topology: Topology, (start, end): (i32, i32)) -> bool {
    match topology {
        Topology::State => (0..SOLO_ETYPES).contains(&start) && start % 2 == 0 && end == start + 1,
        Topology::Event => {
            start == end && ((-10..0).contains(&start) || (SOLO_ETYPES..1 << 30).contains(&start))
        }
        Topology::Arrow => false,
    }
}

fn is_free(used: &HashSet<i32>, (start, end): (i32, i32)) -> bool {
    const RESERVED: [i32; 2] = [msg_etype::SEND, msg_etype::RECV];
    [start, end]
        .iter()
        .all(|etype| !used.contains(etype) && !RESERVED.contains(etype))
}

/// The format that gives keys and types again, as far as it has room.
fn format(category: &Category, losses: &mut Losses) -> String {
    const ROOM: usize = 39;
    let (keys, types) = (&category.info_keys, &category.info_types);
    // A format that begins with a value has one key less, and each of them behind its value.
    let key_behind = keys.len() == types.len() && keys.last().is_some_and(|key| key.is_empty());
    let mut format = String::new();
    for (nth, key) in keys.iter().enumerate() {
        // A percent sign would begin a value.
        let key = key.to_str().replace('%', "");
        let value = types.get(nth).map(|&kind| format!("%{}", char::from(kind)));
        let value = value.unwrap_or_default();
        if format.len() + key.len() + value.len() > ROOM {
            losses.add("key of an info beyond 39 bytes of format", 1);
            break;
        }
        let parts = if key_behind {
            [&value, &key]
        } else {
            [&key, &value]
        };
        for part in parts {
            format.push_str(part);
        }
    }
    format
}

#[cfg(test)]
mod tests {
    use super::*;
    use trace_model::Color;

    fn definitions(categories: &[(Topology, Option<(i32, i32)>)]) -> Definitions {
        let mut definitions = Definitions::default();
        for (index, &(topology, etypes)) in (0..).zip(categories) {
            let category = Category::new(index, "x".into(), topology, Color::WHITE);
            definitions.categories.push(category);
            definitions
                .etypes
                .extend(etypes.map(|etypes| (index, etypes)));
        }
        definitions
    }

    #[test]
    fn numbers_of_the_source_are_kept_where_readers_understand_them() {
        use Topology::{Event, State};
        let definitions = definitions(&[
            (State, Some((48, 49))),
            (State, None),
            (State, Some((48, 49))),
            (State, Some((601, 605))),
            (State, Some((602, 603))),
            (Event, Some((-10, -10))),
            (Event, Some((-101, -101))),
            (Event, Some((5003, 5003))),
            (Event, None),
        ]);
        let mut losses = Losses::default();
        let numbering = CategoryNumbering::new(&definitions, &mut losses);
        let found: Vec<_> = (0..9)
            .map(|index| numbering.category(index).unwrap())
            .collect();
        use DescribedCategory as D;
        assert_eq!(
            found,
            [
                D::State(48, 49),
                D::State(600, 601),
                D::State(604, 605),
                D::State(606, 607),
                D::State(602, 603),
                D::Event(-10),
                D::Event(5000),
                D::Event(5003),
                D::Event(5001),
            ]
        );
        let preamble = numbering.preamble();
        assert_eq!(preamble.user_state_id_count, 4);
        assert_eq!(preamble.user_solo_event_id_count, 4);
    }

    #[test]
    fn functions_of_mpi_have_the_numbers_of_mpe() {
        let mut definitions = definitions(&[(Topology::State, None), (Topology::State, None)]);
        definitions.categories[1].name = "MPI_Barrier".into();
        let numbering = CategoryNumbering::new(&definitions, &mut Losses::default());
        assert_eq!(
            numbering.category(0),
            Some(DescribedCategory::State(600, 601))
        );
        assert_eq!(
            numbering.category(1),
            Some(DescribedCategory::State(10, 11))
        );
    }

    #[test]
    fn lines_keep_their_places_as_long_as_no_two_share_one() {
        let line = |id, comm, comm_rank, thread, rank| Line {
            id,
            comm,
            comm_rank,
            thread,
            rank,
            ..Line::default()
        };
        let definitions = Definitions {
            lines: vec![
                line(1, 0, 0, 0, 0),
                line(5, 3, 1, 1, 4),
                line(7, 3, 1, 1, 2),
                line(9, 0, -1, 0, -1),
            ],
            ..Definitions::default()
        };
        let mut losses = Losses::default();
        let numbering = CategoryNumbering::new(&definitions, &mut losses);
        let place = |comm, rank, thread| Some(NumberedPlace { comm, rank, thread });
        assert_eq!(numbering.place(1), place(0, 0, 0));
        assert_eq!(numbering.place(5), place(3, 1, 1));
        assert_eq!(numbering.place(7), place(0, 5, 0));
        assert_eq!(numbering.place(9), place(0, 6, 0));
        assert_eq!(numbering.place(2), None);
        assert_eq!(numbering.comms(), [true, false, false, true]);
        let preamble = numbering.preamble();
        assert_eq!(
            (preamble.max_comm_world_size, preamble.max_thread_count),
            (7, 2)
        );
        assert_eq!(losses.iter().count(), 1);
        let members: Vec<_> = numbering
            .members()
            .map(|m| (m.comm, m.rank, m.world_rank))
            .collect();
        assert_eq!(
            members,
            [(0, 0, 0), (0, 4, 4), (0, 5, 5), (0, 6, 6), (3, 1, 4)]
        );
    }
}
