//! `moments`: when the phases of the program were, or the calls of one name, so that two traces can be laid one above the other by these.

use serde::Serialize;
use std::collections::BTreeSet;
use trace_formats::slog2::Topology;

use super::answer::Answer;
use super::viewer::Viewer;
use crate::base::error::ApiError;
use crate::base::parallel::Cancel;
use crate::base::query::ApiQuery;
use crate::search::hits::places;
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
        let lines = trace.lines().iter();
        let ranks: BTreeSet<i32> = lines.map(|line| line.line.rank).collect();
        for rank in ranks.into_iter().filter(|&rank| rank >= 0) {
            let conditions = [
                Condition::Category(name.to_owned()),
                Condition::Is(Topology::State),
                Condition::Line(LineNumber::Rank, vec![(rank.into(), rank.into())]),
            ];
            let terms = conditions.map(|condition| SearchTerm {
                not: false,
                condition,
            });
            let terms = SearchTerms(terms.into());
            let budget = self.budget(trace.bounds(), cancel);
            let plan = prepare::plan(trace, &layout, &terms, None, budget)?;
            let Some(found) = places(trace, &plan, MAX_STATES, cancel)? else {
                return match cancel() {
                    true => Err(ApiError::cancelled()),
                    false => Ok(MomentsAnswer::of("many")),
                };
            };
            if found.is_empty() {
                continue;
            }
            let times = found.iter().map(|hit| (hit.item().start, hit.item().end));
            let mut times: Vec<(f64, f64)> = times.collect();
            times.sort_by(|a, b| a.0.total_cmp(&b.0).then(b.1.total_cmp(&a.1)));
            return Ok(MomentsAnswer {
                state: "known",
                rank: Some(rank),
                each: 0,
                t0: times.iter().map(|time| time.0).collect(),
                t1: times.iter().map(|time| time.1).collect(),
                exact: true,
            });
        }
        Ok(MomentsAnswer {
            exact: true,
            ..MomentsAnswer::of("known")
        })
    }
}
