//! What the tests of SLOG2 share: small logs, their conversion, and what is in a file.

use std::io::Cursor;

pub use super::small_logs::{Log, sample};
use trace_formats::slog2::{
    ConvertOptions, FromClog2, NodeDrawable, Slog2Conversion, Slog2Node, Slog2Reader, Topology,
    TreeOptions,
};

impl Log {
    /// Feeds the records to the converter.
    pub fn feed(&self, options: ConvertOptions) -> FromClog2<Cursor<Vec<u8>>> {
        let out = Cursor::new(Vec::new());
        let mut converter = FromClog2::new(out, &self.preamble, options).expect("starts");
        for record in &self.records {
            converter.push(record).expect("takes the record");
        }
        converter
    }

    /// Converts with leaves of this size.
    pub fn convert(&self, leaf_byte_size: i32) -> (Vec<u8>, Slog2Conversion) {
        let tree = TreeOptions {
            leaf_byte_size,
            ..TreeOptions::default()
        };
        let options = ConvertOptions {
            tree,
            ..ConvertOptions::default()
        };
        let (out, conversion) = self.feed(options).finish().expect("finishes");
        (out.into_inner(), conversion)
    }
}

/// A drawable: topology, category, info, vertices.
pub type Drawn = (Topology, i32, Vec<u8>, Vec<(f64, i32)>);

/// All drawables of a file; nestless before nestable in each node, root last.
pub fn drawables(file: &[u8]) -> Vec<Drawn> {
    let reader = Slog2Reader::new(file).expect("reads");
    let mut list = Vec::new();
    for entry in reader.directory().iter().rev() {
        let node: Slog2Node<'_> = reader.node(entry.ptr).expect("node");
        for drawable in node.nestless.iter().chain(&node.nestable) {
            let NodeDrawable::Primitive(primitive) = drawable else {
                panic!("a composite");
            };
            let categories = reader.categories();
            let category = categories
                .iter()
                .find(|category| category.index == primitive.category);
            let vertices = primitive
                .vertices()
                .map(|vertex| (vertex.time, vertex.line));
            list.push((
                category.expect("category").topology,
                primitive.category,
                primitive.info.to_vec(),
                vertices.collect(),
            ));
        }
    }
    list
}
