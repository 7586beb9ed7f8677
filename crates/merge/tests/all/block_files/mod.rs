//! From block files to calls, messages, CLOG2 and DUMPI records.

mod annotations;
mod clog2;
mod definitions;
mod dumpi;
mod dumpi_golden;
mod dumpi_random;
mod dumpi_run;
mod dumpi_speed;
mod messages;
mod random;
pub mod ranks;
mod slices;
mod user;
