//! `rows`: the timelines of the page, in order.

use serde::Serialize;

use super::answer::Answer;
use super::viewer::Viewer;
use crate::base::error::ApiError;
use crate::base::parallel::Cancel;
use crate::base::query::ApiQuery;

impl Viewer<'_> {
    /// Answers `rows`.
    pub(super) fn timelines(
        &self,
        query: &ApiQuery,
        cancel: Cancel<'_>,
    ) -> Result<Answer, ApiError> {
        let layout = self.layout(query, cancel)?;
        let timelines = || layout.timelines.iter();
        let answer = TimelinesAnswer {
            spec: &layout.spec,
            count: layout.timelines.len(),
            label: timelines()
                .map(|timeline| timeline.label.as_str())
                .collect(),
            key: timelines().map(|timeline| timeline.key.as_str()).collect(),
            depth: timelines().map(|timeline| timeline.depth).collect(),
            lines: timelines().map(|timeline| timeline.lines).collect(),
            group: timelines().map(|timeline| timeline.group).collect(),
            open: timelines().map(|timeline| timeline.open).collect(),
            pinned: layout.pinned,
            path: timelines()
                .map(|timeline| timeline.path.as_slice())
                .collect(),
        };
        Answer::json(&answer, true)
    }
}

#[derive(Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(super) struct TimelinesAnswer<'l> {
    spec: &'l str,
    count: usize,
    label: Vec<&'l str>,
    key: Vec<&'l str>,
    depth: Vec<u16>,
    lines: Vec<u32>,
    group: Vec<bool>,
    open: Vec<bool>,
    pinned: usize,
    path: Vec<&'l [String]>,
}
