//! Pajé: reading and writing.

mod read;
mod write;
