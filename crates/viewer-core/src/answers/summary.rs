//! `summary`: where the time of the run went and what stands out.
//!
//! Nothing is guessed: each finding says from which calls it is.

use std::sync::Arc;

use super::answer::Answer;
use super::viewer::Viewer;
use crate::base::error::ApiError;
use crate::base::parallel::Cancel;
use crate::base::window::EMPTY;
use crate::findings::summarize::{FoundBeside, summarize};
use crate::findings::summary::{PhaseMoments, TraceSummary};
use crate::trace::waits::TraceWaits;

impl Viewer<'_> {
    /// `summary`: the exact one, which is made here if the trace is small; else one from previews, until there is.
    pub(crate) fn summary_answer(&self, cancel: Cancel<'_>) -> Result<Answer, ApiError> {
        // Read first: a page that is to ask again then finds the summary.
        let pending = self.is_summing();
        if self.is_small() || self.kept_summary().get().is_some() {
            let found = TraceSummary {
                phases: PhaseMoments::default(),
                ..(*self.summary(cancel)?).clone()
            };
            return Answer::json(&found, true);
        }
        let kept = self.estimated_summary();
        let found = match kept.get() {
            Some(found) => found,
            None => {
                let found = self.summarize(cancel, false)?;
                kept.get_or_init(|| found)
            }
        };
        let found = TraceSummary {
            pending,
            ..found.clone()
        };
        Answer::json(&found, false)
    }

    /// The exact summary, which is made once, however much there is to read.
    ///
    /// # Errors
    /// The file is damaged, or the answer is not wanted any more.
    pub fn summary(&self, cancel: Cancel<'_>) -> Result<Arc<TraceSummary>, ApiError> {
        let kept = self.kept_summary();
        if let Some(found) = kept.get() {
            return Ok(Arc::clone(found));
        }
        // Others wait for this one; where somebody makes it for a trace that is not small, nobody waits.
        let _turn = self.making_summary();
        if let Some(found) = kept.get() {
            return Ok(Arc::clone(found));
        }
        let found = self.summarize(cancel, true)?;
        Ok(Arc::clone(kept.get_or_init(|| Arc::new(found))))
    }

    fn summarize(&self, cancel: Cancel<'_>, exact: bool) -> Result<TraceSummary, ApiError> {
        let root = self.trace().reader().root();
        let window = root.map_or(EMPTY, |root| root.bounds);
        let (found, beside) = summarize(
            self.trace(),
            self.trees(),
            self.track_roles(),
            self.budget(window, cancel),
            exact,
        )?;
        if let Some(FoundBeside { waits, tracks }) = beside {
            if let Some(waits) = waits.filter(|_| !self.is_part()) {
                self.set_waits(TraceWaits::new(self.trace(), &waits));
            }
            self.set_tracks(tracks);
        }
        let mut lost = self.lost();
        lost.extend(found.lost);
        Ok(TraceSummary {
            name: self.name().to_owned(),
            lost,
            ..found
        })
    }
}
