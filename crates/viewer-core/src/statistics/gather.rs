//! Statistics of a window and of some rows, exactly as `mpitrace stats` makes them, or from previews where the window is too
//! much to read.

use trace_formats::slog2::Vertex;

use super::counting::{Also, Gathered, Gathering, Wanted, is_of_pair, rows_of};
use super::estimate::estimate;
use super::in_order::in_order;
use super::message_bytes::Moved;
use crate::base::error::Refusal;
use crate::trace::Trace;
use crate::trace::scan::Reach;

/// What is read when there was no time for all of it: such a part of what may be read.
const PART_IN_HASTE: u64 = 8;

/// Counts what is in the window of `reach`; from previews, if that is too much to read, or takes too long.
///
/// # Errors
/// The file is damaged.
pub fn gather(
    trace: &Trace<'_>,
    wanted: &Wanted<'_>,
    rows: usize,
    reach: Reach<'_>,
) -> Result<Gathered, Refusal> {
    let found = match trace.reader().bytes_in(reach.window)? > reach.bytes {
        true => estimate(trace, wanted, rows, reach),
        false => gather_with_moved(trace, wanted, rows, reach),
    };
    match found {
        // This is quick.
        Err(refusal) if refusal.is_stopped() => {
            let reach = Reach {
                bytes: reach.bytes / PART_IN_HASTE,
                stop: &|| false,
                ..reach
            };
            estimate(trace, wanted, rows, reach)
        }
        found => found,
    }
}

fn gather_with_moved(
    trace: &Trace<'_>,
    wanted: &Wanted<'_>,
    rows: usize,
    reach: Reach<'_>,
) -> Result<Gathered, Refusal> {
    let mut moved = Moved::new(trace, wanted, reach.window);
    let mut found = gather_all(trace, wanted, rows, reach, &mut moved)?;
    for (bytes, moved) in found.bytes.iter_mut().zip(moved.finish()) {
        *bytes = bytes.saturating_add(moved);
    }
    Ok(found)
}

/// Counts what is in the window of `reach`, however much that is.
///
/// # Errors
/// The file is damaged, or the answer is not wanted any more.
pub fn gather_all(
    trace: &Trace<'_>,
    wanted: &Wanted<'_>,
    rows: usize,
    reach: Reach<'_>,
    also: &mut dyn Also,
) -> Result<Gathered, Refusal> {
    let row_of = rows_of(trace, wanted);
    let all = std::cell::RefCell::new((Gathering::new(trace, wanted, &row_of, rows, reach), also));
    in_order(
        trace,
        reach,
        &mut || {
            let (gathering, also) = &mut *all.borrow_mut();
            *gathering = Gathering::new(trace, wanted, &row_of, rows, reach);
            also.begin();
        },
        &mut |drawable| {
            let (gathering, also) = &mut *all.borrow_mut();
            also.put(drawable);
            let line = |vertex: Option<&Vertex>| vertex.and_then(|v| trace.line(v.line));
            let ends = [drawable.vertices.first(), drawable.vertices.last()].map(line);
            let rows = ends.map(|line| line.and_then(|line| row_of[line as usize]));
            let kind = trace.kind_or_undefined(drawable.category, drawable.topology);
            let is_hidden = kind.is_some_and(|kind| wanted.hidden[kind as usize]);
            let is_wanted = !is_hidden && is_of_pair(drawable.topology, rows, wanted.pair);
            if let (Some(row), true) = (rows[0], is_wanted) {
                gathering.put(trace, drawable, kind, row, reach.window);
            }
        },
    )?;
    let Gathering {
        collector,
        bytes,
        lengths,
        ends,
    } = all.into_inner().0;
    Ok(Gathered {
        found: collector.finish(),
        bytes,
        lengths,
        ends,
        exact: true,
        has_extremes: true,
    })
}
