//! The one place where routes are told apart, for the server and the page without one.

use super::answer::Answer;
use super::viewer::Viewer;
use crate::base::error::Refusal;
use crate::base::parallel::Stop;
use crate::base::query::Query;

impl Viewer<'_> {
    /// Answers a question, such as `picture?t0=0&t1=1&w=800`. `stop` is asked now and then whether to give up.
    ///
    /// # Errors
    /// Why there is no answer.
    pub fn answer(&self, question: &str, stop: Stop<'_>) -> Result<Answer, Refusal> {
        let query = Query::parse(question)?;
        match query.route.as_str() {
            "meta" => self.meta(),
            "rows" => self.rows(&query, stop),
            "picture" => self.picture(&query, stop),
            "overview" => self.overview(&query, stop),
            "at" => self.at(&query, stop),
            "ref" => self.reference(&query, stop),
            "next" => self.next(&query, stop),
            "follow" => self.follow(&query, stop),
            "call" => self.call(&query, stop),
            "search" => self.search(&query, stop),
            "hits" => self.hits(&query, stop),
            "stats" => self.stats(&query, stop),
            "matrix" => self.matrix(&query, stop),
            "sizes" => self.sizes(&query, stop),
            "events" => self.events(&query, stop),
            "csv" => self.csv(&query, stop),
            "summary" => self.summary_answer(stop),
            route => {
                let route: String = route.chars().take(40).collect();
                Err(Refusal::missing(format!("there is no {route:?}")))
            }
        }
    }
}
