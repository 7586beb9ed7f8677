//! `rows`: the timelines of the page, in order.

use serde::Serialize;

use super::answer::Answer;
use super::viewer::Viewer;
use crate::base::error::ApiError;
use crate::base::parallel::Cancel;
use crate::base::query::Query;

impl Viewer<'_> {
    /// Answers `rows`.
    pub(super) fn rows(&self, query: &Query, cancel: Cancel<'_>) -> Result<Answer, ApiError> {
        let layout = self.layout(query, cancel)?;
        let rows = || layout.rows.iter();
        let answer = TimelinesAnswer {
            spec: &layout.spec,
            count: layout.rows.len(),
            label: rows().map(|row| row.label.as_str()).collect(),
            key: rows().map(|row| row.key.as_str()).collect(),
            depth: rows().map(|row| row.depth).collect(),
            lines: rows().map(|row| row.lines).collect(),
            group: rows().map(|row| row.group).collect(),
            open: rows().map(|row| row.open).collect(),
            pinned: layout.pinned,
            path: rows().map(|row| row.path.as_slice()).collect(),
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
