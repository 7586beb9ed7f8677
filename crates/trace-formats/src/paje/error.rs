//! Errors of Pajé traces.

use std::fmt;
use std::io;

use super::names::{EventName, KnownField};
use trace_model::{Fault, FaultKind};

/// An error in a Pajé trace: what was expected, at which byte and line, of which file.
pub type PajeError = Fault<PajeErrorKind>;

/// A problem and the line it is on.
#[derive(Debug)]
pub struct PajeErrorKind {
    /// Line of the file, from 1; 0 for what has no line.
    pub line: u64,
    /// The line is the last one and has no end: the file was cut there.
    pub cut: bool,
    /// Kind of the fault.
    pub problem: Problem,
}

/// Error in a line.
#[derive(Debug)]
#[non_exhaustive]
pub enum Problem {
    /// The first line that is neither blank nor a comment is no `%EventDef`.
    NotPaje,
    /// A line of more than 1 MiB.
    LongLine,
    /// A line of more than 64 values.
    ManyValues,
    /// A double quote without its second one.
    Quote,
    /// A line with `%` that is not what has to stand there.
    Definition {
        /// The expected item.
        expected: &'static str,
        /// Text that was found.
        found: String,
    },
    /// The number of an event definition is taken.
    DefinitionTaken(String),
    /// A field stands twice in a definition.
    FieldTwice(String),
    /// The type of a field is none.
    FieldType(String),
    /// A definition lacks a field that its event needs.
    FieldMissing(EventName, KnownField),
    /// The file ends inside a definition.
    OpenDefinition,
    /// An event without a definition.
    UnknownEvent(String),
    /// An event with fewer values than its definition has fields.
    FewValues {
        /// Fields of the definition.
        expected: usize,
        /// Values of the line.
        found: usize,
    },
    /// A value that is not what its field needs.
    Value {
        /// The field.
        field: KnownField,
        /// Kind of value that was expected.
        expected: &'static str,
        /// Text that was found.
        found: String,
    },
    /// A type or container that is not there (yet).
    Unknown {
        /// The field that names it.
        field: KnownField,
        /// Name or alias of the type or container that is missing.
        name: String,
    },
    /// A type or container whose name or alias is taken, or is `0`.
    Taken {
        /// Kind of thing that was to be made.
        what: &'static str,
        /// Name or alias that is taken, or `0`.
        name: String,
    },
    /// A type of the wrong kind, or one that does not belong to the container's type.
    Mismatch {
        /// The field.
        field: KnownField,
        /// Type that was expected.
        expected: String,
        /// Text that was found.
        found: String,
    },
    /// A rule of the format was broken that reading can go on without; printing tells it at the end.
    Rule(PajeRule),
    /// Reading or writing failed.
    Io(io::Error),
}

/// Rules of Pajé that a trace may break and still be read (`spec/paje.md` section 5): `pj_dump` stops at each.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum PajeRule {
    /// An event earlier than what came before of its type on its container.
    TimeOrder,
    /// A PopState where there is no state.
    EmptyStack,
    /// An addition to a variable without a value.
    NoValue,
    /// Start and end of a link that differ in their value.
    LinkValue,
    /// A link of which one end is missing.
    IncompleteLink,
    /// A colour that is none.
    Color,
    /// A value defined twice.
    ValueTaken,
    /// More values on a line than fields. `pj_dump` goes on, too.
    ManyValues,
}

impl PajeRule {
    /// Description of a breach of the rule, in the singular, for losses and messages.
    pub fn text(self) -> &'static str {
        match self {
            PajeRule::TimeOrder => "event that comes too late in the file for its time",
            PajeRule::EmptyStack => "PajePopState without a state",
            PajeRule::NoValue => "addition to a variable without a value",
            PajeRule::LinkValue => "link whose two ends differ in their value",
            PajeRule::IncompleteLink => "link without its other end",
            PajeRule::Color => "colour that is none",
            PajeRule::ValueTaken => "value defined twice",
            PajeRule::ManyValues => "line with more values than fields",
        }
    }
}

impl fmt::Display for PajeErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.line > 0 {
            write!(f, "line {}: ", self.line)?;
        }
        if self.cut {
            write!(f, "the file ends in the middle of a line: ")?;
        }
        match &self.problem {
            Problem::NotPaje => write!(f, "not a Pajé trace: expected %EventDef"),
            Problem::LongLine => write!(f, "a line of more than 1 MiB"),
            Problem::ManyValues => write!(f, "a line of more than 64 values"),
            Problem::Quote => write!(f, "a \" without a second one, expected it on the same line"),
            Problem::Definition { expected, found } => {
                write!(f, "expected {expected}, found {found:?}")
            }
            Problem::DefinitionTaken(id) => {
                write!(
                    f,
                    "event definition {id:?} is there already, expected another number"
                )
            }
            Problem::FieldTwice(name) => {
                write!(f, "field {name} a second time, expected each only once")
            }
            Problem::FieldType(name) => write!(
                f,
                "field type {name:?}, expected date, int, double, float, hex, string or color"
            ),
            Problem::FieldMissing(event, field) => {
                write!(f, "definition of {event}: expected a field {field}")
            }
            Problem::OpenDefinition => write!(f, "the file ends where %EndEventDef was expected"),
            Problem::UnknownEvent(id) => write!(
                f,
                "event {id:?}, expected the number of an event definition above"
            ),
            Problem::FewValues { expected, found } => write!(
                f,
                "{found} values, expected {expected} as in the event's definition"
            ),
            Problem::Value {
                field,
                expected,
                found,
            } => write!(f, "{field} {found:?}, expected {expected}"),
            Problem::Unknown { field, name } => {
                write!(f, "{field} {name:?}, expected one that was made above")
            }
            Problem::Taken { what, name } => write!(
                f,
                "{what} {name:?}: the name is taken, expected another name or alias"
            ),
            Problem::Mismatch {
                field,
                expected,
                found,
            } => write!(f, "{field} {found:?}, expected {expected}"),
            Problem::Rule(rule) => f.write_str(rule.text()),
            Problem::Io(error) => write!(f, "{error}"),
        }
    }
}

impl FaultKind for PajeErrorKind {
    fn has_place(&self) -> bool {
        !matches!(self.problem, Problem::Io(_))
    }

    fn beneath(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match &self.problem {
            Problem::Io(error) => Some(error),
            _ => None,
        }
    }
}

impl From<io::Error> for PajeErrorKind {
    fn from(error: io::Error) -> Self {
        PajeErrorKind {
            line: 0,
            cut: false,
            problem: Problem::Io(error),
        }
    }
}
