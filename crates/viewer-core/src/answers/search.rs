//! Search: the language, the next hit, the number of hits and where they are.

use serde::Serialize;
use trace_formats::slog2::TimeBBox;

use super::answer::Answer;
use super::viewer::Viewer;
use crate::base::error::Refusal;
use crate::base::parallel::Stop;
use crate::base::query::Query;
use crate::details::Detail;
use crate::search::hits::{self, Hits};
use crate::search::walk::{Place, find};
use crate::trace::reference::Reference;

/// Bins of an answer.
const MOST_BINS: usize = 20_000;

#[derive(Serialize)]
struct Searched {
    hit: Option<Detail>,
    /// Whether it was found only after beginning again at the other end of the trace.
    wrapped: bool,
    nodes: u64,
    /// Where to go on, if the budget was used up before it was decided.
    from: Option<f64>,
}

#[derive(Serialize)]
struct Counted {
    count: u64,
    exact: bool,
    bins: Vec<f64>,
    bins_exact: bool,
}

impl Viewer<'_> {
    /// `search`: the next hit from `from`, a time or a reference.
    pub(crate) fn search(&self, query: &Query, stop: Stop<'_>) -> Result<Answer, Refusal> {
        let all = self.trace().bounds();
        let is_forward = query.number("dir", 1i32)? >= 0;
        let end = if is_forward {
            f64::NEG_INFINITY
        } else {
            f64::INFINITY
        };
        let from = match query.text("from") {
            "" => Place::at(end),
            text => match text.parse::<f64>() {
                Ok(time) if time.is_finite() => Place::at(time),
                _ => Place::of(&Reference::parse(text)?),
            },
        };
        let layout = self.layout(query, stop)?;
        let reach = self.reach(all, stop);
        let plan = self.search_plan(query, &layout, stop)?;
        let mut found = find(self.trace(), &plan, from, is_forward, reach)?;
        let mut wrapped = false;
        if found.item.is_none() && found.resume.is_none() && query.text("wrap") != "0" {
            let nodes = found.nodes;
            wrapped = true;
            found = find(self.trace(), &plan, Place::at(end), is_forward, reach)?;
            found.nodes += nodes;
        }
        let is_decided = found.resume.is_none();
        self.details(query, stop, |details| {
            let hit = found.item.map(|item| details.detail(&item));
            Ok(Searched {
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

    fn hits_of(&self, query: &Query, stop: Stop<'_>) -> Result<Hits, Refusal> {
        let window: TimeBBox = self.window(query)?;
        let bins: usize = query.number("bins", 200)?;
        if bins > MOST_BINS {
            let message = format!("bins={bins}: expected at most {MOST_BINS}");
            return Err(Refusal::too_much(message));
        }
        let layout = self.layout(query, stop)?;
        let reach = self.reach(window, stop);
        let plan = self.search_plan(query, &layout, stop)?;
        let mut found = hits::count(self.trace(), &plan, bins, reach)?;
        for bin in &mut found.bins {
            *bin = (*bin * 100.0).round() / 100.0;
        }
        Ok(found)
    }

    /// Hits by bin, and whether that is exact.
    pub(crate) fn counted(
        &self,
        query: &Query,
        stop: Stop<'_>,
    ) -> Result<(Vec<f64>, bool), Refusal> {
        let found = self.hits_of(query, stop)?;
        Ok((found.bins, found.is_count_exact && found.are_bins_exact))
    }

    /// `hits`: how many there are in a window, and in which bins of it.
    pub(crate) fn hits(&self, query: &Query, stop: Stop<'_>) -> Result<Answer, Refusal> {
        let found = self.hits_of(query, stop)?;
        let exact = found.is_count_exact && found.are_bins_exact;
        let counted = Counted {
            count: found.count,
            exact: found.is_count_exact,
            bins: found.bins,
            bins_exact: found.are_bins_exact,
        };
        Answer::json(&counted, exact)
    }
}
