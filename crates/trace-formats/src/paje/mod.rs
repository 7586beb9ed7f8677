//! Pajé, the text format of containers, states, variables, links and events that ViTE and pajeng read.
//!
//! * [`Reader`] gives the events of a trace, [`Simulator`] what they tell of.
//! * [`print()`] writes the text of `pj_dump`.
//! * [`Source`] gives a trace as drawables, [`Sink`] makes one of drawables.
//! * [`mod@rewrite`] copies a trace, with the field names of either dialect.
//!
//! Section numbers in this module are those of the format description the project works from (`paje.md`).

mod error;
mod header;
mod line;
mod lines;
mod names;
mod number;
mod order;
mod print;
mod read;
mod rewrite;
mod simulate;
mod source;
mod tables;
mod write;

pub use error::{Error, ErrorKind, Problem, Rule};
pub use names::{Dialect, EventName, Field, FieldType};
pub use print::{PrintOptions, Printed, print};
pub use read::{Definition, Event, EventPosition, FieldDefinition, Reader, Trace};
pub use rewrite::rewrite;
pub use simulate::{Body, Entity, Simulator};
pub use source::Source;
pub use tables::{Container, EntityKind, Tables, Type, Value};
pub use write::{Sink, WriteOptions};
