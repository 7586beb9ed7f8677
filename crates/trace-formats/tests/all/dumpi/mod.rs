//! DUMPI: golden files, files of our own, texts, damage.

pub mod common;
mod golden;
mod libdumpi_header;
mod own;
mod robust;
mod source;
mod source_comms;
mod source_messages;
mod speed;
mod text;
