//! A Pajé trace as drawables: states, events and links of the containers, which become timelines.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::rc::Rc;

use foldhash::fast::RandomState;

use super::error::{PajeError, PajeRule, Problem};
use super::lines;
use super::names::FieldType;
use super::order::{EntitySink, SimulationResult, simulate, simulate_sorted};
use super::read::{EventDefinition, PajeEvent, PajeTrace, shown};
use super::simulate::{Entity, EntityBody, Simulator};
use super::tables::{EntityKind, PajeTables};
use trace_model::Fault;
use trace_model::{
    Category, Color, Definitions, Drawable, DrawableOrder, InfoWriter, Losses, Stop, Topology,
    Vertex,
};

/// Reads a trace twice: once for its categories and lines, and once for its drawables.
pub struct PajeSource<'a> {
    trace: PajeTrace<'a>,
    definitions: Definitions,
    order: DrawableOrder,
    /// The events of the file are not in order of time.
    is_disordered: bool,
    map: DrawableMap,
}

/// Numbers of categories and lines by the trace's types and containers.
#[derive(Debug, Default)]
struct DrawableMap {
    /// By container the id of its line.
    lines: Vec<Option<i32>>,
    categories: HashMap<Key, i32, RandomState>,
    own: OwnMarks,
}

/// Type, value and the user's own fields: what makes a category.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct Key {
    kind: u32,
    value: u32,
    fields: Rc<UserFields>,
}

/// Names and types of the user's own fields.
type UserFields = Vec<(Vec<u8>, char)>;

/// Entities that the writer of this crate adds to a trace: they are no drawables, and no losses either.
#[derive(Clone, Copy, Debug, Default)]
struct OwnMarks {
    /// Type and value of the state that is around everything.
    running: Option<(u32, u32)>,
    /// Type of the variable that adds up the messages.
    in_flight: Option<u32>,
}

impl OwnMarks {
    fn find(tables: &PajeTables) -> Self {
        let mut own = OwnMarks::default();
        for (number, kind) in (0..).zip(&tables.types) {
            match (&*kind.identifier, &*kind.name) {
                (b"SM", b"MPI call") => {
                    let running = |value: &super::tables::EntityValue| *value.identifier == *b"rn";
                    let value = kind.values.iter().position(running);
                    own.running = value.map(|value| (number, value as u32));
                }
                (b"VF", b"Bytes in flight") => own.in_flight = Some(number),
                _ => {}
            }
        }
        own
    }

    fn includes(self, entity: &Entity) -> bool {
        match entity.body {
            EntityBody::State { value, .. } => self.running == Some((entity.kind, value)),
            EntityBody::Variable(_) => self.in_flight == Some(entity.kind),
            _ => false,
        }
    }
}

/// Types and values of the trace that occur.
#[derive(Debug, Default)]
struct Used {
    keys: HashSet<Key>,
    containers: Vec<bool>,
    /// End and start of the last drawable.
    last: Option<(f64, f64)>,
    /// Drawables do not come in [`DrawableOrder::End`].
    is_unordered: bool,
    fields: FieldCache,
}

impl Used {
    fn add(&mut self, definitions: &[Rc<EventDefinition>], entity: &Entity) {
        let Some(value) = value(entity) else {
            return;
        };
        for container in vertices(entity).map(|(_, container)| container as usize) {
            if self.containers.len() <= container {
                self.containers.resize(container + 1, false);
            }
            self.containers[container] = true;
        }
        self.keys.insert(Key {
            kind: entity.kind,
            value,
            fields: self.fields.of(definitions, entity),
        });
        let (start, end) = (entity.start.min(entity.end), entity.start.max(entity.end));
        let ordered =
            |(last_end, last_start)| end > last_end || (end == last_end && start <= last_start);
        self.is_unordered |= !self.last.is_none_or(ordered);
        self.last = Some((end, start));
    }
}

impl<'a> PajeSource<'a> {
    /// Reads the trace for its definitions.
    ///
    /// # Errors
    /// The trace is damaged. If only its last line is, because it was cut off, that is a loss instead.
    pub fn new(trace: PajeTrace<'a>) -> Result<Self, PajeError> {
        let mut used = Used::default();
        let mut run = simulate(&trace, &mut |_, definitions, entity| {
            used.add(definitions, entity);
            Ok(())
        })
        .map_err(other)?;
        let is_disordered = run.is_disordered();
        if is_disordered {
            // Values that were not defined get their numbers when they are met.
            used = Used::default();
            run = simulate_sorted(&trace, &mut |_, definitions, entity| {
                used.add(definitions, entity);
                Ok(())
            })
            .map_err(other)?;
        }
        if let Some(error) = run.error.filter(|error| !is_cut(error)) {
            return Err(error);
        }
        let tables = &run.simulator.tables;
        let own = OwnMarks::find(tables);
        used.keys
            .retain(|key| own.running != Some((key.kind, key.value)));
        let (categories, numbers) = categories(tables, used.keys);
        // A thread of this crate's writer has a line even if nothing was recorded on it.
        let (lines, by_container) = lines::lines(tables, &used.containers);
        let top = |number: &&u32| **number != super::tables::ROOT;
        let mut roots = tables
            .container(super::tables::ROOT)
            .children
            .iter()
            .filter(top);
        let program = match (roots.next(), roots.next()) {
            (Some(&only), None) => tables.container(only).name.to_vec(),
            _ => Vec::new(),
        };
        Ok(PajeSource {
            definitions: Definitions {
                program: String::from_utf8_lossy(&program).into_owned(),
                categories,
                lines,
                etypes: BTreeMap::new(),
            },
            order: match used.is_unordered {
                false => DrawableOrder::End,
                true => DrawableOrder::Any,
            },
            is_disordered,
            map: DrawableMap {
                lines: by_container,
                categories: numbers,
                own,
            },
            trace,
        })
    }

    fn run(&self, put: &mut EntitySink<'_>) -> Result<SimulationResult, Stop> {
        match self.is_disordered {
            true => simulate_sorted(&self.trace, put),
            false => simulate(&self.trace, put),
        }
    }
}

impl trace_model::Source for PajeSource<'_> {
    fn definitions(&self) -> &Definitions {
        &self.definitions
    }

    fn order(&self) -> DrawableOrder {
        self.order
    }

    fn for_each(
        &self,
        put: &mut dyn FnMut(&Drawable<'_>) -> Result<(), Stop>,
    ) -> Result<Losses, Stop> {
        let mut losses = Losses::default();
        let mut info = InfoWriter::default();
        let mut tokens = Vec::new();
        let mut cache = FieldCache::default();
        let mut draw = |_: &Simulator, definitions: &[Rc<EventDefinition>], entity: &Entity| {
            if self.map.own.includes(entity) {
                return Ok(());
            }
            let Some(value) = value(entity) else {
                losses.add("value of a variable", 1);
                return Ok(());
            };
            let fields = cache.of(definitions, entity);
            info.clear();
            if !fields.is_empty()
                && let Some(place) = entity.begun
                && let Some(definition) = definitions.get(place.definition as usize)
            {
                let mut encode = |event: &PajeEvent<'_>| encode(event, &mut info, &mut losses);
                self.trace
                    .event_at(place, definition, &mut tokens, &mut encode)?;
            }
            let ended = entity
                .ended
                .and_then(|place| definitions.get(place.definition as usize));
            if let Some(ended) = ended {
                let more = ended.user_fields().count() as u64;
                losses.add("field at the end of a state or link", more);
            }
            let kind = entity.kind;
            let key = Key {
                kind,
                value,
                fields,
            };
            let category = self.map.categories.get(&key).copied().unwrap_or(0);
            let line = |number: u32| self.map.lines.get(number as usize).copied().flatten();
            let mut corners = [Vertex::default(); 2];
            let mut count = 0;
            for (time, container) in vertices(entity) {
                corners[count] = Vertex {
                    time,
                    line: line(container).unwrap_or(0),
                };
                count += 1;
            }
            put(&Drawable {
                topology: topology(entity),
                category,
                info: info.bytes(),
                vertices: &corners[..count],
            })
        };
        let run = self.run(&mut draw)?;
        if let Some(error) = run.error {
            if !is_cut(&error) {
                return Err(error.into());
            }
            losses.add("line that was cut off at the end of the file", 1);
        }
        for (rule, (count, _)) in run.simulator.broken {
            if rule != PajeRule::TimeOrder {
                losses.add(rule.text(), count);
            }
        }
        losses.add(
            "event on a container that was destroyed before",
            run.simulator.on_destroyed,
        );
        losses.add(
            "event of a name that the format does not know",
            run.simulator.foreign,
        );
        losses.add("PajeTraceFile whose file is not there", run.missing_files);
        Ok(losses)
    }
}

/// True for what a file that was cut off ends with.
fn is_cut(error: &PajeError) -> bool {
    error.kind.cut && !matches!(error.kind.problem, Problem::NotPaje)
}

/// An error that only the system can cause: nothing else stops the first pass.
fn other(stop: Stop) -> PajeError {
    match stop.downcast::<PajeError>() {
        Ok(error) => *error,
        Err(stop) => Fault::io(0, std::io::Error::other(stop.to_string())),
    }
}

/// The value of what becomes a drawable.
fn value(entity: &Entity) -> Option<u32> {
    match entity.body {
        EntityBody::State { value, .. }
        | EntityBody::Event(value)
        | EntityBody::Link { value, .. } => Some(value),
        EntityBody::Variable(_) => None,
    }
}

fn topology(entity: &Entity) -> Topology {
    match entity.body {
        EntityBody::State { .. } => Topology::State,
        EntityBody::Link { .. } => Topology::Arrow,
        _ => Topology::Event,
    }
}

/// The corners: times and containers.
fn vertices(entity: &Entity) -> impl Iterator<Item = (f64, u32)> {
    let container = entity.container;
    let (first, last) = match entity.body {
        EntityBody::State { .. } => (container, Some(container)),
        EntityBody::Link { ends, .. } => (ends.0, Some(ends.1)),
        _ => (container, None),
    };
    let last = last.map(|container| (entity.end, container));
    std::iter::once((entity.start, first)).chain(last)
}

/// The user's own fields by definition.
#[derive(Debug, Default)]
struct FieldCache {
    known: Vec<Option<Rc<UserFields>>>,
    none: Rc<UserFields>,
}

impl FieldCache {
    /// Fields of the event that began an entity.
    fn of(&mut self, definitions: &[Rc<EventDefinition>], entity: &Entity) -> Rc<UserFields> {
        let Some(number) = entity.begun.map(|place| place.definition as usize) else {
            return self.none.clone();
        };
        if self.known.len() < definitions.len() {
            self.known.resize(definitions.len(), None);
        }
        let (Some(known), Some(definition)) = (self.known.get_mut(number), definitions.get(number))
        else {
            return self.none.clone();
        };
        let fields = known.get_or_insert_with(|| {
            let fields = definition.user_fields();
            Rc::new(
                fields
                    .map(|(_, field)| (field.name.clone(), info_type(field.kind, &field.name)))
                    .collect(),
            )
        });
        fields.clone()
    }
}

/// The type of a field's value in the info.
fn info_type(kind: FieldType, name: &[u8]) -> char {
    match kind {
        FieldType::Int if name == b"Tag" => 'd',
        FieldType::Int => 'l',
        FieldType::Hex => 'X',
        FieldType::Date | FieldType::Double => 'E',
        FieldType::String | FieldType::Color => 's',
    }
}

fn encode(event: &PajeEvent<'_>, info: &mut InfoWriter, losses: &mut Losses) {
    for (at, field) in event.definition.user_fields() {
        let bytes = event.value(at);
        let text = std::str::from_utf8(bytes).unwrap_or("").trim();
        let mut ok = true;
        let mut checked = |parsed: Option<i64>| {
            ok = parsed.is_some();
            parsed.unwrap_or(0)
        };
        match info_type(field.kind, &field.name) {
            'd' => {
                let tag = text.parse::<i32>().ok().map(i64::from);
                info.int(checked(tag) as i32);
            }
            'l' => {
                info.long(checked(text.parse().ok()));
            }
            'X' => {
                let digits = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X"));
                let number = u64::from_str_radix(digits.unwrap_or(text), 16);
                info.long(checked(number.ok().map(|number| number as i64)));
            }
            'E' => {
                let number = text.parse::<f64>().ok();
                ok = number.is_some();
                info.real(number.unwrap_or(0.0));
            }
            _ => {
                info.text(bytes);
            }
        }
        losses.add("value that is not of its field's type", u64::from(!ok));
    }
}

/// The categories: one for each type, value and set of the user's own fields.
fn categories(
    tables: &PajeTables,
    keys: HashSet<Key>,
) -> (Vec<Category>, HashMap<Key, i32, RandomState>) {
    let mut keys: Vec<Key> = keys.into_iter().collect();
    keys.sort();
    let name_of = |key: &Key| &tables.type_of(key.kind).values[key.value as usize].name;
    let mut owners: HashMap<(EntityKind, &[u8]), (u32, bool)> = HashMap::new();
    for key in &keys {
        let of = (tables.type_of(key.kind).kind, &**name_of(key));
        let owner = owners.entry(of).or_insert((key.kind, false));
        owner.1 |= owner.0 != key.kind;
    }
    let mut categories = Vec::new();
    let mut numbers = HashMap::default();
    for (index, key) in (0..).zip(keys) {
        let kind = tables.type_of(key.kind);
        let value = &kind.values[key.value as usize];
        let (is_shared, topology) = (
            owners
                .get(&(kind.kind, &*value.name))
                .is_some_and(|owner| owner.1),
            match kind.kind {
                EntityKind::State => Topology::State,
                EntityKind::Link => Topology::Arrow,
                _ => Topology::Event,
            },
        );
        let name = match is_shared {
            // Values of two types that have the same name.
            true => [&kind.name[..], b": ", &value.name].concat(),
            false => value.name.to_vec(),
        };
        let color = value.color.or(kind.color);
        let color = color.unwrap_or_else(|| default_color(topology, index));
        let text = shown(&name);
        let mut category = Category::new(index, text.as_str().into(), topology, color);
        if topology == Topology::Arrow {
            category.width = 3;
            if *kind.identifier == *b"LM" && *value.name == *b"MPI point-to-point" {
                category.name = "message".into();
            }
        }
        set_fields(&mut category, &key.fields);
        categories.push(category);
        numbers.insert(key, index);
    }
    (categories, numbers)
}

fn set_fields(category: &mut Category, fields: &UserFields) {
    let is_message = category.topology == Topology::Arrow;
    for (nth, (name, kind)) in fields.iter().enumerate() {
        let name: &[u8] = match &name[..] {
            b"Tag" if is_message => b"msg_tag",
            b"Size" if is_message => b"msg_size",
            name => name,
        };
        let before: &[u8] = if nth == 0 { b"" } else { b", " };
        let behind: &[u8] = if *kind == 'X' { b"=0x" } else { b"=" };
        category
            .info_keys
            .push(trace_model::Text([before, name, behind].concat()));
        category.info_types.push(*kind as u8);
    }
}

/// Colours of values that have none.
fn default_color(topology: Topology, index: i32) -> Color {
    const STATES: [u32; 8] = [
        0x4e79a7, 0xf28e2b, 0xe15759, 0x76b7b2, 0x59a14f, 0xedc948, 0xb07aa1, 0x9c755f,
    ];
    match topology {
        Topology::Arrow => Color::WHITE,
        _ => Color::rgb(STATES[index.rem_euclid(8) as usize]),
    }
}
