//! Pajé, the text format of containers, states, variables, links and events that ViTE and pajeng read.
//!
//! * [`PajeReader`] gives the events of a trace, [`Simulator`] what they tell of.
//! * [`print()`] writes the text of `pj_dump`.
//! * [`PajeSource`] gives a trace as drawables, [`PajeSink`] makes one of drawables.
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

pub use error::{PajeError, PajeErrorKind, PajeRule, Problem};
pub use names::{EventName, FieldDialect, FieldType, KnownField};
pub use print::{PajePrintOptions, Printed, print};
pub use read::{EventDefinition, EventPosition, FieldDefinition, PajeEvent, PajeReader, PajeTrace};
pub use rewrite::rewrite;
pub use simulate::{Entity, EntityBody, Simulator};
pub use source::PajeSource;
pub use tables::{Container, EntityKind, EntityType, EntityValue, PajeTables};
pub use write::{PajeSink, WriteOptions};
