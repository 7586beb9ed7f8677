//! Perfetto traces, decoded as the public definitions declare them.

mod decode;
mod goldens;
mod random;
pub mod sample;
pub mod timeline;

use std::cell::RefCell;
use std::rc::Rc;

use trace_formats::perfetto::PerfettoSink;
use trace_model::{Category, Color, Definitions, Drawable, Line, Losses, Sink, Topology, Vertex};

/// A drawable that owns its parts.
#[derive(Clone, Debug, PartialEq)]
pub struct OwnedDrawable {
    pub topology: Topology,
    pub category: i32,
    pub info: Vec<u8>,
    pub vertices: Vec<Vertex>,
}

impl From<&Drawable<'_>> for OwnedDrawable {
    fn from(drawable: &Drawable<'_>) -> OwnedDrawable {
        OwnedDrawable {
            topology: drawable.topology,
            category: drawable.category,
            info: drawable.info.to_vec(),
            vertices: drawable.vertices.to_vec(),
        }
    }
}

impl OwnedDrawable {
    pub fn new(
        topology: Topology,
        category: i32,
        info: &[u8],
        ends: &[(f64, i32)],
    ) -> OwnedDrawable {
        let vertices = ends.iter().map(|&(time, line)| Vertex { time, line });
        OwnedDrawable {
            topology,
            category,
            info: info.to_vec(),
            vertices: vertices.collect(),
        }
    }

    pub fn borrowed(&self) -> Drawable<'_> {
        Drawable {
            topology: self.topology,
            category: self.category,
            info: &self.info,
            vertices: &self.vertices,
        }
    }
}

/// A category with values.
pub fn category(index: i32, name: &str, topology: Topology, format: &str) -> Category {
    let mut category = Category::new(index, name.into(), topology, Color::WHITE);
    category.set_info_format(format.as_bytes());
    category
}

/// Definitions with these categories, and a timeline for each rank and thread.
pub fn definitions(categories: Vec<Category>, places: &[(i32, i32)]) -> Definitions {
    let lines = (0..).zip(places);
    Definitions {
        lines: lines
            .map(|(id, &(rank, thread))| Line::of_thread(id, rank, thread))
            .collect(),
        categories,
        ..Definitions::default()
    }
}

/// The timeline of a rank's main thread about a communicator in which the rank has the number `comm_rank`.
pub fn line_of_comm(id: i32, rank: i32, comm: i32, comm_rank: i32) -> Line {
    Line {
        comm,
        comm_rank,
        ..Line::of_thread(id, rank, 0)
    }
}

/// What a sink wrote, to be looked at when it has finished.
pub fn written<S: Sink>(
    make: impl FnOnce(Rc<RefCell<Vec<u8>>>) -> S,
    drawables: &[OwnedDrawable],
) -> (Vec<u8>, Losses) {
    let bytes = Rc::new(RefCell::new(Vec::new()));
    let mut sink = make(bytes.clone());
    for drawable in drawables {
        sink.put(&drawable.borrowed()).expect("written");
    }
    let losses = Box::new(sink).finish().expect("completed");
    (bytes.take(), losses)
}

/// The Perfetto trace of some drawables, which are in order of start.
pub fn trace(definitions: &Definitions, drawables: &[OwnedDrawable]) -> (Vec<u8>, Losses) {
    let make = |bytes: Rc<RefCell<Vec<u8>>>| {
        let complete = move |written: Vec<u8>| {
            bytes.replace(written);
            Ok(())
        };
        PerfettoSink::new(Vec::new(), definitions, complete).expect("begun")
    };
    written(make, drawables)
}
