//! Simulation of events: containers, states, values of variables, events, links (`spec/paje.md` section 5).

use std::collections::{BTreeMap, HashMap};

use foldhash::fast::RandomState;

use super::error::{PajeError, PajeErrorKind, PajeRule, Problem};
use super::names::{EventName, KnownField};
use super::number;
use super::read::{EventPosition, PajeEvent, shown};
use super::tables::{self, EntityKind, PajeTables, ROOT};

/// Something on a container that is over.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Entity {
    /// The container.
    pub container: u32,
    /// Number of the entity type.
    pub kind: u32,
    /// Number of the entity among those of its type and container: in order of start, links in order of completion.
    pub number: u64,
    /// Start in seconds.
    pub start: f64,
    /// End in seconds; of an event its start.
    pub end: f64,
    /// The event that began it; of a link the start of it.
    pub begun: Option<EventPosition>,
    /// The event that ended it; of a link the end of it. A state that was not popped has none.
    pub ended: Option<EventPosition>,
    /// Data that depends on the kind of the entity.
    pub body: EntityBody,
}

/// Kind of an entity, with its data.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum EntityBody {
    /// A state.
    State {
        /// Number of the value in its type.
        value: u32,
        /// Number of states around this one.
        level: u32,
    },
    /// An event, with the number of its value.
    Event(u32),
    /// A variable, with its value.
    Variable(f64),
    /// A link.
    Link {
        /// Number of the value in its type.
        value: u32,
        /// The containers at its ends.
        ends: (u32, u32),
        /// True if its end came first in the file.
        end_first: bool,
    },
}

/// Takes the events of a trace in order and tells what is over. In memory are containers, types, values, and what is
/// not over yet.
#[derive(Debug, Default)]
pub struct Simulator {
    /// Types, values and containers that the trace defined.
    pub tables: PajeTables,
    /// Time of the last event that has one.
    pub last_time: f64,
    /// Number of breaches of each rule, and the first of them.
    pub broken: BTreeMap<PajeRule, (u64, PajeError)>,
    /// Events on containers that were destroyed before, which mean nothing.
    pub on_destroyed: u64,
    /// Events of names that the format does not know and that have no time or no container.
    pub foreign: u64,
    lanes: HashMap<(u32, u32), ContainerLane, RandomState>,
    /// The lanes of each container.
    kinds_of: Vec<Vec<u32>>,
    foreign_types: HashMap<(Vec<u8>, u32), u32, RandomState>,
    over: Vec<Entity>,
}

/// State of a container for one type.
#[derive(Debug, Default)]
struct ContainerLane {
    /// Entities so far.
    count: u64,
    /// Start and end of the last of them; an end of -1 is open.
    last: Option<(f64, f64)>,
    states: Vec<OpenState>,
    variable: Option<OpenVariable>,
    links: HashMap<Box<[u8]>, OpenLink, RandomState>,
}

#[derive(Clone, Copy, Debug)]
struct OpenState {
    number: u64,
    start: f64,
    value: u32,
    level: u32,
    begun: EventPosition,
}

#[derive(Clone, Copy, Debug)]
struct OpenVariable {
    number: u64,
    start: f64,
    value: f64,
    begun: EventPosition,
}

#[derive(Clone, Copy, Debug)]
struct OpenLink {
    time: f64,
    value: u32,
    container: u32,
    place: EventPosition,
    is_end: bool,
}

impl Simulator {
    /// Entities that have ended since the last call of this function.
    pub fn over(&mut self) -> std::vec::Drain<'_, Entity> {
        self.over.drain(..)
    }

    /// Takes an event.
    ///
    /// # Errors
    /// It names what is not there, or does not fit to what it names.
    pub fn step(&mut self, event: &PajeEvent<'_>) -> Result<(), PajeError> {
        use EventName as E;
        if event.surplus() > 0 {
            self.broke(PajeRule::ManyValues, event);
        }
        let time = event.time()?;
        if let Some(time) = time {
            self.last_time = time;
        }
        let time = time.unwrap_or(self.last_time);
        match event.definition.event {
            E::DefineContainerType => self.define(event, EntityKind::Container)?,
            E::DefineStateType => self.define(event, EntityKind::State)?,
            E::DefineEventType => self.define(event, EntityKind::Event)?,
            E::DefineVariableType => self.define(event, EntityKind::Variable)?,
            E::DefineLinkType => self.define(event, EntityKind::Link)?,
            E::DefineEntityValue => self.define_value(event)?,
            E::CreateContainer => self.tables.create(event, time)?,
            E::DestroyContainer => self.destroy_container(event, time)?,
            E::NewEvent => self.new_event(event, time)?,
            E::SetState | E::PushState | E::PopState | E::ResetState => self.state(event, time)?,
            E::SetVariable | E::AddVariable | E::SubVariable => self.variable(event, time)?,
            E::StartLink | E::EndLink => self.link(event, time)?,
            E::TraceFile => {}
            E::Other => self.foreign(event)?,
        }
        Ok(())
    }

    /// Ends the trace, which may be at an error: what is still there ends at the time of the last event.
    pub fn finish(&mut self) {
        let mut links = 0;
        let mut first: Option<EventPosition> = None;
        for lane in self.lanes.values() {
            for link in lane.links.values() {
                links += 1;
                first = Some(first.map_or(link.place, |first| first.min(link.place)));
            }
        }
        if let Some(place) = first {
            let kind = PajeErrorKind {
                line: 0,
                cut: false,
                problem: Problem::Rule(PajeRule::IncompleteLink),
            };
            let new = || (0, PajeError::new(place.offset, kind));
            let broken = self.broken.entry(PajeRule::IncompleteLink);
            broken.or_insert_with(new).0 += links;
        }
        for number in 0..self.tables.containers.len() as u32 {
            self.destroy(number, self.last_time);
        }
    }

    fn broke(&mut self, rule: PajeRule, event: &PajeEvent<'_>) {
        let new = || (0, event.fault(Problem::Rule(rule)));
        self.broken.entry(rule).or_insert_with(new).0 += 1;
    }

    fn color(&mut self, event: &PajeEvent<'_>) -> Option<crate::slog2::Color> {
        if !event.definition.has(KnownField::Color) {
            return None;
        }
        let color = tables::color(event.field(KnownField::Color));
        if color.is_none() {
            self.broke(PajeRule::Color, event);
        }
        color
    }

    fn define(&mut self, event: &PajeEvent<'_>, kind: EntityKind) -> Result<(), PajeError> {
        let color = self.color(event);
        self.tables.define_type(event, kind, color)
    }

    fn define_value(&mut self, event: &PajeEvent<'_>) -> Result<(), PajeError> {
        let color = self.color(event);
        let kind = self.tables.find_type(event, KnownField::Type)?;
        let (identifier, name) = tables::identity(event);
        let defined = &mut self.tables.types[kind as usize];
        if matches!(defined.kind, EntityKind::Container | EntityKind::Variable) {
            let expected = "a type of states, events or links".to_owned();
            return Err(tables::mismatch(event, KnownField::Type, expected));
        }
        if defined.add_value(identifier, name, color).is_none() {
            self.broke(PajeRule::ValueTaken, event);
        }
        Ok(())
    }

    /// The lane, unless the container is destroyed; and notes the time on the container.
    fn lane(&mut self, container: u32, kind: u32, time: f64) -> Option<&mut ContainerLane> {
        let destroyed = &mut self.tables.containers[container as usize];
        if destroyed.destroyed {
            self.on_destroyed += 1;
            return None;
        }
        destroyed.end = time;
        Some(self.lanes.entry((container, kind)).or_insert_with(|| {
            let at = container as usize;
            if self.kinds_of.len() <= at {
                self.kinds_of.resize(at + 1, Vec::new());
            }
            self.kinds_of[at].push(kind);
            ContainerLane::default()
        }))
    }

    fn new_event(&mut self, event: &PajeEvent<'_>, time: f64) -> Result<(), PajeError> {
        let (container, kind) = self.tables.find_lane(event, EntityKind::Event)?;
        let value = self.tables.types[kind as usize].value(event.field(KnownField::Value));
        self.put_event(event, container, kind, value, time);
        Ok(())
    }

    fn put_event(
        &mut self,
        event: &PajeEvent<'_>,
        container: u32,
        kind: u32,
        value: u32,
        time: f64,
    ) {
        let Some(lane) = self.lane(container, kind, time) else {
            return;
        };
        let in_order = lane.allows(time);
        let entity = Entity {
            container,
            kind,
            number: lane.begin(time, time),
            start: time,
            end: time,
            begun: Some(event.place),
            ended: None,
            body: EntityBody::Event(value),
        };
        self.over.push(entity);
        self.check_order(in_order, event);
    }

    fn check_order(&mut self, in_order: bool, event: &PajeEvent<'_>) {
        if !in_order {
            self.broke(PajeRule::TimeOrder, event);
        }
    }

    fn state(&mut self, event: &PajeEvent<'_>, time: f64) -> Result<(), PajeError> {
        let (container, kind) = self.tables.find_lane(event, EntityKind::State)?;
        let name = event.definition.event;
        let begins = matches!(name, EventName::SetState | EventName::PushState);
        let value = match begins {
            true => self.tables.types[kind as usize].value(event.field(KnownField::Value)),
            false => 0,
        };
        let Some(lane) = self.lane(container, kind, time) else {
            return Ok(());
        };
        let in_order = lane.allows(time);
        let mut broken = None;
        let mut over = Vec::new();
        if name == EventName::PopState {
            match lane.states.pop() {
                Some(state) => over.push(lane.end_state(state, time, Some(event.place))),
                None => broken = Some(PajeRule::EmptyStack),
            }
        } else if name != EventName::PushState {
            while let Some(state) = lane.states.pop() {
                over.push(lane.end_state(state, time, None));
            }
        }
        if begins {
            let state = OpenState {
                number: lane.begin(time, -1.0),
                start: time,
                value,
                level: lane.states.last().map_or(0, |outer| outer.level + 1),
                begun: event.place,
            };
            lane.states.push(state);
        }
        for mut entity in over {
            (entity.container, entity.kind) = (container, kind);
            self.over.push(entity);
        }
        self.check_order(in_order, event);
        if let Some(rule) = broken {
            self.broke(rule, event);
        }
        Ok(())
    }

    fn variable(&mut self, event: &PajeEvent<'_>, time: f64) -> Result<(), PajeError> {
        let (container, kind) = self.tables.find_lane(event, EntityKind::Variable)?;
        let number = f64::from(number::leading_float(event.field(KnownField::Value)));
        let name = event.definition.event;
        let Some(lane) = self.lane(container, kind, time) else {
            return Ok(());
        };
        let in_order = lane.allows(time);
        let before = lane.variable;
        let value = match (name, before) {
            (EventName::AddVariable, Some(before)) => before.value + number,
            (EventName::SubVariable, Some(before)) => before.value - number,
            (EventName::SubVariable, None) => -number,
            _ => number,
        };
        let mut over = None;
        match &mut lane.variable {
            // Of two changes at one time the last counts.
            Some(before) if before.start == time => before.value = value,
            _ => {
                over = before.map(|before| before.until(time));
                let number = lane.begin(time, -1.0);
                lane.variable = Some(OpenVariable {
                    number,
                    start: time,
                    value,
                    begun: event.place,
                });
            }
        }
        if let Some(entity) = over {
            self.over.push(Entity {
                container,
                kind,
                ..entity
            });
        }
        self.check_order(in_order, event);
        if before.is_none() && name != EventName::SetVariable {
            self.broke(PajeRule::NoValue, event);
        }
        Ok(())
    }

    fn link(&mut self, event: &PajeEvent<'_>, time: f64) -> Result<(), PajeError> {
        let (container, kind) = self.tables.find_lane(event, EntityKind::Link)?;
        let is_end = event.definition.event == EventName::EndLink;
        let (field, wanted) = match is_end {
            false => (KnownField::StartContainer, self.tables.type_of(kind).ends.0),
            true => (KnownField::EndContainer, self.tables.type_of(kind).ends.1),
        };
        let place = event.place;
        let here = self.tables.find_container(event, field)?;
        if self.tables.container(here).kind != wanted {
            let name = shown(&self.tables.type_of(wanted).name);
            let expected = format!("a container of type {name:?}, as the link's type has it");
            return Err(tables::mismatch(event, field, expected));
        }
        let value = self.tables.types[kind as usize].value(event.field(KnownField::Value));
        let key = event.field(KnownField::Key);
        let Some(lane) = self.lane(container, kind, time) else {
            return Ok(());
        };
        let this = OpenLink {
            time,
            value,
            container: here,
            place,
            is_end,
        };
        let Some(other) = lane
            .links
            .get(key)
            .copied()
            .filter(|other| other.is_end != is_end)
        else {
            // A second start of a key takes the place of the first, which then has no end.
            let lost = lane.links.insert(key.into(), this);
            if lost.is_some() {
                self.broke(PajeRule::IncompleteLink, event);
            }
            return Ok(());
        };
        lane.links.remove(key);
        let (start, end) = if is_end { (other, this) } else { (this, other) };
        let in_order = lane.allows(time);
        let entity = Entity {
            container,
            kind,
            number: lane.begin(start.time, end.time),
            start: start.time,
            end: end.time,
            begun: Some(start.place),
            ended: Some(end.place),
            body: EntityBody::Link {
                value: start.value,
                ends: (start.container, end.container),
                end_first: other.is_end,
            },
        };
        self.over.push(entity);
        self.check_order(in_order, event);
        if start.value != end.value {
            self.broke(PajeRule::LinkValue, event);
        }
        Ok(())
    }

    fn foreign(&mut self, event: &PajeEvent<'_>) -> Result<(), PajeError> {
        let known =
            event.definition.has(KnownField::Time) && event.definition.has(KnownField::Container);
        let container = match known {
            true => self
                .tables
                .find_container(event, KnownField::Container)
                .ok(),
            false => None,
        };
        let (Some(container), Some(time)) = (container, event.time()?) else {
            self.foreign += 1;
            return Ok(());
        };
        let parent = self.tables.container(container).kind;
        let name = &event.definition.name;
        let kind = match self.foreign_types.get(&(name.clone(), parent)) {
            Some(&kind) => kind,
            None => {
                let kind = self.tables.foreign_type(name, parent);
                self.foreign_types.insert((name.clone(), parent), kind);
                kind
            }
        };
        let value = match event.field(KnownField::Value) {
            b"" => name,
            value => value,
        };
        let value = self.tables.types[kind as usize].value(value);
        self.put_event(event, container, kind, value, time);
        Ok(())
    }

    fn destroy_container(&mut self, event: &PajeEvent<'_>, time: f64) -> Result<(), PajeError> {
        let kind = self.tables.find_kind(event, EntityKind::Container)?;
        let container = self.tables.find_container(event, KnownField::Name)?;
        let found = self.tables.container(container);
        if found.kind != kind {
            let name = shown(&self.tables.type_of(found.kind).name);
            let expected = format!("{name:?}, the type of the container");
            return Err(tables::mismatch(event, KnownField::Type, expected));
        }
        let in_order = time >= found.end;
        let links = self.destroy(container, time);
        self.check_order(in_order, event);
        for _ in 0..links {
            self.broke(PajeRule::IncompleteLink, event);
        }
        Ok(())
    }

    /// Ends a container, what is on it and what is in it. Returns how many links lacked an end.
    fn destroy(&mut self, container: u32, time: f64) -> u64 {
        let mut links = 0;
        let mut waiting = vec![container];
        while let Some(container) = waiting.pop() {
            let ended = &mut self.tables.containers[container as usize];
            if ended.destroyed {
                continue;
            }
            ended.destroyed = true;
            ended.end = time;
            let kinds = self.kinds_of.get_mut(container as usize);
            for kind in kinds.map(std::mem::take).unwrap_or_default() {
                if let Some(lane) = self.lanes.remove(&(container, kind)) {
                    links += lane.links.len() as u64;
                    self.end_lane(lane, container, kind, time);
                }
            }
            waiting.extend_from_slice(&self.tables.container(container).children);
        }
        links
    }

    fn end_lane(&mut self, mut lane: ContainerLane, container: u32, kind: u32, time: f64) {
        let mut put = |entity| {
            self.over.push(Entity {
                container,
                kind,
                ..entity
            });
        };
        while let Some(state) = lane.states.pop() {
            put(lane.end_state(state, time, None));
        }
        if let Some(variable) = lane.variable {
            put(variable.until(time));
        }
    }
}

impl ContainerLane {
    /// True if something may happen at this time, after what happened before.
    fn allows(&self, time: f64) -> bool {
        let later = |(start, end): (f64, f64)| start > time || (end != -1.0 && end > time);
        !self.last.is_some_and(later)
    }

    /// Numbers a new entity.
    fn begin(&mut self, start: f64, end: f64) -> u64 {
        let number = self.count;
        self.count += 1;
        self.last = Some((start, end));
        number
    }

    /// Ends a state; the caller sets container and type.
    fn end_state(&mut self, state: OpenState, time: f64, ended: Option<EventPosition>) -> Entity {
        if state.number + 1 == self.count {
            self.last = Some((state.start, time));
        }
        let OpenState { value, level, .. } = state;
        Entity {
            container: ROOT,
            kind: ROOT,
            number: state.number,
            start: state.start,
            end: time,
            begun: Some(state.begun),
            ended,
            body: EntityBody::State { value, level },
        }
    }
}

impl OpenVariable {
    /// Ends a value of a variable; the caller sets container and type.
    fn until(self, time: f64) -> Entity {
        Entity {
            container: ROOT,
            kind: ROOT,
            number: self.number,
            start: self.start,
            end: time,
            begun: Some(self.begun),
            ended: None,
            body: EntityBody::Variable(self.value),
        }
    }
}
