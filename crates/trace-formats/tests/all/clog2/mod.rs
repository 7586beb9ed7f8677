//! CLOG2: golden files, files of our own, joining, repair, conversion from and to drawables.

pub mod common;
mod golden;
mod join;
mod own;
mod robust;
mod sink;
mod source;
