//! OTF2, the traces of Score-P, Vampir and Scalasca: an archive is a folder.
//!
//! The bytes of an archive are described nowhere, so the OTF2 library reads and writes them. It is loaded when the first archive is opened; without it
//! [`Otf2Sink::create`] and [`Otf2Source::open`] say what to install.
//!
//! [`library`] declares the library's functions, and [`archive`] makes those that write safe to call. [`events`] turns drawables into events; what
//! they refer to is collected beside them and written last. [`read`] turns events into drawables.

mod archive;
mod calls;
mod categories;
mod category_entry;
mod checked;
mod comms;
mod definition_writer;
mod definitions;
mod error;
mod event;
mod events;
mod files;
mod folder;
mod functions;
mod info;
mod io;
mod join;
mod library;
mod mapping;
mod messages;
mod metrics;
mod numbers;
mod one_sided;
mod operation_numbers;
mod part;
mod part_tables;
mod places;
mod read;
mod read_functions;
mod requests;
mod strings;
mod symbols;
mod untold;
mod values;
mod window_calls;
mod window_event;
mod windows;
mod write;

pub use error::{Otf2Error, Otf2ErrorKind};
pub use folder::{ARCHIVE, anchor, is_archive, recognises};
pub use join::join_parts;
pub use read::Otf2Source;
pub use write::{Otf2PartSink, Otf2Sink};
