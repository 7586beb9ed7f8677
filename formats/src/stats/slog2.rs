//! Statistics of a window of an SLOG2 file, from the nodes that reach into it.

use super::{Collector, Options, Statistics};
use crate::model::{Definitions, Losses, Order, Sorter, Stop, TimeBBox};
use crate::slog2::{self, Depth, InModel, Primitive, Reader, Shadow, Visit, lines_of_views};
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
        primitives: InModel::new(&categories),
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
    primitives: InModel,
    sorter: Sorter,
    failed: Option<io::Error>,
    losses: Losses,
}

impl Found {
    fn primitive(&mut self, primitive: &Primitive<'_>) {
        let sorter = &mut self.sorter;
        let pushed = (self.primitives).put(primitive, &mut self.losses, |it| sorter.push(it));
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
