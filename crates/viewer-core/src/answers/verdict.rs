//! `verdict`: how well a range of the run used its ranks, and what was lost in it.

use serde::Serialize;

use super::answer::Answer;
use super::viewer::Viewer;
use crate::base::error::ApiError;
use crate::base::parallel::Cancel;
use crate::base::query::ApiQuery;
use crate::findings::range::verdict_of;
use crate::findings::summary::RunVerdict;

/// The verdict of a range of time.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(super) struct RangeVerdict {
    /// Begin of the range, seconds.
    t0: f64,
    /// End of the range, seconds.
    t1: f64,
    /// Whether all of the trace may be read for an answer; without that it is not known who waited for whom in the range.
    is_small: bool,
    /// The verdict; nothing if the trace has no ranks or no MPI calls, or all of the trace may not be read.
    verdict: Option<RunVerdict>,
}

impl Viewer<'_> {
    /// Answers `verdict`: that of the time from `t0` to `t1`, as the report with this focus has it.
    pub(super) fn verdict_answer(
        &self,
        query: &ApiQuery,
        cancel: Cancel<'_>,
    ) -> Result<Answer, ApiError> {
        let range = self.window(query)?;
        // A part of a trace lacks the calls that match its own.
        let is_small = self.is_small() && !self.is_part();
        let budget = self.budget(self.trace().bounds(), cancel);
        let verdict = match is_small {
            true => verdict_of(self.trace(), self.trees(), range, budget)?,
            false => None,
        };
        let answer = RangeVerdict {
            t0: range.earliest,
            t1: range.latest,
            is_small,
            verdict,
        };
        Answer::json(&answer, true)
    }
}
