//! Statistics of golden files and of random traces; analysis of runs that were made up.

mod files;
mod made_up;
mod matched_receives;
mod performance;
mod phases;
mod root_causes;
mod run_facts;
mod stats;
mod unrecorded_calls;
mod windows;
