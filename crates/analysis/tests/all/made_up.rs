//! What tests of made-up runs share: categories by their names, a timeline for each rank, and a focus that takes in all of a run.

use analysis::performance::PerformanceOptions;
use trace_model::{Category, Color, Definitions, Line, TimeBBox, Topology};

/// Seconds of a tick, of which sums are exact.
pub const TICK: f64 = 1.0 / 1024.0;

/// A category of states for each name, numbered from 0 on.
pub fn states(names: &[&str]) -> Vec<Category> {
    let state = |(index, name): (i32, &&str)| {
        Category::new(index, (*name).into(), Topology::State, Color::WHITE)
    };
    (0..).zip(names).map(state).collect()
}

/// The category of messages, with this number.
pub fn messages(index: i32) -> Category {
    Category {
        index,
        ..Category::message()
    }
}

/// The definitions of a run with these categories, whose ranks have a thread each, on the line of their number.
pub fn definitions(categories: Vec<Category>, ranks: i32) -> Definitions {
    let line = |rank| Line::of_thread(rank, rank, 0);
    Definitions {
        categories,
        lines: (0..ranks).map(line).collect(),
        ..Definitions::default()
    }
}

/// All of a run is looked at.
pub fn whole() -> PerformanceOptions {
    PerformanceOptions {
        focus: vec![TimeBBox {
            earliest: 0.0,
            latest: 1e6,
        }],
        parts: 0,
    }
}
