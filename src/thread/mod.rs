//! The threads of the traced program: the state of each ([`state`]), how it is reached ([`mod@current`], [`registry`]), begun ([`begin`])
//! and given on ([`retire`]), how records are written into its block ([`records`]), and how a forked child is known ([`wiped`]).

pub(crate) mod begin;
pub(crate) mod callids;
pub(crate) mod current;
pub(crate) mod polls;
pub(crate) mod program_functions;
pub(crate) mod records;
pub(crate) mod registry;
pub(crate) mod retire;
pub(crate) mod state;
pub(crate) mod tids;
pub(crate) mod wiped;
pub(crate) mod within;

pub use current::current;
pub use registry::all;
pub use state::Thread;
pub use within::BusyGuard;
