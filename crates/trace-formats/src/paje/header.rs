//! The first part of a trace that we write: event definitions, types and values (`spec/paje.md` sections 3 and 7).

use std::collections::HashMap;
use std::io::{self, Write};
use std::rc::Rc;

use super::names::{EventName, FieldDialect, KnownField};
use trace_model::{Category, InfoValue, Losses, Topology, info_values};

use EventName as E;
use KnownField as F;

/// Fields with their types.
type TypedFields = &'static [(KnownField, &'static str)];

/// Fields of the user's own with their types.
type UserFields = Vec<(String, &'static str)>;

/// The event definitions that every trace has. Those of PushState, StartLink and NewEvent have no fields of the user's
/// own; with such there are more of them behind these.
const EVENTS: [(u32, EventName, TypedFields); 17] = [
    (
        0,
        E::DefineContainerType,
        &[
            (F::Alias, "string"),
            (F::Type, "string"),
            (F::Name, "string"),
        ],
    ),
    (
        1,
        E::DefineVariableType,
        &[
            (F::Alias, "string"),
            (F::Type, "string"),
            (F::Name, "string"),
            (F::Color, "color"),
        ],
    ),
    (
        2,
        E::DefineStateType,
        &[
            (F::Alias, "string"),
            (F::Type, "string"),
            (F::Name, "string"),
        ],
    ),
    (
        3,
        E::DefineEventType,
        &[
            (F::Alias, "string"),
            (F::Type, "string"),
            (F::Name, "string"),
            (F::Color, "color"),
        ],
    ),
    (
        4,
        E::DefineLinkType,
        &[
            (F::Alias, "string"),
            (F::Type, "string"),
            (F::StartContainerType, "string"),
            (F::EndContainerType, "string"),
            (F::Name, "string"),
        ],
    ),
    (
        5,
        E::DefineEntityValue,
        &[
            (F::Alias, "string"),
            (F::Type, "string"),
            (F::Name, "string"),
            (F::Color, "color"),
        ],
    ),
    (
        6,
        E::CreateContainer,
        &[
            (F::Time, "date"),
            (F::Alias, "string"),
            (F::Type, "string"),
            (F::Container, "string"),
            (F::Name, "string"),
        ],
    ),
    (
        7,
        E::DestroyContainer,
        &[(F::Time, "date"), (F::Name, "string"), (F::Type, "string")],
    ),
    (8, E::SetVariable, VARIABLE),
    (9, E::AddVariable, VARIABLE),
    (10, E::SubVariable, VARIABLE),
    (11, E::SetState, STATE),
    (PUSH, E::PushState, STATE),
    (
        13,
        E::PopState,
        &[
            (F::Time, "date"),
            (F::Type, "string"),
            (F::Container, "string"),
        ],
    ),
    (START, E::StartLink, START_LINK),
    (
        16,
        E::EndLink,
        &[
            (F::Time, "date"),
            (F::Type, "string"),
            (F::Container, "string"),
            (F::EndContainer, "string"),
            (F::Value, "string"),
            (F::Key, "string"),
        ],
    ),
    (NEW, E::NewEvent, STATE),
];

const VARIABLE: TypedFields = &[
    (F::Time, "date"),
    (F::Type, "string"),
    (F::Container, "string"),
    (F::Value, "double"),
];

const STATE: TypedFields = &[
    (F::Time, "date"),
    (F::Type, "string"),
    (F::Container, "string"),
    (F::Value, "string"),
];

const START_LINK: TypedFields = &[
    (F::Time, "date"),
    (F::Type, "string"),
    (F::Container, "string"),
    (F::StartContainer, "string"),
    (F::Value, "string"),
    (F::Key, "string"),
];

const PUSH: u32 = 12;
const START: u32 = 15;
const NEW: u32 = 17;

/// Values that pj_dump takes on a line, those that every PajeStartLink has taken off.
const MAX_FIELDS: usize = 20 - 7;

/// The event definition that begins drawables of a category.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventLayout {
    /// Number of the definition.
    pub number: u32,
    event: EventName,
    /// Names and types of the fields of the user's own.
    fields: UserFields,
    /// Field of each value of the info; `None` if no field holds it.
    places: Vec<Option<usize>>,
    /// The place of the communicator.
    comm: Option<usize>,
}

/// The event definitions of all categories; those with the same fields share one.
#[derive(Debug, Default)]
pub struct EventLayouts {
    known: HashMap<(Topology, UserFields), u32>,
    more: Vec<Rc<EventLayout>>,
}

impl EventLayouts {
    /// The layout of a category.
    pub fn add(&mut self, category: &Category, losses: &mut Losses) -> Rc<EventLayout> {
        let (event, plain) = match category.topology {
            Topology::State => (E::PushState, PUSH),
            Topology::Arrow => (E::StartLink, START),
            Topology::Event => (E::NewEvent, NEW),
        };
        let mut fields: UserFields = Vec::new();
        let mut places = Vec::new();
        let is_arrow = category.topology == Topology::Arrow;
        for (key, kind) in category.info_keys.iter().zip(&category.info_types) {
            let kind = match kind {
                b'h' | b'd' | b'l' => "int",
                b'x' | b'X' => "hex",
                b'e' | b'E' => "double",
                _ => "string",
            };
            if fields.len() + usize::from(is_arrow) >= MAX_FIELDS {
                losses.add("value of an info beyond the twelve that a line can hold", 1);
                places.push(None);
                continue;
            }
            let mut name = field_name(&key.0, is_arrow, fields.len());
            while fields.iter().any(|(taken, _)| *taken == name) {
                name.push('_');
            }
            places.push(Some(fields.len()));
            fields.push((name, kind));
        }
        let is_message = ["Tag", "Size"]
            .iter()
            .all(|wanted| fields.iter().any(|(name, _)| name == wanted));
        let mut comm = None;
        if is_arrow && is_message && !fields.iter().any(|(name, _)| name == "Comm") {
            comm = Some(fields.len());
            fields.push(("Comm".into(), "string"));
        }
        let mut number = plain;
        let mut is_new = false;
        if !fields.is_empty() {
            let next = 18 + self.more.len() as u32;
            let known = self.known.entry((category.topology, fields.clone()));
            number = *known.or_insert_with(|| {
                is_new = true;
                next
            });
        }
        let layout = Rc::new(EventLayout {
            number,
            event,
            fields,
            places,
            comm,
        });
        if is_new {
            self.more.push(layout.clone());
        }
        layout
    }
}

/// The name of a value's field, made of the text before the value. What is of the value before it, such as the unit of that, ends with a comma
/// or a semicolon.
fn field_name(key: &[u8], is_arrow: bool, nth: usize) -> String {
    let text = String::from_utf8_lossy(key);
    let text = text.rsplit([',', ';']).next().unwrap_or_default();
    let text = text.split(['=', ':']).next().unwrap_or_default();
    let name: String = text
        .trim_matches(|c: char| !c.is_ascii_alphanumeric())
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() { c } else { '_' })
        .collect();
    match name.as_str() {
        "msg_tag" if is_arrow => "Tag".into(),
        "msg_size" if is_arrow => "Size".into(),
        "" => format!("Info{nth}"),
        // A name that has a meaning in the format, or may get one by dialect.
        _ if KnownField::from_bytes(name.as_bytes()).is_some() => format!("User{name}"),
        _ => name,
    }
}

impl EventLayout {
    /// The values of an info behind the others of a line. An info that is too short has zeros at its end.
    pub fn values(
        &self,
        out: &mut impl Write,
        category: &Category,
        info: &[u8],
        comm: i32,
    ) -> io::Result<()> {
        let mut values = info_values(category, info);
        for place in &self.places {
            let value = values.next().map(|(_, value)| value);
            let Some(at) = *place else {
                continue;
            };
            let kind = self.fields.get(at).map_or("string", |(_, kind)| *kind);
            out.write_all(b" ")?;
            match (value, kind) {
                (Some(InfoValue::Integer(number)), _) => write!(out, "{number}")?,
                (Some(InfoValue::Hex(number)), _) => write!(out, "0x{number:x}")?,
                (Some(InfoValue::Real(number)), _) if number.is_finite() => {
                    write!(out, "{number:?}")?
                }
                (Some(InfoValue::Text(text)), _) => quoted(out, text)?,
                (_, "string") => quoted(out, b"")?,
                _ => out.write_all(b"0")?,
            }
        }
        match (self.comm, comm) {
            (None, _) => Ok(()),
            (Some(_), 0) => out.write_all(b" MPI_COMM_WORLD"),
            (Some(_), comm) => write!(out, " \"communicator {comm}\""),
        }
    }
}

/// A string. What the format has no way to write becomes a blank or a single quote; pj_dump 1.3.6 takes the empty string
/// for the beginning of a longer one, so there is a blank in it.
pub fn quoted(out: &mut impl Write, text: &[u8]) -> io::Result<()> {
    let clean = |byte: &u8| match byte {
        b'"' => b'\'',
        0..b' ' => b' ',
        &byte => byte,
    };
    let text: Vec<u8> = text.iter().take(1 << 14).map(clean).collect();
    out.write_all(b"\"")?;
    out.write_all(if text.is_empty() { b" " } else { &text })?;
    out.write_all(b"\"")
}

/// Writes definitions, types and values.
pub fn write(
    out: &mut impl Write,
    layouts: &EventLayouts,
    categories: &[&Category],
    dialect: FieldDialect,
) -> io::Result<()> {
    let definition =
        |out: &mut dyn Write, number: u32, event: EventName, more: &[(String, &str)]| {
            writeln!(out, "%EventDef {event} {number}")?;
            let fields = EVENTS.iter().find(|(_, known, _)| *known == event);
            for (field, kind) in fields.map_or(&[][..], |(_, _, fields)| fields) {
                writeln!(out, "%  {} {kind}", field.name(event, dialect))?;
            }
            for (name, kind) in more {
                writeln!(out, "%  {name} {kind}")?;
            }
            writeln!(out, "%EndEventDef")
        };
    for (number, event, _) in EVENTS {
        definition(out, number, event, &[])?;
    }
    for layout in &layouts.more {
        definition(out, layout.number, layout.event, &layout.fields)?;
    }
    out.write_all(
        b"0 CP 0 Program\n0 CN CP Node\n0 CR CN Rank\n0 CT CR Thread\n\
          1 VF CR \"Bytes in flight\" \"0.9 0.4 0.1\"\n2 SM CT \"MPI call\"\n\
          3 EU CT Marker \"0.2 0.2 0.2\"\n4 LM CP CT CT \"MPI message\"\n\
          5 rn SM Running \"0.80 0.80 0.80\"\n",
    )?;
    for category in categories {
        let kind = match category.topology {
            Topology::State => "SM",
            Topology::Event => "EU",
            Topology::Arrow => "LM",
        };
        write!(out, "5 v{} {kind} ", category.index)?;
        match (category.topology, &category.name.0[..]) {
            (Topology::Arrow, b"message") => quoted(out, b"MPI point-to-point")?,
            (_, name) if is_alias(name) => quoted(out, &[name, b" "].concat())?,
            (_, name) => quoted(out, name)?,
        }
        let [_, r, g, b] = category.color.argb();
        let [r, g, b] = [r, g, b].map(|level| f64::from(level) / 255.0);
        writeln!(out, " \"{r:.3} {g:.3} {b:.3}\"")?;
    }
    Ok(())
}

/// True for a name that an alias of ours may be: pj_dump takes two values for one of which the name is the alias of the
/// other for the same. Such a name gets a blank behind it.
fn is_alias(name: &[u8]) -> bool {
    match name {
        b"rn" => true,
        [b'v', digits @ ..] => !digits.is_empty() && digits.iter().all(u8::is_ascii_digit),
        _ => false,
    }
}
