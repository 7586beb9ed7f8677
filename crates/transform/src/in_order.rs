//! The drawables of a source in the order that is needed.

use trace_model::{Drawable, DrawableOrder, Losses, Sorter, Source, Stop};

/// Gives the drawables of `source` in this order, sorting them if it gives them in another.
pub(super) fn in_order(
    source: &dyn Source,
    order: DrawableOrder,
    put: &mut dyn FnMut(&Drawable<'_>) -> Result<(), Stop>,
) -> Result<Losses, Stop> {
    if order == DrawableOrder::Any || source.order() == order {
        return source.for_each(put);
    }
    let mut sorter = Sorter::new(order);
    let losses = source.for_each(&mut |drawable| Ok(sorter.push(drawable)?))?;
    sorter.finish(put)?;
    Ok(losses)
}
