//! `durations`: how long the drawables of one kind last.

use serde::Serialize;

use super::answer::Answer;
use super::viewer::Viewer;
use crate::base::error::ApiError;
use crate::base::parallel::Cancel;
use crate::base::query::ApiQuery;
use crate::base::window::holds;
use crate::index::duration_from;
use crate::statistics::durations::{CountedDurations, count_durations, least_durations};

/// How long the drawables of a kind last, in classes of about equal ratio.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(super) struct DurationsAnswer {
    /// Number of the kind.
    kind: u32,
    /// Begin of the stretch of time in which what is counted begins, seconds.
    t0: f64,
    /// End of that stretch, seconds.
    t1: f64,
    /// Drawables that begin before this time are counted, seconds: the end of the stretch, or less where there was no time for all.
    until: f64,
    /// Whether that is all of the trace.
    is_whole: bool,
    /// Whether it is known; the window is too long to be read otherwise, and the trace is not counted.
    is_known: bool,
    /// Least duration of each class, seconds, from the first class that has any to behind the last one.
    from: Vec<f64>,
    /// Drawables of each class: one number less than there are durations.
    count: Vec<u64>,
    exact: bool,
}

impl Viewer<'_> {
    /// Answers `durations`: of what is of kind `kind` and begins in the window, on the timelines from `y0` to before `y1`, or in as
    /// much of it from its begin as there is time for; where the window is too much to be read, of the whole trace.
    pub(super) fn durations(
        &self,
        query: &ApiQuery,
        cancel: Cancel<'_>,
    ) -> Result<Answer, ApiError> {
        let window = self.window(query)?;
        let kind: u32 = query.number("kind", u32::MAX)?;
        if kind as usize >= self.trace().kinds().len() {
            return Err(ApiError::not_found(format!("there is no kind {kind}")));
        }
        let layout = self.layout(query, cancel)?;
        let lines = 0..self.trace().lines().len() as u32;
        let timelines = query.number("y0", 0u32)?..query.number("y1", u32::MAX)?;
        let is_meant = |line| {
            layout
                .timeline(line)
                .is_some_and(|at| timelines.contains(&at))
        };
        let is_shown: Vec<bool> = lines.map(is_meant).collect();
        let bounds = self.trace().bounds();
        let mut head = DurationsAnswer {
            kind,
            t0: window.earliest,
            t1: window.latest,
            until: window.latest,
            is_whole: holds(window, bounds),
            is_known: true,
            from: Vec::new(),
            count: Vec::new(),
            exact: true,
        };
        if self.trace().reader().bytes_in(window)? <= self.limits().tree_bytes {
            let budget = self.budget(window, cancel);
            let found = count_durations(self.trace(), kind, &is_shown, budget)?;
            if let Some(CountedDurations { counts, until }) = found {
                (head.from, head.count) = trimmed(&least_durations(), &counts);
                if let Some(until) = until {
                    (head.until, head.exact) = (until, false);
                }
                return Answer::json(&head, head.exact);
            }
        }
        let are_all = is_shown.iter().all(|&is_shown| is_shown);
        let totals = self.index().and_then(|index| index.totals());
        let totals = totals.filter(|_| are_all);
        if let Some(of_kind) = totals.and_then(|totals| totals.kinds.get(kind as usize)) {
            let least: Vec<f64> = (0..of_kind.durations.len()).map(duration_from).collect();
            (head.from, head.count) = trimmed(&least, &of_kind.durations);
            (head.t0, head.t1, head.is_whole) = (bounds.earliest, bounds.latest, true);
            head.until = bounds.latest;
            return Answer::json(&head, true);
        }
        (head.is_known, head.exact) = (false, false);
        Answer::json(&head, false)
    }
}

/// The classes from the first to the last that has any. The last class of all ends at twice its least duration.
fn trimmed(least: &[f64], counts: &[u64]) -> (Vec<f64>, Vec<u64>) {
    let has_any = |count: &u64| *count > 0;
    let ends = counts
        .iter()
        .position(has_any)
        .zip(counts.iter().rposition(has_any));
    let Some((first, last)) = ends else {
        return (Vec::new(), Vec::new());
    };
    let behind = least.get(last + 1).copied().unwrap_or(2.0 * least[last]);
    let from = least[first..=last].iter().copied().chain([behind]);
    (from.collect(), counts[first..=last].to_vec())
}
