//! Random SLOG2 files for the tests of what makes traces out of traces.

use std::collections::BTreeSet;
use std::io::Cursor;

use proptest::prelude::*;
use trace_formats::slog2::{
    Category, Color, LineIdMap, NewDrawable, NodeDrawable, Slog2Reader, Topology, TreeBuilder,
    TreeOptions, Vertex,
};
use trace_model::{Definitions, DrawableOrder, Line, Losses, Source, Stop};
use transform::write_slog2;

/// A drawable of its own: category, info, vertices.
#[derive(Clone, Debug, PartialEq, PartialOrd)]
pub struct Drawn {
    pub category: i32,
    pub info: Vec<u8>,
    pub vertices: Vec<(f64, i32)>,
}

impl Drawn {
    pub fn new(category: i32, info: &[u8], vertices: &[(f64, i32)]) -> Self {
        Drawn {
            category,
            info: info.to_vec(),
            vertices: vertices.to_vec(),
        }
    }

    pub fn start(&self) -> f64 {
        let times = self.vertices.iter().map(|vertex| vertex.0);
        times.fold(f64::INFINITY, f64::min)
    }

    pub fn end(&self) -> f64 {
        let times = self.vertices.iter().map(|vertex| vertex.0);
        times.fold(f64::NEG_INFINITY, f64::max)
    }
}

/// Categories 0 message, 1 and 2 states (2 with a CallID), 3 an event with a CallID, 4 an arrow without info; then the
/// previews.
pub fn categories() -> Vec<Category> {
    let mut file = Category::new(
        2,
        "MPI_File_write".into(),
        Topology::State,
        Color::rgb(0xff00),
    );
    file.set_info_format(b"CallID=0x%X, bytes=%l");
    let mut event = Category::new(3, "disk".into(), Topology::Event, Color::rgb(0xff));
    event.set_info_format(b"CallID=0x%x");
    let mut all = vec![
        Category::message(),
        Category::new(1, "MPI_Send".into(), Topology::State, Color::rgb(0xff0000)),
        file,
        event,
        Category::new(4, "arrow".into(), Topology::Arrow, Color::WHITE),
    ];
    for topology in [Topology::Event, Topology::State, Topology::Arrow] {
        all.push(Category::preview(topology));
    }
    all
}

/// Any drawable of these categories: times are multiples of 1/8 so that many coincide.
pub fn any_drawn(lines: i32) -> impl Strategy<Value = Drawn> {
    let time = (0..200u32).prop_map(|n| f64::from(n) / 8.0);
    let vertices = (time.clone(), time, 0..lines, 0..lines);
    (0..5i32, vertices, 0..6u32).prop_map(|(category, (a, b, from, to), number)| {
        let info = match category {
            0 => [number.to_be_bytes(), [0, 0, 1, 0]].concat(),
            2 => [u64::from(number).to_be_bytes(), 77u64.to_be_bytes()].concat(),
            3 => number.to_be_bytes().to_vec(),
            _ => Vec::new(),
        };
        let vertices = match category {
            0 | 4 => vec![(a, from), (b, to)],
            3 => vec![(a, from)],
            _ => vec![(a.min(b), from), (a.max(b), from)],
        };
        Drawn {
            category,
            info,
            vertices,
        }
    })
}

/// An SLOG2 file of these drawables, with lines rank·2 + thread in a view by process and thread.
pub fn file(drawn: &[Drawn], leaf_byte_size: i32) -> Vec<u8> {
    file_of(drawn, leaf_byte_size, &categories())
}

/// As [`file`], with these categories.
pub fn file_of(drawn: &[Drawn], leaf_byte_size: i32, categories: &[Category]) -> Vec<u8> {
    let mut sorted = drawn.to_vec();
    sorted.sort_by(|a, b| (a.end().total_cmp(&b.end())).then(b.start().total_cmp(&a.start())));
    let options = TreeOptions {
        leaf_byte_size,
        ..TreeOptions::default()
    };
    let mut builder = TreeBuilder::new(Cursor::new(Vec::new()), options).expect("starts");
    for drawn in &sorted {
        let vertices: Vec<Vertex> = drawn
            .vertices
            .iter()
            .map(|&(time, line)| Vertex { time, line })
            .collect();
        let category = categories.iter().find(|c| c.index == drawn.category);
        builder
            .add(&NewDrawable {
                topology: category.expect("category").topology,
                category: drawn.category,
                info: &drawn.info,
                vertices: &vertices,
            })
            .expect("memory");
    }
    let tree = builder.close().expect("drawables");
    let mut view = LineIdMap::new("Process-Thread View", &["world_rank", "thread"]);
    for &line in tree.lines() {
        view.push(line, &[line / 2, line % 2]);
    }
    let identity = LineIdMap::identity(tree.lines());
    let (out, _) = tree.finish(categories, &[view, identity]).expect("memory");
    out.into_inner()
}

/// The drawables of a file, sorted by what they are.
pub fn drawn(file: &[u8]) -> Vec<Drawn> {
    let reader = Slog2Reader::new(file).expect("reads");
    let mut list = Vec::new();
    for entry in reader.directory() {
        let node = reader.node(entry.ptr).expect("node");
        for drawable in node.nestless.iter().chain(&node.nestable) {
            let NodeDrawable::Primitive(primitive) = drawable else {
                panic!("a composite");
            };
            let vertices = primitive.vertices().map(|v| (v.time, v.line));
            list.push(Drawn {
                category: primitive.category,
                info: primitive.info.to_vec(),
                vertices: vertices.collect(),
            });
        }
    }
    sort(&mut list);
    list
}

pub fn sort(list: &mut [Drawn]) {
    list.sort_by(|a, b| a.partial_cmp(b).expect("no NaN"));
}

/// Drawables as a source, in the order in which they are given.
pub struct Listed {
    pub definitions: Definitions,
    pub drawn: Vec<Drawn>,
    pub order: DrawableOrder,
}

impl Listed {
    /// These drawables in order of start, on lines rank·2 + thread.
    pub fn new(drawn: &[Drawn]) -> Self {
        let mut drawn = drawn.to_vec();
        drawn.sort_by(|a, b| (a.start().total_cmp(&b.start())).then(b.end().total_cmp(&a.end())));
        let mut categories = categories();
        categories.retain(|category| category.index >= 0);
        let ids = drawn
            .iter()
            .flat_map(|drawn| drawn.vertices.iter().map(|v| v.1));
        let ids: BTreeSet<i32> = ids.collect();
        let lines = ids.iter().map(|&id| Line::of_thread(id, id / 2, id % 2));
        Listed {
            definitions: Definitions {
                categories,
                lines: lines.collect(),
                ..Definitions::default()
            },
            drawn,
            order: DrawableOrder::Start,
        }
    }
}

impl Source for Listed {
    fn definitions(&self) -> &Definitions {
        &self.definitions
    }

    fn order(&self) -> DrawableOrder {
        self.order
    }

    fn for_each(
        &self,
        put: &mut dyn FnMut(&NewDrawable<'_>) -> Result<(), Stop>,
    ) -> Result<Losses, Stop> {
        for drawn in &self.drawn {
            let vertices: Vec<Vertex> = drawn
                .vertices
                .iter()
                .map(|&(time, line)| Vertex { time, line })
                .collect();
            let category = self.definitions.category(drawn.category).expect("category");
            put(&NewDrawable {
                topology: category.topology,
                category: drawn.category,
                info: &drawn.info,
                vertices: &vertices,
            })?;
        }
        Ok(Losses::default())
    }
}

/// Everything that a source gives, sorted by what it is.
pub fn all(source: &dyn Source) -> Vec<Drawn> {
    let mut list = Vec::new();
    source
        .for_each(&mut |drawable| {
            let vertices = drawable.vertices.iter().map(|v| (v.time, v.line));
            list.push(Drawn {
                category: drawable.category,
                info: drawable.info.to_vec(),
                vertices: vertices.collect(),
            });
            Ok(())
        })
        .expect("reads");
    sort(&mut list);
    list
}

/// The source as an SLOG2 file with these views.
pub fn written(source: &dyn Source, views: &[LineIdMap]) -> Vec<u8> {
    let options = TreeOptions {
        leaf_byte_size: 500,
        ..TreeOptions::default()
    };
    let out = Cursor::new(Vec::new());
    let (out, _, _) = write_slog2(source, views, options, out).expect("writes");
    out.into_inner()
}
