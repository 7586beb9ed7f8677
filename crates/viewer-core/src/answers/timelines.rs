//! `rows`: the timelines of the page, in order.

use serde::Serialize;

use super::answer::Answer;
use super::viewer::Viewer;
use crate::base::error::Refusal;
use crate::base::parallel::Stop;
use crate::base::query::Query;

impl Viewer<'_> {
    /// Answers `rows`.
    pub(super) fn rows(&self, query: &Query, stop: Stop<'_>) -> Result<Answer, Refusal> {
        let layout = self.layout(query, stop)?;
        let rows = || layout.rows.iter();
        let answer = RowsAnswer {
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
struct RowsAnswer<'l> {
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
