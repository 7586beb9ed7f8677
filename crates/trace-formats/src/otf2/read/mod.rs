//! Reads an archive as drawables: every region a state on the line of its thread, collective calls on that of their communicator, every message an
//! arrow, values of metrics events or values of the calls.
//!
//! An archive is read twice: [`survey`] finds what its events are about, and [`Otf2Source`] draws them, all locations in order of time.

mod archive;
mod calls;
mod categories;
mod comm_names;
mod comms;
mod definition_callbacks;
mod definitions;
mod event;
mod event_callbacks;
mod files;
mod messages;
mod places;
mod requests;
mod source;
mod survey;
mod values;

pub use source::Otf2Source;
