//! `path`: the critical path through the timelines of a window.

use serde::Serialize;
use trace_formats::slog2::TimeBBox;

use super::answer::Answer;
use super::viewer::Viewer;
use crate::base::error::ApiError;
use crate::base::parallel::Cancel;
use crate::base::query::ApiQuery;
use crate::base::window::covers_time;

/// Stretches of a column of pixels that are given when there are more: the first, the last, and those farthest up and down.
const MAX_BY_COLUMN: usize = 4;
/// Columns at most.
const MAX_COLUMNS: usize = 20_000;

/// The critical path in a window, in order of time.
#[derive(Debug, Default, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(super) struct PathAnswer {
    /// Begin of each stretch, seconds.
    from: Vec<f64>,
    /// End of each stretch, seconds.
    to: Vec<f64>,
    /// Timeline of each stretch, or -1 where the path is on none that is shown.
    timeline: Vec<i64>,
    /// Whether the path is known; `from` is empty otherwise.
    exact: bool,
}

/// A stretch of the path.
type Stretch = (f64, f64, i64);

impl Viewer<'_> {
    /// Answers `path`.
    pub(super) fn path(&self, query: &ApiQuery, cancel: Cancel<'_>) -> Result<Answer, ApiError> {
        let window = self.window(query)?;
        let columns = query.number("w", 1000_usize)?.clamp(1, MAX_COLUMNS);
        let layout = self.layout(query, cancel)?;
        let Some(waits) = self.waits() else {
            return Answer::json(&PathAnswer::default(), false);
        };
        let parts = waits.path().iter();
        let parts = parts.filter(|part| covers_time(window, part.from, part.to));
        let stretches: Vec<Stretch> = parts
            .map(|part| {
                let timeline = layout.timeline(part.line).map_or(-1, i64::from);
                (part.from, part.to, timeline)
            })
            .collect();
        let stretches = thinned(stretches, window, columns);
        let answer = PathAnswer {
            from: stretches.iter().map(|stretch| stretch.0).collect(),
            to: stretches.iter().map(|stretch| stretch.1).collect(),
            timeline: stretches.iter().map(|stretch| stretch.2).collect(),
            exact: true,
        };
        Answer::json(&answer, true)
    }
}

/// As many stretches as can be seen in so many columns.
fn thinned(stretches: Vec<Stretch>, window: TimeBBox, columns: usize) -> Vec<Stretch> {
    if stretches.len() <= MAX_BY_COLUMN * columns {
        return stretches;
    }
    let column = |stretch: &Stretch| {
        let part = (stretch.0 - window.earliest) / window.duration();
        (part * columns as f64) as usize
    };
    let mut kept = Vec::new();
    for group in stretches.chunk_by(|a, b| column(a) == column(b)) {
        let timelines = || (0..group.len()).map(|nth| (group[nth].2, nth));
        let ends = [timelines().min(), timelines().max()].map(|end| end.map_or(0, |end| end.1));
        let mut wanted = vec![0, ends[0], ends[1], group.len() - 1];
        wanted.sort_unstable();
        wanted.dedup();
        kept.extend(wanted.into_iter().map(|nth| group[nth]));
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_seen_of_many_stretches_is_kept() {
        let all: Vec<Stretch> = (0..1000)
            .map(|nth| {
                let from = f64::from(nth) / 100.0;
                (from, from + 0.01, i64::from(nth * 7 % 50))
            })
            .collect();
        let window = TimeBBox {
            earliest: 0.0,
            latest: 10.0,
        };
        assert_eq!(thinned(all.clone(), window, 250), all);
        let few = thinned(all.clone(), window, 10);
        assert!(few.len() <= 40 && few.windows(2).all(|pair| pair[0].0 < pair[1].0));
        for column in 0..10 {
            let of = |stretches: &[Stretch]| {
                let own = stretches
                    .iter()
                    .filter(|stretch| stretch.0 as usize == column);
                let timelines: Vec<i64> = own.map(|stretch| stretch.2).collect();
                let (first, last) = (timelines[0], timelines[timelines.len() - 1]);
                (
                    first,
                    last,
                    timelines.iter().min().copied(),
                    timelines.iter().max().copied(),
                )
            };
            assert_eq!(of(&few), of(&all));
        }
    }
}
