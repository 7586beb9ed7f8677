//! Routes of questions to their answers, the same for the server and for a page without one.

use super::answer::Answer;
use super::viewer::Viewer;
use crate::base::error::ApiError;
use crate::base::parallel::Cancel;
use crate::base::query::ApiQuery;

impl Viewer<'_> {
    /// Answers a question, such as `picture?t0=0&t1=1&w=800`. `cancel` is asked now and then whether to give up.
    ///
    /// # Errors
    /// Why there is no answer.
    pub fn answer(&self, question: &str, cancel: Cancel<'_>) -> Result<Answer, ApiError> {
        let query = ApiQuery::parse(question)?;
        match query.route.as_str() {
            "meta" => self.meta(),
            "timelines" => self.timelines(&query, cancel),
            "picture" => self.picture(&query, cancel),
            "overview" => self.overview(&query, cancel),
            "at" => self.at(&query, cancel),
            "ref" => self.reference(&query, cancel),
            "next" => self.next(&query, cancel),
            "follow" => self.follow(&query, cancel),
            "call" => self.call(&query, cancel),
            "search" => self.search(&query, cancel),
            "aggregate" => self.aggregate_answer(&query, cancel),
            "hits" => self.hits(&query, cancel),
            "stats" => self.stats(&query, cancel),
            "matrix" => self.matrix(&query, cancel),
            "sizes" => self.sizes(&query, cancel),
            "durations" => self.durations(&query, cancel),
            "events" => self.events(&query, cancel),
            "csv" => self.csv(&query, cancel),
            "summary" => self.summary_answer(cancel),
            "path" => self.path(&query, cancel),
            "waits" => self.waits_answer(cancel),
            "moments" => self.moments(&query, cancel),
            "verdict" => self.verdict_answer(&query, cancel),
            "tracks" => self.tracks_answer(&query, cancel),
            route => {
                let route: String = route.chars().take(40).collect();
                Err(ApiError::not_found(format!("there is no {route:?}")))
            }
        }
    }
}
