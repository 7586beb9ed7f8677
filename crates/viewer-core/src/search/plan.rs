//! A search, made ready for a trace: what fits, and which parts of the tree cannot have it.

use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;
use trace_formats::slog2::{NodeShadow, PREVIEW_ARROW, PREVIEW_EVENT, PREVIEW_STATE, Topology};
use trace_model::{InfoValue, counter_of, info_values};

use super::language::{Comparison, Condition, LineNumber, SearchTerm, SearchTerms};
use crate::trace::info::name_of_key;
use crate::trace::states::TraceState;
use crate::trace::waits::{StateWait, TraceWaits};
use crate::trace::{DrawableKind, OpenTrace, TraceItem};
use trace_model::glob::matches_ignoring_case;

/// Sums of durations in previews are those of 32-bit floats: so much longer a drawable may be.
const PREVIEW_SLACK: f64 = 1.05;

/// A condition on the lines that a drawable is on.
#[derive(Clone, Debug)]
struct LineCondition {
    /// By line whether its number is one of those asked for.
    fits: Vec<bool>,
    /// Whether the drawable must be on none of these lines, not on one of them.
    not: bool,
}

/// A search in a trace and on the timelines of a page.
#[derive(Clone, Debug)]
pub struct SearchPlan {
    /// By kind whether it may fit.
    kinds: Vec<bool>,
    /// By line whether it is shown.
    shown: Vec<bool>,
    /// Conditions on the lines that a drawable is on: an arrow is on both its ends.
    on_lines: Vec<LineCondition>,
    /// Drawables shorter than this do not fit.
    least: f64,
    /// Drawables that start outside of this do not fit.
    starts: (f64, f64),
    /// Conditions that only the drawable itself decides.
    rest: Vec<SearchTerm>,
    /// Files, by their numbers in the trace, of the term at this place in `rest`.
    files: Vec<BTreeSet<i64>>,
    /// Calls of MPI-IO on these files, by their CallIDs, likewise.
    calls: Vec<HashSet<u64>>,
    /// Who waited, if a condition asks for it.
    waits: Option<Arc<TraceWaits>>,
}

impl SearchPlan {
    /// Makes a search ready. Lines that are not shown do not fit.
    pub fn new(trace: &OpenTrace<'_>, is_shown: &dyn Fn(u32) -> bool, terms: &SearchTerms) -> Self {
        let mut plan = SearchPlan {
            kinds: vec![true; trace.kinds().len()],
            shown: (0..trace.lines().len() as u32).map(is_shown).collect(),
            on_lines: Vec::new(),
            least: f64::NEG_INFINITY,
            starts: (f64::NEG_INFINITY, f64::INFINITY),
            rest: Vec::new(),
            files: Vec::new(),
            calls: Vec::new(),
            waits: None,
        };
        for term in &terms.0 {
            plan.add(trace, term);
        }
        plan.files = vec![BTreeSet::new(); plan.rest.len()];
        plan.calls = vec![HashSet::new(); plan.rest.len()];
        plan
    }

    fn add(&mut self, trace: &OpenTrace<'_>, term: &SearchTerm) {
        let not = term.not;
        let kinds = &mut self.kinds;
        let mut only = |fits: &dyn Fn(&DrawableKind) -> bool| {
            for (wanted, kind) in kinds.iter_mut().zip(trace.kinds()) {
                *wanted &= fits(kind);
            }
        };
        match &term.condition {
            Condition::Name(words) => only(&|kind| words.iter().any(|w| is_named(kind, w)) != not),
            Condition::Category(name) => only(&|kind| (kind.name == *name) != not),
            Condition::Is(topology) => only(&|kind| (kind.category.topology == *topology) != not),
            Condition::ActivityClass(class) => only(&|kind| (kind.class == *class) != not),
            Condition::Line(of, ranges) => {
                let fits = trace.lines().iter().map(|line| {
                    let number = match of {
                        LineNumber::Rank => line.line.rank,
                        LineNumber::Thread => line.line.thread,
                        LineNumber::Comm => line.line.comm,
                    };
                    let number = i64::from(number);
                    ranges.iter().any(|(a, b)| (*a..=*b).contains(&number))
                });
                let fits = fits.collect();
                self.on_lines.push(LineCondition { fits, not });
            }
            Condition::Duration(..) | Condition::Time(..) => {
                if !not {
                    self.bound(&term.condition);
                }
                self.rest.push(term.clone());
            }
            Condition::Wait(..) | Condition::WaitPattern(_) | Condition::WaitsFor(..) => {
                if !not {
                    only(&|kind| kind.category.topology == Topology::State);
                }
                self.rest.push(term.clone());
            }
            Condition::Receiver(_) => {
                if !not {
                    only(&|kind| kind.category.topology == Topology::Arrow);
                }
                self.rest.push(term.clone());
            }
            Condition::Sender(_) => self.rest.push(term.clone()),
            Condition::Number(key, ..) | Condition::Text(key, _) => {
                if !not {
                    only(&|kind| has_key(kind, key) || (key == "file" && kind.is_file_call()));
                }
                self.rest.push(term.clone());
            }
            Condition::CallId(_) => {
                if !not {
                    only(&|kind| has_key(kind, "callid"));
                }
                self.rest.push(term.clone());
            }
        }
    }

    /// Keeps what a condition says about parts of the tree.
    fn bound(&mut self, condition: &Condition) {
        match *condition {
            Condition::Duration(
                Comparison::More | Comparison::AtLeast | Comparison::Equal,
                least,
            ) => {
                self.least = self.least.max(least);
            }
            Condition::Time(compare, time) => {
                let (first, last) = &mut self.starts;
                if matches!(
                    compare,
                    Comparison::More | Comparison::AtLeast | Comparison::Equal
                ) {
                    *first = first.max(time);
                }
                if matches!(
                    compare,
                    Comparison::Less | Comparison::AtMost | Comparison::Equal
                ) {
                    *last = last.min(time);
                }
            }
            _ => {}
        }
    }

    /// The patterns of files that are to be looked up, by place.
    pub fn file_patterns(&self) -> Vec<(usize, String)> {
        let terms = self.rest.iter().enumerate();
        terms
            .filter_map(|(at, term)| match &term.condition {
                Condition::Text(key, pattern) if key == "file" => Some((at, pattern.clone())),
                _ => None,
            })
            .collect()
    }

    /// Says which files, by their numbers, the term at this place names.
    pub(super) fn add_files(&mut self, at: usize, numbers: BTreeSet<i64>) {
        if let Some(files) = self.files.get_mut(at) {
            *files = numbers;
        }
    }

    /// Says which calls of MPI-IO, by their CallIDs, are about files that the term at this place names.
    pub(super) fn add_calls(&mut self, at: usize, ids: HashSet<u64>) {
        if let Some(calls) = self.calls.get_mut(at) {
            *calls = ids;
        }
    }

    /// Takes who waited, for conditions that ask for it.
    pub(super) fn set_waits(&mut self, waits: Arc<TraceWaits>) {
        self.waits = Some(waits);
    }

    /// Whether this is one of the calls of MPI-IO of the term at this place.
    fn has_call(&self, at: usize, kind: &DrawableKind, item: &TraceItem<'_>) -> bool {
        let calls = self.calls.get(at).filter(|calls| !calls.is_empty());
        calls.is_some_and(|calls| {
            kind.callid_of(item.info)
                .is_some_and(|id| calls.contains(&id))
        })
    }

    /// Whether a wait of the state is one that `is_it` takes.
    fn has_wait(&self, item: &TraceItem<'_>, is_it: impl Fn(&StateWait) -> bool) -> bool {
        let waits = self.waits.iter();
        let state = TraceState::of(item);
        item.topology == Topology::State
            && waits.flat_map(|waits| waits.of_state(&state)).any(is_it)
    }

    /// Conditions on waits that must hold.
    fn asked_of_waits(&self) -> impl Iterator<Item = &SearchTerm> {
        let rest = self.rest.iter();
        rest.filter(|term| asks_for_wait(term) && !term.not)
    }

    /// Whether a wait is what all conditions on waits ask for.
    pub(super) fn takes_wait(&self, trace: &OpenTrace<'_>, wait: &StateWait) -> bool {
        let mut asked = self.asked_of_waits();
        asked.all(|term| is_wait(trace, &term.condition, wait))
    }

    /// Whether one and the same wait of the state is what all conditions on waits ask for.
    fn has_asked_wait(&self, trace: &OpenTrace<'_>, item: &TraceItem<'_>) -> bool {
        self.asked_of_waits().next().is_none()
            || self.has_wait(item, |wait| self.takes_wait(trace, wait))
    }

    /// Whether previews count what fits: categories and lines decide it.
    pub fn is_counted(&self) -> bool {
        self.rest.is_empty()
    }

    /// The waits that alone decide, with kind, line and start of a state, what fits: those of a search that asks who waits, and for nothing that only
    /// the drawable itself tells.
    pub fn deciding_waits(&self) -> Option<&TraceWaits> {
        let mut rest = self.rest.iter();
        let is_decided =
            rest.all(|term| asks_for_wait(term) || matches!(term.condition, Condition::Time(..)));
        let mut rest = self.rest.iter();
        let is_asked = rest.any(|term| asks_for_wait(term) && !term.not);
        (self.waits.as_deref()).filter(|_| is_decided && is_asked)
    }

    /// Whether anything can fit at all.
    pub fn is_possible(&self) -> bool {
        let mut on_lines = self.on_lines.iter();
        self.kinds.contains(&true)
            && self.shown.contains(&true)
            && on_lines.all(|on| on.fits.contains(&!on.not))
            && self.starts.0 <= self.starts.1
    }

    /// Whether something on these lines, the two ends of an arrow or twice the same, is shown and fits the conditions on lines; `None` stands for a line that
    /// the trace does not tell of, so that it may be any.
    fn fits_lines(&self, ends: [Option<u32>; 2]) -> bool {
        let is_one_of = |lines: &[bool]| {
            let of_end = ends.map(|end| end.map(|line| lines[line as usize]));
            if of_end.contains(&Some(true)) {
                return Some(true);
            }
            (!of_end.contains(&None)).then_some(false)
        };
        is_one_of(&self.shown) != Some(false)
            && (self.on_lines.iter()).all(|on| is_one_of(&on.fits) != Some(on.not))
    }

    /// Whether drawables of this topology may fit.
    pub(crate) fn takes_topology(&self, trace: &OpenTrace<'_>, topology: Topology) -> bool {
        let kinds = self.kinds.iter().zip(trace.kinds());
        kinds
            .into_iter()
            .any(|(&taken, kind)| taken && kind.category.topology == topology)
    }

    /// Whether drawables of this category may fit.
    #[inline]
    pub fn takes_category(&self, trace: &OpenTrace<'_>, category: i32) -> bool {
        match trace.kind(category) {
            Some(kind) => self.kinds[kind as usize],
            None => true,
        }
    }

    /// Whether a drawable fits.
    pub fn fits(&self, trace: &OpenTrace<'_>, item: &TraceItem<'_>) -> bool {
        self.kinds[item.kind as usize]
            && self.fits_lines([Some(item.line), Some(item.to_line)])
            && (0..).zip(&self.rest).all(|(at, term)| {
                let kind = &trace.kinds()[item.kind as usize];
                self.holds(trace, at, &term.condition, kind, item) != term.not
            })
            && self.has_asked_wait(trace, item)
    }

    fn holds(
        &self,
        trace: &OpenTrace<'_>,
        at: usize,
        condition: &Condition,
        kind: &DrawableKind,
        item: &TraceItem<'_>,
    ) -> bool {
        match condition {
            Condition::Duration(compare, seconds) => {
                compare.holds((item.end - item.start).abs(), *seconds)
            }
            Condition::Time(compare, seconds) => compare.holds(item.start, *seconds),
            Condition::Wait(..) | Condition::WaitPattern(_) | Condition::WaitsFor(..) => {
                self.has_wait(item, |wait| is_wait(trace, condition, wait))
            }
            Condition::Sender(ranges) => has_rank(trace, item.line, ranges),
            Condition::Receiver(ranges) => {
                item.topology == Topology::Arrow && has_rank(trace, item.to_line, ranges)
            }
            Condition::Number(key, compare, number) => {
                values(kind, key, item.info).any(|value| match value {
                    InfoValue::Integer(value) => compare.holds(value as f64, *number),
                    InfoValue::Hex(value) => compare.holds(value as f64, *number),
                    InfoValue::Real(value) => compare.holds(value, *number),
                    InfoValue::Text(_) => false,
                })
            }
            Condition::Text(key, pattern) => {
                values(kind, key, item.info).any(|value| match value {
                    InfoValue::Text(text) => is_text(pattern, &String::from_utf8_lossy(text)),
                    InfoValue::Integer(number) if key == "file" => self
                        .files
                        .get(at)
                        .is_some_and(|files| files.contains(&number)),
                    _ => false,
                }) || (key == "file" && kind.is_file_call() && self.has_call(at, kind, item))
            }
            Condition::CallId(id) => values(kind, "callid", item.info).any(|value| match value {
                InfoValue::Hex(value) => value == *id,
                InfoValue::Integer(value) => value as u64 == *id,
                _ => false,
            }),
            _ => true,
        }
    }

    /// Number of the drawables of a preview that may match; 0 if none can. 1 if the file has no counts.
    pub fn count(&self, trace: &OpenTrace<'_>, shadow: &NodeShadow<'_>) -> u64 {
        let ends = [shadow.primitive.first().line, shadow.primitive.last().line];
        if !self.fits_lines(ends.map(|id| trace.line(id))) {
            return 0;
        }
        let (first, last) = self.starts;
        if shadow.bounds.latest < first || shadow.bounds.earliest > last {
            return 0;
        }
        let topology = match shadow.primitive.category {
            PREVIEW_EVENT => Topology::Event,
            PREVIEW_ARROW => Topology::Arrow,
            PREVIEW_STATE => Topology::State,
            _ => return 1,
        };
        let length = shadow.bounds.duration();
        if length < self.least || (topology == Topology::Event && self.least > 0.0) {
            return 0;
        }
        let mut count: u64 = 0;
        for weight in shadow.weights() {
            if !self.takes_category(trace, weight.category) {
                continue;
            }
            // All of them together are not longer than this, so one is not. Not a number: nothing is known.
            let together = f64::from(weight.ratios.inclusive) * length * PREVIEW_SLACK;
            if together < self.least {
                continue;
            }
            count = count.saturating_add(u64::try_from(weight.ratios.count).unwrap_or(0).max(1));
        }
        count
    }

    /// Starts outside of this do not fit.
    pub fn starts(&self) -> (f64, f64) {
        self.starts
    }
}

/// Whether a term is about waits of calls.
fn asks_for_wait(term: &SearchTerm) -> bool {
    matches!(
        term.condition,
        Condition::Wait(..) | Condition::WaitPattern(_) | Condition::WaitsFor(..)
    )
}

/// Whether a wait is what a condition on waits asks for.
fn is_wait(trace: &OpenTrace<'_>, condition: &Condition, wait: &StateWait) -> bool {
    match condition {
        Condition::Wait(compare, seconds) => compare.holds(wait.to - wait.from, *seconds),
        Condition::WaitPattern(name) => wait.pattern.name().eq_ignore_ascii_case(name),
        Condition::WaitsFor(ranges, thread) => {
            let is_of =
                |thread| i64::from(trace.lines()[wait.culprit as usize].line.thread) == thread;
            has_rank(trace, wait.culprit, ranges) && thread.is_none_or(is_of)
        }
        _ => false,
    }
}

/// Whether the rank of a line is in one of these ranges.
fn has_rank(trace: &OpenTrace<'_>, line: u32, ranges: &[(i64, i64)]) -> bool {
    let rank = i64::from(trace.lines()[line as usize].line.rank);
    ranges.iter().any(|(a, b)| (*a..=*b).contains(&rank))
}

fn is_named(kind: &DrawableKind, word: &str) -> bool {
    match word.contains('*') {
        true => matches_ignoring_case(word, &kind.name),
        false => kind.name.to_lowercase().contains(&word.to_lowercase()),
    }
}

/// Whether a text is what a pattern says, or its last part between slashes.
pub(super) fn is_text(pattern: &str, text: &str) -> bool {
    matches_ignoring_case(pattern, text)
        || text
            .rsplit('/')
            .next()
            .is_some_and(|name| matches_ignoring_case(pattern, name))
}

/// Whether the user means this value: by its name, the end of it, or a word for several.
fn is_meant(name: &str, wanted: &str) -> bool {
    let ends = name
        .strip_suffix(wanted)
        .is_some_and(|rest| rest.is_empty() || rest.ends_with('_'));
    ends || match wanted {
        "size" | "bytes" => matches!(name, "size" | "bytes" | "msg_size"),
        "file" => matches!(name, "path" | "filename"),
        _ => false,
    }
}

pub(crate) fn has_key(kind: &DrawableKind, wanted: &str) -> bool {
    let mut keys = kind.category.info_keys.iter();
    keys.any(|key| is_meant(&name_of_key(&key.0), wanted))
}

/// The values that are meant; counts of performance counters that a rank's machine does not have are none.
pub(super) fn values<'a>(
    kind: &'a DrawableKind,
    wanted: &'a str,
    info: &'a [u8],
) -> impl Iterator<Item = InfoValue<'a>> {
    let pairs = info_values(&kind.category, info);
    pairs
        .filter(move |(key, value)| {
            let is_none = matches!(value, InfoValue::Integer(..0)) && counter_of(key).is_some();
            !is_none && is_meant(&name_of_key(&key.0), wanted)
        })
        .map(|(_, value)| value)
}
