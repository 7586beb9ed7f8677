//! The names of a server's traces, from which questions choose one.

use serde::Serialize;

/// The traces that a server has, by number.
#[derive(Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct TracesAnswer<'a> {
    /// All traces, numbered from 0.
    pub traces: Vec<TraceName<'a>>,
}

/// A trace of a server.
#[derive(Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct TraceName<'a> {
    /// The number of the trace in addresses: `t/0/meta`.
    #[serde(rename = "n")]
    pub number: usize,
    /// The name of the trace for people.
    pub name: &'a str,
}

impl<'a> TracesAnswer<'a> {
    /// The traces with these names, numbered in their order.
    pub fn new(names: impl IntoIterator<Item = &'a str>) -> Self {
        let names = names.into_iter().enumerate();
        TracesAnswer {
            traces: names
                .map(|(number, name)| TraceName { number, name })
                .collect(),
        }
    }
}
