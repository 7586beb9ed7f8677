//! Details of single drawables: the one under the cursor, the one beside it, the arrows of one and what they lead to,
//! and all that a call caused.

pub mod wait;

use serde::Serialize;
use std::collections::HashMap;
use trace_formats::slog2::{TimeBBox, Topology};
use trace_model::{InfoValue, info_values, value_names};

use analysis::performance::WaitPattern;
use wait::{CallWait, WaitCause, WaitFinder};

use crate::base::error::ApiError;
use crate::base::text::visible;
use crate::timelines::layout::TimelineLayout;
use crate::timelines::tree::LabelTree;
use crate::trace::TopologyName;
use crate::trace::collective::last_to_come;
use crate::trace::info::{bytes, callid, shown_value};
use crate::trace::nearby::{self, StartPoint, collect, next, refer, resolve, running};
use crate::trace::reference::DrawableReference;
use crate::trace::scan::ReadBudget;
use crate::trace::states::{TraceState, for_each_shown};
use crate::trace::waits::TraceWaits;
use crate::trace::{OpenTrace, TraceItem};

/// Arrows of a state that are given one by one.
const MAX_ARROWS: usize = 200;
/// Operations of a call that are given one by one, each with what it is nested in.
const MAX_OPERATIONS: usize = 40;

/// All that is known of a drawable.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct DrawableDetail {
    /// Reference of the drawable, as URLs hold it.
    #[serde(rename = "ref")]
    pub reference: String,
    /// `state`, `event` or `arrow`.
    pub topology: TopologyName,
    /// Number of its kind.
    pub kind: u32,
    /// Name of its kind.
    pub name: String,
    /// Class of its kind.
    pub class: &'static str,
    /// Start in seconds; of an arrow the time of the send.
    pub t0: f64,
    /// End in seconds.
    pub t1: f64,
    /// Timeline, or -1 if it is on none.
    pub timeline: i64,
    /// Line, as the file numbers it.
    pub line: i32,
    /// Label of the line.
    pub label: String,
    /// States that it is nested in.
    pub depth: usize,
    /// Seconds without those in nested states; of states only, and `None` where finding out would take too much reading.
    pub excl: Option<f64>,
    /// Whether previews had to do for that.
    pub excl_is_estimate: bool,
    /// Keys and values.
    pub info: Vec<(String, String)>,
    /// The CallID, in hexadecimal with 0x before it.
    pub callid: Option<String>,
    /// Bytes of the message, or of what was accessed.
    pub bytes: Option<i64>,
    /// Path of the file that it is about, if the trace tells.
    pub file: Option<String>,
    /// The communicator that it is about, unless that may be MPI_COMM_WORLD.
    pub communicator: Option<CallCommunicator>,
    /// The states that it is nested in, the innermost first.
    pub parents: Vec<EnclosingState>,
    /// Destination of an arrow.
    pub to: Option<ArrowEnd>,
    /// Whether an arrow ends before it begins.
    pub backward: bool,
    /// The waits of the call for other ranks, the longest first. In lists they are not looked for.
    pub waits: Vec<CallWait>,
}

/// The communicator of a call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct CallCommunicator {
    /// Number in the trace.
    pub number: i32,
    /// The name that the program has given it.
    pub name: Option<String>,
}

/// A state around another one.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct EnclosingState {
    /// Reference of the drawable, as URLs hold it.
    #[serde(rename = "ref")]
    pub reference: String,
    /// Name of its kind.
    pub name: String,
}

/// The end of an arrow.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct ArrowEnd {
    /// Line, as the file numbers it.
    pub line: i32,
    /// Timeline, or -1 if it is on none.
    pub timeline: i64,
    /// Seconds.
    pub t: f64,
    /// Label of the line.
    pub label: String,
}

/// Looks for drawables and tells what is known of them.
pub struct DetailFinder<'v, 'a> {
    /// The trace.
    pub trace: &'v OpenTrace<'a>,
    /// The timelines of the page.
    pub layout: &'v TimelineLayout,
    /// The tree of labels that the timelines are of.
    pub tree: &'v LabelTree,
    /// The waits of the whole trace, if they are known.
    pub waits: Option<&'v TraceWaits>,
    /// Gives the path of the file that a drawable is about.
    pub file: &'v dyn Fn(&TraceItem<'_>) -> Option<String>,
    /// Gives the communicator that a line is about.
    pub communicator: &'v dyn Fn(u32) -> Option<CallCommunicator>,
    /// Budget of reading; its window is not used.
    pub budget: ReadBudget<'v>,
}

impl<'a> DetailFinder<'_, 'a> {
    fn budget(&self, earliest: f64, latest: f64) -> ReadBudget<'_> {
        ReadBudget {
            window: TimeBBox { earliest, latest },
            ..self.budget
        }
    }

    /// Whether two lines are about the same thread and on the same timeline, so that states of the one nest in those of the other.
    fn is_beside(&self, line: u32, other: u32) -> bool {
        let lines = self.trace.lines();
        lines[line as usize].lane == lines[other as usize].lane
            && self.layout.timeline(line) == self.layout.timeline(other)
    }

    fn timeline(&self, line: u32) -> i64 {
        self.layout.timeline(line).map_or(-1, i64::from)
    }

    fn label(&self, line: u32) -> String {
        let leaf = self.tree.leaf_of.get(line as usize);
        let node = leaf.and_then(|&leaf| self.tree.leaves.get(leaf as usize));
        node.map_or_else(String::new, |&node| self.tree.full_label(node))
    }

    /// Details of a drawable.
    ///
    /// # Errors
    /// The file is damaged.
    pub fn detail(&self, item: &TraceItem<'a>) -> Result<DrawableDetail, ApiError> {
        let reference = refer(self.trace, self.budget, item)?;
        Ok(DrawableDetail {
            waits: self.waits(item)?,
            ..self.detail_of(item, reference)?
        })
    }

    fn waits(&self, item: &TraceItem<'a>) -> Result<Vec<CallWait>, ApiError> {
        let finder = WaitFinder {
            trace: self.trace,
            known: self.waits,
            budget: self.budget,
            is_beside: &|line, other| self.is_beside(line, other),
        };
        let refer = |state: &TraceItem<'a>| {
            let reference = refer(self.trace, self.budget, state)?;
            Ok::<_, ApiError>(reference.to_string())
        };
        let told = finder.waits(item)?.into_iter().map(|found| {
            let doing = found.doing.map(|state| {
                let kind = &self.trace.kinds()[state.kind as usize];
                Ok::<_, ApiError>(WaitCause {
                    reference: refer(&state)?,
                    name: kind.name.clone(),
                    class: kind.class.name(),
                })
            });
            Ok(CallWait {
                seconds: found.seconds,
                pattern: found.pattern.map(WaitPattern::name),
                timeline: self.timeline(found.culprit),
                label: self.label(found.culprit),
                call: found.call.as_ref().map(refer).transpose()?,
                doing: doing.transpose()?,
            })
        });
        told.collect()
    }

    /// Details of several drawables. Those that differ only in the number of their reference must all be among them, so that none is looked for.
    ///
    /// # Errors
    /// The file is damaged.
    pub fn detail_all(
        &self,
        items: &[TraceItem<'a>],
        most: usize,
    ) -> Result<Vec<DrawableDetail>, ApiError> {
        let mut seen: HashMap<String, u32> = HashMap::new();
        let mut details = Vec::new();
        for item in items.iter().take(most) {
            let first = DrawableReference::of(self.trace, item, 0);
            let next = seen.entry(first.to_string()).or_default();
            let reference = DrawableReference {
                nth: *next,
                ..first
            };
            *next += 1;
            details.push(self.detail_of(item, reference)?);
        }
        Ok(details)
    }

    fn detail_of(
        &self,
        item: &TraceItem<'a>,
        reference: DrawableReference,
    ) -> Result<DrawableDetail, ApiError> {
        let kind = &self.trace.kinds()[item.kind as usize];
        let id = |line: u32| self.trace.lines()[line as usize].line.id;
        let is_arrow = item.topology == Topology::Arrow;
        let around = match is_arrow {
            true => Vec::new(),
            false => self.around(item, &reference)?,
        };
        let (excl, excl_is_estimate) = match item.topology {
            Topology::State => self.exclusive(item)?,
            _ => (None, false),
        };
        let mut parents = Vec::new();
        for parent in around.iter().rev() {
            parents.push(EnclosingState {
                reference: refer(self.trace, self.budget, parent)?.to_string(),
                name: self.trace.kinds()[parent.kind as usize].name.clone(),
            });
        }
        let pairs = info_values(&kind.category, item.info);
        let values: Vec<(&str, InfoValue<'_>)> = {
            let text = |key: &'_ trace_formats::slog2::Text| std::str::from_utf8(&key.0).is_ok();
            pairs
                .map(|(key, value)| match text(key) {
                    true => (std::str::from_utf8(&key.0).unwrap_or_default(), value),
                    false => ("", value),
                })
                .collect()
        };
        Ok(DrawableDetail {
            reference: reference.to_string(),
            topology: TopologyName::from(item.topology),
            kind: item.kind,
            name: kind.name.clone(),
            class: kind.class.name(),
            t0: item.start,
            t1: item.end,
            timeline: self.timeline(item.line),
            line: id(item.line),
            label: self.label(item.line),
            depth: around.len(),
            excl,
            excl_is_estimate,
            info: value_names(&kind.category)
                .iter()
                .zip(&values)
                .map(|(name, &(_, value))| (visible(name), shown_value(value)))
                .collect(),
            callid: values
                .iter()
                .find_map(|&(key, value)| callid(key, value))
                .map(|id| format!("0x{id:x}")),
            bytes: values.iter().find_map(|&(key, value)| bytes(key, value)),
            file: (self.file)(item),
            communicator: (self.communicator)(item.line),
            parents,
            to: is_arrow.then(|| ArrowEnd {
                line: id(item.to_line),
                timeline: self.timeline(item.to_line),
                t: item.end,
                label: self.label(item.to_line),
            }),
            backward: is_arrow && item.end < item.start,
            waits: Vec::new(),
        })
    }

    /// The states that a state or an event is nested in, the innermost last.
    fn around(
        &self,
        item: &TraceItem<'a>,
        reference: &DrawableReference,
    ) -> Result<Vec<TraceItem<'a>>, ApiError> {
        let beside = |line: u32| self.is_beside(line, item.line);
        let mut states = running(self.trace, self.budget(item.start, item.start), &beside)?;
        let is_it = |state: &TraceItem<'_>| reference.names(self.trace, state);
        let all = states.iter().enumerate().filter(|(_, state)| is_it(state));
        let at = all.map(|(at, _)| at).nth(reference.nth as usize);
        if let Some(at) = at {
            states.truncate(at);
        }
        states.retain(|state| state.end > item.start);
        Ok(states)
    }

    /// Seconds of a state without those in states nested in it, if that can be found out, and whether it is an estimate.
    fn exclusive(&self, item: &TraceItem<'a>) -> Result<(Option<f64>, bool), ApiError> {
        let mut found = NestedStates {
            details: self,
            of: item,
            bounds: Vec::new(),
            previewed: 0.0,
            has_itself: false,
        };
        let mut budget = self.budget(item.start, item.end);
        // Previews estimate long states well enough, and soon.
        budget.bytes /= 2;
        let scanned = crate::trace::scan::scan(self.trace, budget, &mut found)?;
        if found.has_itself {
            return Ok((None, true));
        }
        // Of equal ones it is not known which is in which; that they are counted once is enough.
        let mut bounds = found.bounds;
        bounds.sort_by(|a, b| {
            a.earliest
                .total_cmp(&b.earliest)
                .then(b.latest.total_cmp(&a.latest))
        });
        let (mut nested, mut until) = (0.0, item.start);
        for TimeBBox { earliest, latest } in bounds {
            if latest > until {
                nested += latest - earliest.max(until);
                until = latest;
            }
        }
        let left = item.end - item.start - nested - found.previewed;
        Ok((Some(left.max(0.0)), !scanned.exact))
    }

    /// The state under the cursor on a timeline of a thread in full: the one of that call depth that runs, else the nearest of those within `within`
    /// seconds, which are too short to be met.
    fn at_level(
        &self,
        time: f64,
        timeline: u32,
        within: f64,
        hidden: &[bool],
    ) -> Result<Option<TraceItem<'a>>, ApiError> {
        let levels = self.layout.levels as u32;
        let (first, level) = (timeline / levels * levels, (timeline % levels) as usize);
        let of_thread = |line: u32| self.layout.timeline(line) == Some(first);
        let mut items = running(
            self.trace,
            self.budget(time - within, time + within),
            &of_thread,
        )?;
        items.retain(|item| hidden.get(item.kind as usize) != Some(&true));
        let states: Vec<TraceState> = items.iter().map(TraceState::of).collect();
        let is_last = level + 1 == self.layout.levels;
        let mut on_it = Vec::new();
        for_each_shown(
            &states,
            &mut Vec::new(),
            |_, _, _| {},
            |nth, depth| {
                if depth == level || (is_last && depth > level) {
                    on_it.push(nth);
                }
            },
        );
        let distance = |state: &TraceState| (state.start - time).max(time - state.end).max(0.0);
        let runs = |nth: &&usize| states[**nth].start <= time && time < states[**nth].end;
        let deepest = on_it.iter().rev().find(runs);
        let near = || {
            on_it
                .iter()
                .min_by(|a, b| distance(&states[**a]).total_cmp(&distance(&states[**b])))
        };
        Ok(deepest.or_else(near).map(|&nth| items[nth]))
    }

    /// The drawable under the cursor: on a timeline the event that is nearest to a time, no farther than `within` seconds, for it is drawn above
    /// states; else the innermost state; else the arrow that is nearest.
    ///
    /// # Errors
    /// The file is damaged.
    pub fn at(
        &self,
        time: f64,
        timeline: u32,
        within: f64,
        hidden: &[bool],
    ) -> Result<Option<TraceItem<'a>>, ApiError> {
        if self.layout.levels > 0 {
            return self.at_level(time, timeline, within, hidden);
        }
        let is_shown = |item: &TraceItem<'a>| {
            hidden.get(item.kind as usize) != Some(&true)
                && (self.layout.timeline(item.line) == Some(timeline)
                    || (item.topology == Topology::Arrow
                        && self.layout.timeline(item.to_line) == Some(timeline)))
        };
        let budget = self.budget(time - within, time + within);
        let (mut items, _) = collect(self.trace, budget, &is_shown)?;
        items.sort_by(|a, b| nearby::order(self.trace, a, b));
        let events = items.iter().filter(|item| item.topology == Topology::Event);
        let off = |event: &TraceItem<'_>| (event.start - time).abs();
        let nearest = events
            .filter(|event| off(event) <= within)
            .min_by(|a, b| off(a).total_cmp(&off(b)));
        if let Some(event) = nearest {
            return Ok(Some(*event));
        }
        let states = || items.iter().filter(|item| item.topology == Topology::State);
        let runs = |item: &&TraceItem<'_>| item.start <= time && time < item.end;
        // On a timeline of several threads each has its own; the one that takes longest is most likely to be what is seen.
        let mut innermost: Vec<(u32, TraceItem<'a>)> = Vec::new();
        for state in states().filter(runs) {
            let lane = self.trace.lines()[state.line as usize].lane;
            match innermost.iter_mut().find(|of| of.0 == lane) {
                Some(of) => of.1 = *state,
                None => innermost.push((lane, *state)),
            }
        }
        let longest = innermost.iter().map(|of| of.1);
        let longest = longest.max_by(|a, b| (a.end - a.start).total_cmp(&(b.end - b.start)));
        if longest.is_some() {
            return Ok(longest);
        }
        let distance = |item: &TraceItem<'_>| {
            let to_line = self.layout.timeline(item.to_line) == Some(timeline);
            let from_line = self.layout.timeline(item.line) == Some(timeline);
            match item.topology {
                Topology::Arrow => {
                    let ends = [(from_line, item.start), (to_line, item.end)];
                    let near = ends
                        .into_iter()
                        .filter(|end| end.0)
                        .map(|end| (end.1 - time).abs());
                    near.fold(f64::INFINITY, f64::min)
                }
                _ if item.start > time => item.start - time,
                _ => (time - item.end).max(0.0),
            }
        };
        let near = items.iter().filter(|item| distance(item) <= within);
        Ok(near
            .min_by(|a, b| distance(a).total_cmp(&distance(b)))
            .copied())
    }

    /// The drawable of a reference.
    ///
    /// # Errors
    /// There is none, or the file is damaged.
    pub fn find(&self, reference: &DrawableReference) -> Result<TraceItem<'a>, ApiError> {
        resolve(self.trace, self.budget, reference)
    }

    /// The next state behind another one on its timeline, or the one before.
    ///
    /// # Errors
    /// There is no such drawable, the file is damaged, or too much would have to be read.
    pub fn beside(
        &self,
        reference: &DrawableReference,
        is_forward: bool,
    ) -> Result<Option<TraceItem<'a>>, ApiError> {
        let item = self.find(reference)?;
        let timeline = self.layout.timeline(item.line);
        let lines = |line: u32| match timeline {
            Some(_) => self.layout.timeline(line) == timeline,
            None => self.is_beside(line, item.line),
        };
        let from = match item.topology {
            Topology::State => StartPoint::TraceState(&item, *reference),
            _ => StartPoint::Time(item.start),
        };
        next(self.trace, self.budget, from, is_forward, &lines)
    }

    /// The next state on a timeline that begins behind a time, or the last one that begins before.
    ///
    /// # Errors
    /// The file is damaged, or too much would have to be read.
    pub fn beside_time(
        &self,
        timeline: u32,
        time: f64,
        is_forward: bool,
    ) -> Result<Option<TraceItem<'a>>, ApiError> {
        let lines = |line: u32| self.layout.timeline(line) == Some(timeline);
        next(
            self.trace,
            self.budget,
            StartPoint::Time(time),
            is_forward,
            &lines,
        )
    }

    /// The arrows that leave a state, or arrive in it, the last one first; and the state at the other end of the last one. Of an
    /// arrow itself, and the state that it leads to or comes from. To a call of a collective operation without messages leads the
    /// call of the rank that came last.
    ///
    /// # Errors
    /// There is no such drawable, or the file is damaged.
    pub fn follow(
        &self,
        reference: &DrawableReference,
        is_forward: bool,
    ) -> Result<FollowedArrows<'a>, ApiError> {
        let item = self.find(reference)?;
        let mut arrows = match item.topology {
            Topology::Arrow => vec![item],
            _ => {
                let is_in = |time: f64| item.start <= time && time <= item.end;
                let wanted = |arrow: &TraceItem<'a>| {
                    let (line, time) = match is_forward {
                        true => (arrow.line, arrow.start),
                        false => (arrow.to_line, arrow.end),
                    };
                    arrow.topology == Topology::Arrow
                        && self.is_beside(line, item.line)
                        && is_in(time)
                };
                collect(self.trace, self.budget(item.start, item.end), &wanted)?.0
            }
        };
        let near = |arrow: &TraceItem<'_>| if is_forward { arrow.start } else { arrow.end };
        arrows.sort_by(|a, b| near(b).total_cmp(&near(a)));
        let partner = match arrows.first() {
            None if is_forward => None,
            None => last_to_come(self.trace, self.budget, &item)?.0,
            Some(arrow) => {
                let (line, time) = match is_forward {
                    true => (arrow.to_line, arrow.end),
                    false => (arrow.line, arrow.start),
                };
                let beside = |other: u32| self.is_beside(other, line);
                let states = running(self.trace, self.budget(time, time), &beside)?;
                let runs = states.iter().rev().find(|state| state.end > time);
                runs.or(states.last()).copied()
            }
        };
        Ok(FollowedArrows { arrows, partner })
    }

    /// The call of a CallID and the operations that it caused: what carries the same CallID, the first one that is no operation
    /// below MPI, and those that are. If the whole trace is too much to be looked through, it is looked for in `near` and, as
    /// arrows lead from the call to its operations, wherever the ends of those found so far are.
    ///
    /// # Errors
    /// The file is damaged.
    pub fn call(&self, id: u64, near: Option<TimeBBox>) -> Result<CallOperations<'a>, ApiError> {
        let all = self.trace.bounds();
        let has_it = |item: &TraceItem<'a>| self.callid(item) == Some(id);
        let is_small = self.trace.reader().bytes_in(all)? <= self.budget.bytes;
        let mut window = near.filter(|_| !is_small).unwrap_or(all);
        let (mut items, exact) = loop {
            let budget = self.budget(window.earliest, window.latest);
            let (items, scanned) = collect(self.trace, budget, &has_it)?;
            let wider = items.iter().fold(window, |wider, item| TimeBBox {
                earliest: wider.earliest.min(item.start).min(item.end),
                latest: wider.latest.max(item.start).max(item.end),
            });
            if wider == window || !scanned.exact {
                break (items, scanned.exact && (is_small || window == all));
            }
            window = wider;
        };
        items.sort_by(|a, b| nearby::order(self.trace, a, b));
        let is_operation = |item: &TraceItem<'_>| {
            let kind = &self.trace.kinds()[item.kind as usize];
            kind.class == crate::trace::class::ActivityClass::Disk
        };
        let is_call =
            |item: &&TraceItem<'_>| item.topology == Topology::State && !is_operation(item);
        let call = items.iter().find(is_call).copied();
        items.retain(|item| item.topology == Topology::State && is_operation(item));
        Ok(CallOperations {
            call,
            operations: items,
            exact,
        })
    }

    /// The CallID of a drawable.
    pub fn callid(&self, item: &TraceItem<'_>) -> Option<u64> {
        let kind = &self.trace.kinds()[item.kind as usize];
        let place = kind.callid?;
        let (key, value) = info_values(&kind.category, item.info).nth(place)?;
        callid(std::str::from_utf8(&key.0).ok()?, value)
    }
}

/// The arrows of a drawable.
#[derive(Clone, Debug)]
pub struct FollowedArrows<'a> {
    /// The last ones first.
    pub arrows: Vec<TraceItem<'a>>,
    /// The state at the other end of the last one.
    pub partner: Option<TraceItem<'a>>,
}

/// Drawables that have one CallID.
#[derive(Clone, Debug)]
pub struct CallOperations<'a> {
    /// The call.
    pub call: Option<TraceItem<'a>>,
    /// The operations.
    pub operations: Vec<TraceItem<'a>>,
    /// Whether the whole trace was looked through.
    pub exact: bool,
}

impl FollowedArrows<'_> {
    /// Arrows that are given one by one.
    pub const MAX_LISTED: usize = MAX_ARROWS;
}

impl CallOperations<'_> {
    /// Operations that are given one by one.
    pub const MAX_LISTED: usize = MAX_OPERATIONS;
}

/// The states in another one.
struct NestedStates<'d, 'v, 'i, 'a> {
    details: &'d DetailFinder<'v, 'a>,
    of: &'i TraceItem<'a>,
    bounds: Vec<TimeBBox>,
    previewed: f64,
    /// Whether a preview may stand for the state itself.
    has_itself: bool,
}

impl<'a> crate::trace::scan::DrawableSink<'a> for NestedStates<'_, '_, '_, 'a> {
    fn item(&mut self, item: TraceItem<'a>) {
        if item.topology != Topology::State || !self.details.is_beside(item.line, self.of.line) {
            return;
        }
        let is_in = self.of.start <= item.start && item.end <= self.of.end;
        let is_around = nearby::order(self.details.trace, &item, self.of).is_le();
        if is_in && !is_around {
            self.bounds.push(TimeBBox {
                earliest: item.start,
                latest: item.end,
            });
        }
    }

    fn preview(&mut self, preview: crate::trace::scan::StatePreview) {
        if !self.details.is_beside(preview.line, self.of.line) {
            return;
        }
        let TimeBBox { earliest, latest } = preview.bounds;
        self.has_itself |= earliest <= self.of.start && self.of.end <= latest;
        let inside = latest.min(self.of.end) - earliest.max(self.of.start);
        let share: f64 = preview
            .shares
            .iter()
            .map(|(_, ratios)| f64::from(ratios.exclusive))
            .sum();
        if inside > 0.0 && share.is_finite() {
            self.previewed += inside * share.clamp(0.0, 1.0);
        }
    }
}
