//! What tests of made-up runs share: categories by their names, a timeline for each rank, and a focus that takes in all of a run.

use analysis::performance::PerformanceOptions;
use trace_model::{Category, Color, Definitions, Drawable, Line, TimeBBox, Topology, Vertex};

/// Seconds of a tick, of which sums are exact.
pub const TICK: f64 = 1.0 / 1024.0;

/// A category of states for each name, numbered from 0 on.
pub fn states(names: &[&str]) -> Vec<Category> {
    let state = |(index, name): (i32, &&str)| {
        Category::new(index, (*name).into(), Topology::State, Color::WHITE)
    };
    (0..).zip(names).map(state).collect()
}

/// As [`states`], with the format of the infos behind each name.
pub fn states_with_infos(formats: &[(&str, &[u8])]) -> Vec<Category> {
    let names: Vec<&str> = formats.iter().map(|(name, _)| *name).collect();
    let mut categories = states(&names);
    for (category, (_, format)) in categories.iter_mut().zip(formats) {
        category.set_info_format(format);
    }
    categories
}

/// Gives a state of a category on a line, from its begin to its end in seconds.
pub fn put_state(
    put: impl FnOnce(&Drawable<'_>),
    (category, line): (i32, i32),
    times: [f64; 2],
    info: &[u8],
) {
    let vertices = times.map(|time| Vertex { time, line });
    put(&Drawable {
        topology: Topology::State,
        category,
        info,
        vertices: &vertices,
    });
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
