//! OTF2, the traces of Score-P, Vampir and Scalasca: an archive is a folder. Archives are written and not read.
//!
//! The bytes of an archive are described nowhere, so the OTF2 library writes them. It is loaded when the first archive is written; without it
//! [`Otf2Sink::create`] says what to install.
//!
//! [`library`] declares the library's functions, and [`archive`] makes them safe to call. [`events`] turns drawables into events; what
//! they refer to is collected beside them and written last.

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
mod library;
mod messages;
mod metrics;
mod numbers;
mod places;
mod requests;
mod strings;
mod values;
mod write;

pub use error::{Otf2Error, Otf2ErrorKind};
pub use folder::{is_archive, recognises};
pub use write::Otf2Sink;
