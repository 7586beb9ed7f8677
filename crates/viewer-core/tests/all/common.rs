//! Small SLOG2 files for tests.
#![allow(dead_code)]

use std::io::Cursor;
use trace_formats::slog2::{
    Category, Color, LineIdMap, NewDrawable, Slog2Reader, TimeBBox, Topology, TreeBuilder,
    TreeOptions, Vertex,
};
use trace_model::Line;
use viewer_core::{ContentRequest, NamedTimelines, WindowContent};

/// A state: line, category, start and end.
pub type Simple = (i32, i32, f64, f64);

/// Categories 0 to 5: states, 6: arrows, 7: events.
pub fn categories() -> Vec<Category> {
    let colors = [0xff0000, 0x00ff00, 0x0000ff, 0xffff00, 0xff00ff, 0x00ffff];
    let states = colors.into_iter().enumerate().map(|(index, color)| {
        let name = format!("state {index}");
        Category::new(
            index as i32,
            name.as_str().into(),
            Topology::State,
            Color::rgb(color),
        )
    });
    let mut categories: Vec<Category> = states.collect();
    categories.push(Category::new(
        6,
        "arrow".into(),
        Topology::Arrow,
        Color::WHITE,
    ));
    categories.push(Category::new(
        7,
        "event".into(),
        Topology::Event,
        Color::rgb(0x888888),
    ));
    categories
}

/// A file of these drawables. Lines are those of ranks.
pub fn file(
    categories: &[Category],
    lines: i32,
    drawables: &mut [(i32, Vec<Vertex>, Vec<u8>)],
) -> Vec<u8> {
    let ends = |vertices: &[Vertex]| vertices.iter().map(|v| v.time).fold(f64::MIN, f64::max);
    drawables.sort_by(|a, b| ends(&a.1).total_cmp(&ends(&b.1)));
    let options = TreeOptions {
        leaf_byte_size: 1024,
        ..TreeOptions::default()
    };
    let mut builder = TreeBuilder::new(Cursor::new(Vec::new()), options).unwrap();
    for (category, vertices, info) in drawables.iter() {
        let found = categories.iter().find(|c| c.index == *category).unwrap();
        builder
            .add(&NewDrawable {
                topology: found.topology,
                category: *category,
                info,
                vertices,
            })
            .unwrap();
    }
    let mut map = LineIdMap::new("Process View", &["world_rank"]);
    for line in 0..lines {
        map.push(line, &[line]);
    }
    let tree = builder.close().unwrap();
    let (out, _) = tree.finish(categories, &[map]).unwrap();
    out.into_inner()
}

/// A file of states.
pub fn of_states(lines: i32, states: &[Simple]) -> Vec<u8> {
    let drawables = states.iter().map(|&(line, category, start, end)| {
        let vertices = [start, end].map(|time| Vertex { time, line });
        (category, vertices.to_vec(), Vec::new())
    });
    file(&categories(), lines, &mut drawables.collect::<Vec<_>>())
}

/// All that is in a window of a file.
pub fn content(file: &[u8], window: Option<TimeBBox>) -> WindowContent {
    let reader = Slog2Reader::new(file).unwrap();
    let lines: Vec<Line> = reader.lines().into_values().collect();
    let window = window.unwrap_or(reader.root().unwrap().bounds);
    let rows = NamedTimelines::new(lines.iter());
    WindowContent::read(&reader, rows, window, &ContentRequest::default()).unwrap()
}
