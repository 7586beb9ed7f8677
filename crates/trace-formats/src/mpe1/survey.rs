//! The first pass over a file: what its events are, and where they happen.

use super::calls;
use super::look;
use super::{CONSTANT, HashMap, MAX_DEFINITIONS, Mpe1Event, key};
use std::collections::BTreeMap;
use trace_model::{Category, Color, Definitions, DrawableOrder, Line, Losses, Text, Topology};

/// Definition of a state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct StateDefinition {
    /// Number of its start event.
    pub(crate) start: i32,
    /// Number of its end event.
    pub(crate) end: i32,
    /// `COLOR[:BITMAP]`.
    pub(crate) look: Vec<u8>,
    /// Name.
    pub(crate) name: Vec<u8>,
}

/// Data that the events of a number carry.
#[derive(Clone, Copy, Debug, Default)]
struct EventUse {
    data: bool,
    text: bool,
}

/// Findings of the first pass.
#[derive(Debug)]
pub(crate) struct EventSurvey {
    states: Vec<StateDefinition>,
    events: BTreeMap<i32, Vec<u8>>,
    uses: HashMap<i32, EventUse>,
    places: HashMap<(i32, i32), ()>,
    last_place: Option<(i32, i32)>,
    last_time: f64,
    is_sorted: bool,
    /// Count of records that are no drawables.
    pub(crate) losses: Losses,
}

/// Effect of an event number.
#[derive(Clone, Copy, Debug)]
pub(super) enum EventRole {
    Start(usize),
    End(usize),
    Solo(usize),
}

/// Which values the drawables of a category carry: data and text of the start event, then of the end event.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct CarriedValues {
    pub(super) data: [bool; 2],
    pub(super) text: [bool; 2],
}

/// Roles, lines and definitions: what the second pass needs.
#[derive(Debug)]
pub(crate) struct ReadPlan {
    /// Categories and lines; category 0 is the message.
    pub(crate) definitions: Definitions,
    /// The order in which drawables come.
    pub(crate) order: DrawableOrder,
    /// Losses that are known so far.
    pub(crate) losses: Losses,
    pub(super) roles: HashMap<i32, EventRole>,
    /// Category index and values, by slot.
    pub(super) slots: Vec<(i32, CarriedValues)>,
    pub(super) lines: HashMap<(i32, i32), i32>,
}

impl EventSurvey {
    pub(crate) fn new() -> Self {
        EventSurvey {
            states: Vec::new(),
            events: BTreeMap::new(),
            uses: HashMap::default(),
            places: HashMap::default(),
            last_place: None,
            last_time: f64::NEG_INFINITY,
            is_sorted: true,
            losses: Losses::default(),
        }
    }

    /// Takes the definition of a state.
    pub(crate) fn define_state(&mut self, state: StateDefinition) {
        if self.states.len() < MAX_DEFINITIONS {
            self.states.push(state);
        } else {
            self.losses.add("definition beyond the first 65536", 1);
        }
    }

    /// Takes the definition of a solo event; the first one counts.
    pub(crate) fn define_event(&mut self, etype: i32, name: &[u8]) {
        if self.events.len() < MAX_DEFINITIONS {
            self.events.entry(etype).or_insert_with(|| name.to_vec());
        } else {
            self.losses.add("definition beyond the first 65536", 1);
        }
    }

    /// Takes an event.
    pub(crate) fn see(&mut self, event: &Mpe1Event<'_>) {
        if event.etype == CONSTANT {
            self.losses.add("constant of MPI", 1);
            return;
        }
        self.is_sorted &= event.time >= self.last_time;
        self.last_time = event.time;
        let place = (event.rank, event.thread);
        if self.last_place != Some(place) {
            if self.places.len() < MAX_DEFINITIONS {
                self.places.insert(place, ());
            }
            self.last_place = Some(place);
        }
        if event.envelope().is_none()
            && (self.uses.len() < MAX_DEFINITIONS || self.uses.contains_key(&event.etype))
        {
            let found = self.uses.entry(event.etype).or_default();
            found.data |= event.data != 0;
            found.text |= !event.text.is_empty();
        }
    }

    /// Makes the plan. With `has_calls` numbers that nobody defined are those of MPE's wrappers, as in a CLOG-1 file that
    /// was cut off before its definitions. `names` are the processes'.
    pub(crate) fn plan(
        mut self,
        program: String,
        has_calls: bool,
        names: &[(i32, Vec<u8>)],
    ) -> ReadPlan {
        if has_calls {
            self.add_calls();
        }
        let mut categories = CategoryBuilder {
            list: vec![Category::message()],
            slots: Vec::new(),
            roles: HashMap::default(),
            etypes: BTreeMap::new(),
            colors: 0,
            next: FIRST_FREE,
        };
        let mut conflicts = 0;
        let mut bitmaps = 0;
        for state in &self.states {
            let uses = [state.start, state.end]
                .map(|etype| self.uses.get(&etype).copied().unwrap_or_default());
            if categories.add_state(state, uses) {
                bitmaps += u64::from(state.look.contains(&b':'));
            } else {
                conflicts += 1;
            }
        }
        self.losses.add(
            "definition of a state whose event numbers are taken",
            conflicts,
        );
        self.losses.add("bitmap of a state", bitmaps);
        let mut used: Vec<i32> = self
            .uses
            .keys()
            .chain(self.events.keys())
            .copied()
            .collect();
        used.sort_unstable();
        used.dedup();
        for etype in used {
            let carried = self.uses.get(&etype).copied().unwrap_or_default();
            categories.add_event(etype, self.events.get(&etype), carried);
        }
        let (lines, numbers) = self.lines(names);
        ReadPlan {
            definitions: Definitions {
                program,
                categories: categories.list,
                lines,
                etypes: categories.etypes,
            },
            order: if self.is_sorted {
                DrawableOrder::End
            } else {
                DrawableOrder::Any
            },
            losses: self.losses,
            roles: categories.roles,
            slots: categories.slots,
            lines: numbers,
        }
    }

    fn add_calls(&mut self) {
        let defined: HashMap<i32, ()> = self
            .states
            .iter()
            .flat_map(|state| [(state.start, ()), (state.end, ())])
            .chain(self.events.keys().map(|&etype| (etype, ())))
            .collect();
        let calls = calls::by_start();
        let starts: std::collections::BTreeSet<i32> = self
            .uses
            .keys()
            .filter(|etype| !defined.contains_key(*etype))
            .filter_map(|etype| {
                // Starts are odd, ends the even numbers behind them.
                let start = if etype % 2 == 1 {
                    *etype
                } else {
                    etype.checked_sub(1)?
                };
                calls.contains_key(&start).then_some(start)
            })
            .collect();
        for start in starts {
            let call = calls[&start];
            self.states.push(StateDefinition {
                start,
                end: start + 1,
                look: call.look.split(':').next().unwrap_or_default().into(),
                name: call.name.into(),
            });
        }
    }

    /// The lines: a process is a line of its own rank, unless there are threads.
    fn lines(&self, names: &[(i32, Vec<u8>)]) -> (Vec<Line>, HashMap<(i32, i32), i32>) {
        let mut places: Vec<(i32, i32)> = self.places.keys().copied().collect();
        places.sort_unstable();
        let is_plain = places
            .iter()
            .all(|&(rank, thread)| rank >= 0 && thread == 0);
        let names: HashMap<i32, &Vec<u8>> =
            names.iter().map(|(rank, name)| (*rank, name)).collect();
        let mut numbers = HashMap::default();
        let mut lines = Vec::with_capacity(places.len());
        for (nth, (rank, thread)) in places.into_iter().enumerate() {
            let id = if is_plain { rank } else { nth as i32 };
            let name = names
                .get(&rank)
                .map(|name| String::from_utf8_lossy(name).into_owned());
            numbers.insert((rank, thread), id);
            lines.push(Line {
                name,
                ..Line::of_thread(id, rank, thread)
            });
        }
        (lines, numbers)
    }
}

/// Categories whose index is that of clogTOslog2: 0 is the message, then MPE's 180 calls, then 30 states of the user's.
const FIRST_FREE: i32 = 1 + 180 + 30;

struct CategoryBuilder {
    list: Vec<Category>,
    slots: Vec<(i32, CarriedValues)>,
    roles: HashMap<i32, EventRole>,
    etypes: BTreeMap<i32, (i32, i32)>,
    /// Default colours that are in use.
    colors: usize,
    next: i32,
}

impl CategoryBuilder {
    /// False if a number of its is taken, or if it has only one.
    fn add_state(&mut self, state: &StateDefinition, uses: [EventUse; 2]) -> bool {
        let StateDefinition { start, end, .. } = *state;
        let is_taken = |etype| self.roles.contains_key(&etype);
        if start == end || is_taken(start) || is_taken(end) {
            return false;
        }
        let index = match (start, end.checked_sub(1) == Some(start)) {
            (1..=360, true) if start % 2 == 1 => 1 + start / 2,
            (500..=559, true) if start % 2 == 0 => 181 + (start - 500) / 2,
            _ => self.free_index(),
        };
        let name = self.name(&state.name, index, "state");
        let color = match look::color(&state.look) {
            Some(color) => color,
            None if state.look.first().is_none_or(|&byte| byte == b':') => self.color(),
            None => Color::PINK,
        };
        let slot = self.slots.len();
        self.roles.insert(start, EventRole::Start(slot));
        self.roles.insert(end, EventRole::End(slot));
        let values = CarriedValues {
            data: uses.map(|carried| carried.data),
            text: uses.map(|carried| carried.text),
        };
        self.push(Category::new(index, name, Topology::State, color), values);
        self.etypes.insert(index, (start, end));
        true
    }

    fn add_event(&mut self, etype: i32, name: Option<&Vec<u8>>, carried: EventUse) {
        if self.roles.contains_key(&etype) {
            return;
        }
        let index = self.free_index();
        let name = self.name(name.map_or(&[], Vec::as_slice), etype, "event");
        let color = self.color();
        self.roles.insert(etype, EventRole::Solo(self.slots.len()));
        let values = CarriedValues {
            data: [carried.data, false],
            text: [carried.text, false],
        };
        self.push(Category::new(index, name, Topology::Event, color), values);
        self.etypes.insert(index, (etype, etype));
    }

    fn color(&mut self) -> Color {
        self.colors += 1;
        look::default_color(self.colors - 1)
    }

    fn free_index(&mut self) -> i32 {
        let index = self.next;
        self.next = self.next.saturating_add(1);
        index
    }

    fn name(&self, name: &[u8], number: i32, kind: &str) -> Text {
        match name.trim_ascii() {
            [] => Text(format!("{kind} {number}").into_bytes()),
            name => Text(name.to_vec()),
        }
    }

    fn push(&mut self, mut category: Category, values: CarriedValues) {
        let parts = [
            (values.data[0], key::DATA, "d"),
            (values.data[1], key::END_DATA, "d"),
            (values.text[0], key::TEXT, "s"),
            (values.text[1], key::END_TEXT, "s"),
        ];
        for (_, key, kind) in parts.iter().filter(|(is_there, ..)| *is_there) {
            let separator = if category.info_keys.is_empty() {
                ""
            } else {
                ", "
            };
            let key = format!("{separator}{key}");
            category.info_keys.push(Text(key.into_bytes()));
            category.info_types.extend_from_slice(kind.as_bytes());
        }
        self.slots.push((category.index, values));
        self.list.push(category);
    }
}
