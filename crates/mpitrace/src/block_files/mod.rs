//! Block files on this machine: the folders they are in, which of them may be read, which are of one run, and the clocks
//! their times come from.

pub mod folders;
pub mod found;
pub mod groups;
pub mod machine_clock;
pub mod snapshot;
pub mod source;
