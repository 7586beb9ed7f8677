//! Tables as text with commas, for other programs.

use std::fmt::Write;

use super::answer::{Answer, AnswerBody};
use super::viewer::Viewer;
use crate::base::error::ApiError;
use crate::base::parallel::Cancel;
use crate::base::query::ApiQuery;
use crate::timelines::layout::{TimelineLayout, ViewTimeline};

/// Lines of text.
#[derive(Default)]
struct CsvTable(String);

impl CsvTable {
    fn line(&mut self, fields: &[&dyn std::fmt::Display]) {
        for (nth, field) in fields.iter().enumerate() {
            if nth > 0 {
                self.0.push(',');
            }
            let text = field.to_string();
            // Programs that calculate take these for formulas, and names come from files of others.
            let is_number = text.parse::<f64>().is_ok();
            let is_formula = text.starts_with(['=', '+', '-', '@', '\t', '\r']) && !is_number;
            let text = if is_formula { format!("'{text}") } else { text };
            match text.contains([',', '"', '\n', '\r']) {
                true => {
                    let _ = write!(self.0, "\"{}\"", text.replace('"', "\"\""));
                }
                false => self.0.push_str(&text),
            }
        }
        self.0.push_str("\r\n");
    }

    fn answer(self, exact: bool) -> Answer {
        Answer {
            kind: AnswerBody::Text("text/csv; charset=utf-8"),
            body: self.0.into_bytes(),
            exact,
        }
    }
}

fn or_empty<T: ToString>(value: Option<T>) -> String {
    value.map_or_else(String::new, |value| value.to_string())
}

impl Viewer<'_> {
    /// `csv`.
    pub(crate) fn csv(&self, query: &ApiQuery, cancel: Cancel<'_>) -> Result<Answer, ApiError> {
        let layout = self.layout(query, cancel)?;
        match query.text("what") {
            "stats" => self.statistics_csv(&layout, query, cancel),
            "timelines" => self.timelines_csv(&layout, query, cancel),
            "matrix" => self.matrix_csv(&layout, query, cancel),
            "events" => self.events_csv(&layout, query, cancel),
            "hits" => self.hits_csv(query, cancel),
            _ => {
                let expected = "what: expected stats, timelines, matrix, events or hits";
                Err(ApiError::bad_request(expected))
            }
        }
    }

    fn statistics_csv(
        &self,
        layout: &TimelineLayout,
        query: &ApiQuery,
        cancel: Cancel<'_>,
    ) -> Result<Answer, ApiError> {
        let mut table = CsvTable::default();
        let label = |timeline: usize| label_of(layout, timeline);
        let found = self.numbers(query, cancel)?;
        let exact = found.is_exact();
        table.line(&[
            &"category",
            &"topology",
            &"count",
            &"inclusive_s",
            &"exclusive_s",
            &"min_s",
            &"mean_s",
            &"max_s",
            &"row_of_max",
            &"bytes",
            &"exact",
        ]);
        for c in &found.categories {
            let timeline = c.timeline_of_max.map(|timeline| label(timeline as usize));
            table.line(&[
                &c.name,
                &c.topology,
                &c.count,
                &c.incl,
                &c.excl,
                &or_empty(c.min),
                &or_empty(c.mean),
                &or_empty(c.max),
                &or_empty(timeline),
                &c.bytes,
                &exact,
            ]);
        }
        Ok(table.answer(exact))
    }

    fn timelines_csv(
        &self,
        layout: &TimelineLayout,
        query: &ApiQuery,
        cancel: Cancel<'_>,
    ) -> Result<Answer, ApiError> {
        let mut table = CsvTable::default();
        let label = |timeline: usize| label_of(layout, timeline);
        let name = |kind: u32| self.trace().kinds()[kind as usize].name.as_str();
        let found = self.numbers(query, cancel)?;
        let exact = found.is_exact();
        let names = found
            .timelines
            .top
            .iter()
            .map(|top| name(top.kind).to_owned());
        let mut title: Vec<String> = ["timeline", "threads", "busy_s", "end_s"]
            .map(str::to_owned)
            .into();
        title.extend(names);
        let fields: Vec<&dyn std::fmt::Display> = title.iter().map(|t| t as _).collect();
        table.line(&fields);
        let shown = query.number("y0", 0_usize)?..query.number("y1", usize::MAX)?;
        for timeline in (0..layout.timelines.len()).filter(|timeline| shown.contains(timeline)) {
            let end = or_empty(found.timelines.ends[timeline]);
            let label = label(timeline);
            let mut fields: Vec<&dyn std::fmt::Display> = vec![
                &label,
                &found.timelines.threads[timeline],
                &found.timelines.busy[timeline],
                &end,
            ];
            for top in &found.timelines.top {
                fields.push(&top.excl[timeline]);
            }
            table.line(&fields);
        }
        Ok(table.answer(exact))
    }

    fn matrix_csv(
        &self,
        layout: &TimelineLayout,
        query: &ApiQuery,
        cancel: Cancel<'_>,
    ) -> Result<Answer, ApiError> {
        let mut table = CsvTable::default();
        let label = |timeline: usize| label_of(layout, timeline);
        let pairs = self.pairs(query, cancel)?;
        // Of timelines that are counted together: the first and the last.
        let group = |first: i32| {
            let last = (first as usize + pairs.group as usize).min(layout.timelines.len());
            match pairs.group {
                0 | 1 => label(first as usize),
                _ => format!(
                    "{} – {}",
                    label(first as usize),
                    label(last.saturating_sub(1))
                ),
            }
        };
        table.line(&[&"from", &"to", &"messages", &"bytes"]);
        for &(from, to, count, bytes) in &pairs.cells {
            table.line(&[&group(from), &group(to), &count, &bytes]);
        }
        Ok(table.answer(pairs.exact))
    }

    fn events_csv(
        &self,
        layout: &TimelineLayout,
        query: &ApiQuery,
        cancel: Cancel<'_>,
    ) -> Result<Answer, ApiError> {
        let mut table = CsvTable::default();
        let label = |timeline: usize| label_of(layout, timeline);
        let found = self.whole_table(query, cancel)?;
        table.line(&[
            &"start_s",
            &"end_s",
            &"duration_s",
            &"topology",
            &"name",
            &"timeline",
            &"to_timeline",
            &"file",
            &"info",
        ]);
        for at in 0..found.name.len() {
            let to = usize::try_from(found.to_timeline[at]).map_or_else(|_| String::new(), label);
            table.line(&[
                &found.t0[at],
                &found.t1[at],
                &found.dur[at],
                &found.topology[at],
                &found.name[at],
                &label(found.timeline[at] as usize),
                &to,
                &found.file[at],
                &found.info[at],
            ]);
        }
        Ok(table.answer(found.exact))
    }

    fn hits_csv(&self, query: &ApiQuery, cancel: Cancel<'_>) -> Result<Answer, ApiError> {
        let mut table = CsvTable::default();
        let window = self.window(query)?;
        let (found, exact) = self.counted(query, cancel)?;
        table.line(&[&"from_s", &"to_s", &"hits"]);
        let width = window.duration() / found.len() as f64;
        for (nth, count) in found.iter().enumerate() {
            let from = window.earliest + nth as f64 * width;
            table.line(&[&from, &(from + width), count]);
        }
        Ok(table.answer(exact))
    }
}

/// The label of a timeline with those above it; empty if there is none at this position.
fn label_of(layout: &TimelineLayout, timeline: usize) -> String {
    let timeline = layout.timelines.get(timeline);
    timeline.map_or_else(String::new, ViewTimeline::full_label)
}
