//! The names of events, fields and field types, in both dialects (`spec/paje.md` sections 2 and 3).

use std::fmt;

/// The field names that a writer uses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FieldDialect {
    /// Names of format 1.2 (2012) and later: `EntityType`, `StartContainer`.
    #[default]
    New,
    /// Names of the first report: `ContainerType`, `EntityType`, `SourceContainer`.
    Old,
}

/// The events of the format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EventName {
    /// PajeDefineContainerType
    DefineContainerType,
    /// PajeDefineStateType
    DefineStateType,
    /// PajeDefineEventType
    DefineEventType,
    /// PajeDefineVariableType
    DefineVariableType,
    /// PajeDefineLinkType
    DefineLinkType,
    /// PajeDefineEntityValue
    DefineEntityValue,
    /// PajeCreateContainer
    CreateContainer,
    /// PajeDestroyContainer
    DestroyContainer,
    /// PajeNewEvent
    NewEvent,
    /// PajeSetState
    SetState,
    /// PajePushState
    PushState,
    /// PajePopState
    PopState,
    /// PajeResetState
    ResetState,
    /// PajeSetVariable
    SetVariable,
    /// PajeAddVariable
    AddVariable,
    /// PajeSubVariable
    SubVariable,
    /// PajeStartLink
    StartLink,
    /// PajeEndLink
    EndLink,
    /// PajeTraceFile
    TraceFile,
    /// A name that is none of these, which Pajé itself allows.
    Other,
}

use EventName as E;
use KnownField as F;

/// Every event that has a name, with the fields that it must have.
const EVENTS: [(EventName, &str, &[KnownField]); 19] = [
    (
        E::DefineContainerType,
        "PajeDefineContainerType",
        &[F::Name, F::Type],
    ),
    (
        E::DefineStateType,
        "PajeDefineStateType",
        &[F::Name, F::Type],
    ),
    (
        E::DefineEventType,
        "PajeDefineEventType",
        &[F::Name, F::Type],
    ),
    (
        E::DefineVariableType,
        "PajeDefineVariableType",
        &[F::Name, F::Type],
    ),
    (
        E::DefineLinkType,
        "PajeDefineLinkType",
        &[F::Name, F::Type, F::StartContainerType, F::EndContainerType],
    ),
    (
        E::DefineEntityValue,
        "PajeDefineEntityValue",
        &[F::Name, F::Type],
    ),
    (
        E::CreateContainer,
        "PajeCreateContainer",
        &[F::Time, F::Name, F::Type, F::Container],
    ),
    (
        E::DestroyContainer,
        "PajeDestroyContainer",
        &[F::Time, F::Name, F::Type],
    ),
    (
        E::NewEvent,
        "PajeNewEvent",
        &[F::Time, F::Type, F::Container, F::Value],
    ),
    (
        E::SetState,
        "PajeSetState",
        &[F::Time, F::Type, F::Container, F::Value],
    ),
    (
        E::PushState,
        "PajePushState",
        &[F::Time, F::Type, F::Container, F::Value],
    ),
    (
        E::PopState,
        "PajePopState",
        &[F::Time, F::Type, F::Container],
    ),
    (
        E::ResetState,
        "PajeResetState",
        &[F::Time, F::Type, F::Container],
    ),
    (
        E::SetVariable,
        "PajeSetVariable",
        &[F::Time, F::Type, F::Container, F::Value],
    ),
    (
        E::AddVariable,
        "PajeAddVariable",
        &[F::Time, F::Type, F::Container, F::Value],
    ),
    (
        E::SubVariable,
        "PajeSubVariable",
        &[F::Time, F::Type, F::Container, F::Value],
    ),
    (
        E::StartLink,
        "PajeStartLink",
        &[
            F::Time,
            F::Type,
            F::Container,
            F::StartContainer,
            F::Value,
            F::Key,
        ],
    ),
    (
        E::EndLink,
        "PajeEndLink",
        &[
            F::Time,
            F::Type,
            F::Container,
            F::EndContainer,
            F::Value,
            F::Key,
        ],
    ),
    (
        E::TraceFile,
        "PajeTraceFile",
        &[F::Container, F::Type, F::Filename],
    ),
];

impl EventName {
    /// The event of this name.
    pub fn from_bytes(name: &[u8]) -> Self {
        let found = EVENTS.iter().find(|(_, text, _)| text.as_bytes() == name);
        found.map_or(EventName::Other, |(event, _, _)| *event)
    }

    /// The fields it must have.
    pub fn obligatory(self) -> &'static [KnownField] {
        let found = EVENTS.iter().find(|(event, _, _)| *event == self);
        found.map_or(&[], |(_, _, fields)| fields)
    }
}

impl fmt::Display for EventName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let found = EVENTS.iter().find(|(event, _, _)| event == self);
        f.write_str(found.map_or("another event", |(_, text, _)| text))
    }
}

/// The fields whose meaning the format tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)] // the names are the documentation
pub enum KnownField {
    Event,
    Time,
    Name,
    Type,
    Container,
    StartContainerType,
    EndContainerType,
    StartContainer,
    EndContainer,
    Value,
    Key,
    Alias,
    Color,
    Line,
    File,
    Filename,
}

/// Number of [`KnownField`]s.
pub const FIELDS: usize = 16;

const FIELD_NAMES: [(KnownField, &str); FIELDS] = [
    (F::Event, "Event"),
    (F::Time, "Time"),
    (F::Name, "Name"),
    (F::Type, "Type"),
    (F::Container, "Container"),
    (F::StartContainerType, "StartContainerType"),
    (F::EndContainerType, "EndContainerType"),
    (F::StartContainer, "StartContainer"),
    (F::EndContainer, "EndContainer"),
    (F::Value, "Value"),
    (F::Key, "Key"),
    (F::Alias, "Alias"),
    (F::Color, "Color"),
    (F::Line, "Line"),
    (F::File, "File"),
    (F::Filename, "Filename"),
];

const OLD_NAMES: [(KnownField, &str); 6] = [
    (F::Type, "ContainerType"),
    (F::Type, "EntityType"),
    (F::StartContainerType, "SourceContainerType"),
    (F::EndContainerType, "DestContainerType"),
    (F::StartContainer, "SourceContainer"),
    (F::EndContainer, "DestContainer"),
];

impl KnownField {
    /// The field of this name, in either dialect; `None` for a field of the user's own.
    pub fn from_bytes(name: &[u8]) -> Option<Self> {
        let all = FIELD_NAMES.iter().chain(&OLD_NAMES);
        let mut all = all.filter(|(_, text)| text.as_bytes() == name);
        all.next().map(|(field, _)| *field)
    }

    /// Name of the field in a definition of this event, in this dialect.
    pub fn name(self, event: EventName, dialect: FieldDialect) -> &'static str {
        let old = match (dialect, self, event) {
            (FieldDialect::New, _, _) => None,
            (_, F::Type, E::DefineEntityValue) => Some("EntityType"),
            (
                _,
                F::Type,
                E::DefineContainerType
                | E::DefineStateType
                | E::DefineEventType
                | E::DefineVariableType
                | E::DefineLinkType,
            ) => Some("ContainerType"),
            (_, F::Type, _) => None,
            _ => {
                let found = OLD_NAMES.iter().find(|(field, _)| *field == self);
                found.map(|(_, text)| *text)
            }
        };
        let new = || FIELD_NAMES.iter().find(|(field, _)| *field == self);
        old.or_else(|| new().map(|(_, text)| *text)).unwrap_or("")
    }
}

impl fmt::Display for KnownField {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name(EventName::Other, FieldDialect::New))
    }
}

/// Type of the values of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FieldType {
    /// Seconds.
    Date,
    /// A whole number.
    Int,
    /// A number; also `float`.
    Double,
    /// A number in hexadecimal.
    Hex,
    /// A word, or anything in quotes.
    String,
    /// Red, green and blue, from 0 to 1.
    Color,
}

impl FieldType {
    /// The type of this name.
    pub fn from_bytes(name: &[u8]) -> Option<Self> {
        Some(match name {
            b"date" => FieldType::Date,
            b"int" => FieldType::Int,
            b"double" | b"float" => FieldType::Double,
            b"hex" => FieldType::Hex,
            b"string" => FieldType::String,
            b"color" => FieldType::Color,
            _ => return None,
        })
    }
}
