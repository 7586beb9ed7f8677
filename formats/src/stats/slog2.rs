//! Statistics of a window of an SLOG2 file, from the nodes that reach into it.

use super::{Collector, Options, Statistics};
use crate::model::{Definitions, Drawable, Losses, Order, Sorter, Stop, TimeBBox, Topology};
use crate::slog2::{self, Depth, Primitive, Reader, Shadow, Visit, lines_of_views};
use std::collections::HashMap;
use std::io;

/// Statistics of `window`, those that [`super::collect`] gives of the whole file with this window, but only nodes that
/// reach into it are read. Composites count as their primitives.
///
/// # Errors
/// Those of the file and of temporary files, which sort what is too much for memory.
pub fn collect_slog2(
    reader: &Reader<'_>,
    window: TimeBBox,
    options: Options,
) -> Result<(Statistics, Losses), Stop> {
    let options = Options {
        window: Some(window),
        ..options
    };
    let categories = reader.categories().iter().filter(|c| c.index >= 0);
    let categories: Vec<_> = categories.cloned().collect();
    let mut found = Found {
        topologies: categories.iter().map(|c| (c.index, c.topology)).collect(),
        sorter: Sorter::new(Order::Start),
        failed: None,
        losses: Losses::default(),
    };
    let definitions = Definitions {
        categories,
        lines: lines_of_views(reader.line_id_maps())
            .into_values()
            .collect(),
        ..Definitions::default()
    };
    reader.visit_window(window, Depth::Lowest(0), &mut found)?;
    if let Some(error) = found.failed {
        return Err(error.into());
    }
    let mut collector = Collector::new(&definitions, options);
    found.sorter.finish(&mut |drawable| {
        collector.put(drawable);
        Ok(())
    })?;
    Ok((collector.finish(), found.losses))
}

/// Brings what is in the window into order.
struct Found {
    topologies: HashMap<i32, Topology>,
    sorter: Sorter,
    failed: Option<io::Error>,
    losses: Losses,
}

impl Found {
    fn primitive(&mut self, primitive: &Primitive<'_>) {
        let vertices: Vec<_> = primitive.vertices().collect();
        let known = self.topologies.get(&primitive.category).copied();
        let topology = match (vertices.len(), known) {
            (1, _) => Topology::Event,
            (2, Some(known @ (Topology::State | Topology::Arrow))) => known,
            (2, _) if vertices[0].line == vertices[1].line => Topology::State,
            (2, _) => Topology::Arrow,
            _ => {
                self.losses.add("drawable with more than two vertices", 1);
                return;
            }
        };
        let pushed = self.sorter.push(&Drawable {
            topology,
            category: primitive.category,
            info: primitive.info,
            vertices: &vertices,
        });
        if let Err(error) = pushed {
            self.failed.get_or_insert(error);
        }
    }
}

impl<'a> Visit<'a> for Found {
    fn drawable(&mut self, drawable: slog2::Drawable<'a>) {
        match drawable {
            slog2::Drawable::Primitive(primitive) => self.primitive(&primitive),
            slog2::Drawable::Composite(composite) => {
                self.losses.add("composite, given as its primitives", 1);
                for primitive in &composite.primitives {
                    self.primitive(primitive);
                }
            }
        }
    }

    fn shadow(&mut self, _: Shadow<'a>) {}
}
