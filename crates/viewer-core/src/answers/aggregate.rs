//! `aggregate`: sums, means and extremes over the drawables that a search takes, in a table whose lines are searches themselves.

use serde::Serialize;
use std::collections::BTreeSet;
use trace_formats::slog2::Topology;
use trace_model::lane_of;

use io_attribution::Actor;

use super::answer::Answer;
use super::viewer::Viewer;
use crate::base::error::ApiError;
use crate::base::parallel::Cancel;
use crate::base::query::ApiQuery;
use crate::base::text::visible;
use crate::search::aggregate::{AggregateTally, GroupKey, aggregate, counts_bytes};
use crate::search::aggregation::{
    AggregateFunction, AggregateQuery, AggregatedValue, GROUPED_BY, GroupedBy,
};
use crate::search::language::{Condition, SearchTerms, quoted};
use crate::search::plan::{SearchPlan, has_key};
use crate::search::prepare;
use crate::timelines::layout::TimelineLayout;
use crate::timelines::tree::LabelTree;
use crate::trace::DrawableKind;
use crate::trace::scan::ReadBudget;

/// Lines of the table at most.
const MAX_LINES: usize = 1000;
/// Categories at most that the search of a line leaves out by their names.
const MAX_LEFT_OUT: usize = 24;

/// Answer to `aggregate`.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(super) struct AggregateAnswer {
    /// The function: `sum`, `count`, `mean`, `max` or `min`.
    function: &'static str,
    /// By what lines are told apart: `rank`, `name` and so on.
    by: Vec<String>,
    /// Unit of the values.
    #[cfg_attr(test, ts(type = "\"seconds\" | \"bytes\" | \"number\""))]
    unit: &'static str,
    /// The first lines, in the order of the function: the largest first, of `min` the smallest.
    lines: Vec<AggregateLine>,
    /// Lines that there are.
    groups: usize,
    /// Drawables that are in a line.
    count: u64,
    /// Drawables that the search takes but that have no such value, or are in no line.
    without: u64,
    /// Drawables that start before this time are in the table, seconds.
    until: f64,
    /// Whether these are all.
    exact: bool,
}

/// A line of the table.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(super) struct AggregateLine {
    /// What is in the line, for each thing by which lines are told apart.
    labels: Vec<String>,
    /// What the function gives.
    value: f64,
    /// Number of drawables.
    count: u64,
    /// Sum of their values.
    sum: f64,
    /// Least value.
    min: f64,
    /// Largest value.
    max: f64,
    /// Search that has just these drawables; nothing where none can be written.
    query: Option<String>,
}

impl Viewer<'_> {
    /// Answers `aggregate`: what `a` asks for, of the whole trace, or of as much of it from its begin as there is time for.
    pub(super) fn aggregate_answer(
        &self,
        query: &ApiQuery,
        cancel: Cancel<'_>,
    ) -> Result<Answer, ApiError> {
        let wanted = AggregateQuery::parse(query.text("a"))?;
        self.check_keys(&wanted)?;
        let layout = self.layout(query, cancel)?;
        let asks_for_waits = wanted.value == AggregatedValue::Wait
            || (wanted.terms.as_ref()).is_some_and(SearchTerms::ask_for_waits);
        if asks_for_waits && self.waits().is_none() {
            if !self.is_small() || self.is_part() {
                return Err(ApiError::bad_request(
                    "a: who waits is told when all of the trace has been read",
                ));
            }
            self.summary(cancel)?;
        }
        let plan = self.aggregate_plan(&wanted, &layout, cancel)?;
        let budget = ReadBudget {
            bytes: self.limits().whole_bytes,
            ..self.budget(self.trace().bounds(), cancel)
        };
        let waits = self.waits().map(|waits| &**waits);
        let found = aggregate(self.trace(), &plan, &wanted, waits, budget)?;
        let mut groups = found.groups;
        let value = |tally: &AggregateTally| value_of(wanted.function, tally);
        groups.sort_by(|(_, a), (_, b)| match wanted.function {
            AggregateFunction::Min => value(a).total_cmp(&value(b)),
            _ => value(b).total_cmp(&value(a)),
        });
        let sums_bytes = wanted.value == AggregatedValue::Bytes;
        let without_repeats = sums_bytes.then(|| self.without_repeats(&plan)).flatten();
        let lines = groups
            .iter()
            .take(MAX_LINES)
            .map(|(keys, tally)| AggregateLine {
                labels: keys.iter().map(|key| self.group_label(key)).collect(),
                value: value(tally),
                count: tally.count,
                sum: tally.sum,
                min: tally.min,
                max: tally.max,
                query: self.group_search(&wanted, &plan, keys, tally, without_repeats.as_deref()),
            });
        let answer = AggregateAnswer {
            function: wanted.function.name(),
            by: wanted.by.iter().map(|by| by.name().to_owned()).collect(),
            unit: match wanted.value {
                AggregatedValue::Duration | AggregatedValue::Wait => "seconds",
                AggregatedValue::Bytes => "bytes",
                AggregatedValue::Key(_) => "number",
            },
            lines: lines.collect(),
            groups: groups.len(),
            count: groups.iter().map(|(_, tally)| tally.count).sum(),
            without: found.without,
            until: found.until,
            exact: found.exact,
        };
        Answer::json(&answer, answer.exact)
    }

    /// Checks that the trace has values of the keys that are asked for.
    fn check_keys(&self, wanted: &AggregateQuery) -> Result<(), ApiError> {
        let value = match &wanted.value {
            AggregatedValue::Key(key) => Some((key, "dur, bytes, wait or a key such as size")),
            _ => None,
        };
        let by = wanted.by.iter().filter_map(|by| match by {
            GroupedBy::Key(key) => Some((key, GROUPED_BY)),
            _ => None,
        });
        for (key, expected) in value.into_iter().chain(by) {
            let mut kinds = self.trace().kinds().iter();
            if !kinds.any(|kind| crate::search::plan::has_key(kind, key)) {
                let key: String = key.chars().take(40).collect();
                return Err(ApiError::bad_request(format!(
                    "a: nothing in this trace has a value {key}; expected {expected}"
                )));
            }
        }
        Ok(())
    }

    /// The search after `where`, made ready; without one, all drawables of the timelines.
    fn aggregate_plan(
        &self,
        wanted: &AggregateQuery,
        layout: &TimelineLayout,
        cancel: Cancel<'_>,
    ) -> Result<SearchPlan, ApiError> {
        let all = SearchTerms(Vec::new());
        let terms = wanted.terms.as_ref().unwrap_or(&all);
        let budget = self.budget(self.trace().bounds(), cancel);
        prepare::plan(self.trace(), layout, terms, self.waits(), budget)
    }

    fn group_label(&self, key: &GroupKey) -> String {
        match key {
            GroupKey::Rank(line) => self.rank_label(*line),
            GroupKey::Peers(from, to) => {
                format!("{} → {}", self.rank_label(*from), self.rank_label(*to))
            }
            GroupKey::Number(number) | GroupKey::Integer(number) => number.to_string(),
            GroupKey::Kind(kind) => self.trace().kinds()[*kind as usize].name.clone(),
            GroupKey::Class(name) => (*name).to_owned(),
            GroupKey::Hex(number) => format!("0x{number:x}"),
            GroupKey::Real(bits) => f64::from_bits(*bits).to_string(),
            GroupKey::Text(text) => visible(&String::from_utf8_lossy(text)),
        }
    }

    /// `rank 3`, or the label of a line that is of no rank.
    fn rank_label(&self, line: u32) -> String {
        let found = &self.trace().lines()[line as usize].line;
        if let Actor::Rank(rank) = lane_of(found).actor {
            return format!("rank {rank}");
        }
        let label = |tree: &LabelTree| {
            let leaf = *tree.leaf_of.get(line as usize)?;
            Some(tree.full_label(*tree.leaves.get(leaf as usize)?))
        };
        (self.trees().first().and_then(label)).unwrap_or_else(|| format!("line {}", found.id))
    }

    /// The search for the drawables of a group; `without_repeats` are the conditions of [`Viewer::without_repeats`].
    fn group_search(
        &self,
        wanted: &AggregateQuery,
        plan: &SearchPlan,
        keys: &[GroupKey],
        tally: &AggregateTally,
        without_repeats: Option<&[String]>,
    ) -> Option<String> {
        let has_arrows = plan.takes_topology(self.trace(), Topology::Arrow);
        let own = keys.iter().zip(&wanted.by);
        let own = own.map(|(key, by)| self.key_search(key, by.name(), has_arrows));
        let mut own = own.collect::<Option<Vec<String>>>()?;
        let tells_kind = |key: &GroupKey| matches!(key, GroupKey::Kind(_) | GroupKey::Peers(..));
        if wanted.value == AggregatedValue::Bytes && !keys.iter().any(tells_kind) {
            own.extend_from_slice(without_repeats?);
        }
        let own = own.join(" ");
        // Those without the value are not in the sum.
        let valued = match &wanted.value {
            AggregatedValue::Duration => String::new(),
            AggregatedValue::Bytes => format!("bytes>={}", tally.min),
            AggregatedValue::Wait => "wait>0".to_owned(),
            AggregatedValue::Key(key) => format!("{key}>={}", tally.min),
        };
        let search = [wanted.terms_text.as_str(), &own, &valued].join(" ");
        let search = search.trim().to_owned();
        // A text that reads as a number is another condition.
        let texts = keys.iter().zip(&wanted.by);
        let mut texts = texts.filter(|(key, _)| matches!(key, GroupKey::Text(_)));
        let is_text = |terms: &SearchTerms, name: &str| {
            let mut terms = terms.0.iter();
            terms.any(|term| matches!(&term.condition, Condition::Text(key, _) if key == name))
        };
        SearchTerms::parse(&search)
            .ok()
            .filter(|terms| texts.all(|(_, by)| is_text(terms, by.name())))
            .map(|_| search)
    }

    /// The conditions that leave out what repeats the bytes of calls and messages, by its names; `None` where these are too many, or calls have them, too.
    fn without_repeats(&self, plan: &SearchPlan) -> Option<Vec<String>> {
        let taken = |kind: &&DrawableKind| {
            has_key(kind, "bytes") && plan.takes_category(self.trace(), kind.category.index)
        };
        let kinds = self.trace().kinds().iter().filter(taken);
        let (counted, repeating): (Vec<_>, Vec<_>) = kinds.partition(|kind| counts_bytes(kind));
        let name = |kind: &&DrawableKind| kind.name.clone();
        let names: BTreeSet<String> = repeating.iter().map(name).collect();
        let in_other_case = |kind: &&DrawableKind| {
            let same = |name: &String| name.to_lowercase() == kind.name.to_lowercase();
            names.iter().any(same)
        };
        if counted.iter().any(in_other_case) || names.len() > MAX_LEFT_OUT || names.contains("") {
            return None;
        }
        let conditions = names
            .iter()
            .map(|name| format!("!category:{}", quoted(name)));
        Some(conditions.collect())
    }

    /// The search for drawables with this key, of those that are told apart by `name`; where there may be arrows.
    fn key_search(&self, key: &GroupKey, name: &str, has_arrows: bool) -> Option<String> {
        let rank = |line: &u32| {
            let rank = self.trace().lines()[*line as usize].line.rank;
            (rank >= 0).then_some(rank)
        };
        Some(match key {
            GroupKey::Rank(line) if has_arrows => format!("sender:{}", rank(line)?),
            GroupKey::Rank(line) => format!("rank:{}", rank(line)?),
            GroupKey::Peers(from, to) => {
                format!(
                    "sender:{} receiver:{} class:message",
                    rank(from)?,
                    rank(to)?
                )
            }
            GroupKey::Number(number) if *number < 0 => return None,
            GroupKey::Number(number) if has_arrows => format!("{name}:{number} !is:arrow"),
            GroupKey::Number(number) => format!("{name}:{number}"),
            GroupKey::Kind(kind) => {
                let name = &self.trace().kinds()[*kind as usize].name;
                (!name.is_empty()).then(|| format!("category:{}", quoted(name)))?
            }
            GroupKey::Class(class) => format!("class:{class}"),
            GroupKey::Integer(number) => format!("{name}={number}"),
            GroupKey::Hex(number) => format!("{name}=0x{number:x}"),
            GroupKey::Real(bits) => format!("{name}={}", f64::from_bits(*bits)),
            GroupKey::Text(text) => {
                let text = std::str::from_utf8(text).ok()?;
                let is_plain = !text.is_empty() && !text.contains(['*', '?']);
                is_plain.then(|| format!("{name}={}", quoted(text)))?
            }
        })
    }
}

fn value_of(function: AggregateFunction, tally: &AggregateTally) -> f64 {
    match function {
        AggregateFunction::Count => tally.count as f64,
        AggregateFunction::Sum => tally.sum,
        AggregateFunction::Mean => tally.sum / tally.count.max(1) as f64,
        AggregateFunction::Max => tally.max,
        AggregateFunction::Min => tally.min,
    }
}
