//! Timelines of a picture drawn on two threads, where that is worth it.

use std::ops::Range;

use super::cells::PictureCells;
use crate::base::parallel::{Cancel, run_parallel_cancellable};

/// The cells of timelines: in one go if they are less work than `worth`, else on two threads, half of the work on each. `work`
/// says for each timeline how much it is. `None` if `draw` was cancelled.
pub(super) fn draw_in_halves(
    timelines: Range<usize>,
    work: impl Fn(usize) -> usize,
    worth: usize,
    cancel: Cancel<'_>,
    draw: impl Fn(Range<usize>, Cancel<'_>) -> Option<PictureCells> + Sync,
) -> Option<PictureCells> {
    let all: usize = timelines.clone().map(&work).sum();
    if all < worth {
        return draw(timelines, cancel);
    }
    let mut above = 0;
    let is_above = |timeline: &usize| {
        above += work(*timeline);
        2 * above <= all
    };
    let middle = timelines.start + timelines.clone().take_while(is_above).count();
    let (upper, lower) = (timelines.start..middle, middle..timelines.end);
    let (above, below) = run_parallel_cancellable(
        cancel,
        |cancel| draw(upper, cancel),
        |cancel| draw(lower.clone(), cancel),
    );
    let mut cells = above?;
    cells.extend(below?);
    Some(cells)
}
