//! The answers to questions of a viewer, one file for each group of routes.

mod aggregate;
pub(crate) mod answer;
mod csv;
mod details;
mod durations;
mod events;
mod meta;
mod moments;
mod names;
mod overview;
mod path;
mod picture;
mod route;
mod search;
mod statistics;
mod summary;
mod timelines;
pub(crate) mod traces;
mod tracks;
#[cfg(test)]
mod typescript;
mod verdict;
pub(crate) mod viewer;
mod waits;
