//! Search: the language, a search made ready for a trace, the next hit, the number of hits and where they are.

pub mod aggregate;
pub mod aggregation;
pub(crate) mod call_files;
pub mod comms;
pub mod files;
pub mod hits;
pub mod language;
pub mod plan;
pub(crate) mod prepare;
pub mod walk;
