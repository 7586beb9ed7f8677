//! Definitions of a trace so far: types, values, containers (`spec/paje.md` section 4).

use std::collections::HashMap;

use foldhash::fast::RandomState;

use super::error::{PajeError, Problem};
use super::names::KnownField;
use super::read::{EventPosition, PajeEvent, shown};
use crate::slog2::Color;

/// Kind of the entities of a type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[allow(missing_docs)] // the names are the documentation
pub enum EntityKind {
    Container,
    State,
    Event,
    Variable,
    Link,
}

impl EntityKind {
    /// The name that `pj_dump` prints.
    pub fn name(self) -> &'static str {
        match self {
            EntityKind::Container => "Container",
            EntityKind::State => "State",
            EntityKind::Event => "Event",
            EntityKind::Variable => "Variable",
            EntityKind::Link => "Link",
        }
    }
}

type NumbersByName = HashMap<Box<[u8]>, u32, RandomState>;

/// A type of containers, states, events, variables or links.
#[derive(Clone, Debug)]
pub struct EntityType {
    /// Identifier by which events refer to the type: the alias, or the name without one.
    pub identifier: Box<[u8]>,
    /// Name of the type.
    pub name: Box<[u8]>,
    /// Kind of the entities of this type.
    pub kind: EntityKind,
    /// The type of the containers that they are in; the root's is the root itself.
    pub parent: u32,
    /// Types of the containers at both ends of a link.
    pub ends: (u32, u32),
    /// Colour, where there is one.
    pub color: Option<Color>,
    /// Values that were defined or used.
    pub values: Vec<EntityValue>,
    by_name: NumbersByName,
}

/// A value of a state, event or link.
#[derive(Clone, Debug)]
pub struct EntityValue {
    /// Identifier by which events refer to the value: the alias, or the name without one.
    pub identifier: Box<[u8]>,
    /// Name of the value.
    pub name: Box<[u8]>,
    /// Colour, where there is one.
    pub color: Option<Color>,
}

/// A container.
#[derive(Clone, Debug)]
pub struct Container {
    /// Identifier by which events refer to the container: the alias, or the name without one.
    pub identifier: Box<[u8]>,
    /// Name of the container.
    pub name: Box<[u8]>,
    /// Number of the container type.
    pub kind: u32,
    /// The container it is in; the root's is the root itself.
    pub parent: u32,
    /// Time of creation, seconds.
    pub start: f64,
    /// Time of destruction, or of the last event so far, seconds; -1 if there is none.
    pub end: f64,
    /// True when it was destroyed.
    pub destroyed: bool,
    /// The event that made it; the root has none.
    pub created: Option<EventPosition>,
    /// The containers in it, in the order in which they were made.
    pub children: Vec<u32>,
}

/// Number of the root type and of the root container.
pub const ROOT: u32 = 0;

/// Types and containers, by number and by name.
#[derive(Clone, Debug)]
pub struct PajeTables {
    /// The types; the first is the root.
    pub types: Vec<EntityType>,
    /// The containers; the first is the root.
    pub containers: Vec<Container>,
    types_by_name: NameSpace,
    containers_by_name: NameSpace,
}

/// Names of one name space. Names of things that have an alias count where nothing has them as its identifier: the
/// first report allowed that.
#[derive(Clone, Debug, Default)]
struct NameSpace {
    identifiers: NumbersByName,
    aliased: NumbersByName,
}

impl NameSpace {
    fn find(&self, name: &[u8]) -> Option<u32> {
        let name = if name == b"/" { b"0" } else { name };
        let found = self.identifiers.get(name);
        found.or_else(|| self.aliased.get(name)).copied()
    }

    fn insert(&mut self, identifier: &[u8], name: &[u8], number: u32) {
        self.identifiers.insert(identifier.into(), number);
        if identifier != name {
            self.aliased.entry(name.into()).or_insert(number);
        }
    }
}

impl EntityType {
    fn new(identifier: &[u8], name: &[u8], kind: EntityKind, parent: u32) -> Self {
        EntityType {
            identifier: identifier.into(),
            name: name.into(),
            kind,
            parent,
            ends: (ROOT, ROOT),
            color: None,
            values: Vec::new(),
            by_name: NumbersByName::default(),
        }
    }

    /// The value of this alias or name; made if it is not there.
    pub fn value(&mut self, name: &[u8]) -> u32 {
        match self.by_name.get(name) {
            Some(&value) => value,
            None => self.add_value(name, name, None).unwrap_or(0),
        }
    }

    /// Adds a value; `None` if its alias or name is taken.
    pub fn add_value(
        &mut self,
        identifier: &[u8],
        name: &[u8],
        color: Option<Color>,
    ) -> Option<u32> {
        let taken = |wanted: &[u8]| {
            let found = self
                .by_name
                .get(wanted)
                .map(|&at| &self.values[at as usize]);
            found.is_some_and(|value| *value.identifier == *wanted)
        };
        if taken(identifier) || taken(name) {
            return None;
        }
        let number = self.values.len() as u32;
        self.values.push(EntityValue {
            identifier: identifier.into(),
            name: name.into(),
            color,
        });
        self.by_name.insert(identifier.into(), number);
        self.by_name.entry(name.into()).or_insert(number);
        Some(number)
    }
}

impl Default for PajeTables {
    fn default() -> Self {
        let mut tables = PajeTables {
            types: vec![EntityType::new(b"0", b"0", EntityKind::Container, ROOT)],
            containers: vec![Container {
                identifier: (*b"0").into(),
                name: (*b"0").into(),
                kind: ROOT,
                parent: ROOT,
                start: 0.0,
                end: -1.0,
                destroyed: false,
                created: None,
                children: Vec::new(),
            }],
            types_by_name: NameSpace::default(),
            containers_by_name: NameSpace::default(),
        };
        tables.types_by_name.insert(b"0", b"0", ROOT);
        tables.containers_by_name.insert(b"0", b"0", ROOT);
        tables
    }
}

impl PajeTables {
    /// A type by its number.
    pub fn type_of(&self, number: u32) -> &EntityType {
        &self.types[number as usize]
    }

    /// A container by its number.
    pub fn container(&self, number: u32) -> &Container {
        &self.containers[number as usize]
    }

    /// The type that a field of an event names.
    pub fn find_type(&self, event: &PajeEvent<'_>, field: KnownField) -> Result<u32, PajeError> {
        let name = event.field(field);
        let found = self.types_by_name.find(name);
        found.ok_or_else(|| unknown(event, field, name))
    }

    /// The type that the event's `EntityType` names, which must be of this kind.
    pub fn find_kind(&self, event: &PajeEvent<'_>, kind: EntityKind) -> Result<u32, PajeError> {
        let number = self.find_type(event, KnownField::Type)?;
        if self.type_of(number).kind != kind {
            let expected = format!("a type of kind {}", kind.name());
            return Err(mismatch(event, KnownField::Type, expected));
        }
        Ok(number)
    }

    /// The container that a field of an event names.
    pub fn find_container(
        &self,
        event: &PajeEvent<'_>,
        field: KnownField,
    ) -> Result<u32, PajeError> {
        let name = event.field(field);
        let found = self.containers_by_name.find(name);
        found.ok_or_else(|| unknown(event, field, name))
    }

    /// Container and type of an event, which must be of this kind and belong to the container's type.
    pub fn find_lane(
        &self,
        event: &PajeEvent<'_>,
        kind: EntityKind,
    ) -> Result<(u32, u32), PajeError> {
        let container = self.find_container(event, KnownField::Container)?;
        let number = self.find_kind(event, kind)?;
        self.check_parent(event, number, container)?;
        Ok((container, number))
    }

    fn check_parent(
        &self,
        event: &PajeEvent<'_>,
        number: u32,
        container: u32,
    ) -> Result<(), PajeError> {
        let parent = self.container(container).kind;
        if self.type_of(number).parent == parent && number != ROOT {
            return Ok(());
        }
        let name = String::from_utf8_lossy(&self.type_of(parent).name);
        let expected = format!("a type below {name:?}, the type of the container");
        Err(mismatch(event, KnownField::Type, expected))
    }

    /// Makes a type.
    pub fn define_type(
        &mut self,
        event: &PajeEvent<'_>,
        kind: EntityKind,
        color: Option<Color>,
    ) -> Result<(), PajeError> {
        let parent = self.find_kind(event, EntityKind::Container)?;
        let ends = if kind == EntityKind::Link {
            let start = self.find_type(event, KnownField::StartContainerType)?;
            (start, self.find_type(event, KnownField::EndContainerType)?)
        } else {
            (ROOT, ROOT)
        };
        let (identifier, name) = identity(event);
        let reserved = kind == EntityKind::Container && matches!(name, b"0" | b"/");
        if reserved || identifier == b"/" || self.types_by_name.identifiers.contains_key(identifier)
        {
            return Err(taken(event, "type", identifier));
        }
        let number = self.types.len() as u32;
        let mut new = EntityType::new(identifier, name, kind, parent);
        new.ends = ends;
        new.color = color;
        self.types.push(new);
        self.types_by_name.insert(identifier, name, number);
        Ok(())
    }

    /// Makes a type of events that the format does not know. It has no name by which events could name it.
    pub fn foreign_type(&mut self, name: &[u8], parent: u32) -> u32 {
        let number = self.types.len() as u32;
        self.types
            .push(EntityType::new(name, name, EntityKind::Event, parent));
        number
    }

    /// Makes a container.
    pub fn create(&mut self, event: &PajeEvent<'_>, time: f64) -> Result<(), PajeError> {
        let kind = self.find_kind(event, EntityKind::Container)?;
        let parent = self.find_container(event, KnownField::Container)?;
        self.check_parent(event, kind, parent)?;
        let (identifier, name) = identity(event);
        if identifier == b"/" || self.containers_by_name.identifiers.contains_key(identifier) {
            return Err(taken(event, "container", identifier));
        }
        let number = self.containers.len() as u32;
        self.containers.push(Container {
            identifier: identifier.into(),
            name: name.into(),
            kind,
            parent,
            start: time,
            end: -1.0,
            destroyed: false,
            created: Some(event.place),
            children: Vec::new(),
        });
        self.containers[parent as usize].children.push(number);
        self.containers_by_name.insert(identifier, name, number);
        Ok(())
    }
}

/// Alias, else name; and name.
pub fn identity<'r>(event: &PajeEvent<'r>) -> (&'r [u8], &'r [u8]) {
    let name = event.field(KnownField::Name);
    match event.field(KnownField::Alias) {
        b"" => (name, name),
        alias => (alias, name),
    }
}

fn unknown(event: &PajeEvent<'_>, field: KnownField, name: &[u8]) -> PajeError {
    let name = shown(name);
    event.fault(Problem::Unknown { field, name })
}

fn taken(event: &PajeEvent<'_>, what: &'static str, name: &[u8]) -> PajeError {
    let name = shown(name);
    event.fault(Problem::Taken { what, name })
}

pub fn mismatch(event: &PajeEvent<'_>, field: KnownField, expected: String) -> PajeError {
    let found = shown(event.field(field));
    event.fault(Problem::Mismatch {
        field,
        expected,
        found,
    })
}

/// The colour that a value of type `color` names: three or four numbers from 0 to 1, or six hexadecimal digits.
pub fn color(text: &[u8]) -> Option<Color> {
    let parts: Vec<&[u8]> = text
        .split(|&b| b == b' ' || b == b',')
        .filter(|part| !part.is_empty())
        .collect();
    let rgb = match parts.as_slice() {
        [r, g, b] | [r, g, b, _] => {
            let level = |part: &&[u8]| {
                let level = super::number::leading_float(part).clamp(0.0, 1.0);
                if level.is_nan() {
                    0
                } else {
                    (level * 255.0).round() as u32
                }
            };
            (level(r) << 16) | (level(g) << 8) | level(b)
        }
        [digits] if digits.len() == 6 => {
            let digits = std::str::from_utf8(digits).ok()?;
            u32::from_str_radix(digits, 16).ok()?
        }
        _ => return None,
    };
    Some(Color::rgb(rgb))
}
