//! Statistics of a window of an SLOG2 file, from the nodes that reach into it.

use super::{Statistics, StatisticsCollector, StatisticsOptions};
use std::ops::ControlFlow;
use trace_formats::slog2;
use trace_formats::slog2::{Depth, InModel, InOrder, Primitive, Slog2Reader, lines_of_views};
use trace_model::{Definitions, Losses, Stop, TimeBBox};

/// Statistics of `window`, those that `collect` gives of the whole file with this window, but
/// only nodes that reach into it are read. Composites count as their primitives.
///
/// # Errors
/// The errors of the file.
pub fn collect_slog2(
    reader: &Slog2Reader<'_>,
    window: TimeBBox,
    options: StatisticsOptions,
) -> Result<(Statistics, Losses), Stop> {
    let log = reader.root().map_or(TimeBBox::EMPTY, |root| root.bounds);
    let window = window.common(log);
    let options = StatisticsOptions {
        window: Some(window),
        ..options
    };
    let categories = reader.categories().iter().filter(|c| c.index >= 0);
    let categories: Vec<_> = categories.cloned().collect();
    let primitives = InModel::new(&categories);
    let definitions = Definitions {
        categories,
        lines: lines_of_views(reader.line_id_maps())
            .into_values()
            .collect(),
        ..Definitions::default()
    };
    let mut collector = StatisticsCollector::new(&definitions, options);
    let mut losses = Losses::default();
    let mut put = |primitive: &Primitive<'_>| {
        let put = primitives.put(primitive, &mut losses, |drawable| {
            collector.put(drawable);
            Ok::<_, std::convert::Infallible>(())
        });
        let Ok(()) = put;
        ControlFlow::Continue(())
    };
    match reader.for_each_in_order(window, &mut put)? {
        InOrder::Complete { composites } => {
            losses.add("composite, given as its primitives", composites);
            return Ok((collector.finish(), losses));
        }
        InOrder::Stopped | InOrder::Disordered => {}
    }
    // Files of other programs may be in any order: once more, sorted.
    collector = StatisticsCollector::new(&definitions, options);
    losses = Losses::default();
    for drawable in sorted(reader, window, &mut losses)? {
        let put = primitives.put(&drawable, &mut losses, |drawable| {
            collector.put(drawable);
            Ok::<_, std::convert::Infallible>(())
        });
        let Ok(()) = put;
    }
    Ok((collector.finish(), losses))
}

/// The primitives that overlap a window, by start, of a file that is not in order.
fn sorted<'a>(
    reader: &Slog2Reader<'a>,
    window: TimeBBox,
    losses: &mut Losses,
) -> Result<Vec<Primitive<'a>>, slog2::Slog2Error> {
    let found = reader.window(window, Depth::Lowest(0))?;
    let mut primitives = Vec::with_capacity(found.drawables.len());
    for drawable in found.drawables {
        match drawable {
            slog2::NodeDrawable::Primitive(primitive) => primitives.push(primitive),
            slog2::NodeDrawable::Composite(composite) => {
                losses.add("composite, given as its primitives", 1);
                primitives.extend(composite.primitives);
            }
        }
    }
    primitives.sort_by(|a, b| {
        let start = a.bounds.earliest.total_cmp(&b.bounds.earliest);
        start.then(b.bounds.latest.total_cmp(&a.bounds.latest))
    });
    Ok(primitives)
}
