//! Block files on this machine: the folders they are in, which of them may be read, and the clocks their times come from.

pub mod folders;
pub mod found;
pub mod machine_clock;
