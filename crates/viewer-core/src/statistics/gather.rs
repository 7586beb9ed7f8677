//! Statistics of a window and of some timelines, exactly as `mpitrace stats` makes them, or from previews where the window is too
//! much to read.

use trace_formats::slog2::Vertex;

use super::counting::{
    DrawableObserver, StatisticsBuilder, StatisticsScope, WindowStatistics, is_counted_arrow,
    timelines_of,
};
use super::estimate::estimate;
use super::in_order::in_order;
use super::message_bytes::MessageBytes;
use crate::base::error::ApiError;
use crate::trace::OpenTrace;
use crate::trace::scan::ReadBudget;

/// The divisor of the read budget after a first try ran out of time.
const PART_AFTER_TIMEOUT: u64 = 8;

/// Counts what is in the window of `budget`; from previews, if that is too much to read, or takes too long.
///
/// # Errors
/// The file is damaged.
pub fn gather(
    trace: &OpenTrace<'_>,
    scope: &StatisticsScope<'_>,
    timelines: usize,
    budget: ReadBudget<'_>,
) -> Result<WindowStatistics, ApiError> {
    let found = match trace.reader().bytes_in(budget.window)? > budget.bytes {
        true => estimate(trace, scope, timelines, budget),
        false => gather_with_message_bytes(trace, scope, timelines, budget),
    };
    match found {
        // This is quick.
        Err(error) if error.is_cancelled() => {
            let budget = ReadBudget {
                bytes: budget.bytes / PART_AFTER_TIMEOUT,
                cancel: &|| false,
                ..budget
            };
            estimate(trace, scope, timelines, budget)
        }
        found => found,
    }
}

fn gather_with_message_bytes(
    trace: &OpenTrace<'_>,
    scope: &StatisticsScope<'_>,
    timelines: usize,
    budget: ReadBudget<'_>,
) -> Result<WindowStatistics, ApiError> {
    let mut message_bytes = MessageBytes::new(trace, scope, budget.window);
    let mut found = gather_all(trace, scope, timelines, budget, &mut message_bytes)?;
    for (bytes, message_bytes) in found.bytes.iter_mut().zip(message_bytes.finish()) {
        *bytes = bytes.saturating_add(message_bytes);
    }
    Ok(found)
}

/// Counts what is in the window of `budget`, however much that is.
///
/// # Errors
/// The file is damaged, or the answer is not wanted any more.
pub fn gather_all(
    trace: &OpenTrace<'_>,
    scope: &StatisticsScope<'_>,
    timelines: usize,
    budget: ReadBudget<'_>,
    observer: &mut dyn DrawableObserver,
) -> Result<WindowStatistics, ApiError> {
    let timeline_of = timelines_of(trace, scope);
    let all = std::cell::RefCell::new((
        StatisticsBuilder::new(trace, scope, &timeline_of, timelines, budget),
        observer,
    ));
    in_order(
        trace,
        budget,
        &mut || {
            let (builder, observer) = &mut *all.borrow_mut();
            *builder = StatisticsBuilder::new(trace, scope, &timeline_of, timelines, budget);
            observer.begin();
        },
        &mut |drawable| {
            let (builder, observer) = &mut *all.borrow_mut();
            observer.put(drawable);
            let line = |vertex: Option<&Vertex>| vertex.and_then(|v| trace.line(v.line));
            let ends = [drawable.vertices.first(), drawable.vertices.last()].map(line);
            let timelines = ends.map(|line| line.and_then(|line| timeline_of[line as usize]));
            let kind = trace.kind_or_undefined(drawable.category, drawable.topology);
            let is_hidden = kind.is_some_and(|kind| scope.hidden[kind as usize]);
            let is_wanted =
                !is_hidden && is_counted_arrow(drawable.topology, timelines, scope.arrows);
            if let (Some(timeline), true) = (timelines[0], is_wanted) {
                builder.put(trace, drawable, kind, timeline, budget.window);
            }
        },
    )?;
    let StatisticsBuilder {
        collector,
        bytes,
        lengths,
        ends,
    } = all.into_inner().0;
    Ok(WindowStatistics {
        found: collector.finish(),
        bytes,
        lengths,
        ends,
        exact: true,
        has_extremes: true,
    })
}
