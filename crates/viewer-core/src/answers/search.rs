//! Search: the language, the next hit, the number of hits and where they are.

pub mod hits;
pub mod language;
pub mod plan;
pub mod walk;

use serde::Serialize;
use trace_formats::model::{Value, info_values};
use trace_formats::slog2::TimeBBox;

use crate::answer::{Answer, Viewer};
use crate::both::Stop;
use crate::details::{Detail, Reference};
use crate::layout::Layout;
use crate::query::Query;
use crate::refusal::Refusal;
use crate::scan::Reach;
use crate::trace::Trace;
use hits::Hits;
use language::{Says, Term, Terms};
use plan::Plan;
use walk::{Place, find};

/// Events that name files, of which so many are looked at for a condition on files.
const MOST_FILES: usize = 10_000;
/// Bins of an answer.
const MOST_BINS: usize = 20_000;

/// Makes a search ready, also what it says about files, which other drawables name by number only.
///
/// # Errors
/// The query cannot be read, or the trace not.
pub fn plan(
    trace: &Trace<'_>,
    layout: &Layout,
    query: &str,
    reach: Reach<'_>,
) -> Result<Plan, Refusal> {
    let is_shown = |line: u32| layout.row(line).is_some();
    let mut plan = Plan::new(trace, &is_shown, &Terms::parse(query)?);
    for (at, pattern) in plan.file_patterns() {
        let says = Says::Text("path".into(), pattern);
        let named = Terms(vec![Term { not: false, says }]);
        let naming = Plan::new(trace, &|_| true, &named);
        let mut from = Place::at(f64::NEG_INFINITY);
        for _ in 0..MOST_FILES {
            let found = find(trace, &naming, from, true, reach)?;
            let Some(item) = found.item else {
                break;
            };
            let category = &trace.kinds()[item.kind as usize].category;
            for (key, value) in info_values(category, item.info) {
                if let ("file", Value::Integer(number)) = (&*plan::name_of_key(&key.0), value) {
                    plan.add_file(at, number);
                }
            }
            from = Place::of(&Reference::of(trace, &item, 0));
        }
    }
    Ok(plan)
}

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
