//! `waits`: whether it is known who waited for whom, which takes a look at the whole trace.

use serde::Serialize;

use super::answer::Answer;
use super::viewer::Viewer;
use crate::base::error::ApiError;
use crate::base::parallel::Cancel;

#[derive(Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(super) struct WaitsAnswer {
    /// `pending` while the trace is read; `unknown` in a part of a trace without its waits, and where the trace could not be read.
    #[cfg_attr(test, ts(type = "\"known\" | \"pending\" | \"unknown\""))]
    state: &'static str,
    /// Waits of calls in the whole trace.
    count: usize,
    /// Waits shorter than this many seconds are not told; 0 if all are.
    shortest: f64,
    exact: bool,
}

impl Viewer<'_> {
    /// Answers `waits`: in a trace that is small they are looked for.
    pub(super) fn waits_answer(&self, cancel: Cancel<'_>) -> Result<Answer, ApiError> {
        let is_pending = self.is_summing();
        if self.waits().is_none() && self.is_small() && !self.is_part() {
            self.summary(cancel)?;
        }
        let waits = self.waits();
        let state = match waits {
            Some(_) => "known",
            None if is_pending => "pending",
            None => "unknown",
        };
        let answer = WaitsAnswer {
            state,
            count: waits.map_or(0, |waits| waits.len()),
            shortest: waits.map_or(0.0, |waits| waits.shortest()),
            exact: waits.is_some(),
        };
        Answer::json(&answer, answer.exact)
    }
}
