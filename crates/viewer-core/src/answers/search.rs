//! Search: the language, the next hit, the number of hits and where they are.

use serde::Serialize;
use trace_formats::slog2::TimeBBox;

use super::answer::Answer;
use super::viewer::Viewer;
use crate::base::error::ApiError;
use crate::base::parallel::Cancel;
use crate::base::query::ApiQuery;
use crate::details::DrawableDetail;
use crate::search::hits::{self, HitCounts};
use crate::search::walk::{SearchPosition, find};
use crate::trace::reference::DrawableReference;

/// Bins of an answer.
const MAX_BINS: usize = 20_000;

#[derive(Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(super) struct SearchAnswer {
    hit: Option<DrawableDetail>,
    /// Whether it was found only after beginning again at the other end of the trace.
    wrapped: bool,
    nodes: u64,
    /// Time to go on from, if the budget was used up before it was decided.
    from: Option<f64>,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(super) struct HitsAnswer {
    count: u64,
    exact: bool,
    at_least: bool,
    bins: Vec<f64>,
    bins_exact: bool,
}

impl Viewer<'_> {
    /// `search`: the next hit from `from`, a time or a reference.
    pub(crate) fn search(&self, query: &ApiQuery, cancel: Cancel<'_>) -> Result<Answer, ApiError> {
        let all = self.trace().bounds();
        let is_forward = query.number("dir", 1i32)? >= 0;
        let end = if is_forward {
            f64::NEG_INFINITY
        } else {
            f64::INFINITY
        };
        let from = match query.text("from") {
            "" => SearchPosition::at(end),
            text => match text.parse::<f64>() {
                Ok(time) if time.is_finite() => SearchPosition::at(time),
                _ => SearchPosition::of(&DrawableReference::parse(text)?),
            },
        };
        let layout = self.layout(query, cancel)?;
        let budget = self.budget(all, cancel);
        let plan = self.search_plan(query, &layout, cancel)?;
        let mut found = find(self.trace(), &plan, from, is_forward, budget)?;
        let mut wrapped = false;
        if found.item.is_none() && found.resume.is_none() && query.text("wrap") != "0" {
            let nodes = found.nodes;
            wrapped = true;
            found = find(
                self.trace(),
                &plan,
                SearchPosition::at(end),
                is_forward,
                budget,
            )?;
            found.nodes += nodes;
        }
        let is_decided = found.resume.is_none();
        self.details(query, cancel, |details| {
            let hit = found.item.map(|item| details.detail(&item));
            Ok(SearchAnswer {
                hit: hit.transpose()?,
                wrapped,
                nodes: found.nodes,
                from: found.resume,
            })
        })
        .map(|answer| Answer {
            exact: answer.exact && is_decided,
            ..answer
        })
    }

    fn hits_of(&self, query: &ApiQuery, cancel: Cancel<'_>) -> Result<HitCounts, ApiError> {
        let window: TimeBBox = self.window(query)?;
        let bins: usize = query.number("bins", 200)?;
        if bins > MAX_BINS {
            let message = format!("bins={bins}: expected at most {MAX_BINS}");
            return Err(ApiError::too_large(message));
        }
        let layout = self.layout(query, cancel)?;
        let budget = self.budget(window, cancel);
        let plan = self.search_plan(query, &layout, cancel)?;
        let mut found = hits::count(self.trace(), &plan, bins, budget)?;
        for bin in &mut found.bins {
            *bin = (*bin * 100.0).round() / 100.0;
        }
        Ok(found)
    }

    /// Hits by bin, and whether that is exact.
    pub(crate) fn counted(
        &self,
        query: &ApiQuery,
        cancel: Cancel<'_>,
    ) -> Result<(Vec<f64>, bool), ApiError> {
        let found = self.hits_of(query, cancel)?;
        Ok((found.bins, found.is_count_exact && found.are_bins_exact))
    }

    /// `hits`: how many there are in a window, and in which bins of it.
    pub(crate) fn hits(&self, query: &ApiQuery, cancel: Cancel<'_>) -> Result<Answer, ApiError> {
        let found = self.hits_of(query, cancel)?;
        let exact = found.is_count_exact && found.are_bins_exact;
        let counted = HitsAnswer {
            count: found.count,
            exact: found.is_count_exact,
            at_least: found.is_lower_bound,
            bins: found.bins,
            bins_exact: found.are_bins_exact,
        };
        Answer::json(&counted, exact)
    }
}
