//! Builds the tree of a file anew: what slog2updater does to bring files of version 2.0.5 to 2.0.6.

use std::io::{Seek, Write};

use super::error::Slog2Error;
use super::node::{NodeDrawable, Primitive};
use super::read::Slog2Reader;
use super::tree_builder::{NewComposite, TreeBuilder, TreeOptions};
use super::types::Slog2Header;
use super::walk::DrawableWalk;
use trace_model::Drawable as NewDrawable;
use trace_model::hash::Map as HashMap;
use trace_model::{Category, Ratios, Topology, Vertex};

/// Topology of drawables by category; nodes do not hold it.
#[derive(Clone, Debug, Default)]
pub struct Topologies(HashMap<i32, Topology>);

impl Topologies {
    /// Topologies of these categories.
    pub fn new(categories: &[Category]) -> Self {
        let pairs = categories.iter().map(|c| (c.index, c.topology));
        Topologies(pairs.collect())
    }

    /// Topology of a primitive; where its category is missing or of another number of vertices, what its vertices look like.
    pub fn of(&self, primitive: &Primitive<'_>) -> Topology {
        let known = self.0.get(&primitive.category).copied();
        let known = known.unwrap_or(Topology::State);
        match (primitive.vertices().len(), known) {
            (1, _) => Topology::Event,
            (_, Topology::Event) | (_, Topology::State)
                if primitive.first().line != primitive.last().line =>
            {
                Topology::Arrow
            }
            (_, Topology::Event) => Topology::State,
            (_, known) => known,
        }
    }
}

impl<W: Write + Seek> TreeBuilder<W> {
    /// Adds a drawable that was read from another file.
    ///
    /// # Errors
    /// The errors of [`TreeBuilder::add`] and [`TreeBuilder::add_composite`].
    pub fn add_read(
        &mut self,
        drawable: &NodeDrawable<'_>,
        topologies: &Topologies,
    ) -> Result<(), Slog2Error> {
        let vertices =
            |primitive: &Primitive<'_>| -> Vec<Vertex> { primitive.vertices().collect() };
        match drawable {
            NodeDrawable::Primitive(primitive) => self.add(&NewDrawable {
                topology: topologies.of(primitive),
                category: primitive.category,
                info: primitive.info,
                vertices: &vertices(primitive),
            }),
            NodeDrawable::Composite(composite) => {
                let corners: Vec<Vec<Vertex>> = composite.primitives.iter().map(vertices).collect();
                let primitives = composite.primitives.iter().zip(&corners);
                let primitives: Vec<NewDrawable<'_>> = primitives
                    .map(|(primitive, vertices)| NewDrawable {
                        topology: topologies.of(primitive),
                        category: primitive.category,
                        info: primitive.info,
                        vertices,
                    })
                    .collect();
                self.add_composite(&NewComposite {
                    category: composite.category,
                    info: composite.info,
                    primitives: &primitives,
                })
            }
        }
    }
}

/// Builds a file of version 2.0.6 of one of any version: the drawables in order of increasing end time, the categories
/// with summaries that are counted anew, the views as they are. Gives the output, the header and the number of drawables.
///
/// The original leaves out drawables that end where the log begins (`spec/slog2.md` section 9.2); here none is.
///
/// # Errors
/// The file is damaged, holds no drawables ([`super::Slog2ErrorKind::NoDrawables`]), or the output cannot be written.
pub fn update<W: Write + Seek + Send + 'static>(
    reader: &Slog2Reader<'_>,
    options: TreeOptions,
    out: W,
) -> Result<(W, Slog2Header, u64), Slog2Error> {
    let mut builder = TreeBuilder::new(out, options)?.on_thread();
    let topologies = Topologies::new(reader.categories());
    for drawable in DrawableWalk::new(reader) {
        builder.add_read(&drawable?, &topologies)?;
    }
    let count = builder.count();
    let categories = in_order_of_insertion(reader.categories());
    let (out, header) = builder
        .close()?
        .finish(&categories, reader.line_id_maps())?;
    Ok((out, header, count))
}

/// Previews, as the original puts them in first, and the categories of a file, with nothing counted yet. Of categories
/// with one index the last counts.
pub fn in_order_of_insertion(categories: &[Category]) -> Vec<Category> {
    let previews = [Topology::Event, Topology::State, Topology::Arrow];
    let mut list: Vec<Category> = previews.into_iter().map(Category::preview).collect();
    let places = list.iter().map(|category| category.index).zip(0..);
    let mut places: HashMap<i32, usize> = places.collect();
    for category in categories {
        let category = Category {
            summary: Ratios::default(),
            ..category.clone()
        };
        let new = list.len();
        match *places.entry(category.index).or_insert(new) {
            place if place == new => list.push(category),
            place => list[place] = category,
        }
    }
    list
}

/// The shape of the tree of a file that was read.
impl From<&Slog2Header> for TreeOptions {
    fn from(header: &Slog2Header) -> Self {
        TreeOptions {
            children_per_node: header.children_per_node,
            leaf_byte_size: header.leaf_byte_size,
        }
    }
}
