//! The answers about single drawables.

use serde::Serialize;

use super::answer::Answer;
use super::viewer::Viewer;
use crate::base::error::ApiError;
use crate::base::parallel::Cancel;
use crate::base::query::ApiQuery;
use crate::details::{CallOperations, DetailFinder, DrawableDetail, FollowedArrows};
use crate::timelines::spec::TimelineSpec;
use crate::trace::reference::DrawableReference;

impl Viewer<'_> {
    /// Looks for drawables on the timelines of a question.
    pub(crate) fn details<T: Serialize>(
        &self,
        query: &ApiQuery,
        cancel: Cancel<'_>,
        describe: impl FnOnce(&DetailFinder<'_, '_>) -> Result<T, ApiError>,
    ) -> Result<Answer, ApiError> {
        let layout = self.layout(query, cancel)?;
        let map = TimelineSpec::parse(&layout.spec)?.map;
        let found = describe(&DetailFinder {
            trace: self.trace(),
            layout: &layout,
            tree: &self.trees()[map],
            waits: self.waits().map(|waits| &**waits),
            file: &|item| self.file_of(item, cancel),
            communicator: &|line| self.communicator(line),
            budget: self.budget(self.trace().bounds(), cancel),
        })?;
        Answer::json(&found, !cancel())
    }

    pub(crate) fn at(&self, query: &ApiQuery, cancel: Cancel<'_>) -> Result<Answer, ApiError> {
        let all = self.trace().bounds();
        let time = query.time("t", all.earliest)?;
        let within = query.time("dt", all.duration() * 1e-4)?.max(0.0);
        let (timeline, hidden) = (query.number("timeline", 0)?, self.hidden(query)?);
        self.details(query, cancel, |details| {
            let found = details.at(time, timeline, within, &hidden)?;
            found.map(|item| details.detail(&item)).transpose()
        })
    }

    pub(crate) fn reference(
        &self,
        query: &ApiQuery,
        cancel: Cancel<'_>,
    ) -> Result<Answer, ApiError> {
        let reference = DrawableReference::parse(query.text("ref"))?;
        self.details(query, cancel, |details| {
            details.detail(&details.find(&reference)?)
        })
    }

    pub(crate) fn next(&self, query: &ApiQuery, cancel: Cancel<'_>) -> Result<Answer, ApiError> {
        let is_forward = query.number("dir", 1i32)? >= 0;
        let time = query.time("t", self.trace().bounds().earliest)?;
        let timeline = query.number("timeline", 0)?;
        let reference = query.get("ref").filter(|text| !text.is_empty());
        let reference = reference.map(DrawableReference::parse).transpose()?;
        self.details(query, cancel, |details| {
            let found = match reference {
                Some(reference) => details.beside(&reference, is_forward)?,
                None => details.beside_time(timeline, time, is_forward)?,
            };
            found.map(|item| details.detail(&item)).transpose()
        })
    }

    pub(crate) fn follow(&self, query: &ApiQuery, cancel: Cancel<'_>) -> Result<Answer, ApiError> {
        let is_forward = query.number("dir", -1i32)? >= 0;
        let reference = DrawableReference::parse(query.text("ref"))?;
        self.details(query, cancel, |details| {
            let found = details.follow(&reference, is_forward)?;
            let arrows = details.detail_all(&found.arrows, FollowedArrows::MAX_LISTED)?;
            let partner = found.partner.map(|state| details.detail(&state));
            Ok(FollowAnswer {
                arrows,
                total: found.arrows.len(),
                partner: partner.transpose()?,
            })
        })
    }

    pub(crate) fn call(&self, query: &ApiQuery, cancel: Cancel<'_>) -> Result<Answer, ApiError> {
        let text = query.text("id");
        let digits = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X"));
        let id = match digits {
            Some(digits) => u64::from_str_radix(digits, 16),
            None => text.parse(),
        };
        let id =
            id.map_err(|_| ApiError::bad_request("id: expected a CallID such as 0x10000000005"))?;
        let near = query.get("t0").map(|_| self.window(query)).transpose()?;
        self.details(query, cancel, |details| {
            let found = details.call(id, near)?;
            let operations = details.detail_all(&found.operations, CallOperations::MAX_LISTED)?;
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
#[cfg_attr(test, derive(ts_rs::TS))]
pub(super) struct FollowAnswer {
    arrows: Vec<DrawableDetail>,
    total: usize,
    partner: Option<DrawableDetail>,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(super) struct CallAnswer {
    call: Option<DrawableDetail>,
    operations: Vec<DrawableDetail>,
    total: usize,
    seconds: f64,
    exact: bool,
}
