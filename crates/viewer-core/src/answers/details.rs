//! The answers about single drawables.

use serde::Serialize;

use super::answer::Answer;
use super::viewer::Viewer;
use crate::base::error::Refusal;
use crate::base::parallel::Stop;
use crate::base::query::Query;
use crate::details::{Called, Detail, Details, Followed};
use crate::timelines::spec::Spec;
use crate::trace::reference::Reference;

impl Viewer<'_> {
    /// Looks for drawables on the rows of a question.
    pub(crate) fn details<T: Serialize>(
        &self,
        query: &Query,
        stop: Stop<'_>,
        tell: impl FnOnce(&Details<'_, '_>) -> Result<T, Refusal>,
    ) -> Result<Answer, Refusal> {
        let layout = self.layout(query, stop)?;
        let map = Spec::parse(&layout.spec)?.map;
        let found = tell(&Details {
            trace: self.trace(),
            layout: &layout,
            tree: &self.trees()[map],
            reach: self.reach(self.trace().bounds(), stop),
        })?;
        Answer::json(&found, !stop())
    }

    pub(crate) fn at(&self, query: &Query, stop: Stop<'_>) -> Result<Answer, Refusal> {
        let all = self.trace().bounds();
        let time = query.time("t", all.earliest)?;
        let within = query.time("dt", all.duration() * 1e-4)?.max(0.0);
        let (row, hidden) = (query.number("row", 0)?, self.hidden(query)?);
        self.details(query, stop, |details| {
            let found = details.at(time, row, within, &hidden)?;
            found.map(|item| details.detail(&item)).transpose()
        })
    }

    pub(crate) fn reference(&self, query: &Query, stop: Stop<'_>) -> Result<Answer, Refusal> {
        let reference = Reference::parse(query.text("ref"))?;
        self.details(query, stop, |details| {
            details.detail(&details.find(&reference)?)
        })
    }

    pub(crate) fn next(&self, query: &Query, stop: Stop<'_>) -> Result<Answer, Refusal> {
        let is_forward = query.number("dir", 1i32)? >= 0;
        let time = query.time("t", self.trace().bounds().earliest)?;
        let row = query.number("row", 0)?;
        let reference = query.get("ref").filter(|text| !text.is_empty());
        let reference = reference.map(Reference::parse).transpose()?;
        self.details(query, stop, |details| {
            let found = match reference {
                Some(reference) => details.beside(&reference, is_forward)?,
                None => details.from_time(row, time, is_forward)?,
            };
            found.map(|item| details.detail(&item)).transpose()
        })
    }

    pub(crate) fn follow(&self, query: &Query, stop: Stop<'_>) -> Result<Answer, Refusal> {
        let is_forward = query.number("dir", -1i32)? >= 0;
        let reference = Reference::parse(query.text("ref"))?;
        self.details(query, stop, |details| {
            let found = details.follow(&reference, is_forward)?;
            let arrows = details.detail_all(&found.arrows, Followed::MOST)?;
            let partner = found.partner.map(|state| details.detail(&state));
            Ok(FollowAnswer {
                arrows,
                total: found.arrows.len(),
                partner: partner.transpose()?,
            })
        })
    }

    pub(crate) fn call(&self, query: &Query, stop: Stop<'_>) -> Result<Answer, Refusal> {
        let text = query.text("id");
        let digits = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X"));
        let id = match digits {
            Some(digits) => u64::from_str_radix(digits, 16),
            None => text.parse(),
        };
        let id = id.map_err(|_| Refusal::wrong("id: expected a CallID such as 0x10000000005"))?;
        let near = query.get("t0").map(|_| self.window(query)).transpose()?;
        self.details(query, stop, |details| {
            let found = details.call(id, near)?;
            let operations = details.detail_all(&found.operations, Called::MOST)?;
            let seconds: f64 = found.operations.iter().map(|o| o.end - o.start).sum();
            Ok(CallAnswer {
                call: found.call.map(|call| details.detail(&call)).transpose()?,
                total: found.operations.len(),
                seconds,
                operations,
                exact: found.exact,
            })
        })
    }
}

#[derive(Serialize)]
struct FollowAnswer {
    arrows: Vec<Detail>,
    total: usize,
    partner: Option<Detail>,
}

#[derive(Serialize)]
struct CallAnswer {
    call: Option<Detail>,
    operations: Vec<Detail>,
    total: usize,
    seconds: f64,
    exact: bool,
}
