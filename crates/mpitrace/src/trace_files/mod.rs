//! Traces as files: opening an input of any format, writing an output of any format, and the options that all commands
//! have for that.
//!
//! [`input`] gives the bytes of a file and [`format`](mod@format) tells what they are. A [`trace`] is one or more such files, and
//! [`source`] reads it as drawables. A [`target`] is a file to be written, and [`write`](mod@write) fills it with drawables. The other
//! modules have what single formats need beyond that.

pub mod annotation;
pub mod archive_parts;
pub mod clog2;
mod damage;
pub mod dumpi;
pub mod dumpi_run;
pub mod edited;
pub mod folder;
pub mod format;
pub mod input;
pub mod losses;
pub mod mpe1;
mod only_messages;
pub mod overwrite;
pub mod paje;
mod pipeline;
pub mod shape;
pub mod slog1;
pub mod source;
pub mod target;
pub mod time_window;
pub mod trace;
pub mod write;
