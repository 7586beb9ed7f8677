//! Pajé, the text format of containers, states, variables, links and events that ViTE and pajeng read.
//!
//! * [`Reader`] gives the events of a trace, [`Simulator`] what they tell of.
//! * [`print()`] writes the text of `pj_dump`.
//!
//! Section numbers in this module are those of the format description the project works from (`paje.md`).

mod error;
mod line;
mod names;
mod number;
mod order;
mod print;
mod read;
mod simulate;
mod tables;

pub use error::{Error, ErrorKind, Problem, Rule};
pub use names::{Dialect, EventName, Field, FieldType};
pub use print::{PrintOptions, Printed, print};
pub use read::{Definition, Event, FieldDefinition, Place, Reader, Trace};
pub use simulate::{Body, Entity, Simulator};
pub use tables::{Container, Kind, Tables, Type, Value};
