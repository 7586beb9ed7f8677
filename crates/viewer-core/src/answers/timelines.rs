//! `rows`: the timelines of the page, in order.

use io_attribution::Actor;
use serde::Serialize;
use std::collections::BTreeSet;
use trace_model::lane_of;

use super::answer::Answer;
use super::viewer::Viewer;
use crate::base::error::ApiError;
use crate::base::parallel::Cancel;
use crate::base::query::ApiQuery;
use crate::timelines::layout::key_of;

impl Viewer<'_> {
    /// Answers `rows`.
    pub(super) fn timelines(
        &self,
        query: &ApiQuery,
        cancel: Cancel<'_>,
    ) -> Result<Answer, ApiError> {
        let layout = self.layout(query, cancel)?;
        let timelines = || layout.timelines.iter();
        let threaded = self.threaded_ranks();
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
            rank: (0..layout.timelines.len())
                .map(|timeline| self.rank_of(layout.lines_of(timeline)))
                .collect(),
            ranks: (0..layout.timelines.len())
                .map(|timeline| self.ranks_of(layout.lines_of(timeline)))
                .collect(),
            thread: (0..layout.timelines.len())
                .map(|timeline| self.thread_of(layout.lines_of(timeline), &threaded))
                .collect(),
            path: timelines()
                .map(|timeline| timeline.path.as_slice())
                .collect(),
        };
        Answer::json(&answer, true)
    }

    /// The ranks that have threads other than the main one.
    fn threaded_ranks(&self) -> BTreeSet<i32> {
        let lines = self.trace().lines().iter().map(|line| &line.line);
        let others = lines.filter(|line| line.thread > 0);
        others.map(|line| line.rank).collect()
    }

    /// The thread that all of these lines are of, if it is one of a rank with several; -1 otherwise.
    fn thread_of(&self, lines: &[u32], threaded: &BTreeSet<i32>) -> i32 {
        let all = self.trace().lines();
        let mut threads =
            (lines.iter()).filter_map(|&line| Some(all.get(line as usize)?.line.thread));
        match threads.next() {
            Some(first) if threads.all(|thread| thread == first) => {
                let is_one_of_several = threaded.contains(&self.rank_of(lines));
                if is_one_of_several { first } else { -1 }
            }
            _ => -1,
        }
    }

    /// The rank of a line; `None` if it is of none.
    fn rank_of_line(&self, line: u32) -> Option<u32> {
        let line = self.trace().lines().get(line as usize)?;
        match lane_of(&line.line).actor {
            Actor::Rank(rank) => Some(rank).filter(|&rank| i32::try_from(rank).is_ok()),
            _ => None,
        }
    }

    /// The rank that all of these lines are of; -1 if there is none.
    fn rank_of(&self, lines: &[u32]) -> i32 {
        let mut ranks = lines.iter().map(|&line| self.rank_of_line(line));
        let first = ranks.next().flatten();
        let is_one = first.is_some() && ranks.all(|rank| rank == first);
        first.filter(|_| is_one).map_or(-1, |rank| rank as i32)
    }

    /// The ranks that these lines are of, as a search for them has it: `0-3,7`; empty if one is of no rank.
    fn ranks_of(&self, lines: &[u32]) -> String {
        let ranks: Option<BTreeSet<u32>> =
            lines.iter().map(|&line| self.rank_of_line(line)).collect();
        let ranks: Vec<u32> = ranks.unwrap_or_default().into_iter().collect();
        key_of(&ranks)
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
    rank: Vec<i32>,
    ranks: Vec<String>,
    thread: Vec<i32>,
    path: Vec<&'l [String]>,
}
