//! What comes first: where the time of the run went and what stands out, each finding with its place in the timeline.
//!
//! Nothing is guessed: each card says from which calls it is.

mod cards;
mod causes;
pub mod pass;
mod words;

use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;
use trace_formats::stats::Nesting;

use crate::answer::{Answer, Viewer};
use crate::both::Stop;
use crate::class::Class;
use crate::numbers::estimate::estimate;
use crate::numbers::gather::{Also, Gathered, Wanted, gather_all};
use crate::refusal::Refusal;
use crate::scan::Reach;
use crate::trace::Trace;
use pass::Pass;
use trace_formats::io::Actor;
use trace_formats::io::draw::lane_of;
use trace_formats::model::Drawable;

/// The part of what may be read that the first summary of a large trace is made from, since it is to be there at once.
const PART_AT_FIRST: u64 = 8;

/// The summary of a trace.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Summary {
    /// Name of the trace.
    pub name: String,
    /// Ranks.
    pub ranks: usize,
    /// Threads of ranks.
    pub threads: usize,
    /// Hosts; 0 if the trace does not tell.
    pub nodes: usize,
    /// Seconds.
    pub duration: f64,
    /// Drawables.
    pub drawables: u64,
    /// Whether all was read; otherwise numbers are from previews, and what these cannot tell is missing.
    pub exact: bool,
    /// Whether an exact one is being made.
    pub pending: bool,
    /// What is not as it should be.
    pub lost: Vec<String>,
    /// Where the time of all threads went, the largest part first.
    pub bar: Vec<Part>,
    /// Findings.
    pub cards: Vec<Card>,
}

/// A part of the time.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Part {
    /// Class.
    pub class: Cow<'static, str>,
    /// Seconds, without those of what is nested.
    pub seconds: f64,
    /// Part of the time of all threads.
    pub share: f64,
}

/// A finding.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Card {
    /// What it is about: top, imbalance, waits, phases, io, communication, trouble.
    pub id: Cow<'static, str>,
    /// The same for people.
    pub title: Cow<'static, str>,
    /// The number.
    pub value: String,
    /// What it says.
    pub sentence: String,
    /// From which calls.
    pub from: String,
    /// Where to look.
    pub items: Vec<Entry>,
}

/// A place to look at.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Entry {
    /// What is there.
    pub text: String,
    /// How much.
    pub value: String,
    /// Where it is.
    pub target: Target,
}

/// A place in the timeline.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Target {
    /// Seconds.
    pub t0: f64,
    /// Seconds.
    pub t1: f64,
    /// Spec of the rows.
    pub rows: String,
    /// Reference of the drawable that is to be selected, or nothing.
    pub sel: String,
    /// Panel to open, or nothing.
    pub panel: String,
}

impl Viewer<'_> {
    /// `summary`: the exact one, which is made here if the trace is small; else one from previews, until there is.
    pub(crate) fn summary_answer(&self, stop: Stop<'_>) -> Result<Answer, Refusal> {
        // Asked before: whoever is told to ask again then finds it.
        let pending = self.is_summing();
        if self.is_small() || self.kept_summary().get().is_some() {
            return Answer::json(&*self.summary(stop)?, true);
        }
        let kept = self.estimated_summary();
        let found = match kept.get() {
            Some(found) => found,
            None => {
                let found = self.summarize(stop, false)?;
                kept.get_or_init(|| found)
            }
        };
        let found = Summary {
            pending,
            ..found.clone()
        };
        Answer::json(&found, false)
    }

    /// The exact summary, which is made once, however much there is to read.
    ///
    /// # Errors
    /// The file is damaged, or the answer is not wanted any more.
    pub fn summary(&self, stop: Stop<'_>) -> Result<Arc<Summary>, Refusal> {
        let kept = self.kept_summary();
        if let Some(found) = kept.get() {
            return Ok(Arc::clone(found));
        }
        // Others wait for this one; where somebody makes it for a trace that is not small, nobody waits.
        let _turn = self.making_summary();
        if let Some(found) = kept.get() {
            return Ok(Arc::clone(found));
        }
        let found = self.summarize(stop, true)?;
        Ok(Arc::clone(kept.get_or_init(|| Arc::new(found))))
    }

    fn summarize(&self, stop: Stop<'_>, exact: bool) -> Result<Summary, Refusal> {
        let trace = self.trace();
        let window = trace
            .reader()
            .root()
            .map_or(crate::EMPTY, |root| root.bounds);
        let reach = self.reach(window, stop);
        let lanes: Vec<u32> = trace.lines().iter().map(|line| line.lane).collect();
        let count = lanes.iter().map(|lane| *lane as usize + 1).max();
        let count = count.unwrap_or(0);
        let row = |line: u32| lanes.get(line as usize).copied();
        let hidden = vec![false; trace.kinds().len()];
        let wanted = Wanted {
            row: &row,
            hidden: &hidden,
            // A thread does one thing at a time, whatever communicator it is about.
            nesting: Nesting::Thread,
            pair: None,
        };
        let (gathered, pass) = match exact {
            true => {
                let mut looking = Looking {
                    trace,
                    pass: Pass::new(trace),
                };
                let gathered = gather_all(trace, &wanted, count, reach, &mut looking)?;
                let Looking { mut pass, .. } = looking;
                pass.finish(trace);
                (gathered, Some(pass))
            }
            false => {
                let bytes = reach.bytes / PART_AT_FIRST;
                (
                    estimate(trace, &wanted, count, Reach { bytes, ..reach })?,
                    None,
                )
            }
        };
        // The lanes of ranks that have drawables, not those of servers and devices.
        let mut ranks: BTreeMap<u32, i32> = BTreeMap::new();
        let mut hosts = Vec::new();
        let used: Vec<i32> = gathered.found.rows.iter().map(|row| row.rank).collect();
        for line in trace.lines() {
            if let Actor::Rank(_) = lane_of(&line.line).actor
                && used.binary_search(&(line.lane as i32)).is_ok()
            {
                ranks.insert(line.lane, line.line.rank);
                hosts.extend(line.line.host.clone());
            }
        }
        hosts.sort();
        hosts.dedup();
        let threads = ranks.len();
        let mut distinct: Vec<i32> = ranks.values().copied().collect();
        distinct.sort_unstable();
        distinct.dedup();
        let mut lost = self.lost();
        if !gathered.exact {
            lost.push(
                "the trace is too large to be read at once: all numbers are ≈, from previews"
                    .into(),
            );
        }
        let untold = gathered.found.untold;
        let unmatched = pass.as_ref().map_or(0, |pass| pass.untold);
        for (number, what) in [
            (
                unmatched,
                "collective calls are not matched: too many were open at once",
            ),
            (
                untold.without_time,
                "drawables have a time that is no number",
            ),
            (untold.out_of_order, "states are out of order"),
        ] {
            if number > 0 {
                lost.push(format!("{number} {what}"));
            }
        }
        let bar = bar(self, &gathered, &ranks);
        Ok(Summary {
            name: self.name().to_owned(),
            ranks: distinct.len(),
            threads,
            nodes: hosts.len(),
            duration: window.duration(),
            drawables: gathered.found.drawables,
            exact: gathered.exact,
            pending: false,
            lost,
            cards: cards::all(self, &gathered, pass.as_ref(), &ranks, reach)?,
            bar,
        })
    }
}

/// Looks at the drawables that are counted.
struct Looking<'l, 'a> {
    trace: &'l Trace<'a>,
    pass: Pass,
}

impl Also for Looking<'_, '_> {
    fn begin(&mut self) {
        self.pass = Pass::new(self.trace);
    }

    fn put(&mut self, drawable: &Drawable<'_>) {
        self.pass.put(self.trace, drawable);
    }
}

/// Where the time of the ranks' threads went.
fn bar(viewer: &Viewer<'_>, gathered: &Gathered, ranks: &BTreeMap<u32, i32>) -> Vec<Part> {
    let all = gathered.found.span() * ranks.len() as f64;
    let mut seconds: BTreeMap<Class, f64> = BTreeMap::new();
    for cell in &gathered.found.cells {
        let is_rank = u32::try_from(cell.rank).is_ok_and(|lane| ranks.contains_key(&lane));
        if let (true, Some(kind)) = (is_rank, viewer.trace().kind(cell.category)) {
            let class = viewer.trace().kinds()[kind as usize].class;
            *seconds.entry(class).or_default() += cell.tally.exclusive.max(0.0);
        }
    }
    let in_states: f64 = seconds.values().sum();
    seconds.insert(Class::Compute, (all - in_states).max(0.0));
    let mut parts: Vec<Part> = seconds
        .into_iter()
        .filter(|(_, seconds)| *seconds > 0.0)
        .map(|(class, seconds)| Part {
            class: class.name().into(),
            seconds,
            share: if all > 0.0 { seconds / all } else { 0.0 },
        })
        .collect();
    parts.sort_by(|a, b| b.seconds.total_cmp(&a.seconds));
    parts
}
