//! `moments`: when the phases of the program were, or the calls of one name, so that two traces can be laid one above the other by these.

use serde::Serialize;
use std::collections::BTreeSet;
use std::ops::RangeInclusive;
use trace_formats::slog2::Topology;

use super::answer::Answer;
use super::viewer::Viewer;
use crate::base::error::ApiError;
use crate::base::parallel::Cancel;
use crate::base::query::ApiQuery;
use crate::search::hits::{MAX_BYTES_FOR_LISTED_HITS, places};
use crate::search::language::{Condition, LineNumber, SearchTerm, SearchTerms};
use crate::search::prepare;

/// States of one name that are told at most.
const MAX_STATES: u64 = 20_000;

/// Answer to `moments`. Moments are numbered from 1 in the order of their begins.
#[derive(Debug, Default, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(super) struct MomentsAnswer {
    /// `pending` while the trace is read; `unknown` where it could not be read; `many` where there are too many moments to be told.
    #[cfg_attr(test, ts(type = "\"known\" | \"pending\" | \"unknown\" | \"many\""))]
    state: &'static str,
    /// Rank whose states these are; of phases none.
    rank: Option<i32>,
    /// Iterations of the main loop in each phase: 1 unless there are very many. 0 of states, and of a program without such a loop.
    each: usize,
    /// Begins in ascending order, seconds.
    t0: Vec<f64>,
    /// End of each, seconds.
    t1: Vec<f64>,
    exact: bool,
}

impl MomentsAnswer {
    fn of(state: &'static str) -> Self {
        MomentsAnswer {
            state,
            ..MomentsAnswer::default()
        }
    }
}

impl Viewer<'_> {
    /// Answers `moments`: the states called `name` of the lowest rank that has any; without `name` the phases of the program.
    pub(super) fn moments(&self, query: &ApiQuery, cancel: Cancel<'_>) -> Result<Answer, ApiError> {
        let answer = match query.text("name") {
            "" => self.phase_moments(cancel)?,
            name => self.state_moments(query, name, cancel)?,
        };
        Answer::json(&answer, answer.exact)
    }

    fn phase_moments(&self, cancel: Cancel<'_>) -> Result<MomentsAnswer, ApiError> {
        // Read first: a page that is to ask again then finds the summary.
        let is_pending = self.is_summing();
        if !self.has_summary() && !self.is_small() {
            return Ok(MomentsAnswer::of(if is_pending {
                "pending"
            } else {
                "unknown"
            }));
        }
        let summary = self.summary(cancel)?;
        let phases = &summary.phases;
        Ok(MomentsAnswer {
            state: "known",
            rank: None,
            each: phases.each,
            t0: phases.ranges.iter().map(|range| range[0]).collect(),
            t1: phases.ranges.iter().map(|range| range[1]).collect(),
            exact: true,
        })
    }

    fn state_moments(
        &self,
        query: &ApiQuery,
        name: &str,
        cancel: Cancel<'_>,
    ) -> Result<MomentsAnswer, ApiError> {
        let trace = self.trace();
        let mut kinds = (0..).zip(trace.kinds());
        if !kinds.any(|(kind, of)| of.name == name && trace.topology(kind) == Topology::State) {
            let name: String = name.chars().take(100).collect();
            return Err(ApiError::not_found(format!(
                "name: the trace has no states called {name:?}; expected the name of a category of states"
            )));
        }
        let layout = self.layout(query, cancel)?;
        // The states of this name on these ranks; `None` if there are more of them than `max`.
        let states = |ranks: RangeInclusive<i32>, max: u64| {
            let (first, last) = ranks.into_inner();
            let conditions = [
                Condition::Category(name.to_owned()),
                Condition::Is(Topology::State),
                Condition::Line(LineNumber::Rank, vec![(first.into(), last.into())]),
            ];
            let terms = conditions.map(|condition| SearchTerm {
                not: false,
                condition,
            });
            let budget = self.budget(trace.bounds(), cancel);
            let terms = SearchTerms(terms.into());
            let plan = prepare::plan(trace, &layout, &terms, None, budget)?;
            let found = places(trace, &plan, max, MAX_BYTES_FOR_LISTED_HITS, cancel)?;
            match cancel() {
                true => Err(ApiError::cancelled()),
                false => Ok(found),
            }
        };
        let lines = trace.lines().iter();
        let ranks: BTreeSet<i32> = lines.map(|line| line.line.rank).collect();
        let ranks: Vec<i32> = ranks.into_iter().filter(|&rank| rank >= 0).collect();
        // Of states that are too far apart to be looked for, too, nothing is said.
        let may_have = |ranks: RangeInclusive<i32>| {
            let found = states(ranks, 1)?;
            Ok(found.is_none_or(|found| !found.is_empty()))
        };
        let Some(rank) = lowest(&ranks, &may_have)? else {
            return Ok(MomentsAnswer {
                exact: true,
                ..MomentsAnswer::of("known")
            });
        };
        let Some(found) = states(rank..=rank, MAX_STATES)? else {
            return Ok(MomentsAnswer::of("many"));
        };
        let times = found.iter().map(|hit| (hit.item().start, hit.item().end));
        let mut times: Vec<(f64, f64)> = times.collect();
        times.sort_by(|a, b| a.0.total_cmp(&b.0).then(b.1.total_cmp(&a.1)));
        Ok(MomentsAnswer {
            state: "known",
            rank: Some(rank),
            each: 0,
            t0: times.iter().map(|time| time.0).collect(),
            t1: times.iter().map(|time| time.1).collect(),
            exact: true,
        })
    }
}

/// The lowest of these ascending ranks that may have what is looked for. `may_have` tells that of a range of ranks.
fn lowest(
    ranks: &[i32],
    may_have: &impl Fn(RangeInclusive<i32>) -> Result<bool, ApiError>,
) -> Result<Option<i32>, ApiError> {
    let (Some(&first), Some(&last)) = (ranks.first(), ranks.last()) else {
        return Ok(None);
    };
    if !may_have(first..=last)? {
        return Ok(None);
    }
    if ranks.len() == 1 {
        return Ok(Some(first));
    }
    let (low, high) = ranks.split_at(ranks.len() / 2);
    match lowest(low, may_have)? {
        Some(rank) => Ok(Some(rank)),
        None => lowest(high, may_have),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    #[test]
    fn the_lowest_rank_is_found_by_few_questions() {
        let ranks: Vec<i32> = (0..10_000).map(|rank| 2 * rank).collect();
        for wanted in [vec![0], vec![19_998], vec![7000, 7002, 19_998], vec![]] {
            let asked = Cell::new(0);
            let found = lowest(&ranks, &|range: RangeInclusive<i32>| {
                asked.set(asked.get() + 1);
                Ok(wanted.iter().any(|rank| range.contains(rank)))
            });
            assert_eq!(found.unwrap_or_default(), wanted.first().copied());
            assert!(asked.get() <= 30, "{}", asked.get());
        }
        assert_eq!(lowest(&[], &|_| Ok(true)).unwrap_or_default(), None);
    }
}
