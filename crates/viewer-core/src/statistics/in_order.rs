//! The drawables of a window by start.

use std::convert::Infallible;
use std::ops::ControlFlow;
use trace_formats::slog2::{Depth, InModel, InOrder, Primitive};

use crate::base::error::ApiError;
use crate::trace::OpenTrace;
use crate::trace::scan::{DRAWABLES_PER_CHECK, ReadBudget};

/// Gives all drawables of a window by start; `begin` is called before the first, perhaps twice: a file that turns out not to
/// be in order is begun again, sorted.
///
/// # Errors
/// The file is damaged, or the answer is not wanted any more.
pub(crate) fn in_order(
    trace: &OpenTrace<'_>,
    budget: ReadBudget<'_>,
    begin: &mut dyn FnMut(),
    put: &mut dyn FnMut(&trace_model::Drawable<'_>),
) -> Result<(), ApiError> {
    let reader = trace.reader();
    let real = reader.categories().iter().filter(|c| c.index >= 0);
    let primitives = InModel::new(&real.cloned().collect::<Vec<_>>());
    let mut losses = trace_model::Losses::default();
    let mut until_asked = 0_u32;
    let mut give = |primitive: &Primitive<'_>| {
        until_asked = until_asked.wrapping_add(1);
        if until_asked.is_multiple_of(DRAWABLES_PER_CHECK) && (budget.cancel)() {
            return ControlFlow::Break(());
        }
        let given = primitives.put(primitive, &mut losses, |drawable| {
            put(drawable);
            Ok::<_, Infallible>(())
        });
        let Ok(()) = given;
        ControlFlow::Continue(())
    };
    begin();
    match reader.for_each_in_order(budget.window, &mut give)? {
        InOrder::Complete { .. } => return Ok(()),
        InOrder::Stopped => return Err(ApiError::cancelled()),
        InOrder::Disordered => begin(),
    }
    let mut sorted: Vec<Primitive<'_>> = Vec::new();
    for drawable in reader.window(budget.window, Depth::Lowest(0))?.drawables {
        sorted.extend(drawable.primitives());
    }
    sorted.sort_by(|a, b| {
        let start = a.bounds.earliest.total_cmp(&b.bounds.earliest);
        start.then(b.bounds.latest.total_cmp(&a.bounds.latest))
    });
    match sorted.iter().try_for_each(give) {
        ControlFlow::Continue(()) => Ok(()),
        ControlFlow::Break(()) => Err(ApiError::cancelled()),
    }
}
