//! What a server with several traces says of them: their names, and how two of them compare.

use serde::Serialize;

/// The traces that a server has, by number.
#[derive(Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct TracesAnswer<'a> {
    /// The traces, by number. Of one that was opened again, the number is a new one, and the one before is missing.
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
    /// The traces with these numbers and names.
    pub fn new(names: impl IntoIterator<Item = (usize, &'a str)>) -> Self {
        let names = names.into_iter();
        TracesAnswer {
            traces: names
                .map(|(number, name)| TraceName { number, name })
                .collect(),
        }
    }
}

/// What became slower or faster from one trace to another.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct ComparisonAnswer {
    /// Length, and time of a rank by use, in a sentence or two.
    pub words: String,
    /// What changed, by activity, region and rank.
    pub tables: Vec<ComparedTable>,
}

/// A table of a comparison.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct ComparedTable {
    /// Title of the table.
    pub title: &'static str,
    /// What changed most comes first; none where nothing changed much.
    pub rows: Vec<ComparedRow>,
}

/// A row of a comparison.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct ComparedRow {
    /// Activity, region or rank.
    pub name: String,
    /// Seconds in the first trace.
    pub before: f64,
    /// Seconds in the second one.
    pub after: f64,
    /// Seconds more in the second one.
    pub change: f64,
    /// Seconds of the second one, divided by those of the first; `None` if these are 0.
    pub ratio: Option<f64>,
    /// Whether the change is more than that of iterations by chance; `None` where there are no iterations to tell by.
    pub beyond_noise: Option<bool>,
}
